//! Writes an imported nginx configuration as the text of an `andon.toml`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use andon_dialects::{Compat, Config, Dialects};

use super::model::{Base, Cache, INTERNAL, Link, Origin, Site, SmallLight};
use super::syntax::Place;
use super::units::seconds;

pub(super) fn text(site: &Site, file: &str) -> String {
    let mut notes = site.notes.clone();
    let small_light = small_light(&site.small_light, &mut notes);
    let mut out = format!("# Imported from {file} by `andon import`.\n");
    not_taken_over(&mut out, &notes);
    out.push('\n');
    if !site.listen.is_empty() {
        let all: Vec<String> = site.listen.iter().map(|it| quoted(it)).collect();
        let _ = writeln!(out, "listen = [{}]", all.join(", "));
    }
    number(&mut out, "workers", site.workers.as_deref());
    tls(&mut out, site);
    if !site.headers.is_empty() {
        out += "\n[headers]\n";
    }
    for (name, value) in &site.headers {
        let _ = writeln!(out, "{} = {}", key(name), quoted(value));
    }
    for fallback in &site.fallbacks {
        let _ = writeln!(
            out,
            "\n[[fallback]]  # the same is made of it as of the image that is missing\nprefix = {}\nimage = {}\nstatus = {}",
            quoted(&format!("{}/", fallback.prefix)),
            quoted(&fallback.image),
            fallback.status
        );
    }
    origins(&mut out, &site.origins);
    rewrites(&mut out, site);
    out += "\n[native]\nenabled = false  # true: Andon's own URLs, /r/fit:250x250/a.jpg\n";
    out += &small_light;
    if site.rewrites.iter().any(|it| it.to.starts_with(INTERNAL)) {
        let _ = writeln!(out, "\n[image_filter]\nprefix = {}", quoted(INTERNAL));
    }
    cache(&mut out, site);
    limits(&mut out, site);
    out
}

/// Writes the notes on what was not imported from nginx's configuration, as comments.
fn not_taken_over(out: &mut String, notes: &[(Place, String)]) {
    if !notes.is_empty() {
        *out += "#\n# What was not taken over:\n";
    }
    // Parameters of `fastcgi` and similar modules come in long lists, and belong to programs that stay with nginx, so
    // they share one note.
    let is_parameter = |(_, why): &(Place, String)| {
        let name = why.split(' ').next().unwrap_or_default();
        name.ends_with("_param").then(|| name.to_owned())
    };
    let groups =
        notes.chunk_by(|a, b| is_parameter(a).is_some() && is_parameter(a) == is_parameter(b));
    let notes = groups.flat_map(|group| match group {
        [first, .., (last, _)] if is_parameter(first).is_some() => {
            let (place, why) = first;
            let more = format!("{why}; so are those to {}:{}", last.file, last.line);
            vec![(place, more)]
        }
        all => all
            .iter()
            .map(|(place, why)| (place, why.clone()))
            .collect(),
    });
    for (Place { file, line }, why) in notes {
        let why = why.replace(['\n', '\r'], " ");
        let _ = writeln!(out, "# {file}:{line}: {why}");
    }
}

fn origins(out: &mut String, origins: &[Origin]) {
    for origin in origins {
        let prefix = if origin.prefix.is_empty() {
            "/"
        } else {
            &origin.prefix
        };
        let _ = writeln!(out, "\n[[origin]]\nprefix = {}", quoted(prefix));
        match &origin.base {
            Base::Folder(root) => {
                let root = if root.is_empty() { "/" } else { root };
                let _ = writeln!(out, "fs.root = {}", quoted(root));
            }
            Base::Server(url) => {
                let _ = writeln!(out, "http.base = {}", quoted(url));
                let _ = writeln!(out, "{}", allowed(url));
            }
        }
    }
}

/// Writes the `[[rewrite]]` tables, and then the `[[secure_link]]` tables.
fn rewrites(out: &mut String, site: &Site) {
    for rewrite in &site.rewrites {
        let Place { file, line } = &rewrite.place;
        let _ = writeln!(
            out,
            "\n[[rewrite]]  # {file}:{line}\nfrom = {}\nto = {}",
            quoted(&rewrite.from),
            quoted(&rewrite.to)
        );
        let names = |link: &Link| rewrite.to.contains(&link.location);
        if rewrite.opens && site.links.iter().any(names) {
            *out += "opens = true  # this location asks for no secure_link\n";
        }
    }
    for link in &site.links {
        let _ = writeln!(
            out,
            "\n[[secure_link]]  # for every path below the location, and every URL of a file below it\nlocation = {}\nsecure_link = {}\nsecure_link_md5 = {}",
            quoted(&link.location),
            quoted(&link.given),
            quoted(&link.signed)
        );
    }
}

fn small_light(settings: &SmallLight, notes: &mut Vec<(Place, String)>) -> String {
    let mut out = "\n[small_light]\n".to_owned();
    if !settings.on && !settings.getparam_mode {
        out += "enabled = false\n";
        return out;
    }
    if settings.getparam_mode {
        out += "getparam_mode = true  # for every path\n";
    }
    if let Some(folder) = &settings.material_dir {
        let _ = writeln!(out, "material_dir = {}", quoted(folder));
    }
    number(&mut out, "radius_max", settings.radius_max.as_deref());
    number(&mut out, "sigma_max", settings.sigma_max.as_deref());
    out += "compat = \"sane\"  # \"strict\": the module's quirks too, every error a 415\n";
    if !settings.patterns.is_empty() {
        out += "\n[small_light.patterns]\n";
    }
    for (place, name, options) in &settings.patterns {
        let mut config = Config::default();
        config.small_light.patterns = BTreeMap::from([(name.clone(), options.clone())]);
        config.small_light.compat = Compat::Sane;
        match Dialects::new(&config) {
            Ok(_) => _ = writeln!(out, "{} = {}", key(name), quoted(options)),
            Err(why) => notes.push((
                place.clone(),
                format!("small_light_pattern_define {name} {options}: {why}"),
            )),
        }
    }
    out
}

fn tls(out: &mut String, site: &Site) {
    let (Some(certificate), Some(key)) = (&site.tls.certificate, &site.tls.key) else {
        return;
    };
    let all: Vec<String> = site.tls.listen.iter().map(|it| quoted(it)).collect();
    let _ = writeln!(
        out,
        "\n# Where nginx goes on to end TLS, remove this table: docs/behind-nginx.md has `listen` and [proxy] for that.\n[tls]\nlisten = [{}]\ncertificate = {}\nkey = {}",
        all.join(", "),
        quoted(certificate),
        quoted(key)
    );
}

fn cache(out: &mut String, site: &Site) {
    let Cache {
        disk,
        ttl,
        negative,
    } = &site.cache;
    // Andon applies the rule with the longest prefix, so an origin without lifetimes below one with lifetimes needs an
    // empty rule.
    let says = |it: &Origin| it.cache_control.is_some() || it.ttl.is_some();
    let is_below =
        |it: &Origin, other: &Origin| it.prefix.starts_with(&format!("{}/", other.prefix));
    let all = || site.origins.iter().chain(&site.parts);
    let is_ruled = |it: &&Origin| says(it) || all().any(|other| says(other) && is_below(it, other));
    let ruled: Vec<&Origin> = all().filter(is_ruled).collect();
    if disk.is_some() || ttl.is_some() || negative.is_some() || !ruled.is_empty() {
        out.push_str("\n[cache]\n");
    }
    if let Some((path, size)) = disk {
        let size = size.map_or_else(
            || "10GiB".to_owned(),
            |bytes| format!("{}MiB", (bytes >> 20).max(1)),
        );
        let _ = writeln!(
            out,
            "disk = {{ path = {}, size = \"{size}\" }}",
            quoted(path)
        );
    }
    if let Some(seconds) = ttl.as_deref().and_then(seconds) {
        let _ = writeln!(out, "ttl = \"{seconds}s\"");
    }
    if let Some(seconds) = negative.as_deref().and_then(seconds) {
        let _ = writeln!(
            out,
            "negative = \"{}s\"  # a minute at most",
            seconds.min(60)
        );
    }
    for origin in ruled {
        let prefix = format!("{}/", origin.prefix);
        let _ = writeln!(out, "\n[[cache.rule]]\nprefix = {}", quoted(&prefix));
        if let Some(value) = &origin.cache_control {
            let _ = writeln!(out, "cache_control = {}", quoted(value));
        }
        if let Some(seconds) = origin.ttl.as_deref().and_then(seconds) {
            let _ = writeln!(out, "ttl = \"{seconds}s\"");
        }
    }
}

fn limits(out: &mut String, site: &Site) {
    if site.source_bytes.is_some() || site.connections.is_some() {
        out.push_str("\n[limits]\n");
    }
    if let Some(bytes) = site.source_bytes {
        let _ = writeln!(
            out,
            "source_bytes = \"{}KiB\"  # the largest buffer; 64MiB is the default",
            (bytes >> 10).max(1)
        );
    }
    number(out, "connections", site.connections.as_deref());
    if let Some(seconds) = site
        .keep_alive
        .as_deref()
        .and_then(seconds)
        .filter(|seconds| *seconds > 0)
    {
        let _ = writeln!(out, "\n[timeouts]\nkeep_alive = \"{seconds}s\"");
    }
}

/// Returns the `allow` line for an HTTP origin, because servers at addresses that are not public must be permitted
/// explicitly. If the host is a name, the line is a comment, because the address is unknown.
fn allowed(url: &str) -> String {
    let host = url::host(url);
    let address = match host {
        "localhost" => Some(IpAddr::from([127, 0, 0, 1])),
        host => host.parse().ok(),
    };
    match address {
        Some(IpAddr::V4(address)) => format!("allow = [\"{address}/32\"]"),
        Some(IpAddr::V6(address)) => format!("allow = [\"{address}/128\"]"),
        None => "# allow = [\"10.0.0.0/8\"]  # if that name is not of a public address".to_owned(),
    }
}

mod url {
    /// Returns the host of a URL, without port and brackets.
    pub(super) fn host(url: &str) -> &str {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split('/').next().unwrap_or_default();
        match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((host, _)) => host,
            None => host.split(':').next().unwrap_or_default(),
        }
    }
}

fn number(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| value.parse::<f64>().is_ok()) {
        let _ = writeln!(out, "{key} = {value}");
    }
}

pub(super) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// Formats `text` as a TOML string, without escape sequences if possible.
pub(crate) fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| !c.is_control() && !matches!(c, '"' | '\\' | '\''));
    if plain {
        format!("\"{text}\"")
    } else if text.contains(['\'', '\n', '\r']) {
        toml::Value::String(text.to_owned()).to_string()
    } else {
        format!("'{text}'")
    }
}
