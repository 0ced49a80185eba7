//! ipx's URLs, as Nuxt Image writes them: `/_ipx/w_250&f_webp/trip/a.jpg`.
//!
//! Modifiers act as in ipx 3.1 with sharp 0.34, in the same order. Values that sharp refuses are refused with its
//! messages.

mod accept;
mod apply;
mod config;
mod form;
mod options;
mod spell;
mod value;

use serde_json::json;

pub use config::IpxConfig;

use self::apply::SharpOptions;
use self::options::{Modifiers, OPTIONS};
use self::value::Value;
use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Errors, Fault, Told};
use crate::hosts::Hosts;
use crate::options::About;
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{AnswerStyle, Ask, ImageRequest, Source};
use crate::sharp::{self, Encoding, Format, SharpRules};

#[derive(Debug)]
struct Ipx {
    /// URL prefix without its trailing slash.
    prefix: String,
    /// Hosts of the URLs that may be named as sources; empty: the hosts of all origins.
    hosts: Hosts,
    /// Replacements for beginnings of sources: the beginning, with a leading slash, and the text that replaces it.
    alias: Vec<(String, String)>,
    /// For how many seconds clients may cache results of files.
    max_age: u64,
    /// For how many seconds clients may cache results of images from other servers, if those set no lifetime.
    http_max_age: u64,
}

/// Name of the dialect, with which the canonical text of its rules ([`Rules::text`](andon_recipe::Rules::text)) begins.
const NAME: &str = "ipx";

impl Dialect for Ipx {
    fn example(&self, path: &str) -> String {
        format!("{}/s_250x250{path}", self.prefix)
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&IpxErrors)
    }

    fn reads_everything(&self) -> bool {
        self.prefix.is_empty()
    }

    fn marks_its_urls(&self) -> bool {
        !self.prefix.is_empty()
    }

    fn source_patterns(&self) -> Vec<String> {
        vec![format!("{}/[^/?]+/+([^?]*)", regex::escape(&self.prefix))]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let rest = match target.below(&self.prefix) {
            Some(rest) => rest,
            None if target.path == self.prefix => "",
            None => return Ok(None),
        };
        let (segment, id) = rest.split_once('/').unwrap_or((rest, ""));
        let missing = |what: &str, code| {
            let why = format!(
                "{what}; it must be `{}/MODIFIERS/SOURCE`, with `_` for no modifiers",
                self.prefix
            );
            Refusal::new(target.path, why).with_code(code)
        };
        if segment.is_empty() {
            return Err(missing("Modifiers are missing", "IPX_MISSING_MODIFIERS"));
        }
        if id.is_empty() || id == "/" {
            return Err(missing("Resource id is missing", "IPX_MISSING_ID"));
        }
        let source = self.source(id, target.query)?;
        let mut notes = Vec::new();
        let mut modifiers = Modifiers::read(segment, &mut notes)?;
        let is_auto = choose_format(&mut modifiers, target);
        notes.extend(notes_on_unsupported(&modifiers));
        let rules =
            rules(&modifiers).map_err(|why| Refusal::of(Fault::Unsupported, segment, why))?;
        let is_url = matches!(source, Source::Url(_));
        Ok(Some(ImageRequest {
            notes,
            style: AnswerStyle {
                exact: true,
                headers: vec![("content-security-policy", "default-src 'none'".to_owned())],
                max_age: Some(if is_url {
                    self.http_max_age
                } else {
                    self.max_age
                }),
                lifetime: "max-age={}, public, s-maxage={}",
                ..AnswerStyle::default()
            },
            ..ImageRequest::image(source, rules.by_accept(is_auto))
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let modifiers = sharp::options_of(NAME, &text)?;
        let source = &request.source;
        let source = source
            .escaped()
            .unwrap_or_else(|| percent::encode(source.as_str(), "").into());
        let is_image = request.ask == Ask::Image;
        is_image.then(|| format!("{}/{modifiers}/{source}", self.prefix))
    }
}

impl Ipx {
    /// Reads a source: a path, or an absolute URL. The target's query is appended to a URL.
    fn source(&self, id: &str, query: Option<&str>) -> Result<Source, Refusal> {
        let decoded = percent::decode(id)?;
        let alias_target = self.alias_of(&decoded);
        let id = alias_target.as_deref().unwrap_or(id);
        let source = match alias_target.as_deref() {
            Some(text) => Source::url(text).unwrap_or_else(|| Source::from_path(text)),
            // The URL is escaped as a whole, so that an escaped query is part of it.
            None => Source::url(&decoded).map_or_else(|| Source::from_raw(id), Ok)?,
        };
        let refusal = |why: String, code| Refusal::of(Fault::Source, id, why).with_code(code);
        let path = match source {
            Source::Url(url) => {
                let host = url::Url::parse(&url).ok();
                let host = host.and_then(|url| Some(url.host_str()?.to_owned()));
                let host = host.ok_or_else(|| {
                    refusal("Hostname is missing".to_owned(), "IPX_MISSING_HOSTNAME")
                })?;
                if !self.hosts.is_empty() && !self.hosts.has(&host) {
                    return Err(refusal(
                        format!(
                            "Forbidden host: {host}; `domains` of `[ipx]` lists those that are not"
                        ),
                        "IPX_FORBIDDEN_HOST",
                    ));
                }
                return Ok(Source::Url(match query {
                    Some(query) => format!("{url}?{query}"),
                    None => url,
                }));
            }
            path => path,
        };
        // ipx refuses these characters in names of files, and the query counts as part of the name.
        let odd = |letter: char| "\"*:<>?|".contains(letter);
        if query.is_some() || path.place().contains(odd) {
            let why = "Forbidden path: it has a query, or one of the characters \"*:<>?|";
            return Err(refusal(why.to_owned(), "IPX_FORBIDDEN_PATH"));
        }
        Ok(path)
    }

    /// Returns the source with its beginning replaced by an alias; `None` if no alias matches.
    fn alias_of(&self, decoded: &str) -> Option<String> {
        let id = format!("/{}", decoded.trim_start_matches('/'));
        let mut alias = self.alias.iter();
        alias.find_map(|(name, to)| {
            let rest = id.strip_prefix(&**name)?;
            Some(format!(
                "{}/{}",
                to.trim_end_matches('/'),
                rest.trim_start_matches('/')
            ))
        })
    }
}

/// Replaces the format `auto` by the one that the header `Accept` selects. Returns whether the format was `auto`.
fn choose_format(modifiers: &mut Modifiers, target: &Target<'_>) -> bool {
    let is_auto = modifiers.first(["f", "format"]) == Some("auto");
    if is_auto {
        let moves = modifiers.get("animated").or(modifiers.get("a")).is_some();
        let format = accept::choose(target.header("accept"), moves);
        modifiers.remove(&["f", "format"]);
        modifiers.set("f", format.to_owned());
    }
    is_auto
}

/// Returns the rules that the modifiers stand for.
///
/// # Errors
/// sharp's message about a value that it refuses.
fn rules(modifiers: &Modifiers) -> Result<SharpRules, String> {
    let options = SharpOptions::of(modifiers)?;
    let quality = match &options.quality {
        None | Some(Value::Nothing) => None,
        Some(value) => Some(sharp::quality(
            value.number(),
            &value.to_string(),
            value.kind(),
        )?),
    };
    let format = match modifiers.first(["f", "format"]) {
        Some("heif" | "heic") => return Err(sharp::no_heif()),
        // ipx ignores these names of formats, although sharp has them.
        Some(format) if !["jpe", "tif"].contains(&format) => Format::named(format),
        _ => None,
    };
    let encoding = Encoding {
        quality,
        progressive: true,
        keeps_svg: true,
        is_still: modifiers.get("animated").or(modifiers.get("a")).is_none(),
    };
    let canonical = modifiers.canonical();
    Ok(SharpRules::new(
        NAME,
        canonical,
        options.pipeline,
        encoding,
        format,
    ))
}

/// Returns notes on modifiers that are ignored.
fn notes_on_unsupported(modifiers: &Modifiers) -> Vec<String> {
    let rows = OPTIONS
        .0
        .iter()
        .filter(|row| modifiers.get(row.name()).is_some());
    let notes = rows.filter_map(|row| match row.about {
        About::Ignored(why) => Some(format!("{}: {why}; it is ignored", row.name())),
        _ => None,
    });
    let format = modifiers.first(["f", "format"]);
    let unknown =
        format.filter(|name| !["heif", "heic"].contains(name) && Format::named(name).is_none());
    let unknown = unknown.map(|name| {
        let name = crate::refusal::shorten(name);
        format!("f: `{name}` is not written; it is ignored")
    });
    notes.chain(unknown).collect()
}

/// Error style of ipx: JSON with its codes. Values that sharp refuses, and images that it cannot read, get status 500.
#[derive(Debug)]
struct IpxErrors;

impl Errors for IpxErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Url | Fault::NotImage => 400,
            Fault::Source => 403,
            Fault::Missing => 404,
            Fault::Damaged | Fault::Unsupported | Fault::Origin => 500,
            _ => default,
        }
    }

    fn of_origin(&self, answered: u16, _: Fault, _: u16) -> u16 {
        answered
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let code = match (error.code, error.fault) {
            ("", Fault::Missing) => "IPX_FILE_NOT_FOUND",
            ("", Fault::NotImage) => "IPX_INVALID_IMAGE",
            ("", Fault::Source) => "IPX_FORBIDDEN_FILE",
            ("", _) => "IPX_ERROR",
            (code, _) => code,
        };
        let message = format!("[{}] [{code}] {}", error.status, error.sentence);
        let body = json!({ "error": { "message": message } });
        Some(("application/json", body.to_string()))
    }
}

#[cfg(test)]
mod tests;
