//! Writes the comparison of two servers as a single HTML file, with the images that differ most next to each other.

use std::fmt::Write;

use andon_client::DecodedImage;
use andon_client::escape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Report, Row, summary};

/// Largest number of image pairs on an HTML page that compares two servers.
const MOST_PAIRS: usize = 40;
/// Maximum size in bytes of an image file that is embedded in the page. Larger ones are embedded as thumbnails.
const MOST_BYTES: usize = 150_000;
/// Longest side of a thumbnail, in px.
const SIDE: u32 = 480;

/// If more rows have bodies than the page shows, drops the bodies of the row with the smallest differences.
pub(super) fn forget_all_but_the_worst(rows: &mut [Row]) {
    let mut candidates: Vec<&mut Row> =
        rows.iter_mut().filter(|row| row.bodies.is_some()).collect();
    if candidates.len() > MOST_PAIRS {
        let best = candidates.iter_mut().max_by(|a, b| a.worse_first(b));
        if let Some(best) = best {
            best.bodies = None;
        }
    }
}

pub(super) fn page(report: &Report<'_>) -> String {
    let mut html = head("andon shadow");
    let _ = writeln!(
        html,
        "<p><strong>{}</strong></p>",
        escape(&summary::verdict(report))
    );
    html += &preformatted(&summary::text(report));
    html += &pairs(report);
    html += END;
    html
}

/// Returns the HTML of a text that keeps its line breaks.
pub(crate) fn preformatted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escape).collect();
    format!("<pre>{}</pre>\n", lines.join("\n"))
}

/// Returns the HTML of all images that differ, the old one next to the new one.
pub(crate) fn pairs(report: &Report<'_>) -> String {
    let mut html = String::new();
    for row in report.rows.iter() {
        let Some(bodies) = &row.bodies else { continue };
        let _ = writeln!(
            html,
            "<section>\n<h2>{}</h2>\n<p>{}</p>\n<div>",
            escape(&row.target),
            escape(&summary::differences(row))
        );
        for (name, body) in ["old", "new"].iter().zip(bodies) {
            let _ = writeln!(
                html,
                "<figure>{}<figcaption>{name}, {} bytes</figcaption></figure>",
                image_html(body),
                body.len()
            );
        }
        html += "</div>\n</section>\n";
    }
    html
}

/// Returns the HTML of an image: the file itself if browsers can display it and it is small enough, or else a
/// thumbnail.
fn image_html(body: &[u8]) -> String {
    let (kind, file) = match DecodedImage::decode(body).map(|image| image.format) {
        Err(why) => return format!("<p>no image: {}</p>", escape(&why)),
        Ok(format @ ("jpeg" | "png" | "gif" | "webp" | "avif")) if body.len() <= MOST_BYTES => {
            (format, body.to_vec())
        }
        Ok(_) => match DecodedImage::thumbnail(body, SIDE) {
            Ok(file) => ("png", file),
            Err(why) => return format!("<p>no preview: {}</p>", escape(&why)),
        },
    };
    let file = STANDARD.encode(file);
    format!("<img alt=\"\" src=\"data:image/{kind};base64,{file}\">")
}

/// Returns the beginning of an HTML page, up to and including its heading.
pub(crate) fn head(title: &str) -> String {
    HEAD.replace("{title}", &escape(title))
}

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>{title}</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: auto; padding: 1rem; }
pre { overflow-x: auto; }
h2 { font-size: 1.1rem; border-top: 1px solid; padding-top: 1rem; }
section h2 { font: 600 1rem ui-monospace, monospace; }
h2, li, code, small { overflow-wrap: anywhere; }
div { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
figure { margin: 0; }
table { border-collapse: collapse; }
th, td { border: 1px solid; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) { th, td { padding: 0.2rem 0.35rem; font-size: 0.85rem; } pre { font-size: 0.75rem; } }
img { max-width: 100%; background: repeating-conic-gradient(#ccc 0 25%, #eee 0 50%) 0 0 / 16px 16px; }
</style>
</head>
<body>
<main>
<h1>{title}</h1>
";

/// The end of a page.
pub(crate) const END: &str = "</main>\n</body>\n</html>\n";
