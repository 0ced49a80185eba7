//! `andon import` of imgproxy, thumbor and imagor: Andon serves the URLs that they served.

use std::fs;
use std::path::Path;

use crate::common::said::{Said, said};
use crate::common::{Served, program, python, sample};
use tempfile::TempDir;

/// A folder with a configuration, and images in `files`.
pub(crate) struct Site(TempDir);

impl Site {
    pub(crate) fn new(file: &str, content: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("files");
        fs::create_dir(&files).unwrap();
        fs::copy(sample("jpeg/420.jpg"), files.join("a.jpg")).unwrap();
        let content = content.replace("<files>", &files.display().to_string());
        fs::write(folder.path().join(file), content).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn import(&self, file: &str) -> Said {
        said(program(), self.path(), &format!("import {file}"))
    }

    /// Imports, checks and serves the configuration. Returns what was imported.
    pub(crate) fn serve(&self, file: &str) -> (String, Served) {
        let imported = self.import(file).ending(0);
        assert_eq!(imported.err, "");
        fs::write(self.path().join("andon.toml"), &imported.out).unwrap();
        said(program(), self.path(), "config check andon.toml").ending(0);
        let served = Served::start(self.path(), &imported.out);
        (imported.out, served)
    }
}

/// Returns the width of a response's image, or its status.
pub(crate) fn width(served: &Served, target: &str) -> u32 {
    let reply = served.get(target);
    match reply.status {
        200 => {
            andon_client::DecodedImage::decode(&reply.body)
                .unwrap()
                .width
        }
        status => status.into(),
    }
}

/// Returns an HMAC in URL-safe Base64: of SHA-256 with a key and salt in hexadecimal digits, or of SHA-1 with a key.
pub(crate) fn signed(digest: &str, key: &str, path: &str) -> String {
    let script = format!(
        "import base64, hashlib, hmac\n\
         mac = hmac.new({key}, {path}, hashlib.{digest}).digest()\n\
         print(base64.urlsafe_b64encode(mac).decode(), end='')"
    );
    python(&script, &[])
}

const COMPOSE: &str = "\
services:
  images:
    image: ghcr.io/imgproxy/imgproxy:v3
    ports: [\"8080:8080\"]
    environment:
      IMGPROXY_KEY: 943b421c9eb07c830af81030552c86009268de4e618ee2ddb2555610e3fd24c8
      IMGPROXY_SALT: \"520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5\"
      IMGPROXY_LOCAL_FILESYSTEM_ROOT: <files>
      IMGPROXY_PATH_PREFIX: /img
      IMGPROXY_QUALITY: 70
      IMGPROXY_FORMAT_QUALITY: webp=60,avif=50
      IMGPROXY_PRESETS: \"small=rs:fit:40:40,default=q:75\"
      IMGPROXY_URL_REPLACEMENTS: \"mine://*/=local:///\"
      IMGPROXY_ALLOWED_SOURCES: local://,https://*.example.com/photos/
      IMGPROXY_MAX_SRC_RESOLUTION: 20
      IMGPROXY_MAX_SRC_FILE_SIZE: 10485760
      IMGPROXY_DOWNLOAD_TIMEOUT: 4
      IMGPROXY_AUTO_WEBP: \"true\"
      IMGPROXY_SECRET: hush
      IMGPROXY_SENTRY_DSN: https://k@sentry.example/1
      IMGPROXY_QUALTY: 5
      IMGPROXY_BASE_URL: ${BASE}
";

#[test]
fn imgproxy_in_docker_compose_keeps_its_keys_and_urls() {
    let site = Site::new("docker-compose.yml", COMPOSE);
    let (text, served) = site.serve("docker-compose.yml");
    let key = "bytes.fromhex('943b421c9eb07c830af81030552c86009268de4e618ee2ddb2555610e3fd24c8')";
    let path = "/rs:fit:20:20/plain/local:///a.jpg";
    let salted = format!(
        "bytes.fromhex('520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5') + b'{path}'"
    );
    let signature = signed("sha256", key, &salted);
    let signature = signature.trim_end_matches('=');
    assert_eq!(width(&served, &format!("/img/{signature}{path}")), 20);
    assert_eq!(width(&served, &format!("/img/insecure{path}")), 403);
    for line in [
        "quality = 70",
        "[imgproxy.format_quality]\navif = 50\nwebp = 60",
        "small = \"rs:fit:40:40\"",
        "allowed_sources = [\"local://\", \"https://*.example.com/photos/\"]",
        "http.urls = [\"https://*.example.com/photos/\"]",
        "max_bytes = 10485760",
        "timeouts.total = \"4s\"",
        "pixels = 20000000",
        "negotiate = true",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for note in [
        "docker-compose.yml:19: IMGPROXY_SECRET: requests need no Authorization header",
        "docker-compose.yml:20: IMGPROXY_SENTRY_DSN: errors are in the log",
        "docker-compose.yml:21: IMGPROXY_QUALTY: imgproxy has no such variable; IMGPROXY_QUALITY is one",
        "docker-compose.yml:22: IMGPROXY_BASE_URL: its value is made with the variable BASE, which is neither in .env",
    ] {
        assert!(text.contains(note), "{note}\n{text}");
    }
    assert!(!text.contains("hush"), "{text}");
}

#[test]
fn imgproxy_without_keys_or_sources_is_imported_with_notes() {
    let conf = "IMGPROXY_KEY=abcd\nIMGPROXY_BIND=127.0.0.1:9\nIMGPROXY_USE_S3=true\nIMGPROXY_S3_REGION=b\n";
    let site = Site::new("env", conf);
    let said = site.import("env").ending(0);
    assert_eq!(said.err, "");
    for text in [
        "env:1: IMGPROXY_KEY: imgproxy checks signatures only with a key and a salt",
        "env:3: IMGPROXY_USE_S3: no bucket is named, and imgproxy then reads every one: name yours in `s3.buckets`",
        "s3.buckets = [\"name-of-the-bucket\"]",
        "s3.region = \"b\"",
        "env: IMGPROXY_ALLOWED_SOURCES: no source is named",
        "listen = [\"127.0.0.1:9\"]",
    ] {
        assert!(said.out.contains(text), "{text}\n{}", said.out);
    }
}

#[test]
fn buckets_that_imgproxy_lists_among_its_sources_are_imported() {
    let conf = "IMGPROXY_USE_S3=true\nIMGPROXY_S3_REGION=eu-central-1\n\
                IMGPROXY_ALLOWED_SOURCES=s3://photos/2026/,s3://photos/,s3://assets-*/,s3://*/x/,local://\n";
    let said = Site::new("env", conf).import("env").ending(0);
    let lines = [
        "s3.buckets = [\"photos\", \"assets-*\"]",
        "s3.region = \"eu-central-1\"",
    ];
    for line in lines {
        assert!(said.out.contains(line), "{line}\n{}", said.out);
    }
}

/// Returns a Deployment of imgproxy whose container has this `env` and further lines.
fn deployment(env: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: images\nspec:\n  template:\n    spec:\n      \
         containers:\n      - name: images\n        image: ghcr.io/imgproxy/imgproxy:v3\n{env}"
    )
}

#[test]
fn keys_of_imgproxy_that_are_in_another_place_leave_the_server_closed() {
    let keys = |of: &str| {
        let lines = ["KEY", "SALT"].map(|name| of.replace("NAME", name));
        lines.concat()
    };
    let root = "IMGPROXY_LOCAL_FILESYSTEM_ROOT";
    let list = format!("        env:\n        - name: {root}\n          value: <files>\n");
    let compose = format!(
        "services:\n  a:\n    image: imgproxy/imgproxy\n    environment:\n      - {root}=<files>\n"
    );
    for (content, said) in [
        (
            deployment(
                &(list.clone()
                    + &keys(
                        "        - name: IMGPROXY_NAME\n          valueFrom:\n            secretKeyRef:\n              name: k\n              key: NAME\n",
                    )),
            ),
            "IMGPROXY_KEY: its value is in a Secret (k): set ANDON_IMGPROXY__KEYS from it",
        ),
        (
            deployment(
                &(list.clone()
                    + &keys(
                        "        - {name: IMGPROXY_NAME, valueFrom: {secretKeyRef: {name: k, key: NAME}}}\n",
                    )),
            ),
            "IMGPROXY_SALT: its value is in a Secret (k): set ANDON_IMGPROXY__SALTS from it",
        ),
        (
            deployment(&(list + "        envFrom:\n        - secretRef:\n            name: k\n")),
            "envFrom: the variables in the Secret `k` were not read: those of imgproxy are to be added here",
        ),
        (
            format!(
                "image:\n  repo: ghcr.io/imgproxy/imgproxy\nenv:\n  {root}: <files>\nresources:\n  addSecrets:\n    - k\n"
            ),
            "addSecrets: the variables in the Secret `k` were not read",
        ),
        (
            format!("env:\n  {root}: <files>\nextraEnvFrom:\n  - secretRef: {{name: k}}\n"),
            "extraEnvFrom: the variables in the Secret `k` were not read",
        ),
        (
            format!(
                "env:\n  {root}: <files>\n{}",
                keys(
                    "  IMGPROXY_NAME:\n    valueFrom:\n      secretKeyRef: {name: k, key: NAME}\n",
                )
            ),
            "IMGPROXY_KEY: its value is in a Secret (k)",
        ),
        (
            compose.clone() + &keys("      - IMGPROXY_NAME=${IMGPROXY_NAME}\n"),
            "IMGPROXY_KEY: its value is made with the variable IMGPROXY_KEY, which is neither in .env",
        ),
        (
            format!(
                "{{{{- if .Values.images }}}}\nimage: imgproxy/imgproxy\nenv:\n- {{name: {root}, value: <files>}}\n\
                 {{{{- toYaml .Values.env | nindent 0 }}}}\n{{{{- end }}}}\n"
            ),
            "template: the variables in `{{- toYaml .Values.env | nindent 0 }}` were not read",
        ),
        (
            format!(
                "{{\"containerDefinitions\": [{{\"image\": \"imgproxy\", \"environment\": [{{\"name\": \"{root}\", \"value\": \"<files>\"}}],\n\
                 \"secrets\": [{{\"name\": \"IMGPROXY_KEY\", \"valueFrom\": \"arn:a\"}}, {{\"name\": \"IMGPROXY_SALT\", \"valueFrom\": \"arn:b\"}}]}}]}}"
            ),
            "images.yaml:2: IMGPROXY_SALT: its value is in arn:b: set ANDON_IMGPROXY__SALTS from it",
        ),
        (
            compose.clone() + &keys("      - IMGPROXY_NAME\n"),
            "IMGPROXY_KEY: its value is that of the environment in which the server is started",
        ),
        (
            compose.clone() + "    env_file: none.env\n",
            "env_file: the variables in `none.env` (cannot be read: No such file",
        ),
        (
            compose + "    command: imgproxy -keypath /run/key -saltpath /run/salt\n",
            "IMGPROXY_KEY: its value is in the file \"/run/key\"",
        ),
    ] {
        let site = Site::new("images.yaml", &content);
        let (text, served) = site.serve("images.yaml");
        assert!(text.contains(said), "{said}\n{text}");
        for name in ["KEY", "SALT"] {
            let note =
                format!("  # SECRET: IMGPROXY_{name} goes here; this random one opens nothing");
            assert!(text.contains(&note), "{note}\n{text}");
        }
        let target = "/insecure/rs:fit:20:20/plain/local:///a.jpg";
        assert_eq!(width(&served, target), 403, "{text}");
        let known = text.replacen(
            "\nkeys = ",
            "\nkeys = [\"943b421c9eb07c830af81030552c8600\"] # ",
            1,
        );
        let known = known.replacen(
            "\nsalts = ",
            "\nsalts = [\"520f986b998545b4785e0defbc4f3c12\"] # ",
            1,
        );
        let served = Served::start(site.path(), &known);
        let path = "/w:20/plain/local:///a.jpg";
        let signature = signed(
            "sha256",
            "bytes.fromhex('943b421c9eb07c830af81030552c8600')",
            &format!("bytes.fromhex('520f986b998545b4785e0defbc4f3c12') + b'{path}'"),
        );
        let signature = signature.trim_end_matches('=');
        assert_eq!(
            width(&served, &format!("/{signature}{path}")),
            20,
            "{known}"
        );
    }
}

#[test]
fn maps_in_brackets_and_files_of_variables_are_read() {
    let compose = "services:\n  images:\n    image: imgproxy/imgproxy\n    env_file:\n      - .env\n    environment: {IMGPROXY_TTL: 60, \
                   IMGPROXY_LOCAL_FILESYSTEM_ROOT: <files>}\n";
    let site = Site::new("docker-compose.yml", compose);
    let key = "943b421c9eb07c830af81030552c8600";
    let env = format!("IMGPROXY_KEY={key}\nIMGPROXY_SALT={key}\nIMGPROXY_TTL=5\nIMGPROXY_TLT=5\n");
    fs::write(site.path().join(".env"), env).unwrap();
    let (text, served) = site.serve("docker-compose.yml");
    for part in [
        "ttl = 60",
        "# .env:4: IMGPROXY_TLT: imgproxy has no such variable",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let path = "/w:20/plain/local:///a.jpg";
    let bytes = format!("bytes.fromhex('{key}')");
    let signature = signed("sha256", &bytes, &format!("{bytes} + b'{path}'"));
    let signature = signature.trim_end_matches('=');
    assert_eq!(width(&served, &format!("/{signature}{path}")), 20);
    assert_eq!(width(&served, &format!("/insecure{path}")), 403);

    let list = "        env:\n        - {name: IMGPROXY_LOCAL_FILESYSTEM_ROOT, value: <files>}\n        - {name: IMGPROXY_TTL, value: \"60\"}\n";
    let site = Site::new("images.yaml", &deployment(list));
    let (text, served) = site.serve("images.yaml");
    assert!(text.contains("ttl = 60"), "{text}");
    assert_eq!(width(&served, &format!("/_{path}")), 20);
    assert!(
        text.contains("IMGPROXY_KEY: it is not set, so URLs need no signature"),
        "{text}"
    );
}

#[test]
fn keys_of_thumbor_and_imagor_that_are_in_another_place_leave_the_server_closed() {
    let secret = "        - {name: NAME, valueFrom: {secretKeyRef: {name: k, key: k}}}\n";
    let thumbor = format!(
        "        env:\n        - {{name: LOADER, value: thumbor.loaders.file_loader}}\n        - {{name: FILE_LOADER_ROOT_PATH, value: <files>}}\n{}",
        secret.replace("NAME", "SECURITY_KEY")
    );
    let imagor = format!(
        "        env:\n        - {{name: FILE_LOADER_BASE_DIR, value: <files>}}\n{}",
        secret.replace("NAME", "IMAGOR_SECRET")
    );
    for (content, said) in [
        (
            deployment(&thumbor),
            "SECURITY_KEY: its value is in a Secret (k): set ANDON_THUMBOR__KEYS from it",
        ),
        (
            "LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = '<files>'\nSECURITY_KEY = os.environ['KEY']\n"
                .to_owned(),
            "SECURITY_KEY: it is an expression, which is not evaluated",
        ),
        (
            deployment(&imagor),
            "IMAGOR_SECRET: its value is in a Secret (k): set ANDON_IMAGOR__KEYS from it",
        ),
        (
            "FILE_LOADER_BASE_DIR=<files>\nIMAGOR_SECRET=${SECRET}\n".to_owned(),
            "IMAGOR_SECRET: its value is that of another variable",
        ),
    ] {
        let site = Site::new("images", &content);
        let (text, served) = site.serve("images");
        assert!(text.contains(said), "{said}\n{text}");
        assert!(text.contains("  # SECRET: "), "{text}");
        let status = width(&served, "/unsafe/20x0/a.jpg");
        assert!([400, 403].contains(&status), "{status}\n{text}");
    }
}

#[test]
fn what_imgproxy_fetches_without_a_list_of_sources_is_said() {
    let conf = "IMGPROXY_LOCAL_FILESYSTEM_ROOT=<files>\nIMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES=true\n\
                IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES=false\nIMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES=true\n\
                IMGPROXY_USER_AGENT=a\nIMGPROXY_S3_REGION=b\n";
    let site = Site::new("env", conf);
    let (text, _served) = site.serve("env");
    for note in [
        "env: IMGPROXY_ALLOWED_SOURCES: no source is named, and imgproxy then fetches URLs of every host",
        "env:2: IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES: `allow` of a remote [[origin]] lists such addresses",
        "env:3: IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES: such addresses are refused",
        "env:4: IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES: ",
        "env:5: IMGPROXY_USER_AGENT: `http.headers` is of a remote [[origin]]",
        "env:6: IMGPROXY_S3_REGION: it is not used, because IMGPROXY_USE_S3 is not true",
    ] {
        assert!(text.contains(note), "{note}\n{text}");
    }
}

const THUMBOR: &str = "\
# thumbor 7
import os
SECURITY_KEY = 'a key of more than 16 bytes'
ALLOW_UNSAFE_URL = False
LOADER = 'thumbor.loaders.file_loader'
FILE_LOADER_ROOT_PATH = '<files>'
QUALITY = 85
MAX_AGE = 24 * 60 * 60
MAX_PIXELS = 75e6
AUTO_WEBP = True
FILTERS = [
    'thumbor.filters.brightness',
]
";

#[test]
fn thumbor_conf_is_read_without_being_evaluated() {
    let site = Site::new("thumbor.conf", THUMBOR);
    let (text, served) = site.serve("thumbor.conf");
    let signature = signed("sha1", "b'a key of more than 16 bytes'", "b'20x0/a.jpg'");
    assert_eq!(width(&served, &format!("/{signature}/20x0/a.jpg")), 20);
    assert_eq!(width(&served, "/unsafe/20x0/a.jpg"), 400);
    for line in [
        "quality = 85",
        "progressive = true",
        "respect_orientation = false",
        "allow_unsafe = false",
        "pixels = 75000000",
        "default = \"auto\"",
        "thumbor.conf:2: this line: it is no assignment",
        "max_age = 86400",
        "thumbor.conf:11: FILTERS: ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn thumbor_without_a_key_keeps_the_one_that_everybody_knows() {
    let site = Site::new(
        "t.conf",
        "ALLOWED_SOURCES = [r'.+\\.example\\.com', '(a|b)']\n",
    );
    let said = site.import("t.conf").ending(0);
    assert_eq!(said.err, "");
    for text in [
        "t.conf: SECURITY_KEY: it can be guessed",
        "keys = [\"MY_SECURE_KEY\"]",
        "loader = \"http\"",
        "http.urls = [\"https://*.example.com/\", \"http://*.example.com/\"]",
        "t.conf:1: ALLOWED_SOURCES: `(a|b)` is no host",
    ] {
        assert!(said.out.contains(text), "{text}\n{}", said.out);
    }
}

#[test]
fn imagor_is_imported_from_flags_and_from_its_environment() {
    for conf in [
        "exec imagor -port 8001 -imagor-secret 'sixteen bytes or more' \\\n  -file-loader-base-dir <files> -imagor-signer-type sha256 -imagor-cache-header-ttl 2h\n",
        "PORT=8001\nIMAGOR_SECRET=sixteen bytes or more\nFILE_LOADER_BASE_DIR=<files>  # images\n\
         IMAGOR_SIGNER_TYPE=sha256\nIMAGOR_CACHE_HEADER_TTL=2h\n",
    ] {
        let site = Site::new("imagor", conf);
        let (text, served) = site.serve("imagor");
        let signature = signed("sha256", "b'sixteen bytes or more'", "b'20x0/a.jpg'");
        assert_eq!(
            width(&served, &format!("/{signature}/20x0/a.jpg")),
            20,
            "{text}"
        );
        assert_eq!(width(&served, "/unsafe/20x0/a.jpg"), 403, "{text}");
        assert!(text.contains("listen = [\"0.0.0.0:8001\"]"), "{text}");
        assert!(text.contains("max_age = 7200"), "{text}");
    }
}

#[test]
fn a_file_of_no_known_format_is_refused_with_those_that_are_known() {
    let site = Site::new("hello.txt", "hello: world\n");
    let said = site.import("hello.txt").ending(1);
    for name in ["imgproxy", "thumbor.conf", "imagor", "nginx", "Next.js"] {
        assert!(said.err.contains(name), "{}", said.err);
    }
    let said = site.import("missing.txt").ending(1);
    assert!(
        said.err.contains("missing.txt cannot be read"),
        "{}",
        said.err
    );
    let site = Site::new("env", "IMGPROXY_TTL=1");
    let said = site.import("env --server a.example").ending(1);
    assert!(
        said.err.contains("--server names a server block of nginx"),
        "{}",
        said.err
    );
}

#[test]
fn the_variables_of_a_server_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let listed = said(program(), folder.path(), "import --variables imagor").ending(0);
    let row = "| `IMAGOR_SECRET` | `imagor.keys` |";
    assert!(listed.out.contains(row), "{}", listed.out);
    let wrong = said(program(), folder.path(), "import --variables imagox");
    assert!(wrong.ending(1).err.contains("imgproxy, thumbor, imagor"));
}
