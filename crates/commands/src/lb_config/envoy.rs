//! Writes the configuration for Envoy: a hash ring with bounded loads, health checks, and one retry on another host.

use std::fmt::Write;

use super::Setup;

pub(super) fn write(setup: &Setup) -> String {
    let mut text = format!(
        "\
static_resources:
  listeners:
  - name: andon
    address: {{socket_address: {{address: 0.0.0.0, port_value: {}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: andon
          use_remote_address: true
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
          route_config:
            virtual_hosts:
            - name: andon
              domains: [\"*\"]
              retry_policy:
                retry_on: connect-failure,refused-stream,retriable-status-codes
                retriable_status_codes: [503]
                num_retries: 1
                retry_host_predicate:
                - name: envoy.retry_host_predicates.previous_hosts
                  typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate}}
                host_selection_retry_max_attempts: 3
              # Each hashes the image that a URL is about, without its sizes and formats.
              routes:
",
        setup.port
    );
    let files = ("files", "^/+([^?]*)".to_owned());
    for (dialect, pattern) in setup.patterns.iter().chain([&files]) {
        let path = match pattern.contains("[?]") {
            // Envoy matches routes against the path without its query.
            true => pattern.split("[?]").next().unwrap_or_default().to_owned() + "$",
            false => format!("{pattern}$"),
        };
        let _ = write!(
            text,
            "              - name: {dialect}
                match: {{safe_regex: {{regex: '{path}'}}}}
                route:
                  cluster: andon
                  hash_policy:
                  - header:
                      header_name: \":path\"
                      regex_rewrite: {{pattern: {{regex: '{pattern}.*'}}, substitution: '\\1'}}
"
        );
    }
    text.push_str(
        "  clusters:
  - name: andon
    type: STRICT_DNS
    connect_timeout: 1s
    lb_policy: RING_HASH
    # Envoy's default is 1,024 entries for all hosts together.
    ring_hash_lb_config: {minimum_ring_size: 65536, maximum_ring_size: 1048576}
    common_lb_config: {consistent_hashing_lb_config: {hash_balance_factor: 150}}
    health_checks:
    - {timeout: 1s, interval: 2s, unhealthy_threshold: 2, healthy_threshold: 1, http_health_check: {path: /readyz}}
    load_assignment:
      cluster_name: andon
      endpoints:
      - lb_endpoints:
",
    );
    for node in &setup.nodes {
        let (host, port) = node.rsplit_once(':').unwrap_or((node, "80"));
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let _ = writeln!(
            text,
            "        - endpoint: {{address: {{socket_address: {{address: \"{host}\", port_value: {port}}}}}}}"
        );
    }
    text
}
