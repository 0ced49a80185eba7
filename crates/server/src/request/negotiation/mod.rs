//! Format negotiation: which format an image is written in if the URL leaves it open. It is the one with the shortest
//! file of those that the client accepts. The cache key contains only which of the offered formats are accepted, never
//! the header itself, so that the many different `Accept` headers of browsers share a few entries.

mod accept;
mod background;
mod shortest;

use std::sync::Arc;

use andon_dialects::{Ask, ImageRequest};
use andon_pixels::Codec;
use andon_recipe::{Colour, FormatName, unknown};
use hyper::HeaderMap;

use self::accept::Accept;
pub use self::background::Background;
use self::shortest::{Offer, Shortest};
use crate::config::{ConfigError, DefaultFormat, NegotiationConfig};

/// The formats to choose from, and the background for those without alpha channel.
#[derive(Debug)]
pub(crate) struct Negotiation {
    offers: Vec<Offer>,
    by_default: bool,
    background: Background,
    /// Names of the formats in which every browser shows HDR images.
    hdr_everywhere: Arc<[&'static str]>,
}

/// The set of offered formats that are acceptable, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice(u32);

/// A request after format negotiation.
#[derive(Clone, Debug)]
pub(crate) struct SettledRequest {
    pub(crate) request: Arc<ImageRequest>,
    /// Whether the answer depends on `Accept`.
    pub(crate) negotiated: bool,
    /// Whether the format is still open: the facts of the source decide which of the acceptable formats the result
    /// gets.
    pub(crate) is_open: bool,
}

impl Negotiation {
    /// Returns a negotiation that offers the configured formats.
    ///
    /// # Errors
    /// If a configured name is not that of a format that can be written for browsers.
    pub(crate) fn new(
        config: &NegotiationConfig,
        background: Colour,
        codecs: &[&'static dyn Codec],
    ) -> Result<Self, ConfigError> {
        let offers: Vec<Offer> = codecs
            .iter()
            .filter_map(|codec| Offer::of(*codec))
            .collect();
        let find_offer = |name: &String| {
            let offer = offers.iter().find(|offer| offer.name.as_str() == name);
            offer.cloned().ok_or_else(|| {
                let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
                ConfigError::new("negotiation.formats", unknown("format", name, &names))
            })
        };
        let hdr_everywhere = codecs.iter().filter_map(|codec| {
            let format = codec.format();
            format.web.filter(|web| web.hdr && web.everywhere)?;
            Some(format.name)
        });
        Ok(Self {
            offers: config
                .formats
                .iter()
                .map(find_offer)
                .collect::<Result<_, _>>()?,
            by_default: config.default == DefaultFormat::Auto,
            background: Background::new(background, codecs),
            hdr_everywhere: hdr_everywhere.collect(),
        })
    }

    /// Whether the answer to a request depends on `Accept`.
    pub(crate) fn is_open(&self, request: &ImageRequest) -> bool {
        let open = request.rules.output().is_open()
            || (self.by_default && request.rules.output().format.is_none() && !request.style.exact);
        open && request.ask == Ask::Image && !self.offers.is_empty()
    }

    /// Returns the names and media types of the formats to choose from.
    pub(crate) fn formats(&self) -> impl Iterator<Item = (FormatName, &'static str)> {
        let offers = self.offers.iter();
        offers.map(|offer| (offer.name.clone(), offer.media_type))
    }

    /// Returns which of the formats, except those in `without`, are acceptable to a client: those that `Accept` names
    /// with the highest quality, if it is no lower than that of JPEG and PNG, the formats of most sources. Wildcards do
    /// not count, because every client sends them.
    pub(crate) fn choose(&self, headers: &HeaderMap, without: &[FormatName]) -> Choice {
        let accept = Accept::read(headers);
        let base_quality = accept
            .quality("image/jpeg")
            .max(accept.quality("image/png"));
        let mut choice = Choice::default();
        let mut best_quality = base_quality.max(1);
        for (place, offer) in self.offers.iter().enumerate() {
            let quality = accept.literal_quality(offer.media_type).unwrap_or(0);
            if quality < best_quality || without.contains(&offer.name) {
                continue;
            }
            if quality > best_quality {
                choice = Choice::default();
            }
            best_quality = quality;
            choice.0 |= 1 << place;
        }
        choice
    }

    /// Settles the format of a request. `choice` is the set of acceptable formats, and is given only for a request that
    /// leaves the format open; the facts of the source decide which of these formats the result gets.
    pub(crate) fn settle(
        &self,
        mut request: ImageRequest,
        choice: Option<Choice>,
    ) -> SettledRequest {
        let mut offers = Vec::new();
        if let Some(Choice(bits)) = choice {
            let is_chosen = |(place, _): &(usize, &Offer)| bits & (1 << place) != 0;
            let chosen_offers = self.offers.iter().enumerate().filter(is_chosen);
            offers.extend(chosen_offers.map(|(_, offer)| offer.clone()));
            // The extension of the source's name no longer determines the format.
            request.style.type_by_name = false;
        }
        let is_open = !offers.is_empty();
        request.change_output(|output| {
            if choice.is_some() {
                output.format = None;
                output.moving = None;
            }
            output.without_accept();
            if !is_open {
                self.background.complete(output);
            }
        });
        if is_open {
            request.rules = Arc::new(Shortest {
                rules: request.rules,
                offers,
                background: self.background.clone(),
                hdr_everywhere: self.hdr_everywhere.clone(),
            });
        }
        SettledRequest {
            request: Arc::new(request),
            negotiated: choice.is_some(),
            is_open,
        }
    }

    /// Returns the background that images are flattened onto.
    pub(crate) fn background(&self) -> &Background {
        &self.background
    }
}

/// Settles the format and the background of a request for which no `Accept` header is considered.
pub fn settle_without_accept(request: &mut ImageRequest, background: &Background) {
    request.change_output(|output| {
        output.without_accept();
        background.complete(output);
    });
}

/// Whether a client names the media type `preferred` in `Accept`, with a quality no lower than that of `other`.
pub(crate) fn prefers(headers: &HeaderMap, preferred: &str, other: &str) -> bool {
    let accept = Accept::read(headers);
    let quality = |media_type| accept.literal_quality(media_type).unwrap_or(0);
    quality(preferred) > 0 && quality(preferred) >= quality(other)
}

#[cfg(test)]
mod tests;
