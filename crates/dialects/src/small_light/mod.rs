//! ngx_small_light's URLs: `/small_light(dw=250,dh=250,da=l,q=95)/trip/a.jpg`, or in getparam mode
//! `/trip/a.jpg?dw=250&dh=250`.
//!
//! A target is parsed in three steps: `options` splits it into raw options as ngx_small_light does, `values` converts
//! each option to its type, and `reader` combines them into `rules`. These are resolved to a recipe once the source's
//! size is known.

mod config;
mod engine;
mod form;
mod options;
mod params;
mod path;
mod reader;
mod rules;
mod spell;
mod values;

pub use config::{Compat, Mistakes, SmallLightConfig};
pub use params::PARAMETERS;

use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Every, OWN_ERRORS};
use crate::percent;
use crate::refusal::{Refusal, shorten_to};
use crate::request::{AnswerStyle, Ask, ImageRequest, Source};
use options::Options;

#[derive(Debug)]
struct SmallLight {
    config: SmallLightConfig,
}

impl Dialect for SmallLight {
    fn example(&self, path: &str) -> String {
        match self.config.getparam_mode {
            true => format!("{path}?dw=250&dh=250"),
            false => format!("/small_light(dw=250,dh=250){path}"),
        }
    }

    fn errors(&self) -> ErrorStyle {
        match self.config.compat {
            Compat::Sane => OWN_ERRORS,
            Compat::Strict => ErrorStyle(&Every(415)),
        }
    }

    fn source_patterns(&self) -> Vec<String> {
        vec!["/small_light[(][^)]*[)]/+([^?]*)".to_owned()]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let strict = self.config.compat == Compat::Strict;
        let request = if self.config.getparam_mode {
            let raw_options = RawOptions::Query(target.query.unwrap_or_default());
            Some(self.image_request(target, raw_options, strict)?)
        } else {
            match path::option_text(target, strict)? {
                Some(text) => Some(self.image_request(target, RawOptions::Path(&text), strict)?),
                // A path that cannot be decoded is left to plain files.
                None => path::unclosed(target).unwrap_or_default(),
            }
        };
        match request {
            Some(request) if self.config.mistakes == Mistakes::Refuse && !strict => {
                refuse_noted(target, request).map(Some)
            }
            request => Ok(request),
        }
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let options = text.strip_prefix("small_light(")?.strip_suffix(')')?;
        let (Ask::Image, Some(source)) = (&request.ask, request.source.escaped()) else {
            return None;
        };
        Some(match self.config.getparam_mode {
            true => format!("/{source}?{}", options.replace(',', "&")),
            false => format!("/small_light({})/{source}", percent::encode(options, "")),
        })
    }
}

/// Returns the request, or refuses it if it has notes about ignored options.
fn refuse_noted(target: &Target<'_>, request: ImageRequest) -> Result<ImageRequest, Refusal> {
    match request.notes.is_empty() {
        true => Ok(request),
        false => {
            // As the request is refused, its options are not ignored.
            let mistakes: Vec<&str> = request
                .notes
                .iter()
                .map(|note| note.strip_suffix("; it is ignored").unwrap_or(note))
                .collect();
            Err(Refusal::new(target.path, mistakes.join("; ")))
        }
    }
}

/// The raw options of a target, and the part of the target that contains them.
#[derive(Clone, Copy)]
enum RawOptions<'a> {
    /// Options between the parentheses in the path.
    Path(&'a str),
    /// Options in the query.
    Query(&'a str),
}

impl SmallLight {
    /// Builds the request for a target with these options.
    fn image_request(
        &self,
        target: &Target<'_>,
        raw_options: RawOptions<'_>,
        strict: bool,
    ) -> Result<ImageRequest, Refusal> {
        let mut notes = Notes::default();
        let options = self.options(raw_options, &mut notes)?;
        let source = match raw_options {
            RawOptions::Query(_) => path::whole(target)?,
            RawOptions::Path(_) => path::after_options(target, strict)?,
        };
        let rules = reader::read(&options, &self.config, &mut notes)?;
        Ok(ImageRequest {
            notes: notes.0,
            style: AnswerStyle {
                exact: strict,
                type_by_name: strict && reader::keeps_source_type(&options),
                ..AnswerStyle::default()
            },
            ..ImageRequest::image(Source::at_the_end(target.path, source), rules)
        })
    }

    /// Parses the options, and adds those of the pattern (named option string of the configuration) that `p` names.
    fn options<'a>(
        &'a self,
        raw_options: RawOptions<'a>,
        notes: &mut Notes,
    ) -> Result<Options<'a>, Refusal> {
        let mut options = match raw_options {
            RawOptions::Query(query) => Options::from_query(query, notes),
            RawOptions::Path(text) => Options::from_text(text, notes)?,
        };
        if let Some(name) = options.pattern() {
            match self.config.patterns.get(name) {
                Some(pattern) => options.complete(pattern, notes)?,
                None => notes.add(|| format!("p: there is no pattern `{name}`; it is ignored")),
            }
        }
        Ok(options)
    }
}

/// Notes about options, limited in number and length so that a hostile target cannot fill the log.
#[derive(Debug, Default)]
struct Notes(Vec<String>);

impl Notes {
    const MAX: usize = 16;
    const LENGTH: usize = 200;

    fn add(&mut self, note: impl FnOnce() -> String) {
        if self.0.len() < Self::MAX {
            self.0.push(shorten_to(Self::LENGTH, &note()));
        }
    }
}

#[cfg(test)]
mod tests;
