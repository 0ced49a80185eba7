//! Writes the HTML of the page at `/` with the images of the folder served there.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use andon_dialects::EXAMPLE_SOURCE;
use icu_normalizer::DecomposingNormalizerBorrowed;
use percent_encoding::utf8_percent_encode;
use url::form_urlencoded;

use super::Query;
use crate::handler::page::escape;
use crate::handler::welcome::IN_PATH;
use crate::origins::Listing;
use crate::sources::resolver::Resolver;

/// The content of one page: the images that match the search, and who may see them.
pub(super) struct Page<'a> {
    /// The paths of all images that match the search.
    matches: Vec<&'a str>,
    /// Number of images in the folder.
    total: usize,
    /// Number of folders that may not be read.
    closed_folders: usize,
    has_more: bool,
    query: &'a Query,
    from: usize,
    resolver: &'a Resolver,
    access: Access,
}

/// Who may see a page, which decides what the page says and which links it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Whether the page is for the user of this machine, and therefore links to the other pages of this user.
    pub(super) is_own: bool,
    /// Whether the page is for everybody who reaches the server.
    pub(super) is_shared: bool,
    /// Whether a configuration file says which URL dialects are on.
    pub(super) is_configured: bool,
}

impl Access {
    /// Returns the text about who may see the page and, without a configuration file, why all URL dialects are on.
    fn sentence(self) -> String {
        let who = match self.is_shared {
            true => "page is shared: whoever reaches the server sees all images.",
            false => "page is for this machine only.",
        };
        match self.is_configured {
            true => format!("This {who}"),
            false => format!(
                "All are on because this server has no configuration file, and this {who} A file says which: <code>andon serve --config \
                 andon.toml</code>."
            ),
        }
    }
}

impl<'a> Page<'a> {
    pub(super) fn new(
        listing: &'a Listing,
        query: &'a Query,
        resolver: &'a Resolver,
        access: Access,
    ) -> Self {
        let matches = matching(&listing.paths, &query.find);
        let last = matches.len().saturating_sub(1) / EACH * EACH;
        Self {
            from: (query.from / EACH * EACH).min(last),
            matches,
            total: listing.paths.len(),
            closed_folders: listing.closed.len(),
            has_more: listing.has_more,
            query,
            resolver,
            access,
        }
    }

    pub(super) fn html(&self) -> String {
        let paths: Vec<&str> = self
            .matches
            .iter()
            .skip(self.from)
            .take(EACH)
            .copied()
            .collect();
        let image = self.query.image.as_deref().or(paths.first().copied());
        let pieces = [
            (
                "{nav}",
                if self.access.is_own { NAVIGATION } else { "" }.to_owned(),
            ),
            ("{shared}", self.access.sentence()),
            ("{version}", env!("CARGO_PKG_VERSION").to_owned()),
            ("{find}", escape(&self.query.find)),
            ("{said}", self.summary(paths.len()) + &self.left_out()),
            ("{urls}", self.urls(image)),
            ("{images}", self.images(&paths)),
            ("{pages}", self.pages()),
        ];
        let mut rest = TEMPLATE;
        let mut html = String::with_capacity(64 << 10);
        // One pass, so that nothing within a piece is taken for a placeholder.
        while let Some((before, (name, piece))) = pieces
            .iter()
            .filter_map(|piece| Some((rest.find(piece.0)?, piece)))
            .min_by_key(|(place, _)| *place)
        {
            html.push_str(&rest[..before]);
            html.push_str(piece);
            rest = &rest[before + name.len()..];
        }
        html.push_str(rest);
        html
    }

    /// Returns the last part of the summary: how many folders the server may not read. Empty if it may read all.
    fn left_out(&self) -> String {
        match self.closed_folders {
            0 => String::new(),
            count => format!(
                " · {} may not be read by the server",
                super::count_text(count)
            ),
        }
    }

    /// Returns the sentence about the number of images, of which the page shows `count`.
    fn summary(&self, count: usize) -> String {
        let (total, or_more) = (
            with_commas(self.total),
            if self.has_more { " or more" } else { "" },
        );
        let images = if self.total == 1 { "image" } else { "images" };
        let range = format!(
            "{}–{}",
            with_commas(self.from + 1),
            with_commas(self.from + count)
        );
        match (self.total, self.matches.len()) {
            (0, _) => "No images in this folder yet".to_owned(),
            (_, 0) => format!("None of {total}{or_more} {images} match"),
            (_, match_count) if match_count == self.total && match_count <= EACH => {
                format!("{total}{or_more} {images}")
            }
            (_, match_count) if match_count == self.total => {
                format!("{range} of {total}{or_more} {images}")
            }
            (_, match_count) => format!(
                "{range} of {} found in {total}{or_more} {images}",
                with_commas(match_count)
            ),
        }
    }

    /// Returns the panel with URLs of an image in all dialects.
    fn urls(&self, image: Option<&str>) -> String {
        let target = image.map(target);
        let path = target.as_deref().unwrap_or(EXAMPLE_SOURCE);
        let mut urls = String::new();
        if let (Some(name), Some(target)) = (image, &target) {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("image", &format!("/{name}"))
                .finish();
            // Writing to a String cannot fail.
            let _ = write!(
                urls,
                "<div class=\"preview\"><a href=\"{original}\"><img src=\"{preview}\" alt=\"{name}\"></a>\n\
                 <p class=\"mono\">{name}</p>\n\
                 <p><a href=\"{original}\">Original</a>{play}</p></div>\n",
                original = escape(target),
                preview = escape(&thumbnail(target, PREVIEW)),
                name = escape(name),
                play = match self.access.is_own {
                    true => format!(
                        " · <a href=\"/_andon/play#{}\">Open in the playground</a>",
                        escape(&query)
                    ),
                    false => String::new(),
                },
            );
        }
        urls.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"urls-title\"><table>\n");
        for (name, example) in self.resolver.examples(path) {
            let url = escape(&example);
            let link = match image {
                Some(_) => format!("<a href=\"{url}\">{url}</a>"),
                None => url,
            };
            let _ = writeln!(
                urls,
                "<tr><th scope=\"row\">{name}</th><td class=\"mono\">{link}</td></tr>"
            );
        }
        urls.push_str("</table></div>");
        urls
    }

    /// Returns the thumbnails as items of a list.
    fn images(&self, paths: &[&str]) -> String {
        let mut items = String::new();
        for path in paths {
            let (folder, name) = match path.rfind('/') {
                Some(slash) => path.split_at(slash + 1),
                None => ("", *path),
            };
            let _ = writeln!(
                items,
                "<li><a href=\"{link}\"><img loading=\"lazy\" decoding=\"async\" src=\"{thumbnail}\" alt=\"\">\
                 <span><span class=\"in\">{folder}</span>{name}</span></a></li>",
                link = escape(&self.link(self.from, Some(path))),
                thumbnail = escape(&thumbnail(&target(path), THUMBNAIL)),
                folder = escape(folder),
                name = escape(name),
            );
        }
        items
    }

    /// Returns the links to the other pages of images that match the search; empty if all images are on one page.
    fn pages(&self) -> String {
        let last = self.matches.len().saturating_sub(1) / EACH * EACH;
        if last == 0 {
            return String::new();
        }
        let link = |from: usize, text: &str, is_on: bool| match is_on {
            true => format!("<a href=\"{}\">{text}</a>", escape(&self.link(from, None))),
            false => format!("<span aria-disabled=\"true\">{text}</span>"),
        };
        let (is_first, is_last) = (self.from == 0, self.from == last);
        [
            link(0, "First", !is_first),
            link(self.from.saturating_sub(EACH), "Previous", !is_first),
            format!(
                "<span>Page {} of {}</span>",
                self.from / EACH + 1,
                last / EACH + 1
            ),
            link(self.from + EACH, "Next", !is_last),
            link(last, "Last", !is_last),
        ]
        .join("\n")
    }

    /// Returns a link to this page with the same search: the images from index `from` on, and the URLs of `image`.
    fn link(&self, from: usize, image: Option<&str>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.query.find.is_empty() {
            query.append_pair("find", &self.query.find);
        }
        if from > 0 {
            query.append_pair("from", &from.to_string());
        }
        if let Some(image) = image {
            query.append_pair("image", image);
        }
        format!("/?{}", query.finish())
    }
}

/// Returns the paths that contain all words of a text, in upper or lower case, with or without accents, and in
/// whichever form of Unicode: names from macOS have accents as characters of their own.
fn matching<'a>(paths: &'a [String], text: &str) -> Vec<&'a str> {
    let words: Vec<String> = text.split_whitespace().map(fold).collect();
    let paths = paths.iter().map(String::as_str);
    if words.is_empty() {
        return paths.collect();
    }
    paths
        .filter(|path| {
            let path = fold(path);
            words.iter().all(|word| path.contains(word.as_str()))
        })
        .collect()
}

/// Returns a text in lower case and without accents.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letters = DecomposingNormalizerBorrowed::new_nfkd().normalize_iter(text.chars());
    let is_accent = |char: &char| ACCENTS.contains(char);
    letters
        .filter(|char| !is_accent(char))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Unicode's combining diacritical marks.
const ACCENTS: RangeInclusive<char> = '\u{300}'..='\u{36f}';

/// Returns the target of an image's unchanged file: its path, percent-encoded.
fn target(path: &str) -> String {
    format!("/{}", utf8_percent_encode(path, IN_PATH))
}

/// Returns the target of a small version of an image, with sides of at most `side` px.
pub(in crate::handler) fn thumbnail(target: &str, side: u32) -> String {
    format!("/r/fit:{side}x{side},as:webp,q:75{target}")
}

/// Writes a number with commas between thousands.
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const TEMPLATE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/handler/page/folder.html"
));

/// Links to pages that are for the user of this machine alone.
const NAVIGATION: &str = "<nav aria-label=\"Other pages\"><a href=\"/_andon/play\">Playground</a> \
     <a href=\"/_andon/board\">Dashboard</a> <a href=\"/metrics\">Metrics</a></nav>";

/// Number of images on one page.
const EACH: usize = 60;

/// Longest side of a thumbnail in px: twice its size on the page, for screens of high pixel density.
const THUMBNAIL: u32 = 360;

/// Longest side of the larger image next to the URLs, in px.
const PREVIEW: u32 = 640;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_paths_with_all_its_words() {
        let paths = ["Trip/Sea.jpg", "trip/a.jpg", "sea.jpg"].map(str::to_owned);
        assert_eq!(matching(&paths, " sea  TRIP"), ["Trip/Sea.jpg"]);
        assert_eq!(matching(&paths, "").len(), 3);
        assert!(matching(&paths, "sea.png").is_empty());
    }

    #[test]
    fn a_search_finds_letters_with_accents_in_either_form_and_by_the_letter_alone() {
        let [composed, decomposed, other] = ["M\u{fc}ller.jpg", "Mu\u{308}ller.jpg", "maller.jpg"];
        let paths = [composed, decomposed, other].map(str::to_owned);
        for text in [composed, decomposed, "muller", "MÜLLER", "müller.jpg"] {
            assert_eq!(matching(&paths, text), [composed, decomposed], "{text}");
        }
        assert_eq!(matching(&["日本 été.jpg".to_owned()], "ETE 日本").len(), 1);
    }

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(with_commas(number), text);
        }
    }
}
