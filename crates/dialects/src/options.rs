//! Tables of options. A dialect's table has a row for each of its options. The values in a URL are stored by row.

use std::collections::BTreeMap;
use std::fmt;

/// The documentation of an option of a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionHelp {
    /// All names of the option.
    pub names: Vec<String>,
    /// The values that the option takes; empty if the sentence in `help` names them.
    pub values: String,
    /// What the option does, or why it does nothing, as one sentence.
    pub help: String,
    /// How the option differs from that of the original server, or why it is ignored; `None` if it does not differ.
    pub differs: Option<String>,
}

impl OptionHelp {
    /// Creates the documentation of the option with these names. `help` is one sentence.
    pub(crate) fn new(names: &[&str], help: &str) -> Self {
        Self {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            values: String::new(),
            help: help.to_owned(),
            differs: None,
        }
    }
}

/// A row of a table: an option of a dialect.
#[derive(Debug)]
pub(crate) struct OptionRow {
    /// All names of the option. The first one is used in [`Values`] and in canonical texts.
    pub(crate) names: &'static [&'static str],
    /// The part of a request that the option changes.
    pub(crate) about: About,
    /// The values that the option takes.
    pub(crate) takes: Takes,
    /// What the option does, in one line without a full stop.
    pub(crate) help: &'static str,
}

impl OptionRow {
    /// Returns the name that is used in [`Values`] and in canonical texts.
    pub(crate) fn name(&self) -> &'static str {
        self.names[0]
    }
}

/// Makes a row; see the fields of [`OptionRow`].
pub(crate) const fn row(
    names: &'static [&'static str],
    about: About,
    takes: Takes,
    help: &'static str,
) -> OptionRow {
    OptionRow {
        names,
        about,
        takes,
        help,
    }
}

/// The part of a request that an option changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The resulting image.
    Image,
    /// The resulting image, but these words of the option are ignored, with a note in the response.
    Partly(&'static [&'static str]),
    /// Not how the image is processed, but which source is used, or how the response is sent (such as its headers).
    Answer,
    /// Nothing: valid values are ignored for this reason, with a note in the response.
    Ignored(&'static str),
    /// Nothing: the original server has the option, but it is not supported here.
    Unsupported,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    /// Numbers in this range, both ends included.
    Number(f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts that the function accepts, with a description of them for users.
    Text(fn(&str) -> bool, &'static str),
}

impl Takes {
    /// Returns the values of an option that takes any text. `what` describes valid values for users.
    pub(crate) const fn any(what: &'static str) -> Self {
        Self::Text(|_| true, what)
    }

    /// Parses a number; `None` if the text is not a number, or if the number is out of the range. For words and texts
    /// there is no range.
    pub(crate) fn number(self, text: &str) -> Option<f64> {
        text.parse().ok().filter(|number| self.has(*number))
    }

    /// Whether a number is within the range; always true for words and texts.
    pub(crate) fn has(self, number: f64) -> bool {
        match self {
            Self::Number(least, most) => (least..=most).contains(&number),
            Self::Word(_) | Self::Text(..) => true,
        }
    }

    /// Whether the option takes this value.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Number(..) => self.number(text).is_some(),
            Self::Word(words) => words.contains(&text),
            Self::Text(accepts, _) => accepts(text),
        }
    }
}

/// Describes the values in words, such as `a number from 0 to 9`.
impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(least, most) => write!(f, "a number from {least} to {most}"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Text(_, what) => f.write_str(what),
        }
    }
}

/// Maximum number of notes about unknown or unsupported options of one URL.
pub(crate) const MOST_NOTES: usize = 8;

/// The options of a dialect.
#[derive(Debug)]
pub(crate) struct Table(pub(crate) &'static [OptionRow]);

impl Table {
    /// Returns the first name of each option, in the order of the rows.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(OptionRow::name)
    }

    /// Returns the row with this name among its names.
    pub(crate) fn named(&self, name: &str) -> Option<&'static OptionRow> {
        self.0.iter().find(|row| row.names.contains(&name))
    }

    /// Returns the documentation of each option.
    pub(crate) fn help(&self) -> Vec<OptionHelp> {
        let help = |row: &OptionRow| {
            let what = match row.about {
                About::Image | About::Answer => format!("{}.", row.help),
                About::Partly(words) => format!("{}; not done: {}.", row.help, code(words)),
                About::Ignored(why) => format!("{}; ignored, because {why}.", row.help),
                About::Unsupported => "not supported: ignored with a note.".to_owned(),
            };
            OptionHelp {
                values: match row.takes {
                    Takes::Word(words) => code(words),
                    takes => takes.to_string(),
                },
                differs: match row.about {
                    About::Image | About::Answer => None,
                    About::Partly(words) => Some(format!("not done: {}", code(words))),
                    About::Ignored(why) => Some(why.to_owned()),
                    About::Unsupported => Some("not supported".to_owned()),
                },
                ..OptionHelp::new(row.names, &what)
            }
        };
        self.0.iter().map(help).collect()
    }

    /// Returns notes on values that contain unsupported words, in the order of the rows.
    pub(crate) fn unsupported_words(&self, values: &Values) -> Vec<String> {
        let mut notes = Vec::new();
        for row in self.0 {
            let name = row.name();
            let About::Partly(words) = row.about else {
                continue;
            };
            for word in words.iter().filter(|word| values.lists(name, word)) {
                notes.push(format!("{name}: `{word}` is not supported; it is ignored"));
            }
        }
        notes
    }

    /// Returns notes on options that are ignored, in the order of the rows.
    pub(crate) fn ignored(&self, values: &Values) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|row| match row.about {
            About::Ignored(why) if values.is_valid(row.name()) => {
                Some(format!("{}: {why}; it is ignored", row.name()))
            }
            _ => None,
        })
    }
}

fn code(words: &[&str]) -> String {
    let words = words.iter().map(|word| format!("`{word}`"));
    words.collect::<Vec<_>>().join(" ")
}

/// The values of a URL's options, each with its row, by the first name of the option.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(BTreeMap<&'static str, (&'static OptionRow, String)>);

impl Values {
    /// Sets an option's value, and replaces the one that it has.
    pub(crate) fn replace(&mut self, row: &'static OptionRow, text: String) {
        self.0.insert(row.name(), (row, text));
    }

    /// Sets an option's value, unless it has one already.
    pub(crate) fn add(&mut self, row: &'static OptionRow, text: String) {
        self.0.entry(row.name()).or_insert((row, text));
    }

    /// Removes an option's value and returns it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<String> {
        self.0.remove(name).map(|(_, text)| text)
    }

    /// Returns the names of all options that have been given a value, sorted. For an option with several names, this is
    /// the first one in its row of the table.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Whether no option has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an option has a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether an option has a value that its row takes.
    pub(crate) fn is_valid(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|(takes, text)| takes.accepts(text))
    }

    /// Returns the values that an option takes, and its value.
    pub(crate) fn get(&self, name: &str) -> Option<(Takes, &str)> {
        self.0.get(name).map(|(row, text)| (row.takes, &**text))
    }

    /// Returns an option's value.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|(_, text)| text)
    }

    /// Returns an option's value as a number, if it is in the range of the option's row.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(|(takes, text)| takes.number(text))
    }

    /// Whether an option's value, a list of words separated by commas, contains `word`.
    pub(crate) fn lists(&self, name: &str, word: &str) -> bool {
        let list = self.text(name);
        list.is_some_and(|list| list.split(',').any(|item| item == word))
    }

    /// Returns `name=value` pairs, sorted by name and separated by `between`. `encode` encodes each value.
    pub(crate) fn canonical(&self, between: &str, encode: impl Fn(&str) -> String) -> String {
        let pairs = self.0.iter();
        let pairs = pairs.map(|(name, (_, text))| format!("{name}={}", encode(text)));
        pairs.collect::<Vec<_>>().join(between)
    }
}

#[cfg(test)]
mod tests {
    use crate::ROWS;

    #[test]
    fn every_name_is_that_of_one_option() {
        for dialect in ROWS {
            let options = (dialect.option_help)();
            let mut names: Vec<&String> = options.iter().flat_map(|it| &it.names).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", dialect.name);
        }
    }
}
