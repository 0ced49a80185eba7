//! Generates the origins that imgproxy reads images from.

use toml::{Table, Value};

use super::super::UNNAMED_BUCKET;
use super::super::document::Document;
use super::super::sources::{
    Common, LOOPBACK, PRIVATE, add_unnamed, add_urls, is_of_own_network, is_of_this_machine,
    whole_segments,
};
use super::super::values;
use super::super::variables::Parts;
use super::images;

/// Returns the keys of `[[origin]]` that every remote origin gets, with the values of imgproxy's variables.
fn common(parts: &Parts, size: Option<i64>, out: &mut Document) -> Common {
    let mut allow: Vec<&str> = Vec::new();
    if parts.is_on("IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES") {
        allow.extend(PRIVATE);
    }
    if parts.is_on("IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES") {
        allow.extend(LOOPBACK);
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

/// Adds the origins for a folder, buckets and web servers. `size` is the maximum size of a source in bytes.
pub(super) fn add(parts: &Parts, size: Option<i64>, out: &mut Document) {
    let common = common(parts, size, out);
    if let Some(root) = parts.text("IMGPROXY_LOCAL_FILESYSTEM_ROOT") {
        out.add_origin([("fs.root".to_owned(), root.into())]);
    }
    buckets(parts, &common, out);
    let allowed_sources = parts.list("IMGPROXY_ALLOWED_SOURCES");
    if !allowed_sources.is_empty() {
        out.set("imgproxy.allowed_sources", allowed_sources.clone());
    }
    let base = parts.text("IMGPROXY_BASE_URL").map(str::to_owned);
    out.set_if("imgproxy.base_url", base.clone().map(Value::from));
    let mut of_hosts: Common = common.clone();
    let redirects = parts.put("IMGPROXY_MAX_REDIRECTS", values::number, out);
    of_hosts.extend(redirects.map(|number| ("http.redirects".to_owned(), number)));
    if let Some(agent) = parts.text("IMGPROXY_USER_AGENT") {
        let headers = Table::from_iter([("User-Agent".to_owned(), Value::from(agent))]);
        of_hosts.push(("http.headers".to_owned(), headers.into()));
    }
    let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    let mut urls: Vec<String> = allowed_sources
        .iter()
        .chain(&base)
        .filter(|url| is_http(url))
        .map(|url| whole_segments(url))
        .collect();
    for image in images::urls(parts).map(str::to_owned).filter(is_http) {
        if !urls.iter().any(|url| image.starts_with(url)) {
            urls.push(image);
        }
    }
    // imgproxy connects to private addresses by default.
    let may_be_private = !parts.is_off("IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES");
    let (private_urls, urls): (Vec<String>, Vec<String>) = urls
        .into_iter()
        .partition(|url| may_be_private && is_of_own_network(url));
    add_urls(&urls, "IMGPROXY_ALLOWED_SOURCES", &of_hosts, out);
    let mut of_own = of_hosts.clone();
    allow(&PRIVATE, &mut of_own);
    add_urls(&private_urls, "IMGPROXY_ALLOWED_SOURCES", &of_own, out);
    if base.is_none() && !parts.is_given("IMGPROXY_ALLOWED_SOURCES") && out.has_origin() {
        let what = "no source is named, and imgproxy then fetches URLs of every host: here only the origins below are read, so list \
                    the hosts of your images in `http.urls` of an [[origin]]";
        parts.note("IMGPROXY_ALLOWED_SOURCES", what, out);
    }
    add_unnamed("IMGPROXY_ALLOWED_SOURCES", &of_hosts, out);
    let stores = KINDS.iter().filter(|kind| kind.is_on(parts));
    let mut endpoints = stores.filter_map(|kind| parts.text(&kind.variable("ENDPOINT")));
    let has_public = !urls.is_empty()
        || endpoints.any(|it| it.starts_with("https://") && !is_of_own_network(it));
    addresses(parts, has_public, out);
    unused(parts, out);
}

/// Adds notes on the variables that permit sources with loopback or private addresses, unless the variable is true and
/// an origin has a list of such addresses, `allow`. `has_public` says whether the sources include hosts that may be
/// public.
fn addresses(parts: &Parts, has_public: bool, out: &mut Document) {
    for what in ["LOOPBACK", "PRIVATE"] {
        let name = format!("IMGPROXY_ALLOW_{what}_SOURCE_ADDRESSES");
        let why = match parts.has(&name) {
            true if parts.is_on(&name) && out.has_in_origin("allow") => continue,
            true if parts.is_on(&name) => {
                "`allow` of a remote [[origin]] lists such addresses, and this file has no such origin"
            }
            true if parts.is_off(&name) => {
                "such addresses are refused unless `allow` of an [[origin]] lists them"
            }
            true => "its value is neither true nor false: such addresses are refused",
            false if what == "PRIVATE" && has_public => {
                "imgproxy's default is true; here such addresses are refused unless `allow` of an [[origin]] lists them, as in \
                 `allow = [\"10.0.0.0/8\"]`: add it where a host's address is private, or its images are 502, or the fallback image"
            }
            false => continue,
        };
        parts.note(&name, why, out);
    }
}

/// Adds notes on variables that have no effect, because the generated configuration has no origin of the type that they
/// configure.
fn unused(parts: &Parts, out: &mut Document) {
    for (name, key) in [
        ("IMGPROXY_DOWNLOAD_TIMEOUT", "timeouts.total"),
        ("IMGPROXY_MAX_REDIRECTS", "http.redirects"),
        ("IMGPROXY_USER_AGENT", "http.headers"),
    ] {
        if parts.is_given(name) && !out.has_in_origin(key) {
            let why =
                format!("`{key}` is of a remote [[origin]], and this file has no such origin");
            parts.note(name, &why, out);
        }
    }
    for kind in KINDS.iter().filter(|kind| !kind.is_on(parts)) {
        let (start, switch) = (kind.variable(""), kind.switch());
        let names = parts.names().filter(|name| parts.is_given(name));
        for name in names.filter(|name| name.starts_with(&start)) {
            parts.note(
                name,
                &format!("it is not used, because {switch} is not true"),
                out,
            );
        }
    }
}

/// A type of object storage.
pub(super) struct Kind {
    /// The name of the object storage in imgproxy's variables, such as `GCS`.
    pub name: &'static str,
    /// The name of the object storage in the keys of an `[[origin]]`, such as `gcs`.
    pub key: &'static str,
    /// The URL scheme of objects in the object storage, such as `gs`.
    pub scheme: &'static str,
}

pub(super) const KINDS: [Kind; 3] = [
    kind("S3", "s3", "s3"),
    kind("GCS", "gcs", "gs"),
    kind("ABS", "azure", "abs"),
];

const fn kind(name: &'static str, key: &'static str, scheme: &'static str) -> Kind {
    Kind { name, key, scheme }
}

impl Kind {
    fn variable(&self, what: &str) -> String {
        format!("IMGPROXY_{}_{what}", self.name)
    }

    fn switch(&self) -> String {
        format!("IMGPROXY_USE_{}", self.name)
    }

    fn is_on(&self, parts: &Parts) -> bool {
        parts.is_on(&self.switch())
    }

    /// Returns the bucket of a URL with this scheme, or `None` for another URL or one without a bucket.
    fn bucket<'a>(&self, url: &'a str) -> Option<&'a str> {
        let rest = url.strip_prefix(self.scheme)?.strip_prefix("://")?;
        let name = rest.split('/').next()?;
        let is_name = name.matches('*').count() <= 1 && !name.trim_matches('*').is_empty();
        is_name.then_some(name)
    }

    /// Returns the buckets for the origin: the configured list, or else those in the permitted sources and the base
    /// URL, and those of imgproxy's own images.
    fn buckets(&self, parts: &Parts, out: &mut Document) -> Vec<String> {
        let list = parts.list(&self.variable("ALLOWED_BUCKETS"));
        if !list.is_empty() {
            return list;
        }
        let permitted = parts.list("IMGPROXY_ALLOWED_SOURCES");
        let base = parts.text("IMGPROXY_BASE_URL").into_iter();
        let permitted = permitted.iter().map(String::as_str).chain(base);
        let mut names: Vec<&str> = permitted.filter_map(|url| self.bucket(url)).collect();
        if names.is_empty() && !parts.is_given("IMGPROXY_ALLOWED_SOURCES") {
            let what = format!(
                "no bucket is named, and imgproxy then reads every one: name yours in `{}.buckets`, in the place of {UNNAMED_BUCKET}",
                self.key
            );
            parts.note(&self.switch(), &what, out);
            names.push(UNNAMED_BUCKET);
        }
        names.extend(images::urls(parts).filter_map(|url| self.bucket(url)));
        let mut all = Vec::new();
        for name in names {
            if !all.iter().any(|other| other == name) {
                all.push(name.to_owned());
            }
        }
        all
    }
}

/// Variables for the location of a bucket, without their prefix, each with its key in the origin.
const PLACES: [(&str, &str); 3] = [
    ("ENDPOINT", "endpoint"),
    ("REGION", "region"),
    ("NAME", "account"),
];

/// Adds an origin for each type of object storage that is enabled.
fn buckets(parts: &Parts, common: &Common, out: &mut Document) {
    for kind in KINDS.iter().filter(|kind| kind.is_on(parts)) {
        let (key, names) = (kind.key, kind.buckets(parts, out));
        if names.is_empty() {
            continue;
        }
        // Andon uses a GCS or Azure key for an origin with one bucket only, so such a key cannot be imported here.
        let secret = match kind.name {
            "GCS" => "IMGPROXY_GCS_KEY",
            _ => "IMGPROXY_ABS_KEY",
        };
        if kind.name != "S3" && parts.is_given(secret) {
            let what = format!(
                "the credentials of the platform are used for buckets that URLs name; this key serves an [[origin]] of one bucket, \
                 with `{key}.bucket` and a prefix"
            );
            parts.note(secret, &what, out);
        }
        let mut keys = common.clone();
        keys.push((format!("{key}.buckets"), names.into()));
        keys.push((format!("{key}.credentials"), "platform".into()));
        for (what, below) in PLACES {
            let value = parts.text(&kind.variable(what));
            keys.extend(value.map(|value| (format!("{key}.{below}"), value.into())));
        }
        if let Some(endpoint) = parts.text(&kind.variable("ENDPOINT")) {
            own_network(endpoint, &mut keys);
        }
        out.add_origin(keys);
    }
}

/// Adds to `allow`, an origin's list of permitted addresses that are not public, those that a self-hosted object store
/// may have. If its endpoint has no TLS, or the name or address of a private network, it is in that network or on this
/// machine. Requests cannot choose another address than that of the endpoint, so this permits nothing else.
fn own_network(endpoint: &str, keys: &mut Common) {
    if is_of_this_machine(endpoint) {
        allow(&LOOPBACK, keys);
    } else if endpoint.starts_with("http://") || is_of_own_network(endpoint) {
        allow(&PRIVATE, keys);
    }
}

/// Adds addresses to `allow`, an origin's list of permitted addresses that are not public.
fn allow(addresses: &[&str], keys: &mut Common) {
    match keys.iter_mut().find(|(key, _)| key == "allow") {
        Some((_, Value::Array(list))) => {
            let more = addresses.iter().map(|it| Value::from(*it));
            let more: Vec<Value> = more.filter(|it| !list.contains(it)).collect();
            list.extend(more);
        }
        _ => keys.push(("allow".to_owned(), addresses.to_vec().into())),
    }
}
