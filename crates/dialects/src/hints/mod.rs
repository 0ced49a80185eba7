//! Client hints: how many device pixels a client's screen has per CSS pixel, how wide the image is displayed, and
//! whether the client saves data.
//!
//! They change the recipe in whole pixels that a request resolves to, in the same way for all dialects that
//! `[client_hints]` lists, so that equal results share one cache entry however the size was specified. `[client_hints]`
//! cannot list dialects that imitate a program with its own use of hints.

mod hinted;

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::ConfigError;
use crate::dialect::HeadersRead;
use crate::request::{Ask, ImageRequest};
use hinted::HintedRules;

/// The table `[client_hints]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientHintsConfig {
    /// Names of the dialects in which client hints count; `all` stands for every dialect that has no hints of its own.
    /// Empty: no dialect.
    pub dialects: Vec<String>,
}

/// Dialects in which the hints of `[client_hints]` never count, and the reason.
const OTHERWISE: &[(&str, &str)] = &[
    (
        "imgproxy",
        "imgproxy defines its own: `client_hints = true` in [imgproxy] switches them on",
    ),
    (
        "cloudflare",
        "Cloudflare defines its own: the option `slow-connection-quality`",
    ),
    (
        "imgix",
        "imgix defines its own, by the parameter `ch`, which is not supported",
    ),
    ("iiif", "a IIIF URL names the exact size of its result"),
];

/// The name that stands for all dialects.
const ALL: &str = "all";

/// The value of `Accept-CH`, which requests the hints from browsers. Browsers send `Save-Data` without a request.
const ACCEPT_CH: &str = "Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width";

/// The dialects in which client hints count.
#[derive(Debug)]
pub(crate) struct ClientHints {
    /// Indices of the dialects in which client hints count, among those that are switched on
    /// ([`Doors`](crate::access::Doors)).
    doors: Vec<usize>,
}

impl ClientHints {
    /// Returns the dialects in which client hints count by the configuration. `names` are the names of all dialects.
    /// `door` returns the index of a dialect among those that are switched on.
    ///
    /// # Errors
    /// A name that is not a dialect's, or that of a dialect that has hints of its own or never uses any.
    pub(crate) fn new(
        config: &ClientHintsConfig,
        names: &[&str],
        door: impl Fn(&str) -> Option<usize>,
    ) -> Result<Self, ConfigError> {
        let key = "client_hints.dialects";
        for name in &config.dialects {
            if let Some((_, why)) = OTHERWISE.iter().find(|(other, _)| other == name) {
                return Err(ConfigError::new(key, format!("\"{name}\": {why}")));
            }
            if name != ALL && !names.contains(&name.as_str()) {
                let mut names = names.to_vec();
                names.retain(|name| OTHERWISE.iter().all(|(other, _)| other != name));
                names.push(ALL);
                let why = andon_recipe::unknown("dialect", name, &names);
                return Err(ConfigError::new(key, why));
            }
        }
        let lists = |name: &&&str| {
            let is_name = |entry: &String| entry == **name || entry == ALL;
            config.dialects.iter().any(is_name) && OTHERWISE.iter().all(|(other, _)| other != *name)
        };
        let dialects = names.iter().filter(lists);
        Ok(Self {
            doors: dialects.filter_map(|name| door(name)).collect(),
        })
    }

    /// Adapts the rules of a request to the client hints in its headers, if hints count in its dialect. `door` is the
    /// index of the dialect among those that are switched on.
    pub(crate) fn apply(
        &self,
        request: &mut ImageRequest,
        door: Option<usize>,
        headers: &HeadersRead<'_>,
    ) {
        if !door.is_some_and(|door| self.doors.contains(&door)) || request.ask != Ask::Image {
            return;
        }
        request
            .style
            .headers
            .push(("accept-ch", ACCEPT_CH.to_owned()));
        let mut hints = Hints::read(headers);
        // The URL names a density itself, so that the client's density is not applied again.
        let words = request.rules.text();
        let mut words = words.split(|it: char| !it.is_ascii_alphanumeric());
        if words.any(|word| ["dpr", "zoom"].contains(&word)) {
            hints.density = None;
        }
        if hints != Hints::default() {
            request.rules = Arc::new(HintedRules {
                rules: request.rules.clone(),
                hints,
            });
            request.is_hinted = true;
        }
    }
}

/// The hints in a client's headers, rounded so that few different values occur.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Hints {
    /// Device pixels per CSS pixel (`Sec-CH-DPR`), a multiple of 0.5; `None` if it is 1 or not specified.
    density: Option<f64>,
    /// The width in px at which the image is displayed (`Sec-CH-Width`), or else that of the viewport
    /// (`Sec-CH-Viewport-Width`).
    width: Option<u32>,
    /// Whether the client wants fewer bytes (`Save-Data: on`).
    saves_data: bool,
}

/// The largest density that is used, in device pixels per CSS pixel. Higher densities are not visible.
const MOST_DENSE: f64 = 4.0;

/// The widths that client hints request are rounded up to a multiple of this many px.
const STEP: u32 = 100;

/// Maximum width in px that client hints can request. Larger widths are reduced to it.
const WIDEST: f64 = 10_000.0;

impl Hints {
    fn read(headers: &HeadersRead<'_>) -> Self {
        // Both headers are read in any case, so that the response is recorded as dependent on each.
        let number = |name, old| {
            let (new, old) = (headers.get(name), headers.get(old));
            let number: f64 = new.or(old)?.trim().parse().ok()?;
            (number.is_finite() && number > 0.0).then_some(number)
        };
        let dpr = number("sec-ch-dpr", "dpr");
        let width = number("sec-ch-width", "width");
        let viewport = number("sec-ch-viewport-width", "viewport-width");
        let save = headers.get("save-data");
        let saves_data = save.is_some_and(|save| save.trim().eq_ignore_ascii_case("on"));
        let density = match saves_data {
            true => 1.0,
            false => ((dpr.unwrap_or(1.0) * 2.0).round() / 2.0).clamp(1.0, MOST_DENSE),
        };
        let displayed_width = match (width, dpr) {
            // The width is in device pixels. A client that saves data gets one pixel per CSS pixel.
            (Some(width), Some(dpr)) if saves_data => Some(width / dpr.max(1.0)),
            (Some(width), _) => Some(width),
            (None, _) => viewport.map(|viewport| viewport * density),
        };
        let round = |width: f64| (width.min(WIDEST) as u32).div_ceil(STEP).max(1) * STEP;
        Self {
            density: Some(density).filter(|density| *density > 1.0),
            width: displayed_width.map(round),
            saves_data,
        }
    }
}

/// Writes the hints as a suffix of the rules' text.
impl fmt::Display for Hints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = " for ";
        let mut add_text = |text: fmt::Arguments<'_>| {
            write!(f, "{separator}{text}")?;
            separator = " and ";
            Ok(())
        };
        if let Some(density) = self.density {
            add_text(format_args!("{density} px per CSS px"))?;
        }
        if let Some(width) = self.width {
            add_text(format_args!("a width of {width} px"))?;
        }
        match self.saves_data {
            true => add_text(format_args!("a client that saves data")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
