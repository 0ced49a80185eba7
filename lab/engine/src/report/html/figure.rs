//! A figure of the report: title, caption, legend and drawing.

use std::fmt::Write as _;

use super::page::escape;
use crate::report::ReportInput;

/// A section of the HTML report with a drawing in it.
pub(super) struct Figure {
    /// The title above the figure.
    pub(super) title: &'static str,
    /// How to read the figure, in a sentence or two.
    pub(super) caption: String,
    /// CSS class of each colour, and the text that the legend shows next to it.
    pub(super) legend: Vec<(String, String)>,
    /// The drawing, as escaped markup.
    pub(super) body: String,
}

impl Figure {
    /// Returns the figure as an HTML section.
    pub(super) fn html(&self) -> String {
        let mut out = format!("<section>\n<h2>{}</h2>\n<figure>\n", escape(self.title));
        let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(&self.caption));
        if !self.legend.is_empty() {
            out += "<ul class=\"legend\">";
            for (class, name) in &self.legend {
                let (class, name) = (escape(class), escape(name));
                let _ = write!(out, "<li class=\"{class}\"><i></i><span>{name}</span></li>");
            }
            out += "</ul>\n";
        }
        out += &self.body;
        out += "</figure>\n</section>\n";
        out
    }
}

/// Returns the CSS class of a variant's colour.
pub(super) fn colour(variant: u32) -> String {
    format!("c{}", variant % COLOURS)
}

/// Returns the CSS class of each variant's colour and the variant's name, for a legend.
pub(super) fn variants(input: &ReportInput<'_>) -> Vec<(String, String)> {
    let entries = input
        .variants()
        .map(|it| (colour(it.variant), it.name.clone()));
    entries.collect()
}

const COLOURS: u32 = 8;
