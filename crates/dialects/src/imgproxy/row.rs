//! Rows of the table of imgproxy's options, and how an option is parsed and written by means of its row.

use super::args::{Wrong, is_truth};
use super::options::Options;

/// A row of the table of options: one option.
pub(super) struct Row {
    /// All names of the option. The last one is used when the option is written.
    pub(super) names: &'static [&'static str],
    /// What the option does, as one sentence; empty if it is ignored.
    help: &'static str,
    /// How the option differs from imgproxy's, if it is not ignored as a whole.
    differs: Option<&'static str>,
    /// The part of a request that the option changes.
    pub(super) kind: About,
    /// Maximum number of arguments.
    pub(super) most: usize,
    /// How many arguments, counted from the first, are parsed even if they are empty. Other empty arguments change
    /// nothing.
    needed: usize,
    args: &'static [Arg],
    /// Whether the option appears in canonical texts. If not, other options express its values.
    is_written: bool,
    /// Returns a note on the part of these arguments that is not supported, if any.
    note: fn(&[&str]) -> Option<String>,
}

/// An argument of an option.
pub(super) struct Arg {
    /// Parses the argument from the first of these texts. The texts after it are those of the further arguments, which
    /// the last argument of an option may use as well.
    read: fn(&mut Options, &[&str]) -> Result<(), Wrong>,
    /// Writes the argument; `None` if another argument expresses its value.
    show: Option<fn(&Options) -> String>,
    /// Whether the argument is a Boolean. Texts that are neither true nor false are then noted.
    is_flag: bool,
}

impl Arg {
    /// Marks the argument as a Boolean.
    pub(super) const fn flag(self) -> Self {
        let is_flag = true;
        Self { is_flag, ..self }
    }

    /// Leaves the argument out of canonical texts, because another argument expresses its value.
    pub(super) const fn unshown(self) -> Self {
        Self { show: None, ..self }
    }
}

/// The part of a request that an option changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The resulting image.
    Image,
    /// How the response is sent.
    Answer,
    /// Limits, which URLs may set only if the configuration allows it.
    Limit,
    /// Nothing: the option is accepted, but ignored for this reason.
    Ignored(&'static str),
}

/// Makes the row of an option that changes the image and takes these arguments.
pub(super) const fn row(names: &'static [&'static str], args: &'static [Arg]) -> Row {
    Row {
        names,
        help: "",
        differs: None,
        kind: About::Image,
        most: args.len(),
        needed: 1,
        args,
        is_written: true,
        note: |_| None,
    }
}

/// Makes the row of an option that is accepted, but ignored.
pub(super) const fn ignored(names: &'static [&'static str], why: &'static str) -> Row {
    row(names, &[]).about(About::Ignored(why)).most(usize::MAX)
}

impl Row {
    /// Sets the sentence that describes the option.
    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// Sets the text on how the option differs from imgproxy's, although it is not ignored.
    pub(super) const fn differs(self, what: &'static str) -> Self {
        let differs = Some(what);
        Self { differs, ..self }
    }

    /// Sets what the option changes, if it is not the image: the response, a limit, or nothing.
    pub(super) const fn about(self, kind: About) -> Self {
        Self { kind, ..self }
    }

    /// Sets the maximum number of arguments, if it is not the number of those in the row.
    pub(super) const fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Sets how many arguments are parsed even if they are empty, if it is not only the first.
    pub(super) const fn needed(self, needed: usize) -> Self {
        Self { needed, ..self }
    }

    /// Sets the text on what is not supported, and a function that makes a note about it from the arguments.
    pub(super) const fn note(
        self,
        what: &'static str,
        note: fn(&[&str]) -> Option<String>,
    ) -> Self {
        let differs = Some(what);
        Self {
            note,
            differs,
            ..self
        }
    }

    /// Leaves the option out of canonical texts, because other options express its values.
    pub(super) const fn unwritten(self) -> Self {
        let is_written = false;
        Self { is_written, ..self }
    }

    /// Returns one sentence: what the option does or, if it is ignored, why.
    pub(super) fn sentence(&self) -> String {
        match self.kind {
            About::Ignored(why) => format!("Ignored, with a note: {why}."),
            _ => self.help.to_owned(),
        }
    }

    /// Returns how the option differs from imgproxy's; `None` if it does not.
    pub(super) fn difference(&self) -> Option<String> {
        match self.kind {
            About::Ignored(why) => Some(why.to_owned()),
            _ => self.differs.map(str::to_owned),
        }
    }

    /// Returns the name by which the option is written.
    pub(super) fn name(&self) -> &'static str {
        self.names.last().unwrap_or(&"")
    }

    /// Parses the option's arguments, of which there is at least one, and stores their values.
    ///
    /// # Errors
    /// What is wrong with the first invalid argument.
    pub(super) fn read(&self, options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
        for (place, (arg, text)) in self.args.iter().zip(args).enumerate() {
            if place < self.needed || !text.is_empty() {
                (arg.read)(options, &args[place..])?;
            }
        }
        Ok(())
    }

    /// Writes the option's arguments; `None` if other options express their values.
    pub(super) fn show(&self, options: &Options) -> Option<String> {
        let shows = self.args.iter().filter_map(|arg| arg.show);
        let texts: Vec<String> = shows.map(|show| show(options)).collect();
        let says = texts.iter().any(|text| !text.is_empty());
        let text = if says { texts.join(":") } else { String::new() };
        (self.is_written && !texts.is_empty()).then_some(text)
    }

    /// Returns notes on these arguments: those that are not supported, or ignored, or doubtful.
    pub(super) fn notes(&self, args: &[&str]) -> Vec<String> {
        let ignored = match self.kind {
            About::Ignored(why) => Some(format!("{why}; it is ignored")),
            _ => None,
        };
        let flags = self.args.iter().zip(args).filter(|(arg, _)| arg.is_flag);
        let mut doubtful = flags.filter(|(_, text)| !text.is_empty() && !is_truth(text));
        let doubt =
            |(_, text): (&Arg, &&str)| format!("`{text}` is neither 1 nor 0; it is taken for 0");
        let all = [ignored, doubtful.next().map(doubt), (self.note)(args)];
        all.into_iter().flatten().collect()
    }
}

/// Makes an argument with its own functions for parsing and writing.
pub(super) const fn custom(
    read: fn(&mut Options, &[&str]) -> Result<(), Wrong>,
    show: fn(&Options) -> String,
) -> Arg {
    Arg {
        read,
        show: Some(show),
        is_flag: false,
    }
}
