//! Forms of URLs, by which dialects are recognised in the logs of servers whose configuration is not known.
//!
//! The parsers of some dialects accept nearly every path, because they answer with errors of their own. So each form
//! requires a mark first, such as a signature, an option with a value, or a parameter that no page has.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// The form of a dialect's URLs, or of those of a variant of the dialect that needs other settings.
#[derive(Debug)]
pub struct Form {
    /// Name, for people, of the server that has such URLs.
    pub name: &'static str,
    /// Name of the dialect and of its table in the configuration.
    pub dialect: &'static str,
    /// Rank in the order in which forms are tried. Forms with unmistakable URLs come before those that nearly every URL
    /// could have. Forms with the same first number have the same grammar, so that only one of them is chosen for a
    /// prefix; of these, the one with the lower second number is preferred.
    pub order: (u8, u8),
    /// Key of the prefix in the dialect's table of the configuration, such as `prefix`; `None` if the dialect has no
    /// prefix.
    pub prefix_key: Option<&'static str>,
    /// Lines of TOML for the dialect's table of the configuration, with which the dialect reads as many URLs of this
    /// form as possible; empty if it needs none.
    pub lenient: &'static str,
    /// Which part of a server's paths the URLs occupy.
    pub room: Room,
    /// Regular expression of what follows the prefix in paths, without anchors and groups that capture. It uses what
    /// the regex crate and PCRE have in common.
    pub pattern: &'static str,
    /// Returns the [`Marks`] by which a target is recognised, or `None` if it cannot have this form.
    pub(crate) look: for<'a> fn(&Cut<'a>) -> Option<Marks<'a>>,
}

/// Which part of a server's paths the URLs of a dialect occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Everything below the prefix: the dialect reads or refuses it, so that nothing else can be there.
    Everything,
    /// Only paths in the form of the dialect's URLs. Other paths may be below the same prefix.
    OwnForm,
    /// Exactly the prefix; the options are in the query.
    OnePath,
    /// Exactly the prefix, if the query has this argument.
    OneArgument(&'static str),
    /// Paths of files, if the query has one of these arguments, which are separated by `|`.
    Files(&'static str),
}

/// A target, split into the prefix of a dialect and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    /// The path up to the dialect's part, without a slash at its end.
    pub prefix: &'a str,
    /// The rest of the path: empty, or with a slash at its beginning.
    pub path: &'a str,
    /// The query, if there is one.
    pub query: Option<&'a str>,
}

/// The marks of a form in a target: what in its text, such as a signature or an option with a value, shows that the
/// target may have the form. They are found before a parser reads the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks<'a> {
    /// The path to be parsed. A signature or an encrypted source, which a parser without the key cannot read, is
    /// replaced by a text that every parser accepts.
    pub path: Cow<'a, str>,
    /// The signature, or the word that stands in its place, such as `unsafe`.
    pub signature: Option<String>,
    /// How certainly the marks show that the target has the form.
    pub strength: Strength,
    /// Whether the source is encrypted.
    pub is_sealed: bool,
    /// How well the prefix goes with the form.
    pub prefix: Suits,
}

/// How certainly [`Marks`] show that a target has a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// The target is evidence of the form only if other targets at the same prefix have more certain marks of the form.
    Weak,
    /// The target is evidence of the form by itself if the parser knows all of its options.
    IfKnown,
    /// The target is evidence of the form by itself.
    Sure,
}

/// How well a prefix suits a form. If the form reads equally many targets with several prefixes, this decides between
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suits {
    /// If the form reads equally many targets with several prefixes, the shortest is taken.
    #[default]
    Short,
    /// If the form reads equally many targets with several prefixes, the longest is taken: the form's sources may contain
    /// slashes, so with a shorter prefix the rest of the longer one would count as part of the source.
    Long,
    /// The prefix contains the name of the dialect.
    Named,
    /// The prefix names another variant of the dialect than this form, such as `/iiif/2` for the form of version 3.
    Variant,
    /// The prefix names exactly this form, and so wins even against a prefix that reads more targets.
    Sure,
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Form {}

impl PartialOrd for Form {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Orders forms by rank, which is the order in which they are tried. No two forms have the same rank.
impl Ord for Form {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }
}

/// Writes [`Form::name`].
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Form {
    /// Whether the URLs are one path, with the options in the query.
    #[must_use]
    pub fn is_endpoint(&self) -> bool {
        matches!(self.room, Room::OnePath | Room::OneArgument(_))
    }

    /// Returns the marks by which a target is recognised, or `None` if it cannot have this form.
    #[must_use]
    pub fn marks<'a>(&self, cut: &Cut<'a>) -> Option<Marks<'a>> {
        (self.look)(cut)
    }
}

impl<'a> Cut<'a> {
    /// Returns the first segment after the prefix, and what follows its slash.
    pub(crate) fn first(&self) -> Option<(&'a str, &'a str)> {
        let rest = self.path.strip_prefix('/')?;
        let (first, rest) = rest.split_once('/')?;
        (!first.is_empty() && !rest.is_empty()).then_some((first, rest))
    }

    /// Returns the raw value of an argument of the query.
    pub(crate) fn argument(&self, name: &str) -> Option<&'a str> {
        let mut pairs = self.arguments();
        pairs.find_map(|(key, value)| (key == name && !value.is_empty()).then_some(value))
    }

    /// Whether the query has one of these arguments with a value.
    pub(crate) fn has_argument(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.argument(name).is_some())
    }

    /// Returns the names and raw values of the query's arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.query.unwrap_or_default().split('&');
        pairs.filter_map(|pair| pair.split_once('='))
    }

    /// Returns marks of this strength for an unsigned target, whose path is parsed unchanged.
    pub(crate) fn marks(&self, strength: Strength) -> Marks<'a> {
        Marks {
            path: self.path.into(),
            signature: None,
            strength,
            is_sealed: false,
            prefix: Suits::default(),
        }
    }

    /// Returns the marks of a URL whose whole path is the prefix, which ends in `end`, and whose query has all of these
    /// arguments (an endpoint). `None` if the target is no such URL.
    pub(crate) fn endpoint(&self, end: &str, arguments: &[&str]) -> Option<Marks<'a>> {
        let is_here = matches!(self.path, "" | "/") && self.prefix.ends_with(end);
        let has_all = arguments.iter().all(|name| self.has_argument(&[name]));
        (is_here && has_all).then(|| Marks {
            path: "".into(),
            ..self.marks(Strength::Sure)
        })
    }
}

/// Whether a path looks like that of an image file: it has the extension of an image, and none of its folders has a
/// character that is typical of options, such as `=` or `,`.
#[must_use]
pub fn looks_like_file(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let options = [
        ":", "=", ",", "(", "@", "&", "%3A", "%2F", "%3D", "%2C", "%28",
    ];
    has_image_extension(path) && !options.iter().any(|mark| folders.contains(mark))
}

/// Whether a path segment is a host, with or without a port: a domain (labels with dots between them, the last one of
/// letters) that does not look like a file name, an IPv4 address, or `localhost`, which needs a port.
#[must_use]
pub fn is_host(segment: &str) -> bool {
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
    let is_file = has_image_extension(name) || has_page_extension(name);
    is_port && (is_address || is_domain && name.split('.').all(label) && !is_file)
}

/// Whether a path has the extension of an image.
#[must_use]
pub fn has_image_extension(path: &str) -> bool {
    has_extension(path, IMAGES)
}

/// Whether a path has the extension of a page, a script or another file of a website that is not an image.
#[must_use]
pub fn has_page_extension(path: &str) -> bool {
    has_extension(path, PAGES) || is_script(path)
}

/// Whether the path of a target has the extension of a script, whose response may be anything.
#[must_use]
pub fn is_script(target: &str) -> bool {
    let (path, _) = target.split_once('?').unwrap_or((target, ""));
    has_extension(path, SCRIPTS)
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|it| {
        extensions
            .iter()
            .any(|extension| it.eq_ignore_ascii_case(extension))
    })
}

/// Whether a segment can be a signature: base64 of a digest of at least 20 bytes.
#[must_use]
pub fn looks_signed(segment: &str) -> bool {
    let digits = segment.trim_end_matches('=');
    (26..=86).contains(&digits.len())
        && digits.bytes().all(is_base64)
        && digits.bytes().any(|byte| byte.is_ascii_uppercase())
        && digits.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether a byte may stand in URL-safe base64 with padding.
pub(crate) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_=".contains(&byte)
}

const IMAGES: &[&str] = &[
    "jpg", "jpeg", "jpe", "png", "gif", "webp", "avif", "svg", "ico", "bmp", "tif", "tiff", "heic",
    "heif", "jxl", "jfif", "psd", "jp2",
];

const SCRIPTS: &[&str] = &[
    "php", "php5", "phtml", "asp", "aspx", "ashx", "jsp", "cgi", "pl", "cfm",
];

const PAGES: &[&str] = &[
    "html",
    "htm",
    "xhtml",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(name: &str, prefix: &str, target: &str) -> Option<Strength> {
        let form = crate::forms().find(|form| form.name == name).expect(name);
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
        form.marks(&cut).map(|marks| marks.strength)
    }

    #[test]
    fn each_form_is_of_the_dialect_that_has_it_and_has_a_place_of_its_own() {
        for row in crate::ROWS {
            let forms = (row.forms)();
            assert!(
                forms.iter().all(|form| form.dialect == row.name),
                "{}",
                row.name
            );
        }
        let orders: Vec<_> = crate::forms().map(|form| form.order).collect();
        assert!(orders.windows(2).all(|two| two[0] < two[1]), "{orders:?}");
    }

    #[test]
    fn marks_are_asked_for() {
        use Strength::{IfKnown, Sure, Weak};
        let signed = "/1234567890abcdefGHIJKLMNOPQ=/300x200/a.jpg";
        for (name, prefix, target, marks) in [
            ("thumbor", "", signed, Some(Sure)),
            ("thumbor", "", "/unsafe/x", Some(Sure)),
            ("thumbor", "", "/about/300x200/a.jpg", None),
            ("imgproxy", "", "/css/app.css", None),
            ("imgproxy", "", "/docs/plain/readme.html", None),
            ("imgproxy", "", "/uploads/plain/enc/a.jpg", None),
            ("imgproxy", "", "/x/rs:fit:1:1/YQ", Some(Sure)),
            ("Andon", "/r", "/r/fit:9x9/a.jpg", Some(Sure)),
            ("Andon", "/t", "/t/filters:quality(70)/a.jpg", None),
            ("weserv", "", "/login?url=/home", None),
            ("weserv", "/go", "/go?url=/home&l=de", Some(Weak)),
            ("weserv", "/go", "/go?url=a.example/b&w=80", Some(Sure)),
            ("ipx", "/photos", "/photos/summer/a.jpg", None),
            ("ipx", "/_ipx", "/_ipx/_/a.jpg", Some(Sure)),
            ("ipx", "/i", "/i/w_80/a.jpg", Some(IfKnown)),
            ("ipx", "/i", "/i/b_roll/about", None),
            ("Cloudflare", "", "/w=80/a.jpg", Some(IfKnown)),
            ("Next.js", "/x", "/x?url=%2Fa.jpg&w=64&q=75", None),
            ("imgix", "", "/search?q=shoes", None),
            ("imgix", "", "/logo.png?v=3", Some(Weak)),
            ("imgix", "", "/logo.png?w=3", Some(Sure)),
            (
                "imgix",
                "",
                "/a.jpg?md5=PohwVNe5JI7vyBQIWQYXPw&expires=9",
                Some(Weak),
            ),
        ] {
            assert_eq!(strength(name, prefix, target), marks, "{name} {target}");
        }
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
}
