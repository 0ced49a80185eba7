//! imagor's `/params/`: describes a URL as JSON. Its signature is not verified, and nothing is fetched.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::flavour::Flavour;
use super::path::{self, ACROSS, DOWN, FitIn, Parts};
use super::signing::{UNSAFE, is_signature};
use crate::refusal::Refusal;

/// The values of a JSON object, by name and in this order. Empty, zero and false values are left out.
struct Params(Vec<(&'static str, Param)>);

#[derive(Serialize)]
#[serde(untagged)]
enum Param {
    Value(Value),
    List(Vec<Filter>),
}

#[derive(Serialize)]
struct Filter {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    args: String,
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let entries = self.0.iter().filter(|(_, param)| param.says());
        to.collect_map(entries.map(|(name, param)| (name, param)))
    }
}

impl Param {
    fn says(&self) -> bool {
        match self {
            Self::Value(Value::Null | Value::Bool(false)) => false,
            Self::Value(Value::String(text)) => !text.is_empty(),
            Self::Value(number) => number.as_f64() != Some(0.0),
            Self::List(list) => !list.is_empty(),
        }
    }
}

impl<T: Into<Value>> From<T> for Param {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

/// Parses the URL after `params/`, and returns its description as JSON.
pub(super) fn json(rest: &str) -> Result<String, Refusal> {
    let (hash, path) = match rest.split_once('/') {
        Some((first, rest)) if is_signature(first) => (first, rest),
        _ => ("", rest),
    };
    let (parts, image) = path::read(Flavour::Imagor, path);
    let mut params: Vec<(&'static str, Param)> = vec![
        ("path", path.into()),
        ("image", Flavour::Imagor.image_name(image)?.into()),
        ("unsafe", (hash == UNSAFE).into()),
        ("hash", if hash == UNSAFE { "" } else { hash }.into()),
    ];
    params.extend(entries_of(parts));
    Ok(serde_json::to_string_pretty(&Params(params)).unwrap_or_default())
}

fn entries_of(parts: Parts) -> [(&'static str, Param); 24] {
    let FitIn { adaptive, full } = parts.fit.unwrap_or_default();
    let (w, h) = parts.size.unwrap_or_default();
    // Whole numbers are written without a decimal point.
    let number = |edge: f64| match edge.fract() == 0.0 {
        true => Param::from(edge as u64),
        false => Param::from(edge),
    };
    let [crop_left, crop_top, crop_right, crop_bottom] = parts.crop.unwrap_or_default().map(number);
    let [left, top, right, bottom] = parts.padding.unwrap_or_default();
    let by = parts.trim.map_or("", |trim| match trim.from_end {
        true => "bottom-right",
        false => "top-left",
    });
    let tolerance = parts.trim.and_then(|trim| trim.tolerance).unwrap_or(0);
    let filter = |(name, args)| Filter { name, args };
    let filters = parts.filters.into_iter().map(filter).collect();
    [
        ("meta", parts.meta.into()),
        ("trim", parts.trim.is_some().into()),
        ("trim_by", by.into()),
        ("trim_tolerance", tolerance.into()),
        ("crop_left", crop_left),
        ("crop_top", crop_top),
        ("crop_right", crop_right),
        ("crop_bottom", crop_bottom),
        ("fit_in", parts.fit.is_some().into()),
        ("adaptive_fit_in", adaptive.into()),
        ("full_fit_in", full.into()),
        ("stretch", parts.stretch.into()),
        ("width", w.px().into()),
        ("height", h.px().into()),
        ("padding_left", left.into()),
        ("padding_top", top.into()),
        ("padding_right", right.into()),
        ("padding_bottom", bottom.into()),
        ("h_flip", parts.flip.0.into()),
        ("v_flip", parts.flip.1.into()),
        (
            "h_align",
            parts.across.map_or("", |align| align.word(ACROSS)).into(),
        ),
        (
            "v_align",
            parts.down.map_or("", |align| align.word(DOWN)).into(),
        ),
        ("smart", parts.smart.into()),
        ("filters", Param::List(filters)),
    ]
}
