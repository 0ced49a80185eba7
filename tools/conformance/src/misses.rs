//! Explanations, written by hand, why Andon's results for some rows of the conformance set are wrong.

use anyhow::{Context, Result};

use crate::rows::Row;
use crate::verdict::Verdict;

const FILE: &str = include_str!("../misses.txt");

/// Patterns for the paths of rows, each with the reason why Andon's results for matching rows are not the expected
/// answers.
pub(crate) struct Misses(Vec<(&'static str, &'static str)>);

impl Misses {
    pub(crate) fn read() -> Result<Self> {
        let lines = FILE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pair = |line: &'static str| {
            line.split_once(": ")
                .with_context(|| format!("misses.txt: `{line}` is not PATTERN: REASON"))
        };
        lines.map(pair).collect::<Result<_>>().map(Self)
    }

    /// Returns the explanation why the row with this path is missed: that of the first pattern that matches the path.
    pub(crate) fn why(&self, path: &str) -> Option<&'static str> {
        let (_, why) = self.0.iter().find(|(pattern, _)| matches(pattern, path))?;
        Some(why)
    }

    /// Returns the patterns that match no missed row.
    pub(crate) fn stale(&self, judged: &[(&Row, &Verdict)]) -> impl Iterator<Item = &'static str> {
        let missed = |pattern: &str| {
            (judged.iter()).any(|(row, verdict)| verdict.missed() && matches(pattern, &row.path))
        };
        self.0
            .iter()
            .map(|(pattern, _)| *pattern)
            .filter(move |pattern| !missed(pattern))
    }
}

/// Returns whether a path matches a pattern, in which `*` stands for any text, slashes included.
fn matches(pattern: &str, path: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or("")) else {
        return false;
    };
    let mut open = false;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        open = piece.is_empty();
    }
    open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_anything() {
        assert!(matches("svg/*", "svg/resvg/a.svg"));
        assert!(matches("gif/*palette*.gif", "gif/pillow/no_palette_x.gif"));
        assert!(matches("gif/a.gif", "gif/a.gif"));
        assert!(!matches("gif/a.gif", "gif/a.gifs"));
        assert!(!matches("gif/*.png", "gif/a.gif"));
    }

    #[test]
    fn the_list_can_be_read() {
        Misses::read().expect("PATTERN: REASON on every line");
    }
}
