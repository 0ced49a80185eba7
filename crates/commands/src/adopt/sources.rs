//! Derives the origins of a configuration from the sources that the URLs of a log name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;

use andon_dialects::Source;
use andon_dialects::forms::looks_like_file;
use anyhow::bail;

use super::base::Base;
use super::recognise::Found;
use super::routes::{Route, Router};
use crate::client::Client;
use crate::import::quoted;

/// The source images that the URLs of a log name, grouped by where they are stored.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The scheme and host of each source that is a URL, `https://host:port/`.
    urls: BTreeSet<String>,
    /// Names of buckets, by the scheme of the source.
    buckets: BTreeMap<&'static str, BTreeSet<String>>,
    /// Paths of sources below the origins, percent-encoded as in URLs, with a leading slash.
    paths: BTreeSet<String>,
    /// Paths at which Next.js applications are mounted, without those at the root of their server.
    bases: BTreeSet<String>,
}

/// Maximum number of hosts that the generated configuration lists.
const MOST_HOSTS: usize = 2000;

/// Number of source paths that are tried to find out where the originals are.
const TRIED: usize = 8;

impl Sources {
    /// Collects the sources of all targets for which the configuration in `router` makes images. The prefixes in
    /// `entries` tell where Next.js applications are mounted.
    pub(super) fn of(router: &Router, targets: &[(String, u64)], entries: &[Found]) -> Self {
        let mut sources = Self::default();
        for (target, _) in targets {
            if let Route::Image(source) = router.route(target) {
                sources.add(&source);
            }
        }
        let bases = entries
            .iter()
            .filter_map(|it| it.prefix.strip_suffix("/_next/image"));
        sources.bases = bases
            .filter(|base| !base.is_empty())
            .map(str::to_owned)
            .collect();
        sources
    }

    pub(super) fn is_empty(&self) -> bool {
        self.urls.is_empty() && self.buckets.is_empty() && self.paths.is_empty()
    }

    fn add(&mut self, source: &Source) {
        match source {
            _ if source.colour().is_some() => {}
            Source::Url(url) => self.add_url(url),
            path => {
                let escaped = path.escaped().unwrap_or_default();
                self.paths.insert(format!("/{escaped}"));
            }
        }
    }

    fn add_url(&mut self, url: &str) {
        let Some((scheme, rest)) = url.split_once("://") else {
            return;
        };
        let scheme = scheme.to_ascii_lowercase();
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let schemes = ["s3", "gs", "abs"];
        match schemes.into_iter().find(|known| *known == scheme) {
            Some(store) => {
                _ = self
                    .buckets
                    .entry(store)
                    .or_default()
                    .insert(host.to_owned())
            }
            None => {
                let host = host.to_ascii_lowercase();
                _ = self.urls.insert(format!("{scheme}://{host}/"));
            }
        }
    }

    /// Adds the log's buckets to existing bucket origins of the configuration. Returns whether any were added.
    pub(super) fn name_buckets(&mut self, base: &mut Base) -> bool {
        let before = self.buckets.len();
        let kind = |scheme| if scheme == "gs" { "gcs" } else { scheme };
        self.buckets
            .retain(|scheme, names| !base.name_buckets(kind(*scheme), names));
        self.buckets.len() < before
    }

    /// Returns the origins as TOML. `has` says whether the configuration already has origins for sources that are
    /// absolute URLs, and for sources that are paths.
    pub(super) fn origins(
        &self,
        has: (bool, bool),
        root: Option<&Path>,
        old: &mut Old<'_>,
    ) -> anyhow::Result<String> {
        let mut text = String::new();
        if !has.0 && !self.urls.is_empty() {
            let list: Vec<String> = self
                .urls
                .iter()
                .take(MOST_HOSTS)
                .map(|url| quoted(url))
                .collect();
            let _ = writeln!(
                text,
                "\n[[origin]]  # the hosts whose images the log's URLs name; redirects must stay on them\nhttp.urls = [{}]",
                list.join(", ")
            );
            if self.urls.len() > MOST_HOSTS {
                let more = self.urls.len() - MOST_HOSTS;
                let _ = writeln!(text, "# {more} more hosts are in the log");
            }
            text += &allow_line(self.urls.iter().map(|url| &**url));
        }
        for (scheme, names) in &self.buckets {
            let table = match *scheme {
                "gs" => "gcs",
                // An Azure origin needs the name of an account, which no URL contains.
                "abs" => {
                    text += "\n# Sources of abs://… need an [[origin]] with azure.containers and azure.account.\n";
                    continue;
                }
                other => other,
            };
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            let _ = writeln!(
                text,
                "\n[[origin]]  # the buckets that the log's URLs name, with the credentials of this machine\n{table}.buckets = [{}]\n{table}.credentials = \"platform\"",
                names.join(", ")
            );
        }
        if !has.1 && !self.paths.is_empty() {
            text += &self.path_origin(root, old)?;
        }
        Ok(text)
    }

    fn path_origin(&self, root: Option<&Path>, old: &mut Old<'_>) -> anyhow::Result<String> {
        // To a dialect that reads every path, pages look like images without an extension; so they are tried last.
        let (images, others): (Vec<_>, Vec<_>) =
            self.paths.iter().partition(|path| looks_like_file(path));
        let candidates: Vec<&String> = images.into_iter().chain(others).take(TRIED).collect();
        if let Some(root) = root {
            let is_there = |path: &&&String| {
                let plain = Source::from_raw(path).map(|source| source.place().into_owned());
                plain.is_ok_and(|path| root.join(path).is_file())
            };
            let hits = candidates.iter().filter(is_there).count();
            if hits == 0 {
                bail!(
                    "--root {}: none of the sources that were tried is there, such as {}",
                    root.display(),
                    candidates[0]
                );
            }
            let root = root.canonicalize()?;
            return Ok(format!(
                "\n[[origin]]  # {hits} of {} sources that were tried are here\nprefix = \"/\"\nfs.root = {}\n",
                candidates.len(),
                quoted(&root.display().to_string())
            ));
        }
        let bases = std::iter::once("").chain(self.bases.iter().map(String::as_str));
        for base in bases.filter(|_| old.url.starts_with("http://")) {
            let successes = candidates
                .iter()
                .filter(|path| (old.sends_image)(&format!("{base}{path}")));
            let successes = successes.count();
            if successes > 0 {
                let url = format!("{}{base}", old.url.trim_end_matches('/'));
                return Ok(format!(
                    "\n[[origin]]  # assumed: the old server sends the originals at their paths ({successes} of {} that were\n\
                     # tried). It has to stay reachable there, without going through this server.\nprefix = \"/\"\nhttp.base = {}\n{}",
                    candidates.len(),
                    quoted(&url),
                    allow_line([&*format!("{url}/")].into_iter())
                ));
            }
        }
        bail!(
            "URLs name images by their paths, such as {}, and {} does not send the originals there: say where they are by --root DIR",
            candidates[0],
            old.url
        )
    }
}

/// The server that is to be replaced.
pub(super) struct Old<'a> {
    pub(super) url: &'a str,
    /// Whether the server answers a target with an image.
    pub(super) sends_image: &'a mut dyn FnMut(&str) -> bool,
}

/// Whether the server behind a client answers a target with an image.
pub(super) fn sends_image(client: &mut Client<'_>, target: &str) -> bool {
    let reply = client.get(target, &[]);
    reply.is_ok_and(|reply| {
        let media_type = reply.header("content-type").unwrap_or_default();
        reply.status == 200 && media_type.trim_start().starts_with("image/")
    })
}

/// Returns the TOML line `allow = […]`, with which an origin may fetch from those hosts of `urls` whose addresses are
/// not public. Empty if all are public.
fn allow_line<'a>(urls: impl Iterator<Item = &'a str>) -> String {
    let addresses: BTreeSet<IpAddr> = urls.flat_map(private_addresses).collect();
    if addresses.is_empty() {
        return String::new();
    }
    let ranges: Vec<String> = addresses
        .into_iter()
        .map(|address| format!("\"{address}/{}\"", if address.is_ipv4() { 32 } else { 128 }))
        .collect();
    format!("allow = [{}]  # they are not public\n", ranges.join(", "))
}

/// Returns the addresses of a URL's host that are not public. Names with a dot are assumed to be public.
fn private_addresses(url: &str) -> Vec<IpAddr> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let with_port = match host.rsplit(']').next().unwrap_or_default().contains(':') {
        true => host.to_owned(),
        false => format!("{host}:80"),
    };
    let name = with_port.rsplit_once(':').map_or("", |(name, _)| name);
    let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    if name.contains('.') && !is_address {
        return Vec::new();
    }
    let socket_addresses = with_port.to_socket_addrs().into_iter().flatten();
    let mut addresses: Vec<IpAddr> = socket_addresses
        .map(|it| it.ip())
        .filter(|it| !is_public(*it))
        .collect();
    addresses.dedup();
    addresses
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => !(it.is_loopback() || it.is_private() || it.is_link_local()),
        IpAddr::V6(it) => !(it.is_loopback() || it.is_unique_local() || it.is_unicast_link_local()),
    }
}
