//! Previews of the replies: one image per URL and variant, with its bytes, its media type and how it compares with the
//! baseline's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::figure::Figure;
use super::page::escape;
use crate::bodies::DecodedImage;
use crate::record::Reply;
use crate::report::{ReportInput, units};

/// Longest side of a thumbnail in px.
const SIDE: u32 = 160;
/// Largest total size of all thumbnails in bytes. It keeps the page below 2 MB, as base64 adds a third.
const MOST_BYTES: usize = 1_000_000;
/// Largest number of images that are decoded, since each takes time.
const MOST_IMAGES: usize = 120;
/// Largest number of reply previews, with or without an image.
const MOST_CARDS: usize = 600;

pub(super) fn draw(input: &ReportInput<'_>) -> Option<Figure> {
    let mut urls: BTreeMap<u32, Vec<(u32, &Reply)>> = BTreeMap::new();
    for (variant, url, reply) in &input.judgement.typical {
        urls.entry(*url).or_default().push((*variant, reply));
    }
    if urls.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(input);
    let mut body = String::new();
    let mut left_out = 0;
    for (url, replies) in urls {
        if sheet.is_full() {
            left_out += 1;
            continue;
        }
        let name = replies
            .iter()
            .find_map(|(variant, _)| input.url(*variant, url));
        let _ = writeln!(
            body,
            "<h3>{}</h3>\n<div class=\"sheet\">",
            escape(name.unwrap_or("?"))
        );
        for (variant, reply) in replies {
            body += &sheet.card(variant, url, reply);
        }
        body += "</div>\n";
    }
    let mut caption = "The most frequent reply of each variant to each URL, made small. The same image is kept in this file once.".to_owned();
    if left_out > 0 {
        let _ = write!(
            caption,
            " {} left out to keep this file small.",
            units::count(left_out, "URL")
        );
    }
    Some(Figure {
        title: "Response previews",
        caption,
        legend: Vec::new(),
        body: sheet.definitions() + &body,
    })
}

struct Sheet<'a> {
    input: &'a ReportInput<'a>,
    /// Thumbnails by the hash of the reply's body, or the reason why there is none.
    thumbnails: BTreeMap<&'a str, Result<Thumbnail, String>>,
    bytes: usize,
    cards: usize,
}

struct Thumbnail {
    png: Vec<u8>,
    width: u32,
    height: u32,
}

impl<'a> Sheet<'a> {
    fn new(input: &'a ReportInput<'a>) -> Self {
        Self {
            input,
            thumbnails: BTreeMap::new(),
            bytes: 0,
            cards: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES || self.thumbnails.len() >= MOST_IMAGES || self.cards >= MOST_CARDS
    }

    fn card(&mut self, variant: u32, url: u32, reply: &'a Reply) -> String {
        self.cards += 1;
        let input = self.input;
        if !self.thumbnails.contains_key(reply.hash.as_str()) {
            let room = MOST_BYTES.saturating_sub(self.bytes);
            let image = thumbnail(input, reply, room);
            self.bytes += image.as_ref().map_or(0, |it| it.png.len());
            self.thumbnails.insert(&reply.hash, image);
        }
        let mut out = String::from("<div>");
        match &self.thumbnails[reply.hash.as_str()] {
            Ok(Thumbnail { width, height, .. }) => {
                let _ = write!(
                    out,
                    "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"reply\"><use href=\"#p{}\"/></svg>",
                    escape(&reply.hash)
                );
            }
            Err(why) => {
                let _ = write!(out, "<p class=\"note\">No image: {}</p>", escape(why));
            }
        }
        let name = escape(input.variant_name(variant));
        let media_type = escape(&reply.media_type);
        let _ = write!(
            out,
            "<b>{name}</b><br/>{}, {media_type}",
            units::bytes(reply.length as f64)
        );
        if reply.status != 200 {
            let _ = write!(out, ", status {}", reply.status);
        }
        let target = input.url(variant, url);
        let judgement = (input.judgement.work.iter())
            .find(|it| it.variant == variant && Some(it.url.as_str()) == target);
        if let Some(it) = judgement {
            let class = if it.same { "note" } else { "differs" };
            let _ = write!(
                out,
                "<br/><span class=\"{class}\">{}</span>",
                escape(&it.detail)
            );
        }
        out += "</div>\n";
        out
    }

    /// Returns SVG definitions that contain every thumbnail once, to be referred to by its hash.
    fn definitions(&self) -> String {
        let mut out = String::from(
            "<svg width=\"0\" height=\"0\" style=\"position: absolute\" aria-hidden=\"true\"><defs>\n",
        );
        for (hash, image) in &self.thumbnails {
            if let Ok(Thumbnail { png, width, height }) = image {
                let _ = writeln!(
                    out,
                    "<image id=\"p{}\" width=\"{width}\" height=\"{height}\" href=\"data:image/png;base64,{}\"/>",
                    escape(hash),
                    STANDARD.encode(png)
                );
            }
        }
        out += "</defs></svg>\n";
        out
    }
}

fn thumbnail(input: &ReportInput<'_>, reply: &Reply, room: usize) -> Result<Thumbnail, String> {
    let body = input
        .bodies
        .get(&reply.hash)
        .ok_or("its body was not kept")?;
    let png = DecodedImage::thumbnail(body, SIDE)?;
    if png.len() > room {
        return Err("left out to keep this file small".into());
    }
    let (width, height) = png_size(&png).ok_or("its thumbnail is no PNG")?;
    Ok(Thumbnail { png, width, height })
}

/// Reads width and height in px from the first chunk of a PNG.
fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    png.starts_with(b"\x89PNG\r\n\x1a\n").then_some(())?;
    Some((number(16)?, number(20)?))
}
