//! What the text of a target says about its kind, before a parser reads it.
//!
//! The parsers of some dialects accept nearly every path, because they answer with errors of their own. So each kind asks
//! for a mark first, such as a signature, an option with a value, or a parameter that no page has.

use std::borrow::Cow;

use super::kinds::Kind;
use crate::reference::words;

/// A target cut into the prefix of a dialect and what follows it.
pub(super) struct Cut<'a> {
    /// The path up to where the dialect's part begins, without a slash at its end.
    pub(super) prefix: &'a str,
    /// The rest of the path: empty, or with a slash at its beginning.
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
}

/// A target that has the marks of a kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Form<'a> {
    /// The path to be parsed, with what needs a secret replaced by what needs none.
    pub(super) path: Cow<'a, str>,
    /// The signature, or the word in its place.
    pub(super) signature: Option<String>,
    /// Whether the marks are enough by themselves. Otherwise the target counts only beside others of the kind at the
    /// same prefix.
    pub(super) is_strong: bool,
    /// Whether the source is encrypted.
    pub(super) is_sealed: bool,
}

impl<'a> Cut<'a> {
    /// Returns the first segment after the prefix, and what follows its slash.
    fn first(&self) -> Option<(&'a str, &'a str)> {
        let rest = self.path.strip_prefix('/')?;
        let (first, rest) = rest.split_once('/')?;
        (!first.is_empty() && !rest.is_empty()).then_some((first, rest))
    }

    fn has_argument(&self, names: &[&str]) -> bool {
        let pairs = self.query.unwrap_or_default().split('&');
        pairs
            .filter_map(|pair| pair.split_once('='))
            .any(|(key, value)| names.contains(&key) && !value.is_empty())
    }

    fn plain(&self, is_strong: bool) -> Form<'a> {
        Form {
            path: self.path.into(),
            signature: None,
            is_strong,
            is_sealed: false,
        }
    }
}

/// Returns how a target looks as one of this kind, or `None` if it cannot be one.
pub(super) fn of<'a>(kind: Kind, cut: &Cut<'a>) -> Option<Form<'a>> {
    match kind {
        Kind::Next => endpoint(cut, "/_next/image", &["url", "w", "q"]),
        Kind::Vercel => endpoint(cut, "/_vercel/image", &["url", "w", "q"]),
        Kind::Astro => endpoint(cut, "/_image", &["href"]),
        Kind::SmallLight => {
            let is_at_root = cut.prefix.is_empty();
            let has_options =
                cut.path.contains("small_light(") || cut.path.contains("small_light%28");
            (is_at_root && has_options).then(|| cut.plain(true))
        }
        Kind::Iiif3 | Kind::Iiif2 => iiif(cut),
        Kind::Cloudflare => {
            let (first, _) = cut.first()?;
            first.contains('=').then(|| cut.plain(true))
        }
        Kind::Ipx => ipx(cut),
        Kind::Native => {
            let (first, _) = cut.first()?;
            begins_with_a_step(first).then(|| cut.plain(true))
        }
        Kind::Weserv => {
            let is_here = matches!(cut.path, "" | "/") && cut.has_argument(&["url"]);
            let is_known = cut.has_argument(&WESERV);
            is_here.then(|| Form {
                path: "/".into(),
                ..cut.plain(is_known)
            })
        }
        Kind::Imgproxy => imgproxy(cut),
        Kind::Thumbor | Kind::Imagor => thumbor(cut),
        Kind::PhotonHost => {
            let (first, _) = cut.first()?;
            is_host(first).then(|| cut.plain(cut.has_argument(&PHOTON)))
        }
        Kind::Imgix => {
            let is_at_root = cut.prefix.is_empty() && cut.query.is_some();
            (is_at_root && cut.path.len() > 1).then(|| Form {
                signature: imgix_signature(cut.query.unwrap_or_default()).map(str::to_owned),
                ..cut.plain(has_image_extension(cut.path) || cut.has_argument(&IMGIX))
            })
        }
        Kind::PhotonPath => {
            let is_at_root = cut.prefix.is_empty() && cut.has_argument(&PHOTON);
            (is_at_root && has_image_extension(cut.path)).then(|| cut.plain(true))
        }
    }
}

/// Whether a target of imgix or Photon has a value that only the other one of them knows. They share names of arguments.
pub(super) fn contradicts(kind: Kind, cut: &Cut<'_>) -> bool {
    let value = |name: &str| {
        let mut pairs = cut
            .query
            .unwrap_or_default()
            .split('&')
            .filter_map(|it| it.split_once('='));
        pairs.find_map(|(key, value)| (key == name).then_some(value))
    };
    let begins_with_digit = |value: &str| value.starts_with(|first: char| first.is_ascii_digit());
    let mut values = ["fit", "crop"].into_iter().filter_map(value);
    match kind {
        Kind::Imgix => values.any(begins_with_digit),
        Kind::PhotonPath => values.any(|value| !begins_with_digit(value)),
        _ => false,
    }
}

/// Whether a path looks like that of a file: none of its folders has a character that options have.
pub(super) fn looks_like_file(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let options = [
        ":", "=", ",", "(", "@", "&", "%3A", "%2F", "%3D", "%2C", "%28",
    ];
    has_image_extension(path) && !options.iter().any(|mark| folders.contains(mark))
}

/// Whether a segment begins with a word of recipes and its arguments. The parser of recipes leaves names that it does not know to
/// the engine, as effects.
fn begins_with_a_step(segment: &str) -> bool {
    let step = segment.split(',').next().unwrap_or_default();
    let end = step.find(':').or_else(|| step.find("%3A"));
    end.is_some_and(|end| words().any(|word| word.name == &step[..end]))
}

/// Reads the target of an endpoint, whose whole path is the prefix and whose query has all of these arguments.
fn endpoint<'a>(cut: &Cut<'a>, end: &str, arguments: &[&str]) -> Option<Form<'a>> {
    let is_here = matches!(cut.path, "" | "/") && cut.prefix.ends_with(end);
    let has_all = arguments.iter().all(|name| cut.has_argument(&[name]));
    (is_here && has_all).then(|| Form {
        path: "".into(),
        ..cut.plain(true)
    })
}

fn iiif<'a>(cut: &Cut<'a>) -> Option<Form<'a>> {
    let segments: Vec<&str> = cut.path.strip_prefix('/')?.split('/').collect();
    let names_iiif = cut
        .prefix
        .split('/')
        .any(|segment| segment.starts_with("iiif"));
    match &segments[..] {
        [identifier @ .., "info.json"] if !identifier.is_empty() => Some(cut.plain(names_iiif)),
        [identifier @ .., region, _, rotation, last] if !identifier.is_empty() => {
            let (quality, _) = last.split_once('.')?;
            let is_region = matches!(*region, "full" | "square")
                || region.contains(',')
                || region.contains("%2C");
            let is_rotation = rotation.trim_start_matches('!').parse::<f64>().is_ok();
            let is_quality = ["default", "color", "gray", "bitonal"].contains(&quality);
            (is_region && is_rotation && is_quality).then(|| cut.plain(true))
        }
        _ => None,
    }
}

fn ipx<'a>(cut: &Cut<'a>) -> Option<Form<'a>> {
    let (first, _) = cut.first()?;
    let is_usual = cut.prefix.ends_with("/_ipx");
    let is_modifier = |piece: &str| {
        let name = piece.split(['_', ':', '=']).next().unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let all = first == "_" || first.split(['&', ',']).all(is_modifier);
    let has_value = first != "_" && first.contains('_');
    all.then(|| cut.plain(is_usual || has_value))
        .filter(|_| is_usual || first.contains('_'))
}

fn imgproxy<'a>(cut: &Cut<'a>) -> Option<Form<'a>> {
    let rest = cut.path.strip_prefix('/')?;
    let (about, rest) = match rest.strip_prefix("info/") {
        Some(rest) => ("info/", rest),
        None => ("", rest),
    };
    let (signature, rest) = rest.split_once('/')?;
    if signature.is_empty() || rest.is_empty() || !signature.bytes().all(is_base64) {
        return None;
    }
    let next = rest.split('/').next().unwrap_or_default();
    let has_options = next.contains(':') || next.contains("%3A");
    let has = |word: &str| rest.split('/').any(|segment| segment == word);
    let is_signature = signature.len() == 43 || ["insecure", "unsafe", "_"].contains(&signature);
    if !has_options && !has("plain") && !has("enc") && !is_signature {
        return None;
    }
    let (options, sealed) = match rest.strip_prefix("enc/") {
        Some(sealed) => ("", Some(sealed)),
        None => match rest.split_once("/enc/") {
            Some((options, sealed)) if !options.split('/').any(|it| it == "plain") => {
                (options, Some(sealed))
            }
            _ => (rest, None),
        },
    };
    let path = match sealed {
        None => cut.path.into(),
        Some(_) if options.is_empty() => {
            format!("/{about}{signature}/plain/local:///sealed.jpg").into()
        }
        Some(_) => format!("/{about}{signature}/{options}/plain/local:///sealed.jpg").into(),
    };
    Some(Form {
        path,
        signature: Some(signature.to_owned()),
        is_strong: true,
        is_sealed: sealed.is_some(),
    })
}

fn thumbor<'a>(cut: &Cut<'a>) -> Option<Form<'a>> {
    let (first, rest) = cut.first()?;
    if first == "unsafe" {
        return Some(Form {
            signature: Some(first.to_owned()),
            ..cut.plain(true)
        });
    }
    let signature = first.replace("%3D", "=").replace("%3d", "=");
    let next = rest.split('/').next().unwrap_or_default();
    let sides = next.split_once('x');
    let is_side = |side: &str| {
        side.bytes()
            .all(|byte| byte.is_ascii_digit() || b"-:x".contains(&byte))
    };
    let is_part = sides.is_some_and(|(w, h)| is_side(w) && is_side(h))
        || [
            "fit-in",
            "adaptive-fit-in",
            "full-fit-in",
            "smart",
            "meta",
            "trim",
            "stretch",
        ]
        .contains(&next)
        || next.starts_with("filters:")
        || next.starts_with("filters%3A")
        || next.starts_with("trim:");
    looks_signed(&signature).then(|| Form {
        path: format!("/unsafe/{rest}").into(),
        signature: Some(signature),
        is_strong: is_part,
        is_sealed: false,
    })
}

/// Whether a segment can be a signature in base64 of a digest of 20 bytes or more.
fn looks_signed(segment: &str) -> bool {
    let digits = segment.trim_end_matches('=');
    (26..=86).contains(&digits.len())
        && digits.bytes().all(is_base64)
        && digits.bytes().any(|byte| byte.is_ascii_uppercase())
        && digits.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_=".contains(&byte)
}

/// Returns the signature of imgix, which is the last parameter of a query.
pub(super) fn imgix_signature(query: &str) -> Option<&str> {
    let given = match query.rsplit_once("&s=") {
        Some((_, given)) => given,
        None => query.strip_prefix("s=")?,
    };
    let is_hex = given.bytes().all(|byte| byte.is_ascii_hexdigit());
    (given.len() == 32 && is_hex).then_some(given)
}

/// Whether a path segment is the name of a host: labels with dots between them, the last one of letters.
pub(super) fn is_host(segment: &str) -> bool {
    let (name, port) = segment.split_once(':').unwrap_or((segment, "80"));
    let label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let Some((_, end)) = name.rsplit_once('.') else {
        return name == "localhost" && segment.contains(':') && is_port;
    };
    let is_address = name.parse::<std::net::Ipv4Addr>().is_ok();
    let is_domain = end.len() >= 2 && end.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_port && (is_address || is_domain && name.split('.').all(label) && !is_file(name))
}

/// Whether a name ends in the extension of an image or of another file of a website.
fn is_file(name: &str) -> bool {
    has_image_extension(name) || has_page_extension(name)
}

pub(super) fn has_image_extension(path: &str) -> bool {
    has_extension(path, IMAGES)
}

/// Whether a path ends in the extension of a page or of another file of a website that is no image.
pub(super) fn has_page_extension(path: &str) -> bool {
    has_extension(path, PAGES)
}

fn has_extension(path: &str, known: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|it| known.iter().any(|known| it.eq_ignore_ascii_case(known)))
}

const IMAGES: &[&str] = &[
    "jpg", "jpeg", "jpe", "png", "gif", "webp", "avif", "svg", "ico", "bmp", "tif", "tiff", "heic",
    "heif", "jxl", "jfif", "psd", "jp2",
];

const PAGES: &[&str] = &[
    "html",
    "htm",
    "xhtml",
    "php",
    "asp",
    "aspx",
    "jsp",
    "css",
    "js",
    "mjs",
    "map",
    "json",
    "xml",
    "txt",
    "rss",
    "atom",
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "pdf",
    "zip",
    "gz",
    "mp4",
    "webm",
    "mp3",
    "ogg",
    "wasm",
    "webmanifest",
    "csv",
    "md",
    "yml",
    "yaml",
    "env",
];

/// Arguments that mark a query as one of weserv's, beside `url`.
const WESERV: [&str; 19] = [
    "w", "h", "dpr", "fit", "a", "output", "q", "we", "cx", "cy", "cw", "ch", "trim", "mask", "bg",
    "il", "n", "maxage", "l",
];

/// Arguments that mark a query as one of Photon's.
const PHOTON: [&str; 13] = [
    "w",
    "h",
    "resize",
    "fit",
    "crop",
    "quality",
    "strip",
    "ssl",
    "zoom",
    "lb",
    "ulb",
    "filter",
    "brightness",
];

/// Arguments that mark a query as one of imgix's even if the path has no extension.
const IMGIX: [&str; 7] = ["ixlib", "ixid", "auto", "fm", "fit", "dpr", "s"];

#[cfg(test)]
mod tests {
    use super::*;

    fn form(kind: Kind, prefix: &str, target: &str) -> Option<bool> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let path = path.strip_prefix(prefix).expect("below the prefix");
        let cut = Cut {
            prefix,
            path,
            query,
        };
        of(kind, &cut).map(|form| form.is_strong)
    }

    #[test]
    fn marks_are_asked_for() {
        let signed = "/1234567890abcdefGHIJKLMNOPQ=/300x200/a.jpg";
        assert_eq!(form(Kind::Thumbor, "", signed), Some(true));
        assert_eq!(form(Kind::Thumbor, "", "/unsafe/x"), Some(true));
        assert_eq!(form(Kind::Thumbor, "", "/about/300x200/a.jpg"), None);
        assert_eq!(form(Kind::Imgproxy, "", "/css/app.css"), None);
        assert_eq!(form(Kind::Imgproxy, "", "/x/rs:fit:1:1/YQ"), Some(true));
        assert_eq!(form(Kind::Native, "/r", "/r/fit:9x9/a.jpg"), Some(true));
        assert_eq!(
            form(Kind::Native, "/t", "/t/filters:quality(70)/a.jpg"),
            None
        );
        assert_eq!(form(Kind::Weserv, "", "/login?url=/home"), None);
        assert_eq!(form(Kind::Weserv, "/go", "/go?url=/home"), Some(false));
        assert_eq!(form(Kind::Ipx, "/photos", "/photos/summer/a.jpg"), None);
        assert_eq!(form(Kind::Ipx, "/_ipx", "/_ipx/_/a.jpg"), Some(true));
        assert_eq!(form(Kind::Next, "/x", "/x?url=%2Fa.jpg&w=64&q=75"), None);
        assert_eq!(form(Kind::Imgix, "", "/search?q=shoes"), Some(false));
    }

    #[test]
    fn files_have_no_options_in_their_folders() {
        assert!(looks_like_file("/uploads/2021/05/a,b.jpg"));
        assert!(!looks_like_file("/iiif/a/full/^300,/0/default.jpg"));
        assert!(!looks_like_file("/images/w=300/a.jpg"));
    }

    #[test]
    fn hosts_are_told_from_files() {
        for host in [
            "a.example",
            "img.a.example:8080",
            "10.0.0.1",
            "localhost:80",
        ] {
            assert!(is_host(host), "{host}");
        }
        for other in [
            "a.jpg",
            "app.min.js",
            "localhost",
            "a",
            "1.5",
            ".hidden",
            "a..example",
        ] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn sealed_sources_are_replaced_by_plain_ones() {
        let cut = Cut {
            prefix: "",
            path: "/unsafe/rs:fit:10:10/enc/AbCd",
            query: None,
        };
        let form = of(Kind::Imgproxy, &cut).expect("imgproxy's");
        assert!(form.is_sealed);
        assert_eq!(form.path, "/unsafe/rs:fit:10:10/plain/local:///sealed.jpg");
    }
}
