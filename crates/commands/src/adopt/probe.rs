//! Reads targets as URLs of one kind, with signatures put aside.

use andon_dialects::{Ask, Config, Dialects, ImageRequest, Source};
use anyhow::Context;

use super::form::{self, Cut};
use super::kinds::{Kind, ROWS};

/// The parsers of all kinds, each alone at [`MOUNT`] and with settings that refuse as little as possible.
pub(super) struct Probes(Vec<(Kind, Dialects)>);

/// One way to read a target.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) kind: Kind,
    /// Path below which the kind's URLs are, without a slash at its end.
    pub(super) prefix: String,
    pub(super) is_strong: bool,
    /// Whether the parser knew every option.
    pub(super) is_clean: bool,
    pub(super) signature: Option<String>,
    /// Whether the source is encrypted, so that `source` is not the one of the URL.
    pub(super) is_sealed: bool,
    pub(super) source: Source,
}

/// Where the dialects are mounted while targets are tried.
const MOUNT: &str = "/-";

/// The largest number of leading segments of a path that can be a prefix.
const MOST_SEGMENTS: usize = 4;

impl Probes {
    pub(super) fn new() -> anyhow::Result<Self> {
        let kinds = ROWS.iter().copied().flatten();
        let probes = kinds.map(|kind| {
            let off = ["native", "small_light"].into_iter();
            let off: String = off
                .filter(|name| *name != kind.table())
                .map(|name| format!("[{name}]\nenabled = false\n"))
                .collect();
            let prefix = kind
                .prefix_key()
                .map(|key| format!("{key} = \"{MOUNT}\"\n"))
                .unwrap_or_default();
            let text = format!("{off}[{}]\n{prefix}{}", kind.table(), kind.lenient());
            let config: Config = toml::from_str(&text)?;
            let dialects = Dialects::new(&config)?;
            Ok((*kind, dialects))
        });
        let probes: anyhow::Result<Vec<_>> = probes.collect();
        Ok(Self(probes.context("a dialect cannot be tried")?))
    }

    /// Returns all ways to read a target as an image.
    pub(super) fn readings(&self, target: &str) -> Vec<Reading> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let mut found = Vec::new();
        for prefix in prefixes(path) {
            let cut = Cut {
                prefix,
                path: &path[prefix.len()..],
                query,
            };
            for (kind, dialects) in &self.0 {
                found.extend(reading(*kind, dialects, &cut));
            }
        }
        found
    }
}

/// Returns the beginnings of a path that can be a prefix, from the empty one on. The whole path is among them, because
/// some dialects have their options in the query.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let ends = ends.chain((!path.ends_with('/')).then_some(path.len()));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    ends.take(MOST_SEGMENTS + 1)
        .map(|end| &path[..end])
        .take_while(move |prefix| prefix.bytes().all(plain))
        .filter(|prefix| !prefix.ends_with('/'))
}

fn reading(kind: Kind, dialects: &Dialects, cut: &Cut<'_>) -> Option<Reading> {
    let form = form::of(kind, cut)?;
    let mount = match kind.prefix_key() {
        Some(_) => MOUNT,
        None => "",
    };
    let query = cut
        .query
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let request = dialects
        .parse(&format!("{mount}{}{query}", form.path))
        .ok()?;
    if !is_image(kind, &request) {
        return None;
    }
    Some(Reading {
        kind,
        prefix: cut.prefix.to_owned(),
        // Signatures may look like a modifier of ipx, but not like one that it knows.
        is_strong: form.is_strong && (kind != Kind::Ipx || request.notes.is_empty()),
        is_clean: request.notes.is_empty() && !form::contradicts(kind, cut),
        signature: form.signature,
        is_sealed: form.is_sealed,
        source: request.source,
    })
}

/// Whether a request is for an image, or facts about one, with a source that can be one.
fn is_image(kind: Kind, request: &ImageRequest) -> bool {
    let place = request.source.place();
    let is_named = |place: &str| {
        let all_visible =
            !place.contains(|letter: char| letter.is_control() || letter == '\u{fffd}');
        let looks = match kind {
            // Base64 of anything is a text of some kind.
            Kind::Imgproxy => place.contains(['.', '/']),
            _ => true,
        };
        !place.is_empty() && all_visible && looks
    };
    let asks = match &request.ask {
        Ask::Image | Ask::Describe(_) => true,
        // An original, as one option asks for it.
        Ask::File => kind == Kind::Imgproxy,
        Ask::Redirect(_) | Ask::Text { .. } => false,
    };
    let is_page = matches!(kind, Kind::Imgix | Kind::PhotonPath | Kind::PhotonHost)
        && form::has_page_extension(&place);
    asks && !is_page && (is_named(&place) || request.source.colour().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds and prefixes that read a target, the strong ones only.
    fn read(target: &str) -> Vec<String> {
        let probes = Probes::new().expect("probes");
        let strong = probes
            .readings(target)
            .into_iter()
            .filter(|it| it.is_strong);
        strong
            .map(|it| format!("{:?} {}", it.kind, it.prefix))
            .collect()
    }

    #[test]
    fn examples_of_all_dialects_are_read_at_their_prefix() {
        for (target, kind) in [
            ("/r/fit:250x250,q:95/trip/a.jpg", "Native /r"),
            (
                "/unsafe/rs:fit/w:250/plain/local:///trip/a.jpg",
                "Imgproxy ",
            ),
            ("/small_light(dw=250)/trip/a.jpg", "SmallLight "),
            (
                "/cdn-cgi/image/width=250/trip/a.jpg",
                "Cloudflare /cdn-cgi/image",
            ),
            ("/_next/image?url=%2Fa.jpg&w=641&q=80", "Next /_next/image"),
            (
                "/_next/image?url=https%3A%2F%2Fa.example%2Fa.jpg&w=64&q=75",
                "Next /_next/image",
            ),
            (
                "/_vercel/image?url=%2Fa.jpg&w=640&q=75",
                "Vercel /_vercel/image",
            ),
            ("/_image?href=%2Fa.jpg&w=250", "Astro /_image"),
            ("/_ipx/w_250&f_webp/trip/a.jpg", "Ipx /_ipx"),
            ("/t/unsafe/fit-in/250x250/trip/a.jpg", "Thumbor /t"),
            ("/?url=trip/a.jpg&w=250", "Weserv "),
            ("/a.example/trip/a.jpg?resize=250,250&ssl=1", "PhotonHost "),
            ("/trip/a.jpg?w=250&auto=format", "Imgix "),
            (
                "/iiif/2/trip%2Fa.jpg/full/250,/0/default.jpg",
                "Iiif2 /iiif/2",
            ),
        ] {
            let read = read(target);
            assert!(read.iter().any(|it| it == kind), "{target}: {read:?}");
        }
    }

    #[test]
    fn files_of_websites_are_no_images_of_any_kind() {
        for target in [
            "/",
            "/index.html",
            "/css/app.css?v=3",
            "/_next/static/chunks/main-4f2a.js",
            "/favicon.ico",
            "/health",
            "/uploads/2021/05/a.jpg",
            "/blog/flip/my-post",
            "/login?url=%2Fhome",
            "/search?q=shoes&page=2",
            "/api/v1/items/42?fields=a,b",
            "/assets/app-BfX0Kk2f9aLmNoPq.js",
        ] {
            assert_eq!(read(target), Vec::<String>::new(), "{target}");
        }
    }
}
