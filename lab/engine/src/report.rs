//! Prints a run in the tables that users of ab, JMeter, sar and strace know, in files that their tools can read, and as
//! one HTML page that needs no network.
//!
//! Every format takes the same [`ReportInput`] and is one entry of [`ALL`]. Most formats consist of [`Table`]s, each of
//! which can be shown as text, Markdown or HTML. `units` formats every number, so that the same number looks the same
//! everywhere.

mod ab;
pub mod between;
mod csv;
#[cfg(test)]
mod fixture;
mod hdr;
pub mod headline;
mod html;
mod input;
mod jmeter;
mod json;
mod jtl;
mod levels;
mod markdown;
mod outcome;
mod prometheus;
mod result;
mod sar;
mod strace;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod trust;
mod units;

pub use html::escape;
pub use input::ReportInput;
pub use table::{Align, Table};

/// A format in which a run can be printed.
#[derive(Debug)]
pub struct Format {
    /// Name of the format, as given to `--as`.
    pub name: &'static str,
    /// Name of the file that the format is written to.
    pub file: &'static str,
    /// Description of the format in one line.
    pub about: &'static str,
    /// Prints the run in this format.
    ///
    /// # Errors
    /// Why the input cannot be written in this format, in words for the user.
    pub print: fn(&ReportInput<'_>) -> Result<Vec<u8>, String>,
}

/// All formats, beginning with the text report.
pub const ALL: &[Format] = &[
    text::FORMAT,
    html::FORMAT,
    markdown::FORMAT,
    json::FORMAT,
    csv::FORMAT,
    jtl::SAMPLE,
    jtl::AGGREGATE,
    hdr::FORMAT,
    prometheus::FORMAT,
    ab::FORMAT,
    jmeter::FORMAT,
    sar::FORMAT,
    strace::FORMAT,
    levels::FORMAT,
];

/// Returns the format with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
