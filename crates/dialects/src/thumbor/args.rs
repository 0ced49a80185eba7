//! The arguments of filters. thumbor skips a filter with an argument that does not match the expected type: for such an
//! argument, the functions return `None`. imagor parses leniently, as in Go: a text that is not a number is 0.

use std::borrow::Cow;

use super::flavour::{Flavour, unescape};
use super::path::digits;

/// The arguments of one filter.
pub(super) struct Args<'a> {
    /// The program whose syntax the arguments have.
    pub(super) flavour: Flavour,
    /// All arguments, as written in the URL.
    pub(super) all: &'a str,
    list: Vec<&'a str>,
    /// How many levels deep overlay images may be nested in the arguments.
    pub(super) levels: usize,
}

impl<'a> Args<'a> {
    /// Splits arguments: for thumbor at all commas, for imagor at commas outside of parentheses.
    pub(super) fn new(flavour: Flavour, all: &'a str, levels: usize) -> Self {
        let list = match flavour {
            Flavour::Thumbor if all.trim().is_empty() => Vec::new(),
            Flavour::Thumbor => all.split(',').map(str::trim).collect(),
            Flavour::Imagor => split(all),
        };
        Self {
            flavour,
            all,
            list,
            levels,
        }
    }

    /// Returns how many arguments there are.
    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// Whether there is an argument at this position.
    pub(super) fn has(&self, at: usize) -> bool {
        at < self.count()
    }

    /// Returns an argument as written in the URL.
    pub(super) fn raw(&self, at: usize) -> Option<&'a str> {
        self.list.get(at).copied()
    }

    /// Returns an argument as text. For thumbor, enclosing quotes are removed, and it must not be empty. For imagor, it
    /// is decoded.
    pub(super) fn text(&self, at: usize) -> Option<Cow<'a, str>> {
        let raw = self.raw(at)?;
        if self.flavour == Flavour::Imagor {
            return Some(unescape(raw).into());
        }
        let inner = raw
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''));
        inner
            .or(Some(raw))
            .filter(|text| !text.is_empty())
            .map(Cow::Borrowed)
    }

    /// Returns an argument as text. For thumbor, it must consist of letters, digits and underscores.
    pub(super) fn word(&self, at: usize) -> Option<Cow<'a, str>> {
        let plain = |letter: char| letter.is_alphanumeric() || letter == '_';
        self.text(at)
            .filter(|text| self.flavour == Flavour::Imagor || text.chars().all(plain))
    }

    /// Returns an argument as a non-negative whole number, such as a length in px. For imagor, negative numbers count
    /// as 0. Numbers that are too large saturate.
    pub(super) fn size(&self, at: usize) -> Option<u32> {
        match self.flavour {
            Flavour::Thumbor => digits(&self.text(at)?),
            Flavour::Imagor => Some(u32::try_from(self.whole(at)?.max(0)).unwrap_or(u32::MAX)),
        }
    }

    /// Returns an argument as a whole number.
    pub(super) fn whole(&self, at: usize) -> Option<i64> {
        if self.flavour == Flavour::Imagor {
            return Some(self.raw(at).and_then(|text| text.parse().ok()).unwrap_or(0));
        }
        let text = self.text(at)?;
        digits(text.strip_prefix('-').unwrap_or(&text))?;
        text.parse().ok()
    }

    /// Returns an argument as a decimal number. For imagor, infinite ones count as 0.
    pub(super) fn decimal(&self, at: usize) -> Option<f64> {
        if self.flavour == Flavour::Imagor {
            let value: Option<f64> = self.raw(at).and_then(|text| text.parse().ok());
            return Some(value.filter(|value| value.is_finite()).unwrap_or(0.0));
        }
        let text = self.text(at)?;
        let plain = |byte: u8| byte.is_ascii_digit() || b"-.".contains(&byte);
        text.bytes().all(plain).then(|| text.parse().ok())?
    }

    /// Returns an argument of thumbor's from 0 to 255. Larger ones count as 255.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.size(at).map(|value| value.min(255) as u8)
    }

    /// Returns a Boolean argument of thumbor's; false if it is absent.
    pub(super) fn flag(&self, at: usize) -> Option<bool> {
        match self.text(at).as_deref() {
            Some("true" | "True" | "1") => Some(true),
            Some("false" | "False" | "0") => Some(false),
            None if !self.has(at) => Some(false),
            _ => None,
        }
    }
}

/// Splits at commas outside parentheses.
fn split(args: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let list = args.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    list.filter(|_| !args.is_empty()).collect()
}
