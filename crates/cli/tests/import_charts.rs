//! `andon import` of image servers on Kubernetes: values of Helm charts, self-hosted object stores, and secrets that
//! environment variables contain instead of the configuration.

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
    // Further permitted addresses are added.
    let also = "  IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES: true\n";
    let site = Site::new(
        "values.yaml",
        &(conf("http://minio.storage.svc:9000") + also),
    );
    let said = site.import("values.yaml").ending(0).out;
    let allow = said
        .lines()
        .find(|line| line.starts_with("allow"))
        .unwrap_or_default();
    assert!(
        allow.contains("10.0.0.0/8") && allow.contains("127.0.0.0/8"),
        "{said}"
    );
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

/// Returns the variables in the table of a page in docs/dialects.
fn variables(page: &str) -> Vec<String> {
    let path = format!("{}/../../docs/dialects/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let (_, table) = text.split_once("<!-- variables -->").unwrap();
    let (table, _) = table.split_once("<!-- /variables -->").unwrap();
    let cells = table.lines().filter_map(|line| line.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(|name| name.replace('*', "OTHER")).collect()
}

/// Returns the lines of a configuration that are not comments.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[test]
fn values_that_stand_for_none_set_nothing_and_the_result_loads() {
    let switches: &[&str] = &["false", "False", ""];
    let literals: &[&str] = &["False", "'False'", "'false'", "''"];
    for (page, plain, values) in [
        (
            "imgproxy.md",
            "IMGPROXY_LOCAL_FILESYSTEM_ROOT=<files>\n",
            switches,
        ),
        (
            "imagor.md",
            "FILE_LOADER_BASE_DIR=<files>\nIMAGOR_SECRET=a key of more than 16 bytes\n",
            switches,
        ),
        (
            "thumbor.md",
            "FILE_LOADER_ROOT_PATH='<files>'\nLOADER='thumbor.loaders.file_loader'\n",
            literals,
        ),
    ] {
        let all = variables(page);
        assert!(all.len() > 50, "{page}: {all:?}");
        let is_set = |name: &str| {
            plain
                .lines()
                .any(|line| line.split('=').next() == Some(name))
        };
        let imported = |more: &str| {
            let conf = all.iter().filter(|name| !is_set(name));
            let conf: String = conf.map(|name| format!("{name}={more}\n")).collect();
            let site = Site::new("conf", &format!("{plain}{conf}"));
            let imported = site.import("conf").ending(0);
            assert_eq!(imported.err, "");
            fs::write(site.path().join("andon.toml"), &imported.out).unwrap();
            said(program(), site.path(), "config check andon.toml").ending(0);
            let folder = site.path().display().to_string();
            imported.out.replace(&folder, "")
        };
        let nothing = Site::new("conf", plain);
        let folder = nothing.path().display().to_string();
        let nothing = nothing.import("conf").ending(0).out.replace(&folder, "");
        let nothing = lines(&nothing);
        for value in values {
            let text = imported(value);
            for line in lines(&text) {
                let is_flag = line.ends_with("= false");
                assert!(is_flag || nothing.contains(&line), "{page} {value}: {line}");
            }
        }
    }
}

#[test]
fn values_of_an_old_chart_that_switch_everything_off_are_no_texts() {
    let chart = "features:\n  urlSignature: {enabled: false, key: \"\", salt: \"\"}\n  \
                 security: {allowOrigin: false, allowedSources: \"\", secret: false}\n  \
                 compression: {jpegProgressive: false, pngInterlaced: false, formatQuality: false}\n  \
                 logging: {level: false, format: \"\"}\n  presets: {definitions: false, onlyPresets: false}\n  \
                 miscellaneous: {baseUrl: false, localFilesystemRoot: <files>}\n";
    let site = Site::new("values.yaml", chart);
    let (text, served) = site.serve("values.yaml");
    for absent in ["cors", "level", "presets]", "base_url", "\"false\""] {
        assert!(!lines(&text).concat().contains(absent), "{absent}\n{text}");
    }
    assert_eq!(width(&served, "/_/w:20/plain/local:///a.jpg"), 20);
    let chart = chart.replace("allowOrigin: false", "allowOrigin: \"*\"");
    let (text, _) = Site::new("values.yaml", &chart).serve("values.yaml");
    assert!(text.contains("[cors]\norigins = [\"*\"]"), "{text}");
}

/// Imports variables of an imgproxy, and returns the resulting lines and notes.
fn of_imgproxy(conf: &str) -> (String, String) {
    let site = Site::new(
        "env",
        &format!("{conf}IMGPROXY_LOCAL_FILESYSTEM_ROOT=<files>\n"),
    );
    let (text, _) = site.serve("env");
    let notes = text.lines().filter(|line| line.starts_with('#'));
    (lines(&text).join("\n"), notes.collect())
}

#[test]
fn imgproxys_switches_of_encodings_are_a_preset_for_all_urls() {
    let (on, off) = (
        "IMGPROXY_JPEG_PROGRESSIVE=true\n",
        "IMGPROXY_PNG_INTERLACED=0\n",
    );
    let png = "IMGPROXY_PNG_INTERLACED=1\n";
    for (conf, preset) in [
        (on.to_owned(), "default = \"jpgo:1\""),
        (format!("{on}{off}"), "default = \"jpgo:1\""),
        (format!("{on}{png}"), "default = \"jpgo:1/pngo:1\""),
        (
            format!("{on}IMGPROXY_PRESETS=default=q:70/w:9,a=w:5\n"),
            "a = \"w:5\"\ndefault = \"jpgo:1/q:70/w:9\"",
        ),
        (
            format!("{png}IMGPROXY_ARGUMENTS_SEPARATOR=,\n"),
            "default = \"pngo,1\"",
        ),
    ] {
        let (lines, notes) = of_imgproxy(&conf);
        let table = format!("[imgproxy.presets]\n{preset}");
        assert!(lines.contains(&table), "{table}\n{lines}");
        assert!(!notes.contains("PROGRESSIVE"), "{notes}");
    }
    let (lines, notes) = of_imgproxy(off);
    assert!(!lines.contains("presets"), "{lines}");
    assert!(!notes.contains("INTERLACED"), "{notes}");
    let (lines, notes) = of_imgproxy("IMGPROXY_JPEG_PROGRESSIVE=perhaps\n");
    assert!(!lines.contains("presets"), "{lines}");
    assert!(notes.contains("neither true nor false"), "{notes}");
}

#[test]
fn formats_that_imgproxy_enforces_are_enforced() {
    for (conf, enforces, note) in [
        ("IMGPROXY_AUTO_WEBP=true\n", false, ""),
        ("IMGPROXY_ENFORCE_WEBP=true\n", true, ""),
        ("IMGPROXY_AUTO_AVIF=1\nIMGPROXY_ENFORCE_AVIF=1\n", true, ""),
        (
            "IMGPROXY_AUTO_AVIF=1\nIMGPROXY_ENFORCE_JXL=1\nIMGPROXY_ENFORCE_WEBP=false\n",
            true,
            "env:1: IMGPROXY_AUTO_AVIF: `imgproxy.enforce` is of all",
        ),
    ] {
        let (lines, notes) = of_imgproxy(conf);
        assert!(lines.contains("negotiate = true"), "{lines}");
        assert_eq!(lines.contains("enforce = true"), enforces, "{lines}");
        assert!(notes.contains(note), "{notes}");
        let about = notes.contains("imgproxy.enforce");
        assert_eq!(about, !note.is_empty(), "{notes}");
    }
}

#[test]
fn a_watermark_and_a_fallback_are_written_where_an_origin_has_them() {
    let store = "IMGPROXY_USE_S3=1\nIMGPROXY_S3_REGION=eu-central-1\nIMGPROXY_S3_ALLOWED_BUCKETS=photos,assets\n\
                 IMGPROXY_ALLOWED_SOURCES=s3://photos/,https://cdn.example/a/\n";
    let (watermark, fallback) = ("IMGPROXY_WATERMARK_", "IMGPROXY_FALLBACK_IMAGE_");
    for (url, is) in [
        ("URL=s3://assets/a.png", "s3://assets/a.png"),
        (
            "URL=https://cdn.example/a/b.png",
            "https://cdn.example/a/b.png",
        ),
        ("URL=local:///x/a.jpg", "/x/a.jpg"),
        ("PATH=<files>/a.jpg", "/a.jpg"),
    ] {
        let conf = format!(
            "{store}{watermark}{url}\n{watermark}OPACITY=0.5\n{fallback}{url}\n{fallback}HTTP_CODE=404\n{fallback}TTL=90\n"
        );
        let (lines, notes) = of_imgproxy(&conf);
        for table in [
            format!("[imgproxy.watermark]\nfile = \"{is}\"\nopacity = 0.5"),
            format!("[[fallback]]\nimage = \"{is}\"\nstatus = 404\nttl = \"90s\""),
        ] {
            assert!(lines.contains(&table), "{table}\n{lines}");
        }
        assert!(
            !notes.contains("WATERMARK") && !notes.contains("FALLBACK"),
            "{notes}"
        );
    }
    let (lines, notes) = of_imgproxy(&format!("{store}{fallback}URL=s3://photos/a.jpg\n"));
    assert!(
        lines.contains("[[fallback]]\nimage = \"s3://photos/a.jpg\"\n["),
        "{lines}"
    );
    assert!(notes.contains("keep the image for a minute"), "{notes}");
    let wrong =
        format!("{watermark}OPACITY=2\n{fallback}URL=local:///a.jpg\n{fallback}HTTP_CODE=302\n");
    let (lines, notes) = of_imgproxy(&wrong);
    assert!(
        !lines.contains("status") && !lines.contains("opacity"),
        "{lines}"
    );
    for note in ["is not from 0 to 1", "200, that of an error, or 0"] {
        assert!(notes.contains(note), "{notes}");
    }
}

#[test]
fn the_stores_of_a_watermark_and_a_fallback_get_an_origin_as_those_of_sources_do() {
    let images = "IMGPROXY_WATERMARK_URL=s3://brand-assets/logo mark.png\n\
                  IMGPROXY_FALLBACK_IMAGE_URL=s3://brand-assets/missing.png\n";
    let store = "IMGPROXY_USE_S3=true\nIMGPROXY_S3_ENDPOINT=https://minio.storage.svc:9000\n";
    for (more, buckets) in [
        ("", "[\"name-of-the-bucket\", \"brand-assets\"]"),
        (
            "IMGPROXY_BASE_URL=s3://photos/a/\n",
            "[\"photos\", \"brand-assets\"]",
        ),
        (
            "IMGPROXY_ALLOWED_SOURCES=s3://photos/,s3://brand-assets/\n",
            "[\"photos\", \"brand-assets\"]",
        ),
        (
            "IMGPROXY_ALLOWED_SOURCES=https://cdn.example/\n",
            "[\"brand-assets\"]",
        ),
    ] {
        let (lines, notes) = of_imgproxy(&format!("{store}{more}{images}"));
        for line in [
            &format!("s3.buckets = {buckets}\n"),
            "s3.endpoint = \"https://minio.storage.svc:9000\"\n",
            "allow = [\"10.0.0.0/8\", ",
            "[[fallback]]\nimage = \"s3://brand-assets/missing.png\"\n",
            "[imgproxy.watermark]\nfile = \"s3://brand-assets/logo mark.png\"",
        ] {
            assert!(lines.contains(line), "{line}\n{lines}");
        }
        assert_eq!(lines.matches("s3.buckets").count(), 1, "{lines}");
        assert!(!notes.contains("_URL:"), "{notes}");
    }
    let listed = format!("{store}IMGPROXY_S3_ALLOWED_BUCKETS=photos\n{images}");
    let (lines, notes) = of_imgproxy(&listed);
    assert!(lines.contains("s3.buckets = [\"photos\"]\n"), "{lines}");
    assert!(!lines.contains("\n[[fallback]]"), "{lines}");
    assert!(
        notes.contains("if IMGPROXY_S3_ALLOWED_BUCKETS lists its bucket"),
        "{notes}"
    );
    let (lines, notes) = of_imgproxy("IMGPROXY_BASE_URL=https://media.example/a/\n");
    for line in [
        "http.urls = [\"https://media.example/a/\"]\n",
        "base_url = \"https://media.example/a/\"",
    ] {
        assert!(lines.contains(line), "{line}\n{lines}");
    }
    assert!(!notes.contains("no source is named"), "{notes}");
    let hosts = "IMGPROXY_ALLOWED_SOURCES=https://cdn.example/a/\n\
                 IMGPROXY_WATERMARK_URL=https://cdn.example/a/mark.png\n\
                 IMGPROXY_FALLBACK_IMAGE_URL=http://media.shop.svc/missing.png\n";
    let (lines, _) = of_imgproxy(hosts);
    for line in [
        "http.urls = [\"https://cdn.example/a/\"]\n",
        "http.urls = [\"http://media.shop.svc/missing.png\"]\n",
        "file = \"https://cdn.example/a/mark.png\"",
        "image = \"http://media.shop.svc/missing.png\"\n",
    ] {
        assert!(lines.contains(line), "{line}\n{lines}");
    }
}

#[test]
fn lines_for_a_watermark_and_a_fallback_that_no_origin_has_are_valid_as_they_are_printed() {
    for image in ["PATH=<files>/logo.png", "DATA=aGVsbG8="] {
        for start in ["IMGPROXY_WATERMARK_", "IMGPROXY_FALLBACK_IMAGE_"] {
            let conf = format!(
                "IMGPROXY_ALLOWED_SOURCES=https://cdn.example/\n{start}{image}\nIMGPROXY_WATERMARK_OPACITY=0.5\n"
            );
            let site = Site::new("env", &conf);
            let imported = site.import("env").ending(0);
            assert_eq!(imported.err, "");
            assert!(!imported.out.contains("aGVsbG8="), "{}", imported.out);
            let added = imported
                .out
                .lines()
                .filter_map(|line| line.strip_prefix("#     "));
            let added: String = added.map(|line| format!("{line}\n")).collect();
            let table = match start.contains("WATERMARK") {
                true => "[imgproxy.watermark]\nfile = ",
                false => "[[fallback]]\nimage = ",
            };
            assert!(added.contains(table), "{}", imported.out);
            let folder = site.path().join("new");
            fs::create_dir(&folder).unwrap();
            let mut text = imported.out.clone() + &added;
            for mounted in ["/watermarks", "/fallback"] {
                let here = folder.display().to_string();
                text = text.replace(
                    &format!("material_dir = \"{mounted}\""),
                    &format!("material_dir = \"{here}\""),
                );
                text = text.replace(
                    &format!("fs.root = \"{mounted}\""),
                    &format!("fs.root = \"{here}\""),
                );
            }
            fs::write(site.path().join("andon.toml"), text).unwrap();
            said(program(), site.path(), "config check andon.toml").ending(0);
        }
    }
}

#[test]
fn a_volume_of_the_chart_is_said_with_how_it_is_mounted_here() {
    let values =
        |volume: &str| format!("env:\n  IMGPROXY_LOCAL_FILESYSTEM_ROOT: /images\n{volume}");
    let volume = "persistence: {enabled: true, existingClaim: shop-images, mountPath: /images}\n";
    let site = Site::new("values.yaml", &values(volume));
    let said = site.import("values.yaml").ending(0);
    let note = "persistence: the chart of Andon mounts a claim by `pictures: {existingClaim: shop-images, mountPath: /images}`";
    assert!(said.out.contains(note), "{}", said.out);
    for none in [
        "",
        "persistence: {enabled: false, existingClaim: shop-images}\n",
    ] {
        let site = Site::new("values.yaml", &values(none));
        assert!(
            !site
                .import("values.yaml")
                .ending(0)
                .out
                .contains("persistence")
        );
    }
}

#[test]
fn variables_below_custom_of_the_old_chart_are_none_of_its_other_keys() {
    let chart =
        "features:\n  urlSignature: {enabled: false}\n  custom: {IMGPROXY_AUTO_WEBP: \"true\"}\n";
    let site = Site::new("values.yaml", chart);
    let said = site.import("values.yaml").ending(0);
    assert!(said.out.contains("negotiate = true"), "{}", said.out);
    assert!(!said.out.contains("no such variable"), "{}", said.out);
}
