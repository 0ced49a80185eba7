//! The report as one self-contained HTML file without scripts or network access. It follows the reader's light or dark
//! mode and is legible on a phone and on paper.

mod boxes;
mod contact;
mod figure;
mod forest;
mod heat;
mod levels;
mod page;
mod percentiles;
mod scale;
mod scatter;
mod slopes;
mod svg;
mod syscalls;
mod timeline;

use super::Format;

pub use page::escape;

pub(super) const FORMAT: Format = Format {
    name: "html",
    file: "report.html",
    about: "one offline page with figures, tables and the images that were served",
    print: |input| Ok(page::print(input).into_bytes()),
};
