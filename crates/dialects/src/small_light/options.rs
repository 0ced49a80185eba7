//! Raw options: the value of each parameter in a target, split in the same way as by ngx_small_light.

use std::collections::BTreeMap;

use andon_recipe::nearest;

use super::Notes;
use super::params::{PARAMETERS, parameter};
use crate::refusal::{Refusal, shorten};

/// Maximum length of the option string in bytes. ngx_small_light drops the connection above it.
pub(super) const MAX_TEXT: usize = 8191;
/// Maximum length of an option's name in bytes. ngx_small_light drops the connection above it.
const MAX_NAME: usize = 110;

/// The values of a target, by parameter. They are neither decoded nor trimmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options<'a> {
    values: BTreeMap<&'static str, &'a str>,
}

impl<'a> Options<'a> {
    /// Parses options from the text between the parentheses of a path.
    pub(super) fn from_text(text: &'a str, notes: &mut Notes) -> Result<Self, Refusal> {
        if text.len() > MAX_TEXT {
            return Err(Refusal::new(
                text,
                format!("options may take up to {MAX_TEXT} bytes"),
            ));
        }
        let mut options = Self::default();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let mut parts = pair.split('=').filter(|part| !part.is_empty());
            let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
                notes.add(|| {
                    format!("`{pair}` has no value: it and every option after it are ignored")
                });
                break;
            };
            if name.len() > MAX_NAME {
                return Err(Refusal::new(
                    name,
                    format!("an option's name may take up to {MAX_NAME} bytes"),
                ));
            }
            if parts.next().is_some() {
                notes.add(|| format!("`{pair}`: what follows the second `=` is ignored"));
            }
            match parameter(name).map(|parameter| parameter.name) {
                // The last pattern counts, but the first value of any other option.
                Some("p") => {
                    options.values.insert("p", value);
                }
                Some(name) => options.set(name, value, notes),
                None => notes.add(|| unknown(name)),
            }
        }
        Ok(options)
    }

    /// Parses options from a query. Names may be in any case, and the first value of each counts, even an empty one.
    pub(super) fn from_query(query: &'a str, notes: &mut Notes) -> Self {
        let mut options = Self::default();
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        for (name, value) in pairs {
            if name.len() > MAX_NAME {
                continue;
            }
            if let Some(parameter) = parameter(&name.to_ascii_lowercase()) {
                options.set(parameter.name, value, notes);
            }
        }
        options
    }

    fn set(&mut self, name: &'static str, value: &'a str, notes: &mut Notes) {
        if self.values.contains_key(name) {
            notes.add(|| format!("`{name}` is given twice; the first counts"));
        } else {
            self.values.insert(name, value);
        }
    }

    /// Returns the name of the pattern (a named option string of the configuration) that `p` requests.
    pub(super) fn pattern(&self) -> Option<&'a str> {
        self.get("p").filter(|name| !name.is_empty())
    }

    /// Adds the options of a pattern that have no value yet. Patterns that are named in a pattern are not applied.
    pub(super) fn complete(&mut self, pattern: &'a str, notes: &mut Notes) -> Result<(), Refusal> {
        for (name, value) in Self::from_text(pattern, notes)?.values {
            self.values.entry(name).or_insert(value);
        }
        Ok(())
    }

    /// Returns the value of a parameter as written.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.values.get(name).copied()
    }

    /// Returns the value of a parameter, or an empty text if it has none.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.get(name).unwrap_or_default()
    }

    /// Whether a flag is on: only a value that begins with `y` turns it on.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.text(name).starts_with('y')
    }
}

/// Returns the note about a name that is not an option.
fn unknown(name: &str) -> String {
    let hint = match nearest(name, PARAMETERS.iter().map(|parameter| parameter.name)) {
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    };
    format!("`{}` is no option{hint}; it is ignored", shorten(name))
}

#[cfg(test)]
mod tests {
    use super::{MAX_TEXT, Notes, Options};

    fn read(text: &str) -> Vec<(&'static str, &str)> {
        let options = Options::from_text(text, &mut Notes::default()).unwrap();
        options.values.into_iter().collect()
    }

    fn query(text: &str) -> Vec<(&'static str, &str)> {
        let options = Options::from_query(text, &mut Notes::default());
        options.values.into_iter().collect()
    }

    #[test]
    fn empty_pieces_collapse() {
        assert_eq!(read(",,dw=1,,dh==2,"), [("dh", "2"), ("dw", "1")]);
        assert_eq!(read("=dw=1"), [("dw", "1")]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn a_missing_value_ends_the_options() {
        assert_eq!(read("dw=,dh=100"), []);
        assert_eq!(read("dh=100,dw=,q=5"), [("dh", "100")]);
        assert_eq!(read("dh=100,dw,q=5"), [("dh", "100")]);
        assert_eq!(read("=,q=5"), []);
    }

    #[test]
    fn text_after_a_second_equals_sign_is_ignored() {
        assert_eq!(read("dw=100=200"), [("dw", "100")]);
    }

    #[test]
    fn the_first_duplicate_wins_but_the_last_pattern() {
        assert_eq!(read("dw=200,dw=100"), [("dw", "200")]);
        assert_eq!(read("p=a,p=b"), [("p", "b")]);
    }

    #[test]
    fn names_are_case_sensitive_and_unknown_ones_are_ignored_with_a_note() {
        let mut notes = Notes::default();
        let options = Options::from_text("DW=1,foo=2,q=3", &mut notes).unwrap();
        assert_eq!(options.get("q"), Some("3"));
        assert_eq!(options.values.len(), 1);
        assert_eq!(notes.0.len(), 2, "{notes:?}");
    }

    #[test]
    fn nothing_is_decoded_or_trimmed() {
        assert_eq!(read("dw= 1%30,q=+5"), [("dw", " 1%30"), ("q", "+5")]);
    }

    #[test]
    fn too_long_names_and_strings_are_refused() {
        let long = |len: usize| "a".repeat(len);
        let mut notes = Notes::default();
        assert!(Options::from_text(&format!("{}=1", long(110)), &mut notes).is_ok());
        assert!(Options::from_text(&format!("{}=1", long(111)), &mut notes).is_err());
        assert!(Options::from_text(&",".repeat(MAX_TEXT), &mut notes).is_ok());
        assert!(Options::from_text(&",".repeat(MAX_TEXT + 1), &mut notes).is_err());
    }

    #[test]
    fn notes_stay_few_however_many_options_are_wrong() {
        let mut notes = Notes::default();
        Options::from_text(&"x=1,".repeat(2000), &mut notes).unwrap();
        assert_eq!(notes.0.len(), Notes::MAX);
    }

    #[test]
    fn a_query_is_read_in_any_case_first_come_first_served_raw() {
        assert_eq!(
            query("DW=200&dw=100&of=&x=1&q&ix=+5%20"),
            [("dw", "200"), ("ix", "+5%20"), ("of", "")]
        );
    }

    #[test]
    fn a_pattern_gives_what_was_not_given() {
        let mut notes = Notes::default();
        let mut options = Options::from_text("p=a,dw=100", &mut notes).unwrap();
        options.complete("dw=50,dh=50,p=b", &mut notes).unwrap();
        assert_eq!(options.get("dw"), Some("100"));
        assert_eq!(options.get("dh"), Some("50"));
        assert_eq!(options.pattern(), Some("a"), "patterns do not chain");
    }
}
