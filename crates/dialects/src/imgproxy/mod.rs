//! imgproxy's URLs: `/SIGNATURE/rs:fit:250:250/q:95/plain/local:///trip/a.jpg`.
//!
//! The module `path` repairs what proxies changed and splits the path into options and source. `secret` checks the
//! signature and decrypts encrypted sources. `table` lists the options, which are all stored in one struct in
//! `options`. `rules` resolves it to a recipe once the source's size is known, with the arithmetic of `layout`.

mod args;
mod config;
mod effects;
mod form;
mod formats;
mod gravity;
mod info;
mod layout;
mod options;
mod path;
mod pixel_facts;
mod reader;
mod round;
mod row;
mod rules;
mod secret;
mod sources;
mod spell;
mod table;
mod values;

use std::sync::Arc;

use andon_recipe::{FormatName, Output, Recipe};

pub use config::{ImgproxyConfig, WatermarkConfig};

use crate::dialect::{Dialect, Target};
use crate::disposition;
use crate::errors::{ErrorStyle, Errors, Fault};
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{AnswerStyle, Ask, Fallback, ImageRequest, Source};
use crate::signature::Key;
use info::Info;
use options::Options;
use path::{LOCAL, Reading};
use reader::Reader;
use rules::{CommonSettings, ImgproxyRules};
use secret::Signing;
use sources::Sources;

/// Returns the presets in a path below the prefix, if it has the form of an imgproxy with `only_presets`, where they
/// stand in place of options: `/SIGNATURE/NAME:NAME/SOURCE`. `None` if it is not certain that the path has this form.
#[must_use]
pub fn only_presets(path: &str) -> Option<Vec<String>> {
    form::presets(path).map(|(_, names)| names)
}

#[derive(Debug)]
pub(crate) struct Imgproxy {
    /// URL prefix without its trailing slash.
    prefix: String,
    signing: Signing,
    source_key: Option<Key>,
    sources: Sources,
    /// Options that every request starts with, before those of presets.
    options: Options,
    common: Arc<CommonSettings>,
    config: ImgproxyConfig,
}

/// Error style of imgproxy.
#[derive(Debug)]
struct Statuses;

impl Errors for Statuses {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Url | Fault::Expired | Fault::Source | Fault::Missing => 404,
            Fault::Signature => 403,
            Fault::NotImage | Fault::Damaged | Fault::Unsupported | Fault::Limit => 422,
            Fault::Origin | Fault::Late | Fault::Busy | Fault::Method | Fault::Internal => default,
        }
    }

    fn of_origin(&self, answered: u16, _: Fault, _: u16) -> u16 {
        answered
    }
}

/// Whether a path looks like one of imgproxy's: a signature, options such as `rs:fit:250:250`, and a source.
fn resembles(path: &str) -> bool {
    let mut segments = path.split('/').skip(2);
    let Some(first) = segments.next() else {
        return false;
    };
    let is_option = |name: &str| table::ALL.iter().any(|row| row.names.contains(&name));
    // thumbor has a part `trim:…`, too.
    let name = first.split_once(':').map(|(name, _)| name);
    let has_options = name.is_some_and(|name| name != "trim" && is_option(name));
    let has_source = segments.next().is_some();
    has_source && (has_options || first == "plain")
}

impl Dialect for Imgproxy {
    fn example(&self, path: &str) -> String {
        self.with_signature(&format!("rs:fit:250:250/plain/{LOCAL}://{path}"))
    }

    fn reads_everything(&self) -> bool {
        self.prefix.is_empty()
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&Statuses)
    }

    fn source_patterns(&self) -> Vec<String> {
        let prefix = regex::escape(&self.prefix);
        let separator = regex::escape(&self.config.separator);
        vec![
            format!("{prefix}/[^/?]+/(?:[^/?]+/)*?plain/(?:{LOCAL}:/)?/*([^?@]*)"),
            // Sources in base64: options contain the separator, and pieces of the source do not.
            format!("{prefix}/[^/?]+/(?:[^/?]*{separator}[^/?]*/)*([^?.]+)"),
        ]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        match target.below(&self.prefix) {
            // The root is not an image, and is left to the server.
            None => Ok(None),
            Some("") if self.prefix.is_empty() => Ok(None),
            Some(path) => self.request(target, &path::repair(path)).map(Some),
        }
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let text = text.strip_prefix("imgproxy(")?.strip_suffix(')')?;
        if request.ask != Ask::Image || self.config.only_presets {
            return None;
        }
        let mut reader = Reader::new(self, Options::default());
        for segment in text.split('/').filter(|segment| !segment.is_empty()) {
            reader
                .option(&segment.split(':').collect::<Vec<_>>(), true)
                .ok()?;
        }
        reader.options.expires = request.style.expires.unwrap_or_default();
        let mut segments = table::texts(&reader.options, &self.options, |_| true);
        for option in &mut segments {
            *option = option.replace(':', &self.config.separator);
        }
        let source = match &request.source {
            Source::Url(url) => sources::of_url(url),
            path => format!("{LOCAL}:///{}", path.literal()),
        };
        segments.push(format!(
            "plain/{}",
            percent::encode(&source, "/").replace('@', "%40")
        ));
        Some(self.with_signature(&segments.join("/")))
    }
}

impl Imgproxy {
    /// Adds prefix and signature to a path that consists of options and source.
    fn with_signature(&self, rest: &str) -> String {
        let signature = self.signing.sign(&format!("/{rest}"));
        format!("{}/{signature}/{rest}", self.prefix)
    }

    fn request(&self, target: &Target<'_>, path: &str) -> Result<ImageRequest, Refusal> {
        let refuse = |why: &str| Refusal::new(target.path, why);
        let greeting = match path {
            "" => Some("Images are served here, by the URLs of imgproxy"),
            "health" => Some("imgproxy is running"),
            _ => None,
        };
        if let Some(text) = greeting {
            return Ok(ImageRequest::text("text/plain; charset=utf-8", text));
        }
        if path == "favicon.ico" || path.starts_with(".well-known/") {
            return Err(refuse("it is no image"));
        }
        let about = path.strip_prefix("info/");
        let path = about.unwrap_or(path);
        let (signature, path) = path.split_once('/').unwrap_or((path, ""));
        if signature.is_empty() || path.is_empty() {
            return Err(refuse("it must be `/signature/options/source`"));
        }
        if !self.signing.allows(signature, &format!("/{path}")) {
            let why = "it is not signed with a key of this server";
            return Err(Refusal::of(Fault::Signature, target.path, why));
        }
        let request = match about {
            Some(_) => self.information(path),
            None => self.signed_request(target, path),
        };
        Ok(ImageRequest {
            is_signed: self.signing.is_on(),
            ..request?
        })
    }

    /// Parses a path of `/info`, which requests facts about a source.
    fn information(&self, path: &str) -> Result<ImageRequest, Refusal> {
        let (options, segments) = path::options(path, &self.config.separator);
        let mut info = Info::default();
        let mut notes = Vec::new();
        let mut reader = Reader::new(self, Options::default());
        for option in options {
            let (name, args) = (option[0], &option[1..]);
            let refuse = |why: String| Refusal::new(&option.join(":"), why);
            // Expiry and limits of the source have the same options here as for images.
            if table::find(name).is_some_and(|row| ["exp", "msr", "msfs"].contains(&row.name())) {
                reader.option(&option, false)?;
                continue;
            }
            match info.option(name, args).map_err(refuse)? {
                Some(true) => {}
                Some(false) => notes.push(format!("{name}: this is not told; it is ignored")),
                None => return Err(refuse("it is no option of information".to_owned())),
            }
        }
        let (source, _) = self.source(&segments)?;
        let mut request = ImageRequest::image(source, Recipe::default());
        request.style.most_bytes = reader.options.most_bytes();
        request.style.expires = (reader.options.expires > 0).then_some(reader.options.expires);
        Ok(ImageRequest {
            ask: Ask::Describe(Arc::new(info)),
            notes,
            ..request
        })
    }

    /// Parses a path whose signature has been checked.
    fn signed_request(&self, target: &Target<'_>, path: &str) -> Result<ImageRequest, Refusal> {
        let mut reader = Reader::new(self, self.options.clone());
        if self.config.client_hints {
            reader.hints(target);
        }
        if self.config.presets.contains_key(DEFAULT) {
            reader.preset(DEFAULT)?;
        }
        let separator = &*self.config.separator;
        let segments = if self.config.only_presets {
            let (names, source) = path.split_once('/').unwrap_or((path, ""));
            for name in names.split(separator) {
                reader.preset(name)?;
            }
            source.split('/').collect()
        } else {
            if path
                .split('/')
                .next()
                .is_some_and(|first| BASIC.contains(&first))
            {
                let why = "this is how imgproxy 2 wrote options; now it is `rs:fit:300:200`";
                return Err(Refusal::new(path, why));
            }
            let (options, source) = path::options(path, separator);
            for option in options {
                reader.option(&option, false)?;
            }
            source
        };
        let (source, extension) = self.source(&segments)?;
        if let Some(extension) = extension.filter(|_| !reader.options.raw) {
            reader.option(&["format", &extension], true)?;
        }
        let options = &reader.options;
        let unwritable = options.format.filter(|format| UNWRITTEN.contains(format));
        if let Some(format) = unwritable.filter(|format| !options.skip.contains(format)) {
            let why = "this format is read, but not written";
            return Err(Refusal::of(Fault::Unsupported, format, why));
        }
        self.image(reader, source)
    }

    /// Parses a source, and the format that its extension requests.
    fn source(&self, segments: &[&str]) -> Result<(Source, Option<String>), Refusal> {
        let reading = Reading {
            has_file_name: self.config.base64_url_includes_filename,
            // Without signatures, anybody could probe the key by URLs of their own.
            key: self.source_key.as_ref().filter(|_| self.signing.is_on()),
        };
        let source = path::source(segments, &reading);
        let source =
            source.map_err(|unreadable| Refusal::new(&segments.join("/"), unreadable.0))?;
        Ok((self.sources.source(&source.source)?, source.extension))
    }

    fn image(&self, mut reader: Reader<'_>, source: Source) -> Result<ImageRequest, Refusal> {
        reader.remark();
        let Reader {
            mut options, notes, ..
        } = reader;
        let pipelines = options
            .earlier_pipelines
            .iter_mut()
            .map(|it| &mut it.watermark);
        for mark in pipelines.chain([&mut options.watermark]) {
            if let Some(url) = &mark.url {
                mark.file = Some(self.sources.source(url)?.overlay_name());
            }
        }
        let style = AnswerStyle {
            exact: true,
            never_grows: true,
            headers: vec![
                ("content-disposition", disposition(&options, &source)),
                ("content-security-policy", "script-src 'none'".to_owned()),
            ],
            most_bytes: options.most_bytes(),
            checksum: options.checksum.clone(),
            expires: (options.expires > 0).then_some(options.expires),
            max_age: Some(self.config.ttl),
            lifetime: "max-age={}, public",
            fallback: options
                .fallback
                .as_deref()
                .and_then(|url| self.sources.source(url).ok())
                .map(Fallback::Image),
            ..AnswerStyle::default()
        };
        let request = if options.raw {
            ImageRequest::file(source)
        } else {
            let format = if self.leaves_open(options.format) {
                Some(Output::AUTO)
            } else {
                options.format
            };
            let output = Output {
                format: format.and_then(|format| FormatName::new(format).ok()),
                ..Output::default()
            };
            let common = self.common.clone();
            ImageRequest::image(
                source,
                ImgproxyRules {
                    options,
                    common,
                    output,
                },
            )
        };
        Ok(ImageRequest {
            notes,
            style,
            ..request
        })
    }

    /// Whether the header `Accept` selects the format. With `negotiate`, it does if the URL names no format; with
    /// `enforce`, whatever the `format` in the URL, except SVG, which is always sent unchanged.
    fn leaves_open(&self, format: Option<&str>) -> bool {
        let is_enforced = self.config.enforce && format != Some(rules::SVG);
        is_enforced || (self.config.negotiate && format.is_none())
    }

    /// Parses every preset, so that mistakes are found when the configuration is loaded.
    fn check_presets(&self) -> Result<(), crate::ConfigError> {
        for name in self.config.presets.keys() {
            let mut reader = Reader::new(self, self.options.clone());
            reader.preset(name).map_err(|refusal| {
                crate::ConfigError::new(format!("imgproxy.presets.{name}"), refusal.to_string())
            })?;
        }
        Ok(())
    }
}

/// Name of the preset that applies to all requests.
const DEFAULT: &str = "default";

/// Formats that URLs may name, but that cannot be written.
const UNWRITTEN: [&str; 1] = ["heic"];

/// First segments of URLs in the syntax of imgproxy 2, which are refused.
const BASIC: [&str; 5] = ["fit", "fill", "fill-down", "force", "auto"];

/// Returns the value of `Content-Disposition`: whether browsers save or display the result, and its file name.
fn disposition(options: &Options, source: &Source) -> String {
    let how = if options.attachment {
        "attachment"
    } else {
        "inline"
    };
    // The host of a URL is not part of the file name.
    let place = source.place();
    let path = match source {
        Source::Url(url) => url.split_once("://").map_or("", |(_, rest)| rest),
        Source::Path(_) | Source::Escaped(_) => &place,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    // Only URLs are escaped here; paths are decoded already.
    let plain_path = match source {
        Source::Url(_) => percent::decode(path).ok(),
        Source::Path(_) | Source::Escaped(_) => None,
    };
    let path = plain_path.as_deref().unwrap_or(path);
    let file = match (source, path.rsplit_once('/')) {
        (_, Some((_, file))) => file,
        (Source::Url(_), None) => "",
        (_, None) => path,
    };
    let (stem, source_extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let name = options.filename.as_deref().unwrap_or(stem);
    let name = if name.is_empty() { "image" } else { name };
    // A source that is sent unchanged keeps its extension, as it may be any file.
    let extension = if options.raw {
        source_extension
    } else {
        AnswerStyle::EXTENSION
    };
    // Characters that may not stand in a quoted string are escaped, as browsers do in forms.
    let mut escaped_name = String::new();
    for letter in name.chars() {
        match letter {
            '"' => escaped_name.push_str("%22"),
            '\\' => escaped_name.push_str("%5C"),
            letter if letter.is_control() => {}
            letter => escaped_name.push(letter),
        }
    }
    disposition::named(how, &escaped_name, &format!(".{extension}"))
}

#[cfg(test)]
mod tests;
