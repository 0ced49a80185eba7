//! URLs of Photon, the image service of WordPress.com and Jetpack:
//! `/example.com/wp-content/uploads/a.jpg?resize=400,220&ssl=1`.
//!
//! The service's code is no longer public: this follows its documentation and that of WordPress VIP. Arguments are
//! applied in the order of the URL. A repeated argument counts once, with its last value.

mod config;
mod form;
mod options;
mod rules;
mod spell;

pub use config::{PhotonConfig, PhotonSource};

use self::options::{Arguments, OPTIONS};
use self::rules::PhotonRules;
use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Errors, Fault};
use crate::options::About;
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{AnswerStyle, ImageRequest, Source};

/// For how many seconds clients may cache a result: two years.
const MAX_AGE: u64 = 63_115_200;

#[derive(Debug)]
struct Photon {
    /// Prefix of the dialect's URLs, without a trailing slash.
    prefix: String,
    source: PhotonSource,
}

impl Photon {
    /// Returns the source that a path below the prefix names; `None` if the path is not a URL of this dialect.
    fn source(&self, path: &str, arguments: &Arguments) -> Result<Option<Source>, Refusal> {
        match self.source {
            PhotonSource::Path => Source::from_raw(path).map(Some),
            PhotonSource::Host => {
                let Some((host, rest)) = path.split_once('/') else {
                    return Ok(None);
                };
                if !is_host(host) || rest.is_empty() {
                    return Ok(None);
                }
                let scheme = match arguments.text("ssl") {
                    Some("1" | "true") => "https",
                    _ => "http",
                };
                // Malformed escapes are refused here, because the URL keeps its escapes and is not decoded.
                percent::decode(rest)?;
                let host = host.to_ascii_lowercase();
                Ok(Some(Source::Url(format!("{scheme}://{host}/{rest}"))))
            }
        }
    }
}

/// Whether a segment of a path can be the name of a host, with or without a port.
fn is_host(segment: &str) -> bool {
    let (name, port) = segment.split_once(':').unwrap_or((segment, "80"));
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    name.contains('.')
        && name.bytes().all(letter)
        && !name.starts_with('.')
        && port.bytes().all(|byte| byte.is_ascii_digit())
}

impl Dialect for Photon {
    fn example(&self, path: &str) -> String {
        let host = match self.source {
            PhotonSource::Path => "",
            PhotonSource::Host => "/pictures.example",
        };
        format!("{}{host}{path}?resize=250,250", self.prefix)
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&PhotonErrors)
    }

    fn reads_everything(&self) -> bool {
        self.prefix.is_empty()
    }

    fn marks_its_urls(&self) -> bool {
        false
    }

    fn source_patterns(&self) -> Vec<String> {
        vec![format!("{}/+([^?]*)", regex::escape(&self.prefix))]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let Some(path) = target.below(&self.prefix) else {
            return Ok(None);
        };
        let arguments = Arguments::read(target.query.unwrap_or_default());
        if self.source == PhotonSource::Path && !arguments.change_the_image() {
            return Ok(None);
        }
        let Some(source) = self.source(path, &arguments)? else {
            return Ok(None);
        };
        let headers = match &source {
            Source::Url(url) => {
                let link = format!("<{url}>; rel=\"canonical\"");
                vec![("link", link)]
            }
            _ => Vec::new(),
        };
        Ok(Some(ImageRequest {
            notes: arguments.notes(),
            style: AnswerStyle {
                headers,
                max_age: Some(MAX_AGE),
                ..AnswerStyle::default()
            },
            ..ImageRequest::image(source, PhotonRules::new(arguments))
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (arguments, _) = text.strip_prefix("photon(")?.rsplit_once(';')?;
        let (source, ssl) = match (&request.source, self.source) {
            (Source::Url(url), PhotonSource::Host) => {
                let (scheme, rest) = url.split_once("://")?;
                (rest.to_owned(), scheme == "https")
            }
            (path, PhotonSource::Path) => (path.escaped()?.into_owned(), false),
            _ => return None,
        };
        let ssl = if ssl { "ssl=1" } else { "" };
        let all: Vec<&str> = [arguments, ssl]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        let query = match &*all {
            [] => String::new(),
            all => format!("?{}", all.join("&")),
        };
        Some(format!("{}/{source}{query}", self.prefix))
    }
}

impl Arguments {
    /// Returns notes on ignored arguments.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (row, value) in self.all() {
            let name = row.name();
            match row.about {
                _ if !row.takes.accepts(value) => {
                    notes.push(format!("{name}: it must be {}; it is ignored", row.takes));
                }
                About::Ignored(why) => notes.push(format!("{name}: {why}; it is ignored")),
                About::Partly(words) if words.contains(&value) => {
                    notes.push(format!("{name}: `{value}` is not supported; it is ignored"));
                }
                _ => {}
            }
        }
        let names: Vec<&str> = OPTIONS.names().collect();
        notes.extend(self.unknown.iter().map(|name| {
            let what = andon_recipe::unknown("argument", name, &names);
            format!("{name}: {what}; it is ignored")
        }));
        notes
    }
}

/// Error style of Photon: its status codes.
#[derive(Debug)]
struct PhotonErrors;

impl Errors for PhotonErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Url | Fault::NotImage | Fault::Damaged | Fault::Unsupported | Fault::Limit => {
                400
            }
            Fault::Source => 403,
            Fault::Missing => 404,
            Fault::Origin | Fault::Late => 504,
            _ => default,
        }
    }
}

#[cfg(test)]
mod tests;
