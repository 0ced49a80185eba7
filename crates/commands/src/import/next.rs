//! Imports `images` of a Next.js configuration that was exported as JSON.

use std::fmt::Write;

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};

use super::sources::{LOOPBACK, PRIVATE, is_of_own_network, is_of_this_machine};
use super::write::quoted;
use super::{Format, Input, imagor, imgproxy, thumbor};

pub(super) const FORMAT: Format = Format {
    name: "the configuration of a Next.js as JSON (.next/required-server-files.json)",
    is: |text| {
        // A Helm template and a task definition of Amazon ECS begin with a brace, too.
        let text = text.trim_start();
        text.starts_with('{')
            && !text.starts_with("{{")
            && !text.contains("containerDefinitions")
            && (has_images(text) || !is_of_variables(text))
    },
    read: |input: &Input<'_>| text(input.text, input.name).with_context(|| input.name.to_owned()),
};

/// Whether a JSON text has a key `images`.
fn has_images(text: &str) -> bool {
    let mut all = text.match_indices("\"images\"");
    all.any(|(at, key)| text[at + key.len()..].trim_start().starts_with(':'))
}

/// Whether a text names environment variables of another image server, as values of Helm charts and Kubernetes
/// manifests in JSON do.
fn is_of_variables(text: &str) -> bool {
    [imgproxy::FORMAT, imagor::FORMAT, thumbor::FORMAT]
        .iter()
        .any(|format| (format.is)(text))
}

/// Keys of `images` in a Next.js configuration, each with the key of Andon's `[next]` table that has the same meaning.
const KEYS: &[(&str, &str)] = &[
    ("deviceSizes", "device_sizes"),
    ("imageSizes", "image_sizes"),
    ("qualities", "qualities"),
    ("formats", "formats"),
    ("minimumCacheTTL", "minimum_cache_ttl"),
    ("domains", "domains"),
    ("remotePatterns", "remote_patterns"),
    ("localPatterns", "local_patterns"),
    ("dangerouslyAllowSVG", "allow_svg"),
    ("contentSecurityPolicy", "content_security_policy"),
    ("contentDispositionType", "content_disposition"),
];

/// The default path of Next.js's image optimizer, below `basePath`.
const USUAL_PATH: &str = "/_next/image";

/// The key of `images` in a Next.js configuration that permits image hosts with addresses that are not public.
const LOCAL_ADDRESSES: &str = "dangerouslyAllowLocalIP";

/// Keys of `images` in a Next.js configuration without an equivalent in `[next]`, with the reasons.
const LEFT_OUT: &[(&str, &str)] = &[
    ("loader", "what is imported is the default loader"),
    ("loaderFile", "what is imported is the default loader"),
    ("disableStaticImages", "it is about the bundler"),
    (
        "maximumDiskCacheSize",
        "[cache] disk is the size of the cache",
    ),
    (
        "maximumRedirects",
        "http.redirects of an origin is the number of redirects",
    ),
    (
        "maximumResponseBody",
        "max_bytes of an origin is the largest source",
    ),
    (
        LOCAL_ADDRESSES,
        "no host is named that could have such an address",
    ),
    ("unoptimized", "it is about the pages"),
    ("customCacheHandler", "[store] is what nodes share"),
    ("sizes", "deviceSizes and imageSizes have them"),
];

/// Returns the `andon.toml` for an exported configuration: the configuration itself, or
/// `.next/required-server-files.json`.
///
/// # Errors
/// If the text is not such an export.
fn text(json: &str, file: &str) -> anyhow::Result<String> {
    let whole: Value = serde_json::from_str(json).context("it is no JSON")?;
    let config = whole.get("config").unwrap_or(&whole);
    let images = config.get("images").and_then(Value::as_object).context(
        "it has no `images`; `.next/required-server-files.json`, which `next build` writes, has them",
    )?;
    let base_path = config
        .get("basePath")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut out = format!("# Imported from {file} by `andon import`.\n");
    let (urls, unlisted_hosts) = urls(images);
    let is_local = images.get(LOCAL_ADDRESSES) == Some(&Value::Bool(true)) && !urls.is_empty();
    let mut notes = notes(images);
    notes.retain(|note| !is_local || !note.contains(LOCAL_ADDRESSES));
    notes.extend(unlisted_hosts);
    if !is_local {
        notes.extend(urls.iter().filter_map(|url| of_local_address(url)));
    }
    if !notes.is_empty() {
        out += "#\n# What was not taken over:\n";
    }
    for note in notes {
        let _ = writeln!(out, "# {note}");
    }
    let built = built_folder(config);
    let built_images = format!("{built}/static");
    let assets_path =
        asset_prefix(config, base_path).map(|prefix| format!("{prefix}/_next/static"));
    let folders = [("/", "public"), ("/_next/static", &built_images)];
    let assets_path = assets_path.as_deref();
    for (prefix, root) in folders
        .into_iter()
        .chain(assets_path.map(|it| (it, &*built_images)))
    {
        let (prefix, root) = (quoted(prefix), quoted(root));
        let _ = writeln!(out, "\n[[origin]]\nprefix = {prefix}\nfs.root = {root}");
    }
    if let Some(prefix) = assets_path {
        let prefix = quoted(prefix);
        let _ = writeln!(
            out,
            "\n[[cache.rule]]\n# named after their content\nprefix = {prefix}\ncache_control = \"public, max-age=31536000, must-revalidate\""
        );
    }
    if !urls.is_empty() {
        let urls = value(&Value::from(urls))?;
        let _ = writeln!(out, "\n[[origin]]\nhttp.urls = {urls}");
        if is_local {
            let allow = value(&Value::from([&LOOPBACK[..], &PRIVATE].concat()))?;
            let _ = writeln!(out, "allow = {allow}");
        }
    }
    let _ = writeln!(
        out,
        "\n[sandbox]\n# `next build` replaces {built}/static while the server runs, and the sandbox permits the folder that was there at\n\
         # the start: what is in this one may be replaced.\nread = [{}]",
        quoted(built)
    );
    let prefix = quoted(&prefix(images, base_path));
    let _ = writeln!(out, "\n[next]\nprefix = {prefix}");
    if !base_path.is_empty() {
        let _ = writeln!(out, "base_path = {}", quoted(base_path));
    }
    // `next build` writes all keys of its version. In an export from before Next.js 16, a missing key means that
    // everything is permitted.
    let earlier = match whole.get("config") {
        Some(_) => json!({ "qualities": [], "localPatterns": [{ "pathname": "**" }] }),
        None => Value::Null,
    };
    for (name, key) in KEYS {
        let setting = images.get(*name).filter(|setting| !setting.is_null());
        let setting = setting.or_else(|| earlier.get(*name));
        if let Some(setting) = setting {
            ensure!(
                !is_regex(setting),
                "`{name}` has regular expressions, as `.next/images-manifest.json` has; \
                 `.next/required-server-files.json` has the patterns themselves"
            );
            let setting = value(setting).with_context(|| format!("`{name}`"))?;
            let _ = writeln!(out, "{key} = {setting}");
        }
    }
    Ok(out)
}

/// Returns the path of `assetPrefix`, which precedes the paths of imported images, if it differs from `basePath`.
fn asset_prefix<'a>(config: &'a Value, base_path: &str) -> Option<&'a str> {
    let path = config.get("assetPrefix")?.as_str()?.trim_end_matches('/');
    (path.starts_with('/') && path != base_path).then_some(path)
}

/// Returns the folder that `next build` writes to, relative to the folder of the application.
fn built_folder(config: &Value) -> &str {
    let named = config.get("distDir").and_then(Value::as_str);
    let named = named.map(|dir| dir.trim_start_matches("./").trim_end_matches('/'));
    named.filter(|dir| !dir.is_empty()).unwrap_or(".next")
}

/// Returns the path of the optimizer's URLs: `images.path` without a scheme, host and trailing slash. An export by
/// `next build` already has `basePath` in it.
fn prefix(images: &Map<String, Value>, base_path: &str) -> String {
    let path = images.get("path").and_then(Value::as_str);
    let path = path.unwrap_or_default().trim_end_matches('/');
    let below = path.split_once("://").map_or(path, |(_, rest)| {
        rest.find('/').map_or("", |at| &rest[at..])
    });
    match below {
        "" | USUAL_PATH => format!("{base_path}{USUAL_PATH}"),
        own => own.to_owned(),
    }
}

/// Returns a note for each key that is not imported. Keys with Next.js's default value are skipped.
fn notes(images: &Map<String, Value>) -> Vec<String> {
    let is_set = |value: &&Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !["", "default"].contains(&&**text),
        Value::Array(_) => false,
        Value::Number(number) => ![3, 50_000_000].map(Some).contains(&number.as_u64()),
        _ => true,
    };
    let mut notes = Vec::new();
    for (name, setting) in images.iter().filter(|(_, setting)| is_set(setting)) {
        if name == "path" || KEYS.iter().any(|(key, _)| key == name) {
            continue;
        }
        let why = LEFT_OUT.iter().find(|(key, _)| key == name);
        let why = why.map_or("there is no such key in Next.js 16", |(_, why)| *why);
        notes.push(format!("images.{name} = {setting}: {why}"));
    }
    notes
}

/// Whether a list of patterns for hosts and paths, such as `remotePatterns`, contains regular expressions.
fn is_regex(value: &Value) -> bool {
    let patterns = value.as_array().into_iter().flatten();
    let texts = patterns.filter_map(|pattern| pattern.get("hostname").or(pattern.get("pathname")));
    texts
        .filter_map(Value::as_str)
        .any(|text| text.starts_with('^'))
}

/// Returns a note if the host of a URL appears to have an address that is not public.
fn of_local_address(url: &str) -> Option<String> {
    let address = match (is_of_this_machine(url), is_of_own_network(url)) {
        (true, _) => LOOPBACK[0],
        (_, true) => PRIVATE[0],
        _ => return None,
    };
    Some(format!(
        "images: where the address of {url} is not public, its images are refused unless the origin has `allow = [\"{address}\"]`"
    ))
}

/// Returns the URLs that an origin must permit for the hosts in `domains` and `remotePatterns`, and notes on hosts that
/// cannot be expressed as URLs. The URLs may permit more than the patterns, which the server checks as well.
fn urls(images: &Map<String, Value>) -> (Vec<String>, Vec<String>) {
    let list = |name| {
        images
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let (mut urls, mut notes) = (Vec::new(), Vec::new());
    let note_of_port = |host: &str, what: &str| {
        let url = format!("https://{host}/");
        let is_own = is_of_this_machine(&url) || is_of_own_network(&url);
        is_own.then(|| {
            format!(
                "images: {what} `{host}` names no port, and Next.js then takes every one: add those of your images to \
                 http.urls, as in \"http://{host}:8000/\""
            )
        })
    };
    let mut any_port = Vec::new();
    let mut add = |protocol: Option<&str>, host: &str| {
        let host = host.replace("**", "*");
        if host
            .strip_prefix("*.")
            .unwrap_or(&host)
            .contains(['*', '?', '{', '[', '('])
        {
            notes.push(format!(
                "images: the hosts of `{host}` are to be listed in http.urls of an origin"
            ));
            return;
        }
        for scheme in ["https", "http"] {
            if protocol.is_none_or(|only| only.trim_end_matches(':') == scheme) {
                urls.push(format!("{scheme}://{host}/"));
            }
        }
    };
    for host in list("domains").filter_map(Value::as_str) {
        add(None, host);
        any_port.extend(note_of_port(host, "the domain"));
    }
    for pattern in list("remotePatterns") {
        let text = |key| pattern.get(key).and_then(Value::as_str);
        let port = text("port").filter(|port| !port.is_empty());
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let Some(host) = text("hostname") else {
            continue;
        };
        add(text("protocol"), &format!("{host}{port}"));
        if pattern.get("port").is_none_or(Value::is_null) {
            any_port.extend(note_of_port(host, "the pattern of"));
        }
    }
    notes.extend(any_port);
    urls.sort();
    urls.dedup();
    (urls, notes)
}

/// Formats a JSON value as TOML. Numbers must be non-negative integers.
fn value(json: &Value) -> anyhow::Result<String> {
    Ok(match json {
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: anyhow::Result<Vec<String>> = items.iter().map(value).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, field)| !field.is_null());
            let fields: anyhow::Result<Vec<String>> = fields
                .map(|(name, field)| Ok(format!("{name} = {}", value(field)?)))
                .collect();
            format!("{{ {} }}", fields?.join(", "))
        }
        other => bail!("`{other}` is no text, flag or whole number"),
    })
}
