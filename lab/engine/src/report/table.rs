//! A table, independent of the format in which it is shown.

use std::fmt::Write as _;

use super::html::escape;

/// A table: every row has as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the table shows, in one line.
    pub title: String,
    /// Head and alignment of each column.
    pub columns: Vec<(String, Align)>,
    /// Cell texts, row by row, as they are printed.
    pub rows: Vec<Vec<String>>,
    /// Notes that a reader needs to interpret the table correctly.
    pub notes: Vec<String>,
}

/// Alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Left-aligned, for words.
    Left,
    /// Right-aligned, for numbers.
    Right,
}

impl Table {
    /// Creates a table without columns and rows.
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Adds left-aligned columns for words.
    pub(super) fn words<S: Into<String>>(mut self, heads: impl IntoIterator<Item = S>) -> Self {
        self.columns
            .extend(heads.into_iter().map(|head| (head.into(), Align::Left)));
        self
    }

    /// Adds right-aligned columns for numbers.
    pub(super) fn figures<S: Into<String>>(mut self, heads: impl IntoIterator<Item = S>) -> Self {
        self.columns
            .extend(heads.into_iter().map(|head| (head.into(), Align::Right)));
        self
    }

    /// Appends a row; missing cells stay empty.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// Appends a note.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Formats the table for a terminal: columns padded with spaces, two spaces between them.
    #[must_use]
    pub fn text(&self) -> String {
        let heads: Vec<&str> = self.columns.iter().map(|(head, _)| head.as_str()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(heads.iter().map(|it| harmless(it)).collect())
            .chain(
                self.rows
                    .iter()
                    .map(|row| row.iter().map(|it| harmless(it)).collect()),
            )
            .collect();
        let width = |at: usize| {
            rows.iter()
                .map(|row: &Vec<String>| row[at].chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..heads.len()).map(|at| width(at).unwrap_or(0)).collect();
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(out, "{}", harmless(&self.title));
        }
        for row in rows {
            let mut line = String::new();
            for ((cell, width), (_, align)) in row.iter().zip(&widths).zip(&self.columns) {
                let gap = if line.is_empty() { "" } else { "  " };
                let _ = match align {
                    Align::Left => write!(line, "{gap}{cell:<width$}"),
                    Align::Right => write!(line, "{gap}{cell:>width$}"),
                };
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        for note in &self.notes {
            let _ = writeln!(out, "  {}", harmless(note));
        }
        out
    }

    /// Formats the table as Markdown, as GitHub and others read it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(out, "### {}\n", markdown(&self.title));
        }
        out += &line(&mut self.columns.iter().map(|(head, _)| markdown(head)));
        out += &line(&mut self.columns.iter().map(|(_, align)| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        }));
        for row in &self.rows {
            out += &line(&mut row.iter().map(|cell| markdown(cell)));
        }
        for note in &self.notes {
            let _ = write!(out, "\n{}\n", markdown(note));
        }
        out
    }

    /// Formats the table as a scrollable HTML table with the title as its caption.
    #[must_use]
    pub fn html(&self) -> String {
        let mut out = String::from("<div class=\"wide\"><table>\n");
        if !self.title.is_empty() {
            let _ = writeln!(out, "<caption>{}</caption>", escape(&self.title));
        }
        let class = |align: Align| match align {
            Align::Left => "",
            Align::Right => " class=\"n\"",
        };
        out += "<thead><tr>";
        for (head, align) in &self.columns {
            let _ = write!(
                out,
                "<th scope=\"col\"{}>{}</th>",
                class(*align),
                escape(head)
            );
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for (cell, (_, align)) in row.iter().zip(&self.columns) {
                let _ = write!(out, "<td{}>{}</td>", class(*align), escape(cell));
            }
            out += "</tr>\n";
        }
        out += "</tbody></table></div>\n";
        for note in &self.notes {
            let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
        }
        out
    }
}

/// Replaces control characters by spaces, so that the text is a single harmless line. Names, URLs and the last output
/// of servers are shown on terminals, which obey some control characters.
pub(super) fn harmless(text: &str) -> String {
    let safe = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(safe).collect()
}

/// Returns the text as one line in which all Markdown markup is escaped.
pub(super) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in harmless(text).chars() {
        if matches!(
            c,
            '|' | '<' | '>' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("Times").words(["name"]).figures(["ms"]);
        table.row(["a|b", "1.5"]);
        table.row(["\u{1b}[31mlong", "120.25"]);
        table.note("Mean.");
        table
    }

    #[test]
    fn text_is_aligned_and_has_no_control_characters() {
        let want = "Times\nname           ms\na|b           1.5\n [31mlong  120.25\n  Mean.\n";
        assert_eq!(table().text(), want);
    }

    #[test]
    fn markdown_keeps_cells_apart() {
        let text = table().markdown();
        assert!(text.contains("| a\\|b | 1.5 |\n"), "{text}");
        assert!(text.contains("| --- | ---: |\n"), "{text}");
    }

    #[test]
    fn a_short_row_is_filled() {
        let mut table = Table::new("").words(["a", "b"]);
        table.row(["1"]);
        assert_eq!(table.rows, [["1", ""]]);
    }
}
