//! What is kept of a run's replies: the bodies, and what looking at them found.
//!
//! Findings are small and outlive the bodies: a run whose `bodies/` were thrown away to save room is judged by
//! them as it was judged then.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Distinct bodies and findings, both by hash.
#[derive(Clone, Debug, Default)]
pub struct SavedBodies {
    /// The bodies that are there.
    pub bodies: BTreeMap<String, Bytes>,
    /// What was found when they were looked at; `None` if nobody wrote it down.
    pub findings: Option<Findings>,
}

impl SavedBodies {
    /// These bodies, not looked at yet.
    #[must_use]
    pub fn bodies(bodies: BTreeMap<String, Bytes>) -> Self {
        Self {
            bodies,
            findings: None,
        }
    }

    /// Is there nothing to judge replies by?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.findings.is_none()
    }

    /// What another run keeps, too.
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

/// What was found about bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    decoded: BTreeMap<String, Decoded>,
    likeness: BTreeMap<[String; 2], Likeness>,
}

impl Findings {
    /// What came of decoding this body.
    #[must_use]
    pub fn decoded(&self, hash: &str) -> Option<&Decoded> {
        self.decoded.get(hash)
    }

    /// How alike these two are, in whichever order.
    #[must_use]
    pub fn likeness(&self, one: &str, other: &str) -> Option<Likeness> {
        self.likeness.get(&pair(one, other)).copied()
    }

    /// Notes what came of decoding a body.
    pub fn note_decoded(&mut self, hash: &str, decoded: Decoded) {
        self.decoded.insert(hash.to_owned(), decoded);
    }

    /// Notes how alike two bodies are.
    pub fn note_likeness(&mut self, one: &str, other: &str, likeness: Likeness) {
        self.likeness.insert(pair(one, other), likeness);
    }

    /// One by one, as they are written down.
    pub(super) fn entries(&self) -> impl Iterator<Item = Finding> {
        let decoded = self.decoded.iter().map(|(body, found)| Finding::Decoded {
            body: body.clone(),
            found: found.clone(),
        });
        let likeness = self.likeness.iter().map(|(bodies, found)| Finding::Alike {
            bodies: bodies.clone(),
            found: *found,
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

/// A line of `judged.jsonl`.
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

/// What came of decoding a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decoded {
    /// A whole image.
    Picture {
        /// In px.
        width: u32,
        /// In px.
        height: u32,
    },
    /// No whole image, and why.
    Broken(String),
}

/// How alike two bodies of different bytes are. Either order of the two gives the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Likeness {
    /// Equal pixels, in files of different bytes.
    SamePixels,
    /// Mean structural similarity of luma, at most 1.
    Ssim(f64),
    /// Images of different sizes.
    OtherSize,
    /// At least one is no whole image.
    NoPictures,
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
        let picture = Decoded::Picture {
            width: 250,
            height: 140,
        };
        findings.note_decoded("a", picture);
        findings.note_decoded("b", Decoded::Broken("it is cut short".into()));
        findings.note_likeness("b", "a", Likeness::NoPictures);
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
