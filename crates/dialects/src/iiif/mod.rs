//! The IIIF Image API, 3.0 and 2.1, level 2: `/iiif/3/trip%2Fa.jpg/full/250,/0/default.jpg`.
//!
//! A target is read from its end: four parameters after the identifier, `info.json`, or nothing, which is redirected to
//! `info.json`. The module `rules` resolves regions and sizes for an image.

mod config;
mod form;
mod info;
mod parse;
mod rules;
mod spell;

use std::sync::Arc;

use andon_recipe::{FormatName, Orient, Output, Recipe, Step};

pub use config::{IiifConfig, LargerBox, Slashes};

use self::info::Information;
use self::parse::FORMATS;
use self::rules::{IiifRules, Limits};
use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Errors, Fault};
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{Ask, ImageRequest, Redirect, Source};

#[derive(Debug)]
struct Iiif {
    /// URL prefixes without their trailing slash, and the version of each.
    mounts: Vec<(String, Version)>,
    limits: Limits,
    config: IiifConfig,
}

/// Version of the IIIF Image API: 3.0 or 2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V3,
    V2,
}

impl Version {
    fn number(self) -> u8 {
        match self {
            Self::V3 => 3,
            Self::V2 => 2,
        }
    }

    fn context(self) -> &'static str {
        match self {
            Self::V3 => "http://iiif.io/api/image/3/context.json",
            Self::V2 => "http://iiif.io/api/image/2/context.json",
        }
    }

    fn profile(self) -> &'static str {
        match self {
            Self::V3 => "http://iiif.io/api/image/3/level2.json",
            Self::V2 => "http://iiif.io/api/image/2/level2.json",
        }
    }
}

/// Turns a refusal into one about a feature that the IIIF specification has, but that is not supported here.
fn unsupported(refusal: Refusal) -> Refusal {
    Refusal {
        fault: Fault::Unsupported,
        ..refusal
    }
}

impl Dialect for Iiif {
    fn example(&self, path: &str) -> String {
        let prefix = self.mounts.first().map_or("", |(prefix, _)| prefix);
        let identifier = path.trim_start_matches('/').replace('/', "%2F");
        format!("{prefix}/{identifier}/full/!250,250/0/default.jpg")
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&IiifErrors)
    }

    fn source_patterns(&self) -> Vec<String> {
        let rest_below = |prefix: &str| {
            let prefix = regex::escape(prefix);
            [
                format!("{prefix}/([^?]+)/info[.]json"),
                format!("{prefix}/([^?]+)/[^/?]+/[^/?]+/[^/?]+/[^/?]+"),
            ]
        };
        let mounts = self.mounts.iter();
        mounts.flat_map(|(prefix, _)| rest_below(prefix)).collect()
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let mut mounts = self.mounts.iter();
        let mount = mounts.find_map(|(prefix, version)| {
            let rest = target.below(prefix)?;
            Some((prefix, *version, rest))
        });
        let Some((prefix, version, rest)) = mount else {
            return Ok(None);
        };
        let segments: Vec<&str> = rest.split('/').collect();
        let (identifier, parameters) = match &segments[..] {
            [identifier @ .., "info.json"] if !identifier.is_empty() => (identifier, None),
            [identifier @ .., region, size, rotation, last] if !identifier.is_empty() => {
                (identifier, Some([*region, *size, *rotation, *last]))
            }
            segments => {
                let identifier = self.identifier(target, segments)?;
                let front = target.front;
                let to = format!("{front}{prefix}/{identifier}/info.json");
                let source = Source::escaped_path_or_url(&identifier)?;
                return Ok(Some(ImageRequest {
                    ask: Ask::Redirect(Redirect { to, status: 303 }),
                    ..ImageRequest::image(source, upright())
                }));
            }
        };
        let identifier = self.identifier(target, identifier)?;
        let source = Source::escaped_path_or_url(&identifier)?;
        let base = format!("{prefix}/{identifier}");
        let mut request = match parameters {
            None => self.information(target, version, source, &base),
            Some(parameters) => self.image(version, source, base, parameters)?,
        };
        let anybody = ("access-control-allow-origin", "*".to_owned());
        request.style.headers.push(anybody);
        Ok(Some(request))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (version, rest) = text.strip_prefix("iiif")?.split_once('(')?;
        let (parameters, _) = rest.split_once(';')?;
        let mount = |(_, api): &&(String, Version)| api.number().to_string() == version;
        let (prefix, _) = self.mounts.iter().find(mount)?;
        let format = request.rules.output().format.as_ref()?;
        let row = FORMATS.iter().find(|(_, name)| *name == format.as_str());
        let (extension, _) = row?;
        let identifier = percent::encode(&request.source.literal(), "");
        let is_image = matches!(request.ask, Ask::Image);
        is_image.then(|| format!("{prefix}/{identifier}/{parameters}.{extension}"))
    }
}

impl Iiif {
    /// Joins segments to a raw identifier.
    ///
    /// # Errors
    /// An empty identifier, and a slash in it where the configuration demands `%2F`.
    fn identifier(&self, target: &Target<'_>, segments: &[&str]) -> Result<String, Refusal> {
        let raw = segments.join("/");
        let raw = raw.trim_end_matches('/');
        let why = match self.config.slashes {
            _ if raw.is_empty() => "an identifier must follow the prefix",
            Slashes::Encoded if raw.contains('/') => {
                "a slash in an identifier must be written as %2F"
            }
            _ => return Ok(raw.to_owned()),
        };
        Err(Refusal::of(Fault::Missing, target.path, why))
    }

    fn image(
        &self,
        version: Version,
        source: Source,
        base: String,
        [region, size, rotation, last]: [&str; 4],
    ) -> Result<ImageRequest, Refusal> {
        let (quality, format) = parse::quality_and_format(&percent::decode(last)?)?;
        let rules = IiifRules {
            version,
            region: parse::region(&percent::decode(region)?)?,
            size: parse::size(&percent::decode(size)?, version)?,
            rotation: parse::rotation(&percent::decode(rotation)?)?,
            quality,
            output: Output {
                format: FormatName::new(format).ok(),
                ..Output::default()
            },
            limits: self.limits,
            larger_box: self.config.larger_box,
            base: base.into(),
        };
        let mut request = ImageRequest::image(source, rules);
        let profile = format!("<{}>; rel=\"profile\"", version.profile());
        request.style.headers.push(("link", profile));
        Ok(request)
    }

    fn information(
        &self,
        target: &Target<'_>,
        version: Version,
        source: Source,
        base: &str,
    ) -> ImageRequest {
        let asks = target.header("accept").unwrap_or_default();
        let information = Information {
            version,
            // Viewers append region and size to it for each tile, so that a signature in front must stay.
            id: format!(
                "{}{}{}{base}",
                self.site(target),
                self.prefix_before(target),
                target.front
            ),
            linked: version == Version::V3 || asks.contains("application/ld+json"),
            limits: self.limits,
            config: self.config.clone(),
        };
        ImageRequest {
            ask: Ask::Describe(Arc::new(information)),
            ..ImageRequest::image(source, upright())
        }
    }

    /// Returns the scheme and authority under which the client knows this server. A configured site may include a path.
    fn site(&self, target: &Target<'_>) -> String {
        if !self.config.site.is_empty() {
            return self.config.site.trim_end_matches('/').to_owned();
        }
        let scheme = self.forwarded(target, "x-forwarded-proto");
        let scheme = match scheme.map(str::to_ascii_lowercase).as_deref() {
            Some("https") => "https",
            _ => "http",
        };
        let host = self.forwarded(target, "x-forwarded-host");
        let host = host.or_else(|| target.header("host").map(first));
        format!("{scheme}://{}", host.unwrap_or_default())
    }

    /// Returns the path prefix that a proxy removed before it passed the target on. `X-Forwarded-Path` may be that
    /// prefix, or the whole path that the client asked for.
    fn prefix_before<'a>(&self, target: &'a Target<'_>) -> &'a str {
        // A configured site includes the path prefix.
        if !self.config.site.is_empty() {
            return "";
        }
        let path = self.forwarded(target, "x-forwarded-prefix").or_else(|| {
            let path = self.forwarded(target, "x-forwarded-path")?;
            let path_here = target.whole.split('?').next().unwrap_or_default();
            Some(path.strip_suffix(path_here).unwrap_or(path))
        });
        let path = path.unwrap_or_default().trim_end_matches('/');
        let is_path = path.starts_with('/') && percent::is_path(path);
        if is_path { path } else { "" }
    }

    /// Returns the first value of a header that a proxy added, if the configuration trusts such headers.
    fn forwarded<'a>(&self, target: &'a Target<'_>, name: &'static str) -> Option<&'a str> {
        let header = self.config.forwarded.then(|| target.header(name)).flatten();
        header.map(first).filter(|value| !value.is_empty())
    }
}

/// Returns the first item of a comma-separated list.
fn first(list: &str) -> &str {
    list.split(',').next().unwrap_or_default().trim()
}

fn upright() -> Recipe {
    vec![Step::Orient(Orient)].into()
}

/// Error style of IIIF, which also lets scripts of every site read the errors (CORS).
#[derive(Debug)]
struct IiifErrors;

impl Errors for IiifErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Unsupported => 501,
            // The size is beyond the limits that `info.json` states, which is the client's fault.
            Fault::Limit => 400,
            _ => default,
        }
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("access-control-allow-origin", "*")]
    }
}

#[cfg(test)]
mod tests;
