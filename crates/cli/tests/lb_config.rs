//! `andon lb-config` prints the configurations that were tested with real load balancers (`./dev nodes`), without a
//! change.

use crate::common::{andon, printed};

const NODES: [&str; 4] = ["--node", "10.0.0.1:8080", "--node", "[fd00::2]:8080"];

fn configuration(balancer: &str, more: &[&str]) -> String {
    printed(andon(
        &[&["lb-config", balancer][..], &NODES, more].concat(),
        &[],
    ))
}

#[test]
fn the_configurations_are_those_that_were_tried() {
    for (balancer, tried) in [
        ("nginx", include_str!("lb_config/nginx.conf")),
        ("haproxy", include_str!("lb_config/haproxy.cfg")),
        ("envoy", include_str!("lb_config/envoy.yaml")),
    ] {
        assert_eq!(configuration(balancer, &[]), tried, "{balancer}");
    }
}

#[test]
fn dialects_are_those_of_the_nodes_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("andon.toml");
    let text = "[thumbor]\nprefix = \"/thumbor\"\nkeys = [\"a key of sixteen bytes\"]\n[small_light]\nenabled = false\n\
                [[rewrite]]\nfrom = \"^/t/(.+)$\"\nto = \"/r/fit:20x20/$1\"\n";
    std::fs::write(&file, text).expect("a configuration");
    let file = file.to_str().expect("a path");
    for balancer in ["nginx", "haproxy", "envoy"] {
        let text = configuration(balancer, &["--config", file, "--port", "8000"]);
        assert!(text.starts_with("# URLs of [[rewrite]] rules"), "{text}");
        assert!(
            text.contains("/thumbor/") && !text.contains("small_light"),
            "{text}"
        );
        assert!(text.contains("8000"), "{text}");
    }
}

#[test]
fn a_node_without_a_port_or_with_more_than_an_address_is_refused() {
    for node in [
        "10.0.0.1",
        "10.0.0.1:http",
        "a b:80",
        "x;}:80",
        "http://10.0.0.1:80",
    ] {
        let output = andon(&["lb-config", "nginx", "--node", node], &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{node}");
        assert!(said.contains("HOST:PORT"), "{node}: {said}");
    }
    assert!(!andon(&["lb-config", "nginx"], &[]).status.success());
}
