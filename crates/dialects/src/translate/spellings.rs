//! URLs of a dialect that may have the same meaning as a request in another.

use andon_recipe::Goal;

use super::behaviour::Behaviour;
use crate::config::Row;
use crate::plain::{How, PlainRequest};
use crate::{Config, ConfigError, Dialects, ImageRequest};

/// Creates one dialect alone, with its usual prefix.
pub(super) fn usual(name: &str) -> Result<Dialects, ConfigError> {
    let mut config = Config::default();
    config.native.enabled = false;
    config.small_light.enabled = false;
    if let Some(row) = Row::named(name) {
        (row.switch_on)(&mut config);
    }
    Dialects::new(&config)
}

/// Returns URLs of a dialect that may have the same meaning as a request.
pub(super) fn candidates(name: &str, request: &ImageRequest, wanted: &[Behaviour]) -> Vec<String> {
    let Some(row) = Row::named(name) else {
        return Vec::new();
    };
    let Some((_, _, recipe)) = wanted.iter().find_map(|it| it.made().next()) else {
        return Vec::new();
    };
    let quality = match recipe.output.goal {
        Some(Goal::Quality(quality)) => Some(quality),
        _ => None,
    };
    let format = recipe.output.format.as_ref().map(|name| name.as_str());
    let source = escaped(&request.source.literal());
    // What is made of a known source, and what bounds the results of several.
    let mut boxes: Vec<(u32, u32)> = Vec::new();
    for behaviour in wanted {
        let made: Vec<(u32, u32)> = behaviour.made().map(|(_, made, _)| made).collect();
        let (w, h) = made
            .iter()
            .fold((0, 0), |(w, h), made| (w.max(made.0), h.max(made.1)));
        let one = made.len() == 1;
        let w = if one || made.iter().filter(|made| made.0 == w).count() > 1 {
            w
        } else {
            0
        };
        let h = if one || made.iter().filter(|made| made.1 == h).count() > 1 {
            h
        } else {
            0
        };
        boxes.extend(
            [(w, h), (w, 0), (0, h)]
                .into_iter()
                .filter(|sides| *sides != (0, 0)),
        );
    }
    let mut urls = Vec::new();
    let mut add = |how, (w, h), enlarge, quality, format| {
        let source = source.clone();
        let request = PlainRequest {
            how,
            w,
            h,
            enlarge,
            quality,
            format,
            source,
        };
        if let Some(url) = (row.spell)(&request).filter(|url| !urls.contains(url)) {
            urls.push(url);
        }
    };
    for (quality, format) in [
        (quality, format),
        (quality, None),
        (None, format),
        (None, None),
    ] {
        add(How::Nothing, (0, 0), false, quality, format);
        for both in &boxes {
            for enlarge in [false, true] {
                add(How::Fit, *both, enlarge, quality, format);
                if both.0 > 0 && both.1 > 0 {
                    add(How::Cover, *both, enlarge, quality, format);
                    add(How::Exact, *both, enlarge, quality, format);
                }
            }
        }
    }
    urls
}

/// Percent-encodes a source for paths and queries: only letters, digits and `-._~/` stand bare.
fn escaped(source: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| match bare(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    source.bytes().map(one).collect()
}
