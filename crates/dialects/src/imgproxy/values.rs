//! Parsing and writing of options that need more than one value, or a syntax of their own.

use andon_recipe::{Colour, Profile};

use super::args::{
    Wrong, any, bytes, colour, int, is_truth, not_negative, percent, positive, share, size, truth,
};
use super::formats::format;
use super::gravity::{FACE, Gravity};
use super::options::{Extend, Mask, Options, Resizing, Trim};
use crate::effects::rgb;
use crate::geometry::FACES;
use crate::signature::{Checksum, base64};

/// Maximum number of colours of a palette.
const MOST_COLOURS: u16 = 256;

/// The words for chroma subsampling of an AVIF, each with its value.
pub(super) const THINNING: [(&str, Option<bool>); 3] =
    [("auto", None), ("on", Some(true)), ("off", Some(false))];

pub(super) fn text(value: &impl ToString) -> String {
    value.to_string()
}

pub(super) fn bit(value: &bool) -> String {
    u8::from(*value).to_string()
}

pub(super) fn hex(value: &Colour) -> String {
    rgb(*value)
}

/// Whether the text of a switch turns it on: all but `0`, `false` and an empty text do.
pub(super) fn asks(text: &str) -> bool {
    !text.is_empty() && (truth(text) || !is_truth(text))
}

/// Returns the first name of a value; empty if it has none.
pub(super) fn name_of<T: PartialEq>(all: &[(&str, T)], value: T) -> String {
    let row = all.iter().find(|(_, other)| *other == value);
    row.map_or("", |(name, _)| name).to_owned()
}

/// Returns the value of a name. `what` is the end of the message about an unknown name.
fn value_of<T: Copy>(all: &[(&str, T)], name: &str, what: &str) -> Result<T, Wrong> {
    let row = all.iter().find(|(other, _)| *other == name);
    row.map(|(_, value)| *value)
        .ok_or_else(|| format!("`{name}` is {what}"))
}

pub(super) fn resizing(text: &str) -> Result<Resizing, Wrong> {
    value_of(&Resizing::ALL, text, "no way to resize")
}

pub(super) fn mask(text: &str) -> Result<Mask, Wrong> {
    let name = if text.is_empty() { "auto" } else { text };
    value_of(&Mask::ALL, name, "no mode of an unsharp mask")
}

pub(super) fn thinning(text: &str) -> Result<Option<bool>, Wrong> {
    let name = if text.is_empty() { "auto" } else { text };
    value_of(&THINNING, name, "none of auto, on and off")
}

pub(super) fn levels(text: &str) -> Result<i16, Wrong> {
    Ok(int(text, -255, 255)? as i16)
}

pub(super) fn degrees(text: &str) -> Result<u16, Wrong> {
    match int(text, i64::MIN, i64::MAX)? {
        degrees if degrees % 90 == 0 => Ok(degrees.rem_euclid(360) as u16),
        degrees => Err(format!("{degrees} is no multiple of 90 degrees")),
    }
}

pub(super) fn angle(text: &str) -> Result<f64, Wrong> {
    match text {
        "down" => Ok(0.0),
        "left" => Ok(90.0),
        "up" => Ok(180.0),
        "right" => Ok(270.0),
        degrees => Ok(any(degrees)?.rem_euclid(360.0)),
    }
}

/// Parses a time in seconds since 1970. Times before 1970 become 1, which is past as well.
pub(super) fn moment(text: &str) -> Result<u64, Wrong> {
    let seconds = int(text, i64::MIN, i64::MAX)?;
    Ok(u64::try_from(seconds).unwrap_or(1))
}

/// Returns the colour space of the profile with this name, if it is sRGB or Display P3.
pub(super) fn profile(name: &str) -> Option<Profile> {
    match name {
        "srgb" | "sRGB" => Some(Profile::Srgb),
        "p3" | "display-p3" | "display_p3" => Some(Profile::P3),
        _ => None,
    }
}

pub(super) fn profile_text(profile: &Option<Profile>) -> String {
    let name = match profile {
        Some(Profile::P3) => "p3",
        Some(_) => "srgb",
        None => "",
    };
    name.to_owned()
}

pub(super) fn format_text(format: &Option<&'static str>) -> String {
    let name = match format {
        Some("auto") => "best",
        other => other.unwrap_or_default(),
    };
    name.to_owned()
}

pub(super) fn page(text: &str) -> Result<u32, Wrong> {
    Ok(size(text)?.saturating_add(1))
}

pub(super) fn page_text(page: &u32) -> String {
    page.checked_sub(1)
        .map_or(String::new(), |page| page.to_string())
}

/// Returns a note on objects in the arguments of a gravity that cannot be detected.
pub(super) fn objects(args: &[&str]) -> Option<String> {
    let word = args.iter().position(|arg| matches!(*arg, "obj" | "objw"))?;
    let objects = &args[word + 1..];
    let note = match FACES && objects.contains(&FACE) {
        true if objects == [FACE] => return None,
        true => "of objects only faces are looked for",
        false => "objects are not looked for; what draws the eye is kept",
    };
    Some(note.to_owned())
}

pub(super) fn read_zoom(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let zoom = positive(args[0])?;
    options.zoom = (zoom, args.get(1).map_or(Ok(zoom), |text| positive(text))?);
    Ok(())
}

pub(super) fn read_extend(extend: &mut Extend, args: &[&str]) -> Result<(), Wrong> {
    if !args[0].is_empty() {
        extend.on = truth(args[0]);
    }
    match args.get(1) {
        None | Some(&"") => Ok(()),
        Some(_) => extend.gravity.read(&args[1..], false),
    }
}

pub(super) fn extend_text(extend: &Extend) -> String {
    format!("{}:{}", bit(&extend.on), extend.gravity.text())
}

pub(super) fn read_crop(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.crop.width = not_negative(args[0])?;
    if let Some(height) = args.get(1) {
        options.crop.height = not_negative(height)?;
    }
    match args.get(2..) {
        None | Some([]) => Ok(()),
        Some(args) => {
            let gravity = options.crop.gravity.get_or_insert_with(Gravity::default);
            gravity.read(args, true)
        }
    }
}

pub(super) fn crop(options: &Options) -> String {
    let crop = &options.crop;
    let gravity = crop.gravity.map(|gravity| format!(":{}", gravity.text()));
    format!(
        "{}:{}{}",
        crop.width,
        crop.height,
        gravity.unwrap_or_default()
    )
}

/// Parses the threshold of a trim. An empty text switches the trim off.
pub(super) fn read_trim(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.trim = match args[0] {
        "" => None,
        threshold => Some(Trim {
            threshold: not_negative(threshold)?,
            ..options.trim.unwrap_or_default()
        }),
    };
    Ok(())
}

pub(super) fn read_padding(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    for (place, text) in args.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        let px = size(text)?;
        // As in CSS, a side also sets those opposite and after it, until their own values follow.
        let sides: &[usize] = [&[0, 1, 2, 3][..], &[1, 3], &[2], &[3]][place];
        sides.iter().for_each(|side| options.padding[*side] = px);
    }
    Ok(())
}

pub(super) fn read_background(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let level = |text: &str| int(text, 0, 255).map(|level| level as u8);
    options.background = match args {
        [""] => None,
        [digits] => Some(colour(digits)?),
        [r, g, b] => Some(Colour {
            r: level(r)?,
            g: level(g)?,
            b: level(b)?,
            a: 255,
        }),
        _ => return Err("a background is RRGGBB or R:G:B".to_owned()),
    };
    Ok(())
}

pub(super) fn read_areas(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let area = |area: &[&str]| match area {
        [sigma, left, top, width, height] => Ok([
            not_negative(sigma)?,
            share(left)?,
            share(top)?,
            share(width)?,
            share(height)?,
        ]),
        _ => Err("an area is sigma:left:top:width:height".to_owned()),
    };
    options.effects.blurred_areas = match args {
        [""] => Vec::new(),
        _ => args.chunks(5).map(area).collect::<Result<_, _>>()?,
    };
    Ok(())
}

pub(super) fn areas(options: &Options) -> String {
    let numbers = options.effects.blurred_areas.iter().flatten();
    numbers.map(f64::to_string).collect::<Vec<_>>().join(":")
}

/// Parses the position of a watermark.
pub(super) fn read_watermark(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let watermark = &mut options.watermark;
    watermark.tiled = matches!(args[0], "re" | "ch");
    match args[0] {
        "re" | "ch" => Ok(()),
        "fp" => Err("`fp` is no place of a watermark".to_owned()),
        place => watermark.gravity.read(&[place], false),
    }
}

/// Parses the URL of a watermark, in base64. If it is empty, the configured watermark is used.
pub(super) fn read_watermark_url(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.watermark.url = Some(from_base64(args[0], "a URL")?).filter(|url| !url.is_empty());
    Ok(())
}

pub(super) fn watermark_url(options: &Options) -> String {
    let url = options.watermark.url.as_ref();
    url.map_or(String::new(), |url| base64::bare(url.as_bytes()))
}

/// Parses the text of a watermark, in base64. If it is empty, the watermark is an image.
pub(super) fn read_watermark_text(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.watermark.text = Some(from_base64(args[0], "a text")?).filter(|text| !text.is_empty());
    Ok(())
}

pub(super) fn watermark_text(options: &Options) -> String {
    let text = options.watermark.text.as_ref();
    text.map_or(String::new(), |text| base64::bare(text.as_bytes()))
}

pub(super) fn watermark(options: &Options) -> String {
    let gravity = &options.watermark.gravity;
    match options.watermark.tiled {
        true => format!("re:{}:{}", gravity.x, gravity.y),
        false => gravity.text(),
    }
}

pub(super) fn read_format_quality(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    for pair in args.chunks(2) {
        let [name, quality] = pair else {
            return Err("qualities come in pairs of format and quality".to_owned());
        };
        let (format, quality) = (format(name)?, percent(quality)?);
        options.format_quality.insert(format, quality);
    }
    Ok(())
}

pub(super) fn format_quality(options: &Options) -> String {
    let pairs = options.format_quality.iter();
    let texts = pairs.map(|(name, quality)| format!("{name}:{quality}"));
    texts.collect::<Vec<_>>().join(":")
}

pub(super) fn read_autoquality(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    match (args[0], args.get(1)) {
        ("size", Some(text)) if !text.is_empty() => options.max_bytes = bytes(text)?,
        ("" | "none" | "size" | "dssim" | "ml", _) => {}
        (method, _) => return Err(format!("`{method}` is no way to find a quality")),
    }
    Ok(())
}

/// Decodes a text in base64. `what` is the kind of text, for the error.
fn from_base64(text: &str, what: &str) -> Result<String, Wrong> {
    let decoded_text = base64::read(text).and_then(|bytes| String::from_utf8(bytes).ok());
    decoded_text.ok_or_else(|| format!("`{text}` is no base64 of {what}"))
}

pub(super) fn read_filename(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.filename = Some(match args.get(1).is_some_and(|text| truth(text)) {
        false => args[0].to_owned(),
        true => from_base64(args[0], "a name")?,
    });
    Ok(())
}

pub(super) fn filename(options: &Options) -> String {
    let name = options.filename.as_ref();
    name.map_or(String::new(), |name| {
        format!("{}:1", base64::bare(name.as_bytes()))
    })
}

pub(super) fn read_hashsum(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let checksum = Checksum::new(args[0], args.get(1).copied().unwrap_or_default());
    options.checksum = Some(checksum.ok_or_else(|| {
        let text = args.join(":");
        format!("`{text}` is no md5, sha1, sha256 or sha512 in hex digits")
    })?);
    Ok(())
}

pub(super) fn hashsum(options: &Options) -> String {
    options
        .checksum
        .as_ref()
        .map_or(String::new(), Checksum::to_string)
}

pub(super) fn read_fallback(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.fallback = Some(from_base64(args[0], "a URL")?).filter(|url| !url.is_empty());
    Ok(())
}

pub(super) fn fallback(options: &Options) -> String {
    let url = options.fallback.as_ref();
    url.map_or(String::new(), |url| base64::bare(url.as_bytes()))
}

pub(super) fn read_crop_ratio(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.crop.ratio = not_negative(args[0])?;
    options.crop.grows = args.get(1).is_some_and(|text| truth(text));
    Ok(())
}

pub(super) fn crop_ratio(options: &Options) -> String {
    format!("{}:{}", options.crop.ratio, bit(&options.crop.grows))
}

pub(super) fn read_palette(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.colours = if truth(args[0]) { MOST_COLOURS } else { 0 };
    Ok(())
}

pub(super) fn palette(options: &Options) -> String {
    match options.colours {
        0 => "0".to_owned(),
        most => format!("1:{most}"),
    }
}

pub(super) fn read_palette_size(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let most = int(args[0], 2, MOST_COLOURS.into())? as u16;
    // The number has no effect unless a palette is requested.
    options.colours = options.colours.min(most);
    Ok(())
}

pub(super) fn read_webp(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    options.lossless = args[0] == "lossless";
    options.near_lossless = args[0] == "near_lossless";
    Ok(())
}

pub(super) fn webp(options: &Options) -> String {
    let word = match (options.lossless, options.near_lossless) {
        (true, _) => "lossless",
        (_, true) => "near_lossless",
        _ => "lossy",
    };
    word.to_owned()
}

pub(super) fn read_skip(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let names = args.iter().filter(|_| args != [""]);
    options.skip = names.map(|name| format(name)).collect::<Result<_, _>>()?;
    Ok(())
}
