//! A run printed in the tables that users of ab, JMeter, sar and strace know, in files that their tools read,
//! and as one HTML page that needs no network.
//!
//! Every format takes the same [`ReportInput`] and is one entry of [`ALL`]. Most of them are made of [`Table`]s,
//! which text, Markdown and HTML show each in its way; `units` writes every figure, so that the same figure
//! looks the same everywhere.

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

/// A way to print a run.
#[derive(Debug)]
pub struct Format {
    /// Its name, as in `--as`.
    pub name: &'static str,
    /// The file it is written to.
    pub file: &'static str,
    /// What it holds, in a line.
    pub about: &'static str,
    /// Prints it.
    ///
    /// # Errors
    /// Why the input cannot be written this way, in words for the user.
    pub print: fn(&ReportInput<'_>) -> Result<Vec<u8>, String>,
}

/// All formats, the one for people first.
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

/// The format of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
