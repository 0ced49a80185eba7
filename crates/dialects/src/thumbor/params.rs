//! imagor's `/params/`: describes a URL as JSON. Its signature is not verified, and nothing is fetched.

use serde::Serialize;
use serde_json::Value;

use super::path::{self, Align, FitIn, Parts};
use super::{Flavour, UNSAFE, image_name};
use crate::refusal::Refusal;

/// The parameters of a URL as `/params` returns them; those that the URL does not have are left out.
#[derive(Debug, Default, Serialize)]
struct Params<'a> {
    #[serde(skip_serializing_if = "is_unsaid")]
    path: &'a str,
    #[serde(skip_serializing_if = "is_unsaid")]
    image: String,
    #[serde(rename = "unsafe", skip_serializing_if = "is_unsaid")]
    unsigned: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    hash: &'a str,
    #[serde(skip_serializing_if = "is_unsaid")]
    meta: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    trim: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    trim_by: &'static str,
    #[serde(skip_serializing_if = "is_unsaid")]
    trim_tolerance: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    crop_left: Value,
    #[serde(skip_serializing_if = "is_unsaid")]
    crop_top: Value,
    #[serde(skip_serializing_if = "is_unsaid")]
    crop_right: Value,
    #[serde(skip_serializing_if = "is_unsaid")]
    crop_bottom: Value,
    #[serde(skip_serializing_if = "is_unsaid")]
    fit_in: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    adaptive_fit_in: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    full_fit_in: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    stretch: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    width: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    height: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    padding_left: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    padding_top: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    padding_right: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    padding_bottom: u32,
    #[serde(skip_serializing_if = "is_unsaid")]
    h_flip: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    v_flip: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    h_align: &'static str,
    #[serde(skip_serializing_if = "is_unsaid")]
    v_align: &'static str,
    #[serde(skip_serializing_if = "is_unsaid")]
    smart: bool,
    #[serde(skip_serializing_if = "is_unsaid")]
    filters: Vec<Filter>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Filter {
    name: String,
    #[serde(skip_serializing_if = "is_unsaid")]
    args: String,
}

fn is_unsaid<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Parses what follows `params/`, and returns it as JSON.
pub(super) fn json(below: &str) -> Result<String, Refusal> {
    let (hash, path) = match below.split_once('/') {
        Some((first, rest)) if super::is_signature(first) => (first, rest),
        _ => ("", below),
    };
    let (parts, image) = path::read(Flavour::Imagor, path);
    let mut params = said(parts);
    params.path = path;
    params.image = image_name(Flavour::Imagor, image)?;
    params.unsigned = hash == UNSAFE;
    params.hash = if hash == UNSAFE { "" } else { hash };
    Ok(serde_json::to_string_pretty(&params).unwrap_or_default())
}

fn said(parts: Parts) -> Params<'static> {
    let FitIn { adaptive, full } = parts.fit.unwrap_or_default();
    let (w, h) = parts.size.unwrap_or_default();
    // Whole numbers stand without a point.
    let number = |edge: f64| match edge.fract() == 0.0 {
        _ if edge == 0.0 => Value::Null,
        true => Value::from(edge as u64),
        false => Value::from(edge),
    };
    let [crop_left, crop_top, crop_right, crop_bottom] = parts.crop.unwrap_or_default().map(number);
    let [padding_left, padding_top, padding_right, padding_bottom] =
        parts.padding.unwrap_or_default();
    let aligned = |align: Option<Align>, words: [&'static str; 3]| match align {
        None => "",
        Some(Align::Start) => words[0],
        Some(Align::Middle) => words[1],
        Some(Align::End) => words[2],
    };
    let filter = |(name, args)| Filter { name, args };
    Params {
        meta: parts.meta,
        trim: parts.trim.is_some(),
        trim_by: parts.trim.map_or("", |trim| match trim.from_end {
            true => "bottom-right",
            false => "top-left",
        }),
        trim_tolerance: parts.trim.and_then(|trim| trim.tolerance).unwrap_or(0),
        crop_left,
        crop_top,
        crop_right,
        crop_bottom,
        fit_in: parts.fit.is_some(),
        adaptive_fit_in: adaptive,
        full_fit_in: full,
        stretch: parts.stretch,
        width: w.px(),
        height: h.px(),
        padding_left,
        padding_top,
        padding_right,
        padding_bottom,
        h_flip: parts.flip.0,
        v_flip: parts.flip.1,
        h_align: aligned(parts.across, ["left", "center", "right"]),
        v_align: aligned(parts.down, ["top", "middle", "bottom"]),
        smart: parts.smart,
        filters: parts.filters.into_iter().map(filter).collect(),
        ..Params::default()
    }
}
