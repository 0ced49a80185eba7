//! The saved part of a run's replies: the bodies, and the findings from decoding and comparing them.
//!
//! Findings are small and outlive the bodies. A run whose `bodies/` were deleted to save space is judged by its
//! findings, with the same result as before.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Distinct reply bodies and the findings about them, both by hash.
#[derive(Clone, Debug, Default)]
pub struct SavedBodies {
    /// The reply bodies that were saved, by hash.
    pub bodies: BTreeMap<String, Bytes>,
    /// The findings from examining the bodies, or `None` if none were saved.
    pub findings: Option<Findings>,
}

impl SavedBodies {
    /// Creates saved bodies without findings: they have not been examined yet.
    #[must_use]
    pub fn bodies(bodies: BTreeMap<String, Bytes>) -> Self {
        Self {
            bodies,
            findings: None,
        }
    }

    /// Returns whether there are neither bodies nor findings, so that replies cannot be compared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.findings.is_none()
    }

    /// Adds the bodies and findings of another run.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.bodies.extend(other.bodies);
        let all = self.findings.into_iter().chain(other.findings);
        self.findings = all.reduce(|mut all, more| {
            all.decoded.extend(more.decoded);
            all.likeness.extend(more.likeness);
            all
        });
        self
    }
}

/// Findings from decoding and comparing reply bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    decoded: BTreeMap<String, Decoded>,
    likeness: BTreeMap<[String; 2], Likeness>,
}

impl Findings {
    /// Returns the result of decoding the body with this hash, if known.
    #[must_use]
    pub fn decoded(&self, hash: &str) -> Option<&Decoded> {
        self.decoded.get(hash)
    }

    /// Returns how alike the two bodies with these hashes are, if known. Their order does not matter.
    #[must_use]
    pub fn likeness(&self, one: &str, other: &str) -> Option<Likeness> {
        self.likeness.get(&pair(one, other)).copied()
    }

    /// Adds the result of decoding a body.
    pub fn note_decoded(&mut self, hash: &str, decoded: Decoded) {
        self.decoded.insert(hash.to_owned(), decoded);
    }

    /// Adds how alike two bodies are.
    pub fn note_likeness(&mut self, one: &str, other: &str, likeness: Likeness) {
        self.likeness.insert(pair(one, other), likeness);
    }

    /// Returns the findings one by one, as they are written to `judged.jsonl`.
    pub(super) fn entries(&self) -> impl Iterator<Item = Finding> {
        let decoded = self.decoded.iter().map(|(body, result)| Finding::Decoded {
            body: body.clone(),
            found: result.clone(),
        });
        let likeness = self.likeness.iter().map(|(bodies, result)| Finding::Alike {
            bodies: bodies.clone(),
            found: *result,
        });
        decoded.chain(likeness)
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(entries: I) -> Self {
        let mut all = Self::default();
        for entry in entries {
            match entry {
                Finding::Decoded { body, found } => all.note_decoded(&body, found),
                Finding::Alike {
                    bodies: [one, other],
                    found,
                } => all.note_likeness(&one, &other, found),
            }
        }
        all
    }
}

/// A finding about reply bodies: one line of `judged.jsonl` in the run's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Finding {
    Decoded {
        body: String,
        found: Decoded,
    },
    Alike {
        bodies: [String; 2],
        found: Likeness,
    },
}

/// The result of decoding a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decoded {
    /// The body is a complete image.
    #[serde(rename = "picture")]
    Image {
        /// Width in px.
        width: u32,
        /// Height in px.
        height: u32,
    },
    /// The body is not a complete image, with the reason.
    Broken(String),
}

/// How alike two bodies with different bytes are. The order of the two does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Likeness {
    /// The images have equal pixels.
    SamePixels,
    /// Mean structural similarity (SSIM) of luma, at most 1.
    Ssim(f64),
    /// The images have different sizes.
    OtherSize,
    /// At least one body is not a complete image.
    #[serde(rename = "no-pictures")]
    NoImages,
}

fn pair(one: &str, other: &str) -> [String; 2] {
    let mut pair = [one.to_owned(), other.to_owned()];
    pair.sort();
    pair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_back() {
        let mut findings = Findings::default();
        let image = Decoded::Image {
            width: 250,
            height: 140,
        };
        findings.note_decoded("a", image);
        findings.note_decoded("b", Decoded::Broken("it is cut short".into()));
        findings.note_likeness("b", "a", Likeness::NoImages);
        findings.note_likeness("c", "a", Likeness::Ssim(0.996_3));
        let lines = findings.entries().map(|it| serde_json::to_string(&it));
        let lines: Vec<String> = lines.collect::<Result<_, _>>().expect("writes");
        assert_eq!(
            lines[0],
            r#"{"decoded":{"body":"a","found":{"picture":{"width":250,"height":140}}}}"#
        );
        let back = lines.iter().map(|line| serde_json::from_str(line));
        let back = back.collect::<Result<Findings, _>>().expect("reads");
        assert_eq!(back, findings);
        assert_eq!(back.likeness("a", "c"), Some(Likeness::Ssim(0.996_3)));
    }
}
