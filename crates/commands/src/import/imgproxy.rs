//! Reads the environment of an imgproxy.

mod table;

use andon_dialects::signature::unhex;
use toml::{Table, Value};

use super::assignments::{Assignment, assignments};
use super::document::Document;
use super::sources::{Common, add_unnamed, add_urls, whole_segments};
use super::variables::{Parts, translate};
use super::{Format, Input, values};

pub(super) use table::ALL as TABLE;

pub(super) const FORMAT: Format = Format {
    name: "the environment of an imgproxy (IMGPROXY_KEY=…)",
    is: |text| !given(text).is_empty(),
    read: |input| Ok(text(input)),
};

const PREFIX: &str = "IMGPROXY_";

fn given(text: &str) -> Vec<Assignment> {
    let mut all = assignments(text);
    all.retain(|it| it.name.starts_with(PREFIX));
    all
}

fn text(input: &Input<'_>) -> String {
    let mut out = Document::new(input.name);
    out.set("imgproxy.prefix", "/");
    let parts = translate(&given(input.text), TABLE, "imgproxy", &mut out);
    listen(&parts, &mut out);
    keys(&parts, &mut out);
    formats(&parts, &mut out);
    presets(&parts, &mut out);
    let size = source_size(&parts, &mut out);
    origins(&parts, size, &mut out);
    out.text()
}

fn listen(parts: &Parts, out: &mut Document) {
    let bind = match (parts.text("IMGPROXY_BIND"), parts.text("IMGPROXY_NETWORK")) {
        (Some(path), Some("unix")) => Some(Value::from(vec![format!("unix:{path}")])),
        _ => parts.put("IMGPROXY_BIND", values::addresses, out),
    };
    out.set(
        "listen",
        bind.unwrap_or_else(|| vec!["0.0.0.0:8080"].into()),
    );
}

/// Carries over keys and salts, which imgproxy uses only if it has both.
fn keys(parts: &Parts, out: &mut Document) {
    let (keys, salts) = (parts.list("IMGPROXY_KEY"), parts.list("IMGPROXY_SALT"));
    if keys.is_empty() != salts.is_empty() {
        let name = if keys.is_empty() {
            "IMGPROXY_SALT"
        } else {
            "IMGPROXY_KEY"
        };
        parts.note(
            name,
            "imgproxy checks signatures only with a key and a salt, and only one of them is set",
            out,
        );
        return;
    }
    let secrets = parts.list("IMGPROXY_SOURCE_URL_ENCRYPTION_KEY");
    let is_weak = |key: &String| unhex(key).is_some_and(|key| values::is_weak(&key));
    if keys.iter().any(is_weak) {
        out.set("imgproxy.weak_keys", true);
        parts.note(
            "IMGPROXY_KEY",
            "it can be guessed, which `weak_keys` allows; `openssl rand -hex 32` makes a good one",
            out,
        );
    }
    if !keys.is_empty() {
        out.set("imgproxy.keys", keys);
        out.set("imgproxy.salts", salts);
    }
    if let Some(secret) = secrets.first() {
        out.set("imgproxy.source_key", secret.as_str());
    }
}

/// Carries over the formats that are chosen by `Accept`.
fn formats(parts: &Parts, out: &mut Document) {
    let is_on = |format: &&str| {
        let format = format.to_ascii_uppercase();
        parts.is_on(&format!("IMGPROXY_AUTO_{format}"))
            || parts.is_on(&format!("IMGPROXY_ENFORCE_{format}"))
            || parts.is_on(&format!("IMGPROXY_ENABLE_{format}_DETECTION"))
    };
    let formats: Vec<&str> = ["jxl", "avif", "webp"].into_iter().filter(is_on).collect();
    for format in ["JXL", "AVIF", "WEBP"] {
        let name = format!("IMGPROXY_ENFORCE_{format}");
        if parts.is_on(&name) {
            parts.note(
                &name,
                "the format follows Accept only where the URL names none",
                out,
            );
        }
    }
    if !formats.is_empty() {
        out.set("imgproxy.negotiate", true);
        out.set("negotiation.formats", formats);
    }
}

fn presets(parts: &Parts, out: &mut Document) {
    let separator = parts.text("IMGPROXY_PRESETS_SEPARATOR").unwrap_or(",");
    let mut presets = Table::new();
    let all = parts.text("IMGPROXY_PRESETS").unwrap_or_default();
    for preset in all
        .split(separator)
        .map(str::trim)
        .filter(|it| !it.is_empty())
    {
        match preset.split_once('=') {
            Some((name, options)) => {
                presets.insert(name.trim().to_owned(), options.trim().into());
            }
            None => parts.note("IMGPROXY_PRESETS", &format!("`{preset}` has no `=`"), out),
        }
    }
    if !presets.is_empty() {
        out.set("imgproxy.presets", Value::Table(presets));
    }
}

/// Carries over the limit of a source's size. The memory for sources has room for one of that size at least.
fn source_size(parts: &Parts, out: &mut Document) -> Option<i64> {
    let size = parts
        .put("IMGPROXY_MAX_SRC_FILE_SIZE", values::limit, out)?
        .as_integer()?;
    out.set("limits.source_bytes", size);
    if size > 256 << 20 {
        out.set("limits.held_bytes", size);
    }
    Some(size)
}

/// Returns the keys that every remote origin gets.
fn common(parts: &Parts, size: Option<i64>, out: &mut Document) -> Common {
    let mut allow: Vec<&str> = Vec::new();
    if parts.is_on("IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES") {
        allow.extend(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]);
    }
    if parts.is_on("IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES") {
        allow.extend(["127.0.0.0/8", "::1/128"]);
    }
    let keys = [
        (
            "timeouts.total",
            parts.put("IMGPROXY_DOWNLOAD_TIMEOUT", values::span, out),
        ),
        ("max_bytes", size.map(Value::from)),
        ("allow", (!allow.is_empty()).then(|| allow.into())),
    ];
    keys.into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

fn origins(parts: &Parts, size: Option<i64>, out: &mut Document) {
    let common = common(parts, size, out);
    if let Some(root) = parts.text("IMGPROXY_LOCAL_FILESYSTEM_ROOT") {
        out.add_origin([("fs.root".to_owned(), root.into())]);
    }
    buckets(parts, &common, out);
    let allowed = parts.list("IMGPROXY_ALLOWED_SOURCES");
    if !allowed.is_empty() {
        out.set("imgproxy.allowed_sources", allowed.clone());
    }
    let base = parts.text("IMGPROXY_BASE_URL").map(str::to_owned);
    let mut of_hosts: Common = common.clone();
    let redirects = parts.put("IMGPROXY_MAX_REDIRECTS", values::number, out);
    of_hosts.extend(redirects.map(|number| ("http.redirects".to_owned(), number)));
    if let Some(agent) = parts.text("IMGPROXY_USER_AGENT") {
        let headers = Table::from_iter([("User-Agent".to_owned(), Value::from(agent))]);
        of_hosts.push(("http.headers".to_owned(), headers.into()));
    }
    let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    let urls: Vec<String> = allowed
        .iter()
        .chain(&base)
        .filter(|url| is_http(url))
        .map(|url| whole_segments(url))
        .collect();
    add_urls(&urls, "IMGPROXY_ALLOWED_SOURCES", &of_hosts, out);
    add_unnamed("IMGPROXY_ALLOWED_SOURCES", &of_hosts, out);
}

/// Adds an origin for each kind of bucket that is switched on.
fn buckets(parts: &Parts, common: &Common, out: &mut Document) {
    for (name, key) in [("S3", "s3"), ("GCS", "gcs"), ("ABS", "azure")] {
        if !parts.is_on(&format!("IMGPROXY_USE_{name}")) {
            continue;
        }
        let variable = |what: &str| format!("IMGPROXY_{name}_{what}");
        let names = parts.list(&variable("ALLOWED_BUCKETS"));
        if names.is_empty() {
            let what = format!("name the buckets in `{key}.buckets` of an [[origin]]");
            parts.note(&format!("IMGPROXY_USE_{name}"), &what, out);
            continue;
        }
        // The keys of Google and Azure sign for one bucket, so that each has its origin.
        let secret = match name {
            "GCS" if parts.has("IMGPROXY_GCS_KEY") => Some(("credentials_env", "IMGPROXY_GCS_KEY")),
            "ABS" if parts.has("IMGPROXY_ABS_KEY") => Some(("access_key_env", "IMGPROXY_ABS_KEY")),
            _ => None,
        };
        if let Some((_, variable)) = secret {
            let what = format!(
                "the credentials of the platform are used for buckets that URLs name; this key serves an [[origin]] of one bucket, \
                 with `{key}.bucket` and a prefix"
            );
            parts.note(variable, &what, out);
        }
        let mut keys = common.clone();
        keys.push((format!("{key}.buckets"), names.into()));
        keys.push((format!("{key}.credentials"), "platform".into()));
        for (what, below) in [
            ("ENDPOINT", "endpoint"),
            ("REGION", "region"),
            ("NAME", "account"),
        ] {
            let given = parts.text(&variable(what));
            keys.extend(given.map(|given| (format!("{key}.{below}"), given.into())));
        }
        out.add_origin(keys);
    }
}
