//! How the result is written: what is asked for, held against what its format takes.

use andon_recipe::{Goal, Output, ParseError, options};

use super::words::unknown_word;
use crate::codec::Codec;
use crate::error::{Error, Result};

/// The output as the target takes it. A format that was asked for by `name` has to take every option; one that is the
/// source's own is not told what it has no use for.
pub(super) fn settled(output: &Output, target: &dyn Codec, named: bool) -> Result<Output> {
    let mut output = output.clone();
    let known = target.options();
    if !named {
        output.leave_out_unknown(known);
    }
    for (word, value) in output.shared() {
        let piece = || said(word.name, &value);
        let asked = match word.name {
            name if name == options::SCORE.name => {
                return Err(refused(
                    &piece(),
                    "no perceptual metric is built in; ask for a quality (q:80) or a length (max:60000)",
                ));
            }
            // The largest quality is looked for.
            name if name == options::MAX.name => options::QUALITY.name,
            name => name,
        };
        let option = known.iter().find(|option| option.name == asked);
        let option = option.ok_or_else(|| unknown(target, &piece()))?;
        if asked == word.name {
            let fits = option.check(&value);
            fits.map_err(|error| unfit(target, &piece(), &error))?;
        }
    }
    for (name, value) in &output.options {
        let piece = || format!("with:{}", said(name, value));
        let option = known.iter().find(|option| option.name == name);
        let option = option.ok_or_else(|| unknown(target, &format!("with:{name}")))?;
        let fits = option.check(value);
        fits.map_err(|error| unfit(target, &piece(), &error))?;
    }
    Ok(output)
}

/// The search for the largest quality whose file is short enough, by halving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// The most bytes.
    pub(crate) bytes: u64,
    /// The most that the quality may be: more than the source's own shows nothing more of it.
    pub(crate) quality: u8,
}

impl Search {
    /// How many encodes it takes at most.
    pub(crate) fn tries(self) -> u32 {
        u8::BITS - self.quality.leading_zeros()
    }

    /// The quality that it begins with.
    pub(crate) fn first(self) -> u8 {
        self.quality.div_ceil(2)
    }

    /// The largest of the files that are short enough. They are taken to grow with the quality; where they do not, a
    /// larger one may be missed, but what is found is short enough.
    pub(crate) fn run(self, mut encode: impl FnMut(u8) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        let (mut fits, mut most) = (0, self.quality);
        let mut best = None;
        let mut shortest = usize::MAX;
        while fits < most {
            let quality = fits + (most - fits).div_ceil(2);
            let file = encode(quality)?;
            shortest = shortest.min(file.len());
            if file.len() as u64 <= self.bytes {
                (fits, best) = (quality, Some(file));
            } else {
                most = quality - 1;
            }
        }
        best.ok_or_else(|| {
            refused(
                &said(options::MAX.name, &self.bytes.to_string()),
                format!(
                    "even at quality 1 it takes {shortest} bytes; allow more, or ask for a smaller size"
                ),
            )
        })
    }
}

/// The search that an output asks for, of a picture whose own quality is `inherited`.
pub(super) fn search(output: &Output, inherited: Option<u8>) -> Option<Search> {
    match output.goal {
        Some(Goal::Bytes(bytes)) => Some(Search {
            bytes,
            quality: inherited.unwrap_or(100).max(1),
        }),
        _ => None,
    }
}

/// A word and its value, as a recipe has them.
fn said(name: &str, value: &str) -> String {
    match value {
        "" => name.to_owned(),
        value => format!("{name}:{value}"),
    }
}

fn refused(piece: &str, why: impl Into<String>) -> Error {
    Error::Recipe {
        piece: piece.to_owned(),
        why: why.into(),
    }
}

fn unknown(target: &dyn Codec, piece: &str) -> Error {
    let shared = |name: &str| options::ALL.iter().any(|word| word.name == name);
    let mut known = Vec::new();
    for name in target.options().iter().map(|option| option.name) {
        match shared(name) {
            true => known.push(name.to_owned()),
            false => known.push(format!("with:{name}")),
        }
        if name == options::QUALITY.name {
            known.push(options::MAX.name.to_owned());
        }
    }
    let what = format!("{} has no such option", target.name());
    if known.is_empty() {
        return refused(piece, what);
    }
    refused(piece, unknown_word(&what, piece, &known))
}

fn unfit(target: &dyn Codec, piece: &str, error: &ParseError) -> Error {
    refused(
        piece,
        format!("{} takes another value: {}", target.name(), error.expected),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that grows by ten bytes with each step of the quality.
    fn file(quality: u8) -> Vec<u8> {
        vec![quality; usize::from(quality) * 10]
    }

    #[test]
    fn the_largest_quality_that_fits_is_found_in_as_many_tries_as_were_said() {
        for quality in 1..=100 {
            for fits in 1..=quality {
                let search = Search {
                    bytes: u64::from(fits) * 10 + 5,
                    quality,
                };
                let mut tried = Vec::new();
                let found = search.run(|quality| {
                    tried.push(quality);
                    Ok(file(quality))
                });
                assert_eq!(found, Ok(file(fits)));
                assert_eq!(tried[0], search.first());
                assert!(tried.len() <= search.tries() as usize, "{tried:?}");
            }
        }
    }

    #[test]
    fn what_never_fits_is_an_error_that_says_how_short_it_can_be() {
        let search = Search {
            bytes: 9,
            quality: 100,
        };
        let error = search.run(|quality| Ok(file(quality))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`max:9` cannot be done: even at quality 1 it takes 10 bytes; allow more, or ask for a smaller size"
        );
    }
}
