//! For nginx: a consistent hash (ketama), and one retry.

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
    text.push_str(
        "    \"~^/+(?<source>[^?]*)\" $source;
}

upstream andon {
    hash $andon_source consistent;
    # nginx counts each 503 as a failure, and a node that rejects requests for a second is not down.
",
    );
    for node in &setup.nodes {
        let _ = writeln!(text, "    server {node} max_fails=0;");
    }
    let _ = write!(
        text,
        "    keepalive 64;
}}

server {{
    listen {};
    location / {{
        proxy_pass http://andon;
        proxy_http_version 1.1;
        proxy_set_header Connection \"\";
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_connect_timeout 1s;
        # Once: more would multiply the load while all nodes are full.
        proxy_next_upstream error timeout http_503;
        proxy_next_upstream_tries 2;
        proxy_next_upstream_timeout 3s;
    }}
}}
",
        setup.port
    );
    text
}
