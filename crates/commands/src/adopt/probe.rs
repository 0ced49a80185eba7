//! Tries to parse targets (paths with their queries) as URLs of each dialect, in each of its forms, ignoring
//! signatures.

use andon_dialects::forms::{Cut, Room, Strength, Suits, has_page_extension};
use andon_dialects::thumbor::is_foreign;
use andon_dialects::{Ask, Config, Dialects, Form, ImageRequest, Source};
use anyhow::Context;

use super::presets;

/// One parser for each URL form, with only that dialect enabled, mounted at [`MOUNT`], and with settings that refuse as
/// little as possible.
pub(super) struct Probes(Vec<(&'static Form, Dialects)>);

/// One possible interpretation of a target (a path with its query) as an image URL.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) kind: &'static Form,
    /// The part of the path before the syntax of the URL form `kind` begins, without a slash at the end.
    pub(super) prefix: String,
    pub(super) is_strong: bool,
    /// Whether the target looks like a URL of the form `kind`, and the parser of that form knows all of its options.
    pub(super) is_clean: bool,
    /// How well the path prefix fits this URL form.
    pub(super) suits: Suits,
    pub(super) signature: Option<String>,
    /// Whether the source is encrypted. If so, `source` is a placeholder.
    pub(super) is_sealed: bool,
    pub(super) source: Source,
}

/// The path prefix under which dialects are tried: their parsers are set up for URLs that begin with it.
const MOUNT: &str = "/-";

/// Maximum number of leading path segments that can be a prefix.
const MOST_SEGMENTS: usize = 4;

impl Probes {
    /// Creates the parsers for the targets of a log. Presets that the targets name are defined for them.
    pub(super) fn new(targets: &[(String, u64)]) -> anyhow::Result<Self> {
        let presets = presets::placeholders(targets.iter().map(|(target, _)| &**target));
        let probes = andon_dialects::forms().map(|form| {
            let off = ["native", "small_light"].into_iter();
            let off: String = off
                .filter(|name| *name != form.dialect)
                .map(|name| format!("[{name}]\nenabled = false\n"))
                .collect();
            let prefix = form
                .prefix_key
                .map(|key| format!("{key} = \"{MOUNT}\"\n"))
                .unwrap_or_default();
            let presets = match form.dialect {
                "imgproxy" => &*presets,
                _ => "",
            };
            let text = format!("{off}[{}]\n{prefix}{}{presets}", form.dialect, form.lenient);
            let config: Config = toml::from_str(&text)?;
            let dialects = Dialects::new(&config)?;
            Ok((form, dialects))
        });
        let probes: anyhow::Result<Vec<_>> = probes.collect();
        Ok(Self(probes.context("a dialect cannot be tried")?))
    }

    /// Returns all possible interpretations of a target as an image URL.
    pub(super) fn readings(&self, target: &str) -> Vec<Reading> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let mut readings = Vec::new();
        for prefix in prefixes(path) {
            let cut = Cut {
                prefix,
                path: &path[prefix.len()..],
                query,
            };
            for (kind, dialects) in &self.0 {
                readings.extend(reading(kind, dialects, &cut));
            }
        }
        readings
    }
}

/// Returns the leading parts of a path that can be a prefix, beginning with the empty one. A short path can be a prefix
/// as a whole, because some dialects have their options in the query.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let ends = ends.chain((!path.ends_with('/')).then_some(path.len()));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    ends.take(MOST_SEGMENTS + 1)
        .map(|end| &path[..end])
        .take_while(move |prefix| prefix.bytes().all(plain))
        .filter(|prefix| !prefix.ends_with('/'))
}

fn reading(kind: &'static Form, dialects: &Dialects, cut: &Cut<'_>) -> Option<Reading> {
    let marks = kind.marks(cut)?;
    let mount = match kind.prefix_key {
        Some(_) => MOUNT,
        None => "",
    };
    let query = cut
        .query
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let request = dialects
        .parse(&format!("{mount}{}{query}", marks.path))
        .ok()?;
    if !is_image(kind, &request) {
        return None;
    }
    // A note about a filter that is implemented differently, or has an invalid value, still means that the filter is
    // known.
    let is_known = |note: &String| {
        ["thumbor", "imagor"].contains(&kind.dialect) && !is_foreign(kind.dialect, note)
    };
    let knows_all = request.notes.iter().all(is_known);
    Some(Reading {
        kind,
        prefix: cut.prefix.to_owned(),
        is_strong: match marks.strength {
            Strength::Sure => true,
            Strength::IfKnown => knows_all,
            Strength::Weak => false,
        },
        is_clean: knows_all && marks.strength != Strength::Weak,
        suits: marks.prefix,
        signature: marks.signature,
        is_sealed: marks.is_sealed,
        source: request.source,
    })
}

/// Whether a request asks for an image, or for facts about one, and its source can be an image.
fn is_image(kind: &Form, request: &ImageRequest) -> bool {
    let is_imgproxy = kind.dialect == "imgproxy";
    let place = request.source.place();
    let is_named = |place: &str| {
        let all_visible =
            !place.contains(|letter: char| letter.is_control() || letter == '\u{fffd}');
        // Any Base64 decodes to some text, so the source must also look like a path or URL.
        let looks = !is_imgproxy || place.contains(['.', '/']);
        !place.is_empty() && all_visible && looks
    };
    let asks = match &request.ask {
        Ask::Image | Ask::Describe(_) => true,
        // imgproxy's option for the original image.
        Ask::File => is_imgproxy,
        Ask::Redirect(_) | Ask::Text { .. } => false,
    };
    let may_be_page = kind.dialect == "photon" || matches!(kind.room, Room::Files(_));
    let is_page = may_be_page && has_page_extension(&place);
    asks && !is_page && (is_named(&place) || request.source.colour().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the URL form and the path prefix of each strong interpretation (`Reading::is_strong`) of a target.
    fn read(target: &str) -> Vec<String> {
        let probes = Probes::new(&[]).expect("probes");
        let strong = probes
            .readings(target)
            .into_iter()
            .filter(|it| it.is_strong);
        strong
            .map(|it| format!("{} {}", it.kind, it.prefix))
            .collect()
    }

    #[test]
    fn examples_of_all_dialects_are_read_at_their_prefix() {
        for (target, kind) in [
            ("/r/fit:250x250,q:95/trip/a.jpg", "Andon /r"),
            (
                "/unsafe/rs:fit/w:250/plain/local:///trip/a.jpg",
                "imgproxy ",
            ),
            ("/small_light(dw=250)/trip/a.jpg", "ngx_small_light "),
            (
                "/cdn-cgi/image/width=250/trip/a.jpg",
                "Cloudflare /cdn-cgi/image",
            ),
            (
                "/_next/image?url=%2Fa.jpg&w=641&q=80",
                "Next.js /_next/image",
            ),
            (
                "/_next/image?url=https%3A%2F%2Fa.example%2Fa.jpg&w=64&q=75",
                "Next.js /_next/image",
            ),
            (
                "/_vercel/image?url=%2Fa.jpg&w=640&q=75",
                "Vercel /_vercel/image",
            ),
            ("/_image?href=%2Fa.jpg&w=250", "Astro /_image"),
            ("/_ipx/w_250&f_webp/trip/a.jpg", "ipx /_ipx"),
            ("/t/unsafe/fit-in/250x250/trip/a.jpg", "thumbor /t"),
            ("/?url=trip/a.jpg&w=250", "weserv "),
            ("/a.example/trip/a.jpg?resize=250,250&ssl=1", "Photon "),
            ("/trip/a.jpg?w=250&auto=format", "imgix "),
            (
                "/iiif/2/trip%2Fa.jpg/full/250,/0/default.jpg",
                "IIIF 2 /iiif/2",
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
            "/login?url=%2Fhome&l=de",
            "/share?url=https%3A%2F%2Fa.example%2Fpost&n=1",
            "/logo.png?v=3",
            "/images/anna.jpg?1699999999",
            "/docs/plain/readme.html",
            "/search?q=shoes&page=2",
            "/api/v1/items/42?fields=a,b",
            "/assets/app-BfX0Kk2f9aLmNoPq.js",
        ] {
            assert_eq!(read(target), Vec::<String>::new(), "{target}");
        }
    }
}
