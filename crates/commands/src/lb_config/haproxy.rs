//! Writes the configuration for HAProxy: a consistent hash with bounded loads, health checks, and one retry.

use std::fmt::Write;

use super::Setup;

pub(super) fn write(setup: &Setup) -> String {
    let mut text = format!(
        "\
frontend andon
    mode http
    bind :{}
    timeout client 60s
    option forwardfor
    # The image that a URL is about, without its sizes and formats.
    http-request set-var(txn.source) \"pathq,regsub('^/+([^?]*).*','\\1')\"
",
        setup.port
    );
    // The last rule that matches sets the variable. The first pattern should, so the rules are in reverse order.
    for (dialect, pattern) in setup.patterns.iter().rev() {
        let _ = writeln!(text, "    # {dialect}");
        let _ = writeln!(
            text,
            "    http-request set-var(txn.source) \"pathq,regsub('{pattern}.*','\\1')\" if {{ pathq -m reg '{pattern}' }}"
        );
    }
    text.push_str(
        "    default_backend andon

backend andon
    mode http
    timeout connect 1s
    timeout server 60s
    balance hash var(txn.source)
    hash-type consistent wt6 avalanche
    # A node takes half as much again as the average at most; the rest goes to the next one.
    hash-balance-factor 150
    # Once: more would multiply the load while all nodes are full.
    retries 1
    option redispatch 1
    retry-on conn-failure empty-response 503
    option httpchk GET /readyz
    timeout check 1s
    # A node that hangs is left out after two checks, and what waits for it is asked of another one.
    # Below a weight of 50 the ring has too few points and the nodes uneven shares.
    default-server check inter 500 fall 2 rise 1 on-marked-down shutdown-sessions weight 100
",
    );
    for (index, node) in setup.nodes.iter().enumerate() {
        let _ = writeln!(text, "    server andon{} {node}", index + 1);
    }
    text
}
