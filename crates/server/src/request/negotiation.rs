//! Which format a picture is written in when the URL leaves it to us: the best that the client says it
//! accepts. Only the choice goes into the cache's key, never the header itself, so that a thousand
//! spellings of `Accept` share a handful of entries.

use std::sync::Arc;

use andon_dialects::{Ask, ImageRequest};
use andon_pixels::{Codec, Depth, Encode, Model, Traits};
use andon_recipe::{self as recipe, Colour, FormatName, Output, Word};
use hyper::HeaderMap;
use hyper::header;

use crate::config::{DefaultFormat, NegotiationConfig};

/// The formats there are to choose from, the best first.
#[derive(Debug)]
pub(crate) struct Negotiation {
    offers: Vec<Offer>,
    by_default: bool,
    background: Background,
}

/// A format to choose.
#[derive(Debug)]
struct Offer {
    name: FormatName,
    media_type: &'static str,
    options: &'static [&'static Word],
    /// Also for pictures that move.
    moves: bool,
}

/// What pictures are flattened over in formats that keep no opacity.
#[derive(Clone, Debug)]
pub struct Background {
    colour: Colour,
    /// Those formats.
    opaque: Vec<&'static str>,
}

impl Background {
    /// Of this colour, for these formats.
    #[must_use]
    pub fn new(colour: Colour, codecs: &[&'static dyn Codec]) -> Self {
        let clear = Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            alpha: true,
            space: andon_pixels::Space::UNSPECIFIED,
        };
        let is_opaque = |codec: &&&'static dyn Codec| {
            let written = codec.accepts(clear, &Encode::default());
            written.is_some_and(|written| !written.alpha)
        };
        Self {
            colour,
            opaque: codecs
                .iter()
                .filter(is_opaque)
                .map(|codec| codec.name())
                .collect(),
        }
    }

    /// What shows through images in this format, if it keeps no opacity.
    pub(crate) fn behind(&self, format: &str, output: &Output) -> Option<Colour> {
        self.opaque
            .contains(&format)
            .then_some(match output.background {
                recipe::Background::Colour(colour) => colour,
                recipe::Background::Dropped | recipe::Background::Unsaid => self.colour,
            })
    }

    /// Puts it into an output that needs it and names no other, in its shortest form: equal results have equal
    /// texts, and an output that cannot need it does not change with it.
    pub fn complete(&self, output: &mut Output) {
        let format = output.format.as_ref();
        let needed = format.is_some_and(|format| self.opaque.contains(&format.as_str()));
        let colour = match output.background {
            recipe::Background::Dropped => return,
            _ if !needed => Colour::WHITE,
            recipe::Background::Unsaid => self.colour,
            recipe::Background::Colour(colour) => colour,
        };
        output.background = match colour {
            Colour::WHITE => recipe::Background::Unsaid,
            colour => recipe::Background::Colour(colour),
        };
    }
}

/// A request whose format is settled.
#[derive(Clone, Debug)]
pub(crate) struct SettledRequest {
    pub(crate) request: Arc<ImageRequest>,
    /// The answer depends on `Accept`.
    pub(crate) negotiated: bool,
}

impl Negotiation {
    /// The configured formats that a codec knows.
    pub(crate) fn new(
        config: &NegotiationConfig,
        background: Colour,
        codecs: &[&'static dyn Codec],
    ) -> Self {
        let offer = |name: &String| {
            let codec = codecs.iter().find(|codec| codec.name() == name)?;
            Some(Offer {
                name: FormatName::new(name).ok()?,
                media_type: codec.format().media_type,
                options: codec.options(),
                moves: codec.moves_everywhere(),
            })
        };
        Self {
            offers: config.formats.iter().filter_map(offer).collect(),
            by_default: config.default == DefaultFormat::Auto,
            background: Background::new(background, codecs),
        }
    }

    /// Does the answer to a request depend on `Accept`?
    pub(crate) fn is_open(&self, request: &ImageRequest) -> bool {
        let open = request.rules.output().is_open()
            || (self.by_default && request.rules.output().format.is_none() && !request.style.exact);
        open && request.ask == Ask::Picture && !self.offers.is_empty()
    }

    /// What there is to choose from: names and media types, the best first.
    pub(crate) fn formats(&self) -> impl Iterator<Item = (FormatName, &'static str)> {
        let offers = self.offers.iter();
        offers.map(|offer| (offer.name.clone(), offer.media_type))
    }

    /// How many different answers there are to an open request.
    pub(crate) fn choices(&self) -> usize {
        (self.offers.len() + 1).pow(2)
    }

    /// Which of the choices a client gets: one of the offers, or 0 for none, and another for pictures that move. None of
    /// the formats in `without` is chosen.
    pub(crate) fn choose(&self, headers: &HeaderMap, without: &[FormatName]) -> usize {
        let accept = Accept::read(headers);
        let number = |place: Option<usize>| place.map_or(0, |place| place + 1);
        let stays = |offer: &Offer| !without.contains(&offer.name);
        let still = number(self.best(&accept, stays));
        let moving = number(self.best(&accept, |offer| offer.moves && stays(offer)));
        still + moving * (self.offers.len() + 1)
    }

    /// The offers that a choice stands for, of stills and of pictures that move.
    fn chosen(&self, choice: usize) -> [Option<&Offer>; 2] {
        let many = self.offers.len() + 1;
        let offer = |number: usize| {
            number
                .checked_sub(1)
                .and_then(|place| self.offers.get(place))
        };
        [offer(choice % many), offer(choice / many)]
    }

    /// Settles the format of a request: `choice`, if the request leaves it open.
    pub(crate) fn settle(
        &self,
        mut request: ImageRequest,
        choice: Option<usize>,
    ) -> SettledRequest {
        let negotiated = choice.is_some();
        let mut output = request.rules.output().clone();
        if let Some(choice) = choice {
            let [still, moving] = self.chosen(choice);
            output.format = still.map(|offer| offer.name.clone());
            output.moving = still.filter(|offer| !offer.moves).and_then(|_| {
                moving.map_or_else(
                    || FormatName::new(Output::SOURCE).ok(),
                    |offer| Some(offer.name.clone()),
                )
            });
            if let Some(offer) = still {
                output.leave_out_unknown(offer.options);
            }
        }
        output.without_accept();
        self.background.complete(&mut output);
        request.write_as(output);
        if negotiated {
            // The name of the source promises nothing any more.
            request.style.type_by_name = false;
        }
        SettledRequest {
            request: Arc::new(request),
            negotiated,
        }
    }

    /// What pictures are flattened over.
    pub(crate) fn background(&self) -> &Background {
        &self.background
    }

    /// The place of the best offer that is named in `Accept` and no less welcome than the formats most sources have;
    /// wildcards name nothing, because everybody sends them.
    fn best(&self, accept: &Accept, fits: impl Fn(&Offer) -> bool) -> Option<usize> {
        let usual = accept
            .quality("image/jpeg")
            .max(accept.quality("image/png"));
        let mut best: Option<(u16, usize)> = None;
        for (place, offer) in self.offers.iter().enumerate() {
            let quality = accept.named(offer.media_type).unwrap_or(0);
            let welcome = quality > 0 && quality >= usual && fits(offer);
            if welcome && best.is_none_or(|(most, _)| quality > most) {
                best = Some((quality, place));
            }
        }
        best.map(|(_, place)| place)
    }
}

/// Settles a request without a client to ask: its format, and what shows through it.
pub fn settle_without_accept(request: &mut ImageRequest, background: &Background) {
    let mut output = request.rules.output().clone();
    output.without_accept();
    background.complete(&mut output);
    request.write_as(output);
}

/// Does a client ask for the media type `wanted` by its name, and for `usual` no more than for that?
pub(crate) fn prefers(headers: &HeaderMap, wanted: &str, usual: &str) -> bool {
    let accept = Accept::read(headers);
    let quality = |media_type| accept.named(media_type).unwrap_or(0);
    quality(wanted) > 0 && quality(wanted) >= quality(usual)
}

/// An `Accept` header: ranges of media types and their qualities in thousandths.
struct Accept(Vec<(String, u16)>);

impl Accept {
    fn read(headers: &HeaderMap) -> Self {
        let mut ranges = Vec::new();
        for value in headers.get_all(header::ACCEPT) {
            let Ok(list) = value.to_str() else { continue };
            // A header may be 64 KiB long, and nobody has that many formats.
            for item in list.split(',').take(MOST_RANGES) {
                let mut parts = item.split(';').map(str::trim);
                let range = parts.next().unwrap_or_default().to_ascii_lowercase();
                let quality = parts.find_map(|part| {
                    let (name, value) = part.split_once('=')?;
                    name.trim()
                        .eq_ignore_ascii_case("q")
                        .then(|| thousandths(value))
                });
                ranges.push((range, quality.unwrap_or(1000)));
            }
        }
        Self(ranges)
    }

    /// The quality of a type that is named itself.
    fn named(&self, media_type: &str) -> Option<u16> {
        let found = self.0.iter().find(|(range, _)| range == media_type);
        found.map(|(_, quality)| *quality)
    }

    /// The quality of a type, by the most specific range; 0 when none holds it.
    fn quality(&self, media_type: &str) -> u16 {
        [media_type, "image/*", "*/*"]
            .iter()
            .find_map(|range| self.named(range))
            .unwrap_or(0)
    }
}

/// What cannot be read is no welcome.
fn thousandths(quality: &str) -> u16 {
    match quality.trim().parse::<f32>() {
        Ok(quality) if (0.0..=1.0).contains(&quality) => (quality * 1000.0).round() as u16,
        _ => 0,
    }
}

const MOST_RANGES: usize = 64;

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn chosen(accept: &str) -> Option<String> {
        settled(accept)[0].clone()
    }

    /// The format of a still picture, and another for pictures that move.
    fn settled(accept: &str) -> [Option<String>; 2] {
        let format = |name: &str, media_type| Offer {
            name: FormatName::new(name).unwrap(),
            media_type,
            options: &[],
            moves: name != "jxl",
        };
        let negotiation = Negotiation {
            offers: vec![
                format("jxl", "image/jxl"),
                format("avif", "image/avif"),
                format("webp", "image/webp"),
            ],
            by_default: false,
            background: Background {
                colour: Colour::WHITE,
                opaque: vec!["jpeg"],
            },
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_str(accept).unwrap());
        let chosen = negotiation.chosen(negotiation.choose(&headers, &[]));
        chosen.map(|offer| offer.map(|offer| offer.name.as_str().to_owned()))
    }

    #[test]
    fn a_format_that_does_not_move_everywhere_is_for_stills_alone() {
        for (accept, still, moving) in [
            ("image/jxl,image/avif,image/webp", "jxl", Some("avif")),
            ("image/jxl,image/webp", "jxl", Some("webp")),
            ("image/jxl", "jxl", None),
            ("image/jxl;q=0.5,image/webp", "webp", Some("webp")),
            ("image/jxl;q=0,image/webp", "webp", Some("webp")),
        ] {
            let expected = [Some(still), moving].map(|name| name.map(str::to_owned));
            assert_eq!(settled(accept), expected, "{accept}");
        }
    }

    #[test]
    fn the_background_is_part_of_those_recipes_alone_that_may_show_it() {
        let background = Background {
            colour: "3080c0".parse().unwrap(),
            opaque: vec!["jpeg"],
        };
        for (recipe, completed) in [
            ("as:jpeg", "background:3080c0,as:jpeg"),
            ("background:ffffff,as:jpeg", "as:jpeg"),
            ("background:ff0000,as:jpeg", "background:ff0000,as:jpeg"),
            ("background:none,as:jpeg", "background:none,as:jpeg"),
            ("as:png", "as:png"),
            ("background:ff0000,as:png", "as:png"),
            ("same", "same"),
        ] {
            let mut recipe: recipe::Recipe = recipe.parse().unwrap();
            background.complete(&mut recipe.output);
            assert_eq!(recipe.to_string(), completed);
        }
    }

    #[test]
    fn the_best_named_and_welcome_format_is_chosen() {
        for (accept, expected) in [
            ("", None),
            ("*/*", None),
            ("image/*", None),
            ("image/webp", Some("webp")),
            ("IMAGE/WEBP ; Q=0.5", Some("webp")),
            ("image/webp,*/*;q=0.8", Some("webp")),
            ("image/avif,image/webp,*/*;q=0.8", Some("avif")),
            ("image/avif;q=0.5,image/webp", Some("webp")),
            ("image/avif;q=0,image/webp;q=0", None),
            ("image/webp;q=0.5,image/jpeg", None),
            ("image/webp;q=0.5,image/*", None),
            ("image/webp;q=soon", None),
            ("image/webpx", None),
        ] {
            assert_eq!(chosen(accept).as_deref(), expected, "{accept}");
        }
    }
}
