//! What a row of the table of options says, and how an option is read and written by its row.

use super::args::{Wrong, is_truth};
use super::options::Options;

/// An option of the table.
pub(super) struct Row {
    /// All names of the option. It is written by the last one.
    pub(super) names: &'static [&'static str],
    /// What the option does, as one sentence; empty if it is ignored.
    help: &'static str,
    /// What is not done as in imgproxy, if the option is not ignored as a whole.
    differs: Option<&'static str>,
    /// The part of a request that the option changes.
    pub(super) kind: About,
    /// The most arguments that the option takes.
    pub(super) most: usize,
    /// How many arguments, counted from the first, are read even if they are empty. Further empty ones change nothing.
    needed: usize,
    args: &'static [Arg],
    /// Whether the option is written. If not, other options write what it sets.
    is_written: bool,
    /// Returns what of these arguments is not supported, if anything.
    note: fn(&[&str]) -> Option<String>,
}

/// An argument of an option.
pub(super) struct Arg {
    /// Reads the argument, which is the first of these texts. The last argument of an option may read all of them.
    read: fn(&mut Options, &[&str]) -> Result<(), Wrong>,
    /// Writes the argument. `None`: another argument writes what it sets.
    show: Option<fn(&Options) -> String>,
    /// Whether the argument is a Boolean, which may be neither true nor false.
    is_flag: bool,
}

impl Arg {
    /// Says that the argument is a Boolean.
    pub(super) const fn flag(self) -> Self {
        let is_flag = true;
        Self { is_flag, ..self }
    }

    /// Says that another argument writes what this one sets.
    pub(super) const fn unshown(self) -> Self {
        Self { show: None, ..self }
    }
}

/// The part of a request that an option changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The image that is made.
    Image,
    /// How the response is sent.
    Answer,
    /// Limits, which URLs may set only if the configuration allows it.
    Limit,
    /// Nothing: the option is read, and ignored for this reason.
    Ignored(&'static str),
}

/// Makes the row of an option about the image, which takes these arguments.
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

/// Makes the row of an option that is read and ignored.
pub(super) const fn ignored(names: &'static [&'static str], why: &'static str) -> Row {
    row(names, &[]).about(About::Ignored(why)).most(usize::MAX)
}

impl Row {
    /// Says in one sentence what the option does.
    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// Says what is not done as in imgproxy, although the option is not ignored.
    pub(super) const fn differs(self, what: &'static str) -> Self {
        let differs = Some(what);
        Self { differs, ..self }
    }

    /// Says what the option changes, if it is not the image.
    pub(super) const fn about(self, kind: About) -> Self {
        Self { kind, ..self }
    }

    /// Says how many arguments the option takes at the most, if that is not the number of those in the row.
    pub(super) const fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Says how many arguments are read even if they are empty, if it is not only the first.
    pub(super) const fn needed(self, needed: usize) -> Self {
        Self { needed, ..self }
    }

    /// Says what is not supported, and adds a function that says what of the arguments that is.
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

    /// Says that other options write what this one sets.
    pub(super) const fn unwritten(self) -> Self {
        let is_written = false;
        Self { is_written, ..self }
    }

    /// Returns what the option does or, if it is ignored, why, as one sentence.
    pub(super) fn told(&self) -> String {
        match self.kind {
            About::Ignored(why) => format!("Ignored, with a note: {why}."),
            _ => self.help.to_owned(),
        }
    }

    /// Returns what is not done as in imgproxy.
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

    /// Reads the option's arguments, of which there is at least one.
    ///
    /// # Errors
    /// What is wrong with the first argument that cannot be read.
    pub(super) fn read(&self, options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
        for (place, (arg, text)) in self.args.iter().zip(args).enumerate() {
            if place < self.needed || !text.is_empty() {
                (arg.read)(options, &args[place..])?;
            }
        }
        Ok(())
    }

    /// Writes the option's arguments. `None`: other options write what it sets.
    pub(super) fn show(&self, options: &Options) -> Option<String> {
        let shows = self.args.iter().filter_map(|arg| arg.show);
        let texts: Vec<String> = shows.map(|show| show(options)).collect();
        let says = texts.iter().any(|text| !text.is_empty());
        let text = if says { texts.join(":") } else { String::new() };
        (self.is_written && !texts.is_empty()).then_some(text)
    }

    /// Returns notes on what is not done as these arguments ask.
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

/// Makes an argument of functions of its own.
pub(super) const fn own(
    read: fn(&mut Options, &[&str]) -> Result<(), Wrong>,
    show: fn(&Options) -> String,
) -> Arg {
    Arg {
        read,
        show: Some(show),
        is_flag: false,
    }
}
