//! What a request comes to for sources of many sizes: two that come to the same say the same.

use andon_recipe::{Facts, Recipe, Step, size_after};

use crate::ImageRequest;

/// What a request makes of each source.
#[derive(Debug)]
pub(super) struct Behaviour {
    format: String,
    results: Vec<((u32, u32), Result<Recipe, String>)>,
}

/// The sources that are tried: upright, wide and high, larger and smaller than what is usually asked for, and of sides
/// that no ratio divides.
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

/// What is tried: the one that is known, or many.
pub(super) fn sizes(known: Option<(u32, u32)>) -> Vec<(u32, u32)> {
    known.map_or(SIZES.to_vec(), |size| vec![size])
}

impl Behaviour {
    pub(super) fn of(request: &ImageRequest, format: &str, sizes: &[(u32, u32)]) -> Self {
        let resolve = |size: &(u32, u32)| {
            let facts = Facts::new(format, size.0, size.1);
            let recipe = request
                .rules
                .resolve(&facts)
                .map_err(|error| error.to_string());
            (*size, recipe)
        };
        Self {
            format: format.to_owned(),
            results: sizes.iter().map(resolve).collect(),
        }
    }

    /// The same of another request.
    pub(super) fn again(&self, request: &ImageRequest) -> Self {
        let sizes: Vec<(u32, u32)> = self.results.iter().map(|(size, _)| *size).collect();
        Self::of(request, &self.format, &sizes)
    }

    /// How many sources were tried.
    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Sources, the sizes of their results, and recipes; without what is no picture.
    pub(super) fn made(&self) -> impl Iterator<Item = ((u32, u32), (u32, u32), &Recipe)> {
        let made = self.results.iter();
        made.filter_map(|(size, recipe)| {
            let recipe = recipe.as_ref().ok()?;
            let facts = Facts::new(&self.format, size.0, size.1);
            let made = size_after(&recipe.steps, &facts).unwrap_or(*size);
            Some((*size, made, recipe))
        })
    }

    /// How many sources come to other steps, and how many words of output differ.
    pub(super) fn distance(&self, is: &Self) -> (usize, usize) {
        let pairs = || self.results.iter().zip(&is.results);
        let other_steps = pairs()
            .filter(|((_, a), (_, b))| steps(a) != steps(b))
            .count();
        let words = |(wanted, is): (&(_, Result<Recipe, _>), &(_, Result<Recipe, _>))| match (
            &wanted.1, &is.1,
        ) {
            (Ok(wanted), Ok(is)) => apart(&output(wanted), &output(is)).len(),
            _ => 0,
        };
        (other_steps, pairs().map(words).max().unwrap_or_default())
    }

    /// In words.
    pub(super) fn differences(&self, is: &Self) -> Vec<String> {
        let mut told = Vec::new();
        let pairs: Vec<_> = self.results.iter().zip(&is.results).collect();
        let other: Vec<_> = pairs
            .iter()
            .filter(|((_, a), (_, b))| steps(a) != steps(b))
            .collect();
        if let Some((((w, h), wanted), (_, is))) = other.first() {
            let many = match pairs.len() {
                1 => String::new(),
                all => format!(" ({} of {all} sizes of sources differ)", other.len()),
            };
            let text = |recipe: &Result<Recipe, String>| match steps(recipe) {
                Ok(steps) if steps.is_empty() => "untouched".to_owned(),
                Ok(steps) | Err(steps) => steps,
            };
            told.push(format!(
                "{w}x{h} becomes {}, not {}{many}",
                text(is),
                text(wanted)
            ));
        }
        let mut words: Vec<String> = Vec::new();
        for ((_, wanted), (_, is)) in &pairs {
            if let (Ok(wanted), Ok(is)) = (wanted, is) {
                for word in apart(&output(wanted), &output(is)) {
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
            }
        }
        told.extend(words);
        told
    }
}

/// Geometry and effects as text.
fn steps(recipe: &Result<Recipe, String>) -> Result<String, String> {
    let recipe = recipe.as_ref().map_err(Clone::clone)?;
    let steps: Vec<String> = recipe.steps.iter().map(Step::to_string).collect();
    Ok(steps.join(","))
}

/// The words of the output.
fn output(recipe: &Recipe) -> Vec<String> {
    let text = Recipe::from(recipe.output.clone()).to_string();
    let words = text.split(',').filter(|word| *word != "same");
    words.map(str::to_owned).collect()
}

fn apart(wanted: &[String], is: &[String]) -> Vec<String> {
    let missing = wanted.iter().filter(|word| !is.contains(word));
    let more = is.iter().filter(|word| !wanted.contains(word));
    let missing = missing.map(|word| format!("without {word}"));
    missing
        .chain(more.map(|word| format!("with {word}")))
        .collect()
}
