//! Writes the configuration for nginx: a consistent hash (ketama), a readiness request to the node before each request,
//! and one retry.
//!
//! Without further modules, nginx detects a hanging node only by requests that time out, and an image may take long. So
//! each request is preceded by a short one to the same node (`auth_request`), which a healthy node answers at once. A
//! node that does not answer it within a second is skipped for ten seconds. A node that rejects a request with 503 is
//! not considered down, but the request is retried on another node.

use std::fmt::Write;

use super::Setup;

pub(super) fn write(setup: &Setup) -> String {
    let mut text = "\
# The image that a URL is about, without its sizes and formats.
map $request_uri $andon_source {
"
    .to_owned();
    for (dialect, pattern) in &setup.patterns {
        let pattern = pattern.replacen("([^", "(?<source>[^", 1);
        let _ = writeln!(text, "    \"~{pattern}\" $source; # {dialect}");
    }
    text.push_str("    \"~^/+(?<source>[^?]*)\" $source;\n}\n");
    upstream(
        &mut text,
        setup,
        "andon",
        "$andon_source",
        "max_fails=1 fail_timeout=10s",
    );
    text.push_str("\n# For what a node rejects. That is no failure of either.");
    upstream(
        &mut text,
        setup,
        "andon_other",
        "other/$andon_source",
        "max_fails=0",
    );
    let _ = write!(
        text,
        "
server {{
    listen {port};
    proxy_http_version 1.1;
    proxy_set_header Connection \"\";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_connect_timeout 1s;
    # An answer takes `timeouts.request` of the nodes at most.
    proxy_read_timeout {patience}s;

    location / {{
        # A node that hangs is found by this, within a second, and not by the image.
        auth_request /_andon_ready;
        proxy_pass http://andon;
        proxy_next_upstream error timeout;
        proxy_next_upstream_tries 2;
        # Once: more would multiply the load while all nodes are full.
        proxy_intercept_errors on;
        error_page 503 = @other;
    }}
    location = /_andon_ready {{
        internal;
        proxy_pass http://andon/readyz;
        proxy_pass_request_body off;
        proxy_set_header Content-Length \"\";
        proxy_read_timeout 1s;
        proxy_next_upstream error timeout http_503;
        # If no node is ready, let the request find that out.
        proxy_intercept_errors on;
        error_page 500 502 503 504 =204 @ready;
    }}
    location @ready {{
        return 204;
    }}
    location @other {{
        proxy_pass http://andon_other;
        proxy_next_upstream error http_503;
        proxy_next_upstream_tries 2;
    }}
}}
",
        port = setup.port,
        patience = setup.answer.as_secs() + 5,
    );
    text
}

/// Writes an `upstream` block with the nodes, each with `options`. The node is selected by a consistent hash of `key`.
fn upstream(text: &mut String, setup: &Setup, name: &str, key: &str, options: &str) {
    let _ = write!(
        text,
        "\nupstream {name} {{\n    zone {name} 64k;\n    hash {key} consistent;\n"
    );
    for node in &setup.nodes {
        let _ = writeln!(text, "    server {node} {options};");
    }
    text.push_str("    keepalive 64;\n}\n");
}
