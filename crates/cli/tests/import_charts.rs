//! `andon import` of what runs an image server on Kubernetes: values of charts, stores of one's own, keys that are elsewhere.

use std::fs;

use crate::common::program;
use crate::common::said::said;
use crate::import_servers::{Site, signed, width};

#[test]
fn values_of_the_charts_of_imgproxy_and_thumbor_are_read() {
    let imgproxy = "image:\n  repo: ghcr.io/imgproxy/imgproxy\nresources:\n  deployment:\n    replicas:\n      default: 2\n\
                    env:\n  IMGPROXY_LOCAL_FILESYSTEM_ROOT: <files>\n  IMGPROXY_QUALITY: 70\n  IMGPROXY_PATH_PREFIX: \"/img\"\n";
    let site = Site::new("values.yaml", imgproxy);
    let (text, served) = site.serve("values.yaml");
    assert!(text.contains("quality = 70"), "{text}");
    assert_eq!(width(&served, "/img/_/w:20/plain/local:///a.jpg"), 20);

    let thumbor = "image:\n  repository: minimalcompact/thumbor\nreplicaCount: 2\nenv:\n  open:\n    ALLOW_UNSAFE_URL: \"False\"\n    \
                   LOADER: \"thumbor.loaders.file_loader\"\n    FILE_LOADER_ROOT_PATH: <files>\n    QUALITY: \"85\"\n    \
                   AUTO_WEBP: \"True\"\n    ALLOWED_SOURCES: \"['a.example', 'b.example']\"\n    LOG_LEVEL: error\n  secret:\n    \
                   SECURITY_KEY: a key of more than 16 bytes\n";
    let site = Site::new("values.yaml", thumbor);
    let (text, served) = site.serve("values.yaml");
    for line in ["quality = 85", "allow_unsafe = false", "default = \"auto\""] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let signature = signed("sha1", "b'a key of more than 16 bytes'", "b'20x0/a.jpg'");
    assert_eq!(width(&served, &format!("/{signature}/20x0/a.jpg")), 20);
    assert_eq!(width(&served, "/unsafe/20x0/a.jpg"), 400);
}

#[test]
fn a_store_of_ones_own_is_imported_with_its_addresses_and_keys() {
    let conf = |endpoint: &str| {
        format!(
            "COMPUTED VALUES:\nenv:\n  IMGPROXY_USE_S3: true\n  IMGPROXY_S3_ENDPOINT: {endpoint}\n  \
             IMGPROXY_S3_ALLOWED_BUCKETS: photos\n  AWS_ACCESS_KEY_ID: hush\n"
        )
    };
    for (endpoint, allow) in [
        ("http://minio.storage.svc:9000", "allow = [\"10.0.0.0/8\", "),
        (
            "http://localhost:9000",
            "allow = [\"127.0.0.0/8\", \"::1/128\"]",
        ),
        ("https://account.r2.example", ""),
    ] {
        let site = Site::new("values.yaml", &conf(endpoint));
        let said = site.import("values.yaml").ending(0);
        for line in [
            &format!("s3.endpoint = \"{endpoint}\""),
            "s3.credentials = \"platform\"",
            "values.yaml:6: AWS_ACCESS_KEY_ID: give it and AWS_SECRET_ACCESS_KEY to this server, too",
            allow,
        ] {
            assert!(said.out.contains(line), "{line}\n{}", said.out);
        }
        assert_eq!(
            said.out.contains("\nallow"),
            !allow.is_empty(),
            "{}",
            said.out
        );
        assert!(!said.out.contains("hush"), "{}", said.out);
    }
}

#[test]
fn values_and_manifests_in_json_are_read_and_empty_values_are_explained() {
    let root = "\"env\": {\"IMGPROXY_LOCAL_FILESYSTEM_ROOT\": \"<files>\"}";
    let values = format!("{{{root}, \"resources\": {{\"addSecrets\": [\"images\"]}}}}");
    let (text, served) = Site::new("values.json", &values).serve("values.json");
    let note = "addSecrets: the variables in the Secret `images` were not read";
    assert!(text.contains(note), "{text}");
    let target = "/insecure/rs:fit:20:20/plain/local:///a.jpg";
    assert_eq!(width(&served, target), 403, "{text}");

    let of_next = format!("{{\"images\": {{}}, {root}}}");
    let said = Site::new("next.json", &of_next)
        .import("next.json")
        .ending(0);
    assert!(said.out.contains("[next]"), "{}", said.out);
    let said = Site::new("v.yaml", "USER-SUPPLIED VALUES:\nnull\n").import("v.yaml");
    assert!(
        said.err.contains("helm get values RELEASE --all"),
        "{}",
        said.err
    );
}

#[test]
fn without_secrets_a_server_is_closed_until_its_environment_has_them() {
    let key = "943b421c9eb07c830af81030552c8600";
    let salt = "520f986b998545b4785e0defbc4f3c12";
    let thumbor = "a key of more than 16 bytes";
    for (content, secrets, variable) in [
        (
            format!(
                "IMGPROXY_LOCAL_FILESYSTEM_ROOT=<files>\nIMGPROXY_KEY={key}\nIMGPROXY_SALT={salt}\nIMGPROXY_SOURCE_URL_ENCRYPTION_KEY={key}\n"
            ),
            vec![key, salt],
            "ANDON_IMGPROXY__SOURCE_KEY",
        ),
        (
            format!("SECURITY_KEY = '{thumbor}'\nALLOW_UNSAFE_URL = False\n"),
            vec![thumbor],
            "ANDON_THUMBOR__KEYS",
        ),
        (
            format!("IMAGOR_SECRET={thumbor}\nFILE_LOADER_BASE_DIR=<files>\n"),
            vec![thumbor],
            "ANDON_IMAGOR__KEYS",
        ),
    ] {
        let site = Site::new("conf", &content);
        let imported = site.import("--no-secrets conf").ending(0);
        assert_eq!(imported.err, "");
        let note = format!("  # SECRET: set {variable}; this random one opens nothing");
        assert!(imported.out.contains(&note), "{note}\n{}", imported.out);
        for secret in secrets {
            assert!(!imported.out.contains(secret), "{}", imported.out);
        }
        fs::write(site.path().join("andon.toml"), &imported.out).unwrap();
        said(program(), site.path(), "config check andon.toml").ending(0);
    }
    let nginx = Site::new(
        "nginx.conf",
        "server { listen 80; location / { image_filter test; } }\n",
    );
    let said = nginx.import("--no-secrets nginx.conf");
    assert!(
        said.err
            .contains("--no-secrets is for imgproxy, thumbor and imagor"),
        "{}",
        said.err
    );
}
