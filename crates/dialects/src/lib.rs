//! URL languages: what the target of a request asks for, and how to write requests as targets.
//!
//! [`Dialects`] is the entry point. It applies the rewrite rules and tries each dialect in turn. A target that no
//! dialect reads is treated as the path of a plain file. Nothing here opens a file or an image.
//!
//! ```
//! use andon_dialects::{Config, Dialects, Source};
//! let dialects = Dialects::new(&Config::default()).unwrap();
//! let request = dialects.parse("/small_light(dw=250,dh=250,q=95)/trip/a%20b.jpg").unwrap();
//! assert_eq!(request.source, Source::Path("trip/a b.jpg".to_owned()));
//! assert_eq!(request.rules.text(), "small_light(dw=250,dh=250,q=95)");
//! ```
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | see how a URL becomes a recipe | `small_light/` (`params.rs` lists all parameters, `rules.rs` resolves them) |
//! | add an option to imgix, weserv, Cloudflare, ipx or Astro | `options.rs` in the dialect's folder: a row of its table; `crates/dialects/tests/pages.rs` writes the table in `docs/dialects/` |
//! | change what an option of a dialect is expected to change | its table in `crates/dialects/options/`; `crates/server/tests/options.rs` requests an image with and without each option |
//! | change how a dialect is recognised in the logs of another server | `form.rs` in its folder; `forms.rs` says what a form is |
//! | change how requests are written in other dialects | `translate/` |

#![forbid(unsafe_code)]

mod accept;
mod access;
pub mod astro;
pub mod cloudflare;
mod colours;
mod config;
mod dialect;
mod disposition;
mod document;
mod dots;
mod effects;
mod errors;
pub mod forms;
mod geometry;
mod hints;
mod hosts;
pub mod iiif;
pub mod image_filter;
pub mod imgix;
pub mod imgproxy;
pub mod ipx;
mod likeness;
pub mod native;
pub mod next;
mod options;
mod percent;
mod permitted;
pub mod photon;
mod refusal;
mod remote_pattern;
mod request;
mod rewrite;
mod rewrite_warnings;
mod rules;
mod sharp;
pub mod signature;
pub mod signing;
pub mod small_light;
mod spelling;
mod swatches;
pub mod thumbor;
pub mod translate;
pub mod weserv;

pub use access::{Door, Nowhere, Places, check_overlays};
pub use andon_settings::Error as ConfigError;
pub use astro::{AstroConfig, Endpoint};
pub use cloudflare::CloudflareConfig;
pub use config::{FilesConfig, Gate, Settings};
pub use dialect::{Dialect, Headers, Target};
pub use document::{About, Document, Part, ResultAbout, SourceAbout};
pub use errors::{ErrorStyle, Errors, Fault, OWN_ERRORS, Told};
pub use forms::Form;
pub use hints::ClientHintsConfig;
pub use iiif::{IiifConfig, LargerBox, Slashes};
pub use image_filter::ImageFilterConfig;
pub use imgix::ImgixConfig;
pub use imgproxy::ImgproxyConfig;
pub use ipx::IpxConfig;
pub use native::{Canonical, NativeConfig};
pub use next::NextConfig;
pub use options::OptionHelp;
pub use percent::encode as percent_encode;
pub use permitted::PermittedConfig;
pub use photon::{PhotonConfig, PhotonSource};
pub use refusal::Refusal;
pub use remote_pattern::RemotePattern;
pub use request::{AnswerStyle, Ask, FILES, Fallback, ImageRequest, Keeping, Redirect, Source};
pub use rewrite::Rewrite;
pub use small_light::{Compat, Mistakes, SmallLightConfig};
pub use spelling::{Spelt, Word};
pub use thumbor::{ImagorConfig, Loader, ThumborConfig};
pub use weserv::WeservConfig;

use std::borrow::Cow;

use access::{Doors, Evidence};
use dialect::{HeadersRead, with_slash};
use hints::ClientHints;
use permitted::Permitted;
use rewrite::Rewriter;
use signing::{Outcome, SecureLink, SecureLinkConfig, SignedPart, Signing, SigningConfig};

config::dialects! {
    /// Andon's own URLs.
    native: NativeConfig,
    /// imgproxy's URLs.
    imgproxy: ImgproxyConfig,
    /// ngx_small_light's URLs.
    small_light: SmallLightConfig,
    /// URLs for nginx's image filter module. Rewrite rules create them from the URLs of nginx's locations, because the
    /// module has no URL syntax of its own.
    image_filter: ImageFilterConfig,
    /// The IIIF Image API's URLs.
    iiif: IiifConfig,
    /// Cloudflare's URLs.
    cloudflare: CloudflareConfig,
    /// URLs of the image component of Next.js, and of Vercel.
    next: NextConfig,
    /// thumbor's URLs.
    thumbor: ThumborConfig,
    /// imagor's URLs.
    imagor: ImagorConfig,
    /// weserv's URLs.
    weserv: WeservConfig,
    /// Photon's URLs, those of WordPress.com and Jetpack. A URL that has none of Photon's arguments may be that of a
    /// plain file.
    photon: PhotonConfig,
    /// ipx's URLs.
    ipx: IpxConfig,
    /// URLs of Astro's image endpoint.
    astro: AstroConfig,
    /// imgix's URLs. A URL that has none of imgix's parameters may be that of a plain file.
    imgix: ImgixConfig,
}

/// Path of the file in all [`Dialects::examples`], with a leading slash.
pub const EXAMPLE_SOURCE: &str = "/trip/a.jpg";

/// Returns the forms by which logs are searched for URLs of all dialects, in the order in which they are tried.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    let mut all: Vec<&Form> = ROWS.iter().flat_map(|row| (row.forms)()).collect();
    all.sort_by_key(|form| form.order);
    all.into_iter()
}

/// Returns one name for each option of a dialect; empty if there is no such dialect, or it has no list of its options.
#[must_use]
pub fn options(dialect: &str) -> Vec<String> {
    let row = config::Row::named(dialect);
    row.map_or_else(Vec::new, |row| (row.option_names)())
}

/// Returns the documentation of each option of a dialect; empty if there is no such dialect, or its options are not
/// documented.
#[must_use]
pub fn option_help(dialect: &str) -> Vec<OptionHelp> {
    let row = config::Row::named(dialect);
    row.map_or_else(Vec::new, |row| (row.option_help)())
}

/// Creates a dialect, or returns `None` if the configuration switches it off.
pub type Maker = fn(&Config) -> Result<Option<Box<dyn Dialect>>, ConfigError>;

/// The dialects that are switched on, and the rules that apply to all of them. Shared by all requests.
#[derive(Debug)]
pub struct Dialects {
    signing: Signing,
    links: Vec<SecureLink>,
    rewriter: Rewriter,
    dialects: Vec<(&'static str, Box<dyn Dialect>)>,
    doors: Doors,
    permitted: Option<Permitted>,
    hints: ClientHints,
    /// How the URLs of each dialect begin, in the form of [`Gate::places`].
    places: Vec<(&'static str, Vec<String>)>,
}

/// A parsed target, before the access rights of its sender are checked.
struct ParsedTarget {
    request: ImageRequest,
    /// Index of the dialect that read the target; `None` if the target is the path of a plain file.
    door: Option<usize>,
    /// The target that a rewrite rule with `opens = true` made, without the request's query. Such a rule may lead to
    /// dialects that are closed to unsigned URLs, and to sources that a `[[secure_link]]` guards.
    opened_target: Option<String>,
}

impl Dialects {
    /// Compiles the configuration.
    ///
    /// # Errors
    /// The first configuration key or rewrite rule with an invalid value.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let mut dialects = Vec::new();
        let mut mounts: Vec<(String, &str)> = Vec::new();
        let mut places = Vec::new();
        for ((name, make), row) in ALL.iter().zip(ROWS) {
            let Some(dialect) = make(config)? else {
                continue;
            };
            let gate = (row.gate)(config);
            places.push((*name, gate.places.clone()));
            let alone = gate.places.into_iter().filter(|_| !gate.shares_prefix);
            for place in alone.filter(|it| it.ends_with(config::BELOW)) {
                if let Some((_, other)) = mounts.iter().find(|(prefix, _)| *prefix == place) {
                    let place = match place.trim_end_matches(config::BELOW) {
                        "" => "/",
                        place => place,
                    };
                    return Err(ConfigError::new(
                        format!("{name}.prefix"),
                        format!(
                            "\"{place}\" is a prefix of [{other}] already, and only one could answer; give each its own"
                        ),
                    ));
                }
                mounts.push((place, name));
            }
            dialects.push((*name, dialect));
        }
        dialects.sort_by_key(|(_, dialect)| dialect.reads_everything());
        let is_on = |name: &str| dialects.iter().any(|(entry, _)| *entry == name);
        let doors = Doors::new(config, is_on);
        let links = config.secure_link.iter().enumerate();
        let example_rules = dialects.iter().filter_map(|(name, dialect)| {
            let example = dialect.example(EXAMPLE_SOURCE);
            let request = dialect.parse(&Target::new(&example)).ok()??;
            Some((doors.of(name), request.rules))
        });
        let permitted = Permitted::new(&config.permitted, example_rules.collect())?;
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        Ok(Self {
            hints: ClientHints::new(&config.client_hints, &names, |name| doors.of(name))?,
            permitted,
            signing: config.signing.checked()?,
            links: links
                .map(|(index, link)| SecureLink::new(index, link))
                .collect::<Result<_, _>>()?,
            rewriter: Rewriter::new(&config.rewrite)?,
            dialects,
            doors,
            places,
        })
    }

    /// Removes all dialects but the one of this name. Returns `None` if it is switched off.
    #[must_use]
    pub fn only(mut self, name: &str) -> Option<Self> {
        self.dialects.retain(|(entry, _)| *entry == name);
        (!self.dialects.is_empty()).then_some(self)
    }

    /// Whether the URLs of every dialect that is switched on can be told from paths of plain files; see
    /// [`Dialect::marks_its_urls`].
    pub(crate) fn mark_their_urls(&self) -> bool {
        (self.dialects.iter()).all(|(_, dialect)| dialect.marks_its_urls())
    }

    /// Whether unsigned URLs of plain files are answered.
    #[must_use]
    pub fn opens_files(&self) -> bool {
        self.doors.closing_reason(None).is_none()
    }

    /// Returns the names of the dialects that answer URLs without any signature.
    #[must_use]
    pub fn unsigned(&self) -> &[&'static str] {
        self.doors.unsigned()
    }

    /// Returns an example target in each dialect. Its source is [`EXAMPLE_SOURCE`].
    pub fn examples(&self) -> impl Iterator<Item = String> {
        let all = self.dialects.iter();
        all.map(|(_, dialect)| dialect.example(EXAMPLE_SOURCE))
    }

    /// Returns the dialects that are switched on, and plain files, each with who may use it.
    pub fn doors(&self) -> impl Iterator<Item = &Door> {
        self.doors.all()
    }

    /// Returns the name of each dialect that neither `signing.keys` nor the settings of another dialect close to
    /// unsigned URLs (of every dialect with `signing.required`), with an example target in it for the file at `path`.
    /// Dialects that cannot name the file are left out. `path` has a leading slash and is percent-encoded.
    pub fn open_examples(&self, path: &str) -> impl Iterator<Item = (&'static str, String)> {
        let open = |name: &str| self.doors.closing_reason(self.doors.of(name)).is_none();
        let all = self.dialects.iter();
        let file = percent::decode(path).unwrap_or_default();
        let file = file.strip_prefix('/').unwrap_or(&file).to_owned();
        // Some dialects refuse some characters in names of files.
        let is_read = move |target: &str| {
            self.parse(target)
                .is_ok_and(|request| request.source.place() == file)
        };
        all.filter(move |(name, _)| open(name))
            .map(move |(name, dialect)| (*name, dialect.example(path)))
            .filter(move |(_, target)| is_read(target))
    }

    /// Returns regular expressions that find the source in targets of each dialect, for load balancers, with the
    /// dialect's name. They are matched against the raw target in this order, and their only group is the source. A
    /// target that none of them matches is the path of a plain file, or is rewritten by a rule.
    pub fn source_patterns(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.dialects.iter().flat_map(|(name, dialect)| {
            let patterns = dialect.source_patterns().into_iter();
            patterns.map(move |pattern| (*name, format!("^(?:/~[^/?]+)?{pattern}")))
        })
    }

    /// Returns what the target of a request asks for. The target is path and query as received, such as
    /// `/a%20b.jpg?x=1`.
    ///
    /// # Errors
    /// A target that is invalid, or asks for something that is not allowed, which is the client's fault.
    pub fn parse(&self, raw_target: &str) -> Result<ImageRequest, Refusal> {
        self.parse_with(raw_target, &NoHeaders)
    }

    /// Parses a target as [`Dialects::parse`] does, with the request's headers.
    ///
    /// # Errors
    /// Those of [`Dialects::parse`].
    pub fn parse_with(
        &self,
        raw_target: &str,
        headers: &dyn Headers,
    ) -> Result<ImageRequest, Refusal> {
        let raw_target = with_slash(raw_target);
        let headers = HeadersRead::new(headers);
        let (mut request, _) = self.understand(&raw_target, &headers)?;
        request.style.reads = headers.names();
        Ok(request)
    }

    /// Parses a target, and collects the evidence for what its sender may have: signatures, rewrite rule and dialect.
    fn understand<'a>(
        &self,
        raw_target: &'a str,
        headers: &'a HeadersRead<'a>,
    ) -> Result<(ImageRequest, Evidence<'a>), Refusal> {
        let split = self.signing.open(raw_target)?;
        let target = Target::new(split.rest)
            .with_front(split.front)
            .with_headers(headers);
        let mut expires = split.expires;
        let mut links = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            match link.check(&target)? {
                Outcome::Elsewhere => {}
                Outcome::Signed(until) => {
                    expires = expires.into_iter().chain(until).min();
                    links.push((index, true));
                }
                // The signature in front of the target may suffice, which is checked once the source is known.
                Outcome::Unsigned if split.signed_part != SignedPart::Nothing => {
                    links.push((index, false))
                }
                Outcome::Unsigned => {
                    let why = "its signature does not match";
                    return Err(Refusal::of(Fault::Signature, target.path, why));
                }
            }
        }
        let ParsedTarget {
            mut request,
            door,
            opened_target: opened_by_rule,
        } = self.read(target)?;
        let dialect_expiry = request.style.expires;
        request.style.expired = match dialect_expiry.is_some_and(|dialect_expiry| {
            expires.is_none_or(|signature_expiry| dialect_expiry < signature_expiry)
        }) {
            true => request.style.errors,
            false => OWN_ERRORS,
        };
        request.style.expires = dialect_expiry.into_iter().chain(expires).min();
        let evidence = Evidence {
            target,
            signed_part: split.signed_part,
            links,
            door,
            opened_by_rule,
        };
        Ok((request, evidence))
    }

    /// Parses a target whose signature in front has been removed, after applying the rewrite rules.
    fn read(&self, target: Target<'_>) -> Result<ParsedTarget, Refusal> {
        let rewritten = self.rewriter.apply(target.whole);
        let target = match &rewritten.target {
            Cow::Owned(new) => target.rewritten(new),
            Cow::Borrowed(_) => target,
        };
        Ok(ParsedTarget {
            opened_target: rewritten.opened_target,
            ..self.read_rewritten(target)?
        })
    }

    /// Returns the target that a rewrite rule makes of this one; `None` if no rule applies. A signature in front is
    /// removed.
    #[must_use]
    pub fn rewritten(&self, raw_target: &str) -> Option<String> {
        self.rewrite(raw_target).map(|(_, new)| new)
    }

    /// Returns the index of the rewrite rule that applies to a target, if one does.
    #[must_use]
    pub fn rule_of(&self, raw_target: &str) -> Option<usize> {
        self.rewrite(raw_target).map(|(index, _)| index)
    }

    fn rewrite(&self, raw_target: &str) -> Option<(usize, String)> {
        let raw_target = with_slash(raw_target);
        let split = self.signing.open(&raw_target).ok()?;
        let rewritten = self.rewriter.apply(split.rest);
        Some((rewritten.rule?, rewritten.target.into_owned()))
    }

    /// Parses a target without applying rewrite rules.
    fn read_rewritten(&self, target: Target<'_>) -> Result<ParsedTarget, Refusal> {
        for (name, dialect) in &self.dialects {
            let parsed = dialect.parse(&target).map_err(|refusal| Refusal {
                errors: dialect.errors(),
                ..refusal
            })?;
            if let Some(mut request) = parsed {
                request.style.errors = dialect.errors_of(&request);
                // A file at its own path counts as a plain file, whichever dialect has read its query.
                let is_own_path =
                    || Source::from_raw(target.path).is_ok_and(|path| path == request.source);
                let is_plain = request.is_file() && !request.is_signed && is_own_path();
                return Ok(ParsedTarget {
                    door: self.doors.of(name).filter(|_| !is_plain),
                    request,
                    opened_target: None,
                });
            }
        }
        Ok(ParsedTarget {
            request: ImageRequest::file(Source::from_raw(target.path)?),
            door: None,
            opened_target: None,
        })
    }

    /// Returns the request as a target of every dialect that can express it, with the dialect's name.
    pub fn write<'a>(
        &'a self,
        request: &'a ImageRequest,
    ) -> impl Iterator<Item = (&'static str, String)> + 'a {
        self.dialects.iter().filter_map(move |(name, dialect)| {
            // A target that begins with `/~` would be taken for a signed one.
            let target = dialect.write(request).filter(|it| !it.starts_with("/~"))?;
            // Reading the target back shows if the dialect cannot express the request, if a rewrite rule applies to the
            // target, or if another dialect reads it first.
            let parsed = self.read(Target::new(&target)).ok()?.request;
            let same = parsed.ask == request.ask
                && parsed.source == request.source
                && parsed.rules.text() == request.rules.text();
            same.then_some((*name, target))
        })
    }
}

/// Headers of a request that has none.
#[derive(Clone, Copy, Debug)]
pub struct NoHeaders;

impl Headers for NoHeaders {
    fn get(&self, _: &str) -> Option<&str> {
        None
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
