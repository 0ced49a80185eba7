//! nginx's `ngx_http_image_filter_module`: `/image_filter(resize,150,-,rotate=90,q=75)/trip/a.jpg`.
//!
//! The module has no URLs of its own: a location in nginx's configuration decides how its images are changed. A
//! `[[rewrite]]` rule turns the location's URLs into this form, whose words and values are those of the directives.

mod config;
mod options;
mod rules;
mod size;
mod spell;

use std::sync::Arc;

pub use config::ImageFilterConfig;

use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Every, OWN_ERRORS};
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{Ask, ImageRequest, Source};
use options::{Filter, Options};
use rules::ImageFilterRules;

#[derive(Debug)]
struct ImageFilter {
    /// URL prefix without its trailing slash.
    prefix: String,
}

/// The text that precedes the options in a URL.
const OPEN: &str = "image_filter(";

impl Dialect for ImageFilter {
    fn example(&self, path: &str) -> String {
        format!("{}/{OPEN}resize,250,250){path}", self.prefix)
    }

    /// Answers every failure with 415, the only error of nginx's image filter.
    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&Every(415))
    }

    fn errors_of(&self, request: &ImageRequest) -> ErrorStyle {
        match request.ask {
            Ask::File => OWN_ERRORS,
            Ask::Describe(_) => ErrorStyle(&size::NoSize),
            _ => self.errors(),
        }
    }

    fn source_patterns(&self) -> Vec<String> {
        let prefix = regex::escape(&self.prefix);
        vec![format!("{prefix}/image_filter[(][^)]*[)]/+([^?]*)")]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let path_below = target.below(&self.prefix);
        let Some(rest) = path_below.and_then(|rest| rest.strip_prefix(OPEN)) else {
            return Ok(None);
        };
        let (options, source) = rest.split_once(")/").ok_or_else(|| {
            Refusal::new(
                target.path,
                "no file follows the options: it must be `/image_filter(…)/file`",
            )
        })?;
        let source = Source::from_raw(source)?;
        let options = percent::decode(options)?;
        if options == "off" {
            return Ok(Some(ImageRequest::file(source)));
        }
        let options = Options::read(&options)?;
        let mut request = ImageRequest::image(source, ImageFilterRules::new(options));
        if options.filter == Filter::Size {
            request.ask = Ask::Describe(Arc::new(size::Size));
        }
        request.style.most_bytes = options.buffer;
        Ok(Some(request))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (options, _) = text.strip_prefix(OPEN)?.split_once(')')?;
        let (Ask::Image, Some(source)) = (&request.ask, request.source.escaped()) else {
            return None;
        };
        Some(format!("{}/{OPEN}{options})/{source}", self.prefix))
    }
}

#[cfg(test)]
mod tests;
