//! The recipes that a request resolves to for sources of many sizes and kinds. Two requests with the same recipes are
//! taken for equivalent.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use andon_recipe::{Area, Facts, FormatName, Measure, Measured, Orientation, Output, Recipe, Step};

use super::Known;
use crate::ImageRequest;

/// The results of a request for a list of sources.
#[derive(Debug)]
pub(super) struct Behaviour {
    /// The facts that all of the sources share.
    like: Facts,
    results: Vec<(Trial, Result<Recipe, String>)>,
}

/// An imagined source for which a request is resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    kind: Kind,
    size: (u32, u32),
}

/// The property of a source or client, other than the size, that rules may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// A source whose orientation is a quarter turn.
    Turned,
    Transparent,
    Animated,
    /// A source with a colour profile other than sRGB.
    Tagged,
    /// A source that is requested by a client that names no format in `Accept`.
    Unnegotiated,
    /// A source that is requested by a client that accepts WebP.
    Negotiated,
}

impl Trial {
    /// Returns the recipe that a request resolves to for this source, or the error as text.
    fn recipe(self, request: &ImageRequest, like: &Facts) -> Result<Recipe, String> {
        let rules = &request.rules;
        let is_auto = (rules.output().format.as_ref()).is_some_and(|it| it.as_str() == AUTO);
        let selected_format = match self.kind {
            Kind::Unnegotiated if is_auto => Some(None),
            Kind::Negotiated if is_auto => Some(FormatName::new("webp").ok()),
            _ => None,
        };
        let rules = match selected_format {
            Some(format) => rules.with_output(Output {
                format,
                ..rules.output().clone()
            }),
            None => rules.clone(),
        };
        let mut facts = self.facts(like);
        let measures = rules.measures(facts.orientation).into_iter();
        let borders = measures
            .filter(|measure| measure.decides_size() && like.measured.area(*measure).is_none());
        let borders: Vec<_> = borders
            .map(|measure| (measure, inner(measure, self.size)))
            .collect();
        if !borders.is_empty() {
            facts.measured = Measured::from_iter(borders);
        }
        let recipe = rules.resolve(&facts);
        recipe.map_err(|error| error.to_string())
    }

    fn facts(self, like: &Facts) -> Facts {
        let (width, height) = self.size;
        let facts = Facts {
            width,
            height,
            ..like.clone()
        };
        match self.kind {
            Kind::Plain | Kind::Unnegotiated | Kind::Negotiated => facts,
            Kind::Tagged => Facts {
                tagged: true,
                ..facts
            },
            Kind::Turned => Facts {
                orientation: Orientation::from_exif(6),
                ..facts
            },
            Kind::Transparent => Facts {
                alpha: true,
                ..facts
            },
            Kind::Animated => Facts { frames: 3, ..facts },
        }
    }
}

/// Returns an invented area without border for an image of this size in px. It depends on the measurement, because two
/// measurements may find different borders.
fn inner(measure: Measure, (width, height): (u32, u32)) -> Area {
    let mut hasher = DefaultHasher::new();
    measure.hash(&mut hasher);
    let number = hasher.finish();
    let margin =
        |side: u32, place: u32| ((number >> (16 * place)) % u64::from(side / 4).max(1)) as u32;
    let (x, y) = (margin(width, 0), margin(height, 1));
    Area {
        x,
        y,
        w: width - x - margin(width, 2),
        h: height - y - margin(height, 3),
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Plain => "",
            Kind::Turned => "a turned ",
            Kind::Transparent => "a transparent ",
            Kind::Animated => "an animated ",
            Kind::Tagged => "a wide-gamut ",
            Kind::Unnegotiated => "for a client that names no format, ",
            Kind::Negotiated => "for a client that takes WebP, ",
        };
        write!(f, "{kind}{}x{}", self.size.0, self.size.1)
    }
}

/// The format name that lets the client's header `Accept` select the format.
const AUTO: &str = "auto";

/// The sizes of sources to try, in px: landscape, portrait and square, larger and smaller than usual requests, and with
/// sides that no ratio divides.
const SIZES: [(u32, u32); 16] = [
    (1600, 900),
    (900, 1600),
    (4000, 3000),
    (3000, 4000),
    (400, 300),
    (401, 301),
    (333, 777),
    (777, 333),
    (1000, 1000),
    (1023, 1021),
    (50, 40),
    (40, 50),
    (2000, 199),
    (199, 2000),
    (6000, 4000),
    (251, 249),
];

/// Returns the sources to try: sources of the known size or of many sizes, and a few of each kind that a file of this
/// format can have, unless all facts about the source are known.
pub(super) fn trials(known: &Known<'_>, format: &str) -> Vec<Trial> {
    let sizes = known.size().map_or(SIZES.to_vec(), |size| vec![size]);
    let kinds = match format {
        _ if known.facts.is_some() => &[][..],
        "jpeg" => &[Kind::Turned, Kind::Tagged][..],
        "gif" => &[Kind::Transparent, Kind::Animated],
        _ => &[
            Kind::Turned,
            Kind::Tagged,
            Kind::Transparent,
            Kind::Animated,
        ],
    };
    let clients = [Kind::Plain, Kind::Unnegotiated, Kind::Negotiated];
    let kinds = clients.iter().chain(kinds);
    let of_kind = |kind: &Kind| {
        let most = if *kind == Kind::Plain { sizes.len() } else { 2 };
        let kind = *kind;
        let sizes = sizes.iter().take(most);
        sizes.map(move |size| Trial { kind, size: *size })
    };
    kinds.flat_map(of_kind).collect()
}

impl Behaviour {
    pub(super) fn of(request: &ImageRequest, like: &Facts, trials: &[Trial]) -> Self {
        let resolve = |trial: &Trial| (*trial, trial.recipe(request, like));
        Self {
            like: like.clone(),
            results: trials.iter().map(resolve).collect(),
        }
    }

    /// Returns the results of another request for the same sources.
    pub(super) fn results_of(&self, request: &ImageRequest) -> Self {
        let trials: Vec<Trial> = self.results.iter().map(|(trial, _)| *trial).collect();
        Self::of(request, &self.like, &trials)
    }

    /// Returns the output settings of this request for a source that has none of the special properties in [`Kind`].
    /// Frames are those for an animated source, and the background is that for a transparent one. `None` if the request
    /// has no result for such a source.
    pub(super) fn output(&self) -> Option<Output> {
        let of = |kind: Kind| {
            let mut results = self.results.iter().filter(|(trial, _)| trial.kind == kind);
            results.find_map(|(_, recipe)| Some(&recipe.as_ref().ok()?.output))
        };
        let plain = of(Kind::Plain)?;
        let (moving, clear) = (of(Kind::Animated), of(Kind::Transparent));
        Some(Output {
            // If the client decides about the format, the quality is that of a client that accepts WebP.
            goal: plain.goal.or_else(|| of(Kind::Negotiated)?.goal),
            frame: moving.unwrap_or(plain).frame,
            most_frames: moving.unwrap_or(plain).most_frames,
            background: clear.unwrap_or(plain).background,
            ..plain.clone()
        })
    }

    /// Returns the number of sources for which the steps in `self` and in `is` differ, and the number of all sources.
    pub(super) fn differing(&self, is: &Self) -> (usize, usize) {
        let pairs = self.results.iter().zip(&is.results);
        let other = pairs.filter(|((_, a), (_, b))| steps(a) != steps(b));
        (other.count(), self.results.len())
    }

    /// Whether the steps in `self` and in `is` differ for any source that has none of the special properties in
    /// [`Kind`].
    pub(super) fn is_other_for_plain(&self, is: &Self) -> bool {
        let mut pairs = self.results.iter().zip(&is.results);
        pairs.any(|((trial, a), (_, b))| trial.kind == Kind::Plain && steps(a) != steps(b))
    }

    /// Describes how the results in `actual` differ from those in `self`.
    pub(super) fn differences(&self, actual: &Self) -> Vec<String> {
        let mut sentences = Vec::new();
        let pairs: Vec<_> = self.results.iter().zip(&actual.results).collect();
        let other: Vec<_> = pairs
            .iter()
            .filter(|((_, a), (_, b))| steps(a) != steps(b))
            .collect();
        if let Some(((trial, expected), (_, actual))) = other.first() {
            let many = match pairs.len() {
                1 => String::new(),
                all => format!(" ({} of {all} sources that were tried differ)", other.len()),
            };
            let text = |recipe: &Result<Recipe, String>| match steps(recipe) {
                Ok(steps) if steps.is_empty() => "untouched".to_owned(),
                Ok(steps) | Err(steps) => steps,
            };
            sentences.push(format!(
                "{trial} becomes {}, not {}{many}",
                text(actual),
                text(expected)
            ));
        }
        let mut words: Vec<String> = Vec::new();
        for ((_, expected), (_, actual)) in &pairs {
            if let (Ok(expected), Ok(actual)) = (expected, actual) {
                for word in output_differences(&output(expected), &output(actual)) {
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
            }
        }
        sentences.extend(words);
        sentences
    }
}

/// Returns the steps of a recipe (geometry and effects) as text.
fn steps(recipe: &Result<Recipe, String>) -> Result<String, String> {
    let recipe = recipe.as_ref().map_err(Clone::clone)?;
    let steps: Vec<String> = recipe.steps.iter().map(Step::to_string).collect();
    Ok(steps.join(","))
}

/// Returns the output settings of a recipe, as words.
fn output(recipe: &Recipe) -> Vec<String> {
    let text = Recipe::from(recipe.output.clone()).to_string();
    let words = text.split(',').filter(|word| *word != "same");
    words.map(str::to_owned).collect()
}

fn output_differences(expected: &[String], actual: &[String]) -> Vec<String> {
    let missing = expected.iter().filter(|word| !actual.contains(word));
    let more = actual.iter().filter(|word| !expected.contains(word));
    let missing = missing.map(|word| format!("without {word}"));
    missing
        .chain(more.map(|word| format!("with {word}")))
        .collect()
}
