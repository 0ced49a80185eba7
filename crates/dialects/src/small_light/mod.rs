//! ngx_small_light's URLs: `/small_light(dw=250,dh=250,da=l,q=95)/trip/a.jpg`, or in getparam mode
//! `/trip/a.jpg?dw=250&dh=250`.
//!
//! A target becomes a wish in three steps: `options` cuts it into raw options as the module does,
//! `values` gives each its type, `reader` says what they mean together: the `rules`, which come to a recipe
//! once the source's size is known.

mod config;
mod engine;
mod options;
mod params;
mod path;
mod reader;
mod rules;
mod values;

use std::sync::Arc;

pub use config::{Compat, Mistakes, SmallLightConfig};
pub use params::{PARAMETERS, Parameter};

use crate::dialect::{Dialect, Refusal, Target, Wish, shorten_to};
use crate::{Config, ConfigError};
use options::Options;

/// The dialect, if it is switched on.
///
/// # Errors
/// Patterns that could not be used.
pub fn make(config: &Config) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
    let config = &config.small_light;
    if !config.enabled {
        return Ok(None);
    }
    let config = config.checked()?;
    Ok(Some(Box::new(SmallLight { config })))
}

#[derive(Debug)]
struct SmallLight {
    config: SmallLightConfig,
}

impl Dialect for SmallLight {
    fn name(&self) -> &'static str {
        "small_light"
    }

    fn example(&self) -> &'static str {
        if self.config.getparam_mode {
            "/trip/a.jpg?dw=250&dh=250&da=l&q=95"
        } else {
            "/small_light(dw=250,dh=250,da=l,q=95)/trip/a.jpg"
        }
    }

    fn wish(&self, target: &Target<'_>) -> Result<Option<Wish>, Refusal> {
        let strict = self.config.compat == Compat::Strict;
        let wish = if self.config.getparam_mode {
            let given = Given::Query(target.query.unwrap_or_default());
            self.picture(target, given, strict).map(Some)
        } else {
            match path::option_text(target, strict)? {
                Some(text) => self.picture(target, Given::Path(&text), strict).map(Some),
                None => Ok(path::unclosed(target)?),
            }
        };
        match wish {
            Ok(Some(wish)) if self.config.mistakes == Mistakes::Refuse && !strict => {
                refuse_noted(target, wish).map(Some)
            }
            Ok(wish) => Ok(wish),
            Err(refusal) => Err(Refusal { strict, ..refusal }),
        }
    }
}

/// The wish, if nothing in it had to be noted.
fn refuse_noted(target: &Target<'_>, wish: Wish) -> Result<Wish, Refusal> {
    match wish.notes.is_empty() {
        true => Ok(wish),
        false => {
            // What is refused is not ignored.
            let mistakes: Vec<&str> = wish
                .notes
                .iter()
                .map(|note| note.strip_suffix("; it is ignored").unwrap_or(note))
                .collect();
            Err(Refusal::new(target.path, mistakes.join("; ")))
        }
    }
}

/// Options, and where they stand.
#[derive(Clone, Copy)]
enum Given<'a> {
    /// Between the parentheses of the path.
    Path(&'a str),
    /// In the query.
    Query(&'a str),
}

impl SmallLight {
    /// The wish of a target whose options are found.
    fn picture(
        &self,
        target: &Target<'_>,
        given: Given<'_>,
        strict: bool,
    ) -> Result<Wish, Refusal> {
        let mut notes = Notes::default();
        let options = self.options(given, &mut notes)?;
        let source = match given {
            Given::Query(_) => path::whole(target)?,
            Given::Path(_) => path::after_options(target, strict)?,
        };
        let rules = reader::read(&options, &self.config, &mut notes)?;
        Ok(Wish {
            source,
            rules: Arc::new(rules),
            notes: notes.0,
            transformed: true,
            strict,
            keep_source_type: strict && reader::keeps_source_type(&options),
        })
    }

    /// The options given, and those of the pattern that they name.
    fn options<'a>(&'a self, given: Given<'a>, notes: &mut Notes) -> Result<Options<'a>, Refusal> {
        let mut options = match given {
            Given::Query(query) => Options::from_query(query, notes),
            Given::Path(text) => Options::from_text(text, notes)?,
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

/// Warnings, as many as anybody would read: a hostile target must not fill the log.
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
