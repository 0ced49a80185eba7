//! What filters ask for. Filters with unknown names are skipped, as in both flavours, and so are filters whose
//! arguments do not match thumbor's patterns. imagor parses numbers leniently: a text that is not a number is 0.

use andon_recipe::{Colour, Effect};

use super::colours::Ground;
use super::overlay::Overlay;
use super::path::Trim;
use super::text::Text;
use super::{Flavour, colours};
use crate::percent;
use crate::refusal::shorten;

/// A parsed filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    Quality(u32),
    Format(String),
    /// Places the image on a background of the requested size.
    Fill(Ground),
    /// Fills what is transparent with a background.
    Ground(Ground),
    /// Turns by this many quarters counter-clockwise, at its place among the filters.
    Rotate(u8),
    /// Turns by this many quarters counter-clockwise, before everything else.
    Orient(u8),
    Effect(Effect),
    Overlay(Overlay),
    Text(Text),
    /// Pixelates into whole squares of this side in px.
    Pixelate(u32),
    /// Data that is reported about the image in addition to its facts.
    Seen(Seen),
    Proportion(f64),
    NoUpscale,
    Upscale,
    Stretch,
    MaxBytes(u64),
    /// A focal region, which is to stay visible: left, top, right and bottom edge.
    Focal([f64; 4]),
    StripMetadata,
    ToSrgb,
    ToP3,
    /// Crops to a part: left, top, width and height.
    Crop([f64; 4]),
    Trim(Trim),
    /// Adds margins of a background, in px: left, top, right, bottom.
    Padding(Ground, [u32; 4]),
    Frame(u32),
    /// Maximum number of frames of an animation.
    MostFrames(u32),
    Lossless,
    /// Bits per sample of a PNG.
    Depth(u8),
    /// Maximum number of colours of a PNG.
    Colours(u16),
    /// zlib's compression level for a PNG.
    Level(u8),
    MaxAge(u64),
    /// When the URL expires, in milliseconds since 1970.
    Expires(u64),
    Attachment(String),
    Raw,
    /// A filter that has no effect, neither here nor in imagor.
    Nothing,
}

/// What imagor's `meta` can report about pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Average,
    /// The number of components across and down.
    BlurHash(u8, u8),
    ThumbHash,
}

impl Seen {
    /// Reads a filter that requests such data. `None` if it is another filter; an error, with the reason, if its
    /// arguments are wrong.
    pub(super) fn read(name: &str, args: &str) -> Option<Result<Self, &'static str>> {
        let list = Lenient::split(args);
        let plain = |seen: Self| match list.count() {
            0 => Ok(seen),
            _ => Err("it takes no arguments"),
        };
        match name {
            "avgcolor" => Some(plain(Self::Average)),
            "thumbhash" => Some(plain(Self::ThumbHash)),
            "blurhash" => {
                let count = |at: usize| list.raw(at).and_then(|text| text.parse().ok());
                let counts = match (count(0), count(1), list.count()) {
                    (Some(across @ 1..=9), Some(down @ 1..=9), 2) => {
                        Ok(Self::BlurHash(across, down))
                    }
                    _ => Err("it takes two numbers of components, each 1 to 9"),
                };
                Some(counts)
            }
            _ => None,
        }
    }
}

/// Reads a filter; `None` if it is to be skipped.
pub(super) fn read(flavour: Flavour, name: &str, args: &str) -> Option<Filter> {
    match flavour {
        Flavour::Thumbor => thumbor(name, &percent::decode(args).ok()?),
        Flavour::Imagor => imagor(name, args, Effect::DEEPEST),
    }
}

/// Returns a note about the part of a filter that is not supported, if the filter is otherwise applied.
pub(super) fn note(flavour: Flavour, name: &str, args: &str) -> Option<String> {
    match (flavour, name) {
        (_, "format") => {
            let name = args.to_ascii_lowercase();
            let unknown = super::rules::format(flavour, &name).is_none();
            unknown.then(|| format!("format: {} is not written; it is ignored", shorten(&name)))
        }
        (Flavour::Thumbor, "sharpen") => Some(
            "sharpen: an unsharp mask is near thumbor's wavelets, not equal to them".to_owned(),
        ),
        (Flavour::Thumbor, _) => None,
        (Flavour::Imagor, _) => Text::note(name, args),
    }
}

fn effect(name: &str, args: &[String]) -> Option<Filter> {
    Effect::new(name, args.to_vec()).ok().map(Filter::Effect)
}

/// Formats a number with up to four decimals, without trailing zeros.
fn number(value: f64) -> String {
    ((value * 1e4).round() / 1e4 + 0.0).to_string()
}

/// Returns imagor's contrast factor for -100 to 100 percent.
fn contrast(percent: f64) -> f64 {
    let c = (percent * 2.55).clamp(-255.0, 255.0);
    259.0 * (c + 255.0) / (255.0 * (259.0 - c))
}

/// Returns thumbor's contrast factor, which thumbor computes in whole hundredths.
fn thumbor_contrast(percent: i64) -> f64 {
    let share = percent.clamp(-1_000_000, 1_000_000) + 100;
    ((share * share / 100) as f64 / 100.0).min(1000.0)
}

/// Converts percent of full scale to levels of 255.
fn levels(percent: f64) -> String {
    number((percent * 2.55).clamp(-255.0, 255.0))
}

fn quarters(degrees: i64) -> Option<u8> {
    // 0 to 3.
    (degrees % 90 == 0).then(|| (degrees / 90).rem_euclid(4) as u8)
}

fn rounded(radii: (u32, u32), ground: Option<Colour>) -> Option<Filter> {
    let mut args = vec![radii.0.to_string(), radii.1.to_string()];
    args.extend(ground.map(|colour| format!("{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b)));
    effect("round", &args)
}

fn rgb(r: u8, g: u8, b: u8) -> Colour {
    Colour {
        r,
        g,
        b,
        a: u8::MAX,
    }
}

/// Arguments that are parsed by thumbor's typed patterns.
pub(super) struct Typed<'a>(Vec<&'a str>);

impl<'a> Typed<'a> {
    /// Splits arguments; `None` if there are fewer than `least` or more than `most`.
    fn new(args: &'a str, least: usize, most: usize) -> Option<Self> {
        let list: Vec<&str> = match args.trim() {
            "" => Vec::new(),
            args => args.split(',').map(str::trim).collect(),
        };
        (least..=most).contains(&list.len()).then_some(Self(list))
    }

    /// Returns an argument as a text, without enclosing quotes.
    pub(super) fn text(&self, at: usize) -> Option<&'a str> {
        let text = *self.0.get(at)?;
        let quoted = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''));
        quoted.or(Some(text)).filter(|text| !text.is_empty())
    }

    /// Whether there is an argument at this position.
    pub(super) fn has(&self, at: usize) -> bool {
        at < self.0.len()
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        let plain = |letter: char| letter.is_alphanumeric() || letter == '_';
        self.text(at).filter(|text| text.chars().all(plain))
    }

    pub(super) fn positive(&self, at: usize) -> Option<u32> {
        let text = self.text(at)?;
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().unwrap_or(u32::MAX))
    }

    fn whole(&self, at: usize) -> Option<i64> {
        let text = self.text(at)?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    }

    fn decimal(&self, at: usize) -> Option<f64> {
        let text = self.text(at)?;
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
        plain.then(|| text.parse().ok()).flatten()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.positive(at).map(|value| value.min(255) as u8)
    }

    fn flag(&self, at: usize) -> Option<bool> {
        match self.text(at)? {
            "true" | "True" | "1" => Some(true),
            "false" | "False" | "0" => Some(false),
            _ => None,
        }
    }

    /// Returns an argument as a flag: false if it is left out, `None` if it is not a flag.
    fn flag_or_none(&self, at: usize) -> Option<bool> {
        match self.has(at) {
            true => self.flag(at),
            false => Some(false),
        }
    }
}

fn thumbor(name: &str, args: &str) -> Option<Filter> {
    let (least, most) = match name {
        "grayscale" | "no_upscale" | "upscale" | "stretch" | "strip_exif" | "strip_metadata"
        | "strip_icc" => (0, 0),
        "fill" | "blur" => (1, 2),
        "sharpen" | "rgb" => (3, 3),
        "round_corner" => (4, 5),
        "watermark" => (4, 6),
        _ => (1, 1),
    };
    let list = Typed::new(args, least, most)?;
    match name {
        "quality" => list.positive(0).map(Filter::Quality),
        "format" => Some(Filter::Format(list.text(0)?.to_ascii_lowercase())),
        "fill" => {
            list.flag_or_none(1)?;
            Ground::thumbor(list.word(0)?).map(Filter::Fill)
        }
        "background_color" => {
            let colour = colours::read(list.word(0)?)?;
            Some(Filter::Ground(Ground::Colour(colour)))
        }
        "rotate" => quarters(list.whole(0)?).map(Filter::Rotate),
        "blur" => {
            let radius = list.positive(0).filter(|radius| *radius > 0)?.min(150);
            let sigma = match list.has(1) {
                false => 0.0,
                // It is squared.
                true => list.decimal(1)?.abs().min(150.0),
            };
            let sigma = if sigma == 0.0 {
                f64::from(radius)
            } else {
                sigma
            };
            effect("blur", &[format!("{radius}x{}", number(sigma))])
        }
        "sharpen" => {
            let (amount, radius) = (list.decimal(0)?, list.decimal(1)?);
            list.flag(2)?;
            let sound = (0.0..=1000.0).contains(&amount) && (0.0..=1000.0).contains(&radius);
            sound.then_some(())?;
            effect(
                "unsharp",
                &[format!("0x{}+{}+0", number(radius), number(amount))],
            )
        }
        "brightness" => effect("brightness", &[levels(list.whole(0)? as f64)]),
        "contrast" => effect("contrast", &[number(thumbor_contrast(list.whole(0)?))]),
        "saturation" => {
            let factor = list.decimal(0)?.clamp(0.0, 1000.0);
            effect("saturation", &[number(factor), "rms".to_owned()])
        }
        "rgb" => {
            let [r, g, b] = [0, 1, 2].map(|at| list.whole(at));
            effect(
                "rgb",
                &[levels(r? as f64), levels(g? as f64), levels(b? as f64)],
            )
        }
        "grayscale" => effect("gray", &[]),
        "round_corner" => {
            let radii = list.text(0)?;
            let (rx, ry) = radii.split_once('|').unwrap_or((radii, radii));
            let radii = (rx.parse().ok()?, ry.parse().ok()?);
            let ground = rgb(list.byte(1)?, list.byte(2)?, list.byte(3)?);
            let clear = list.flag_or_none(4)?;
            rounded(radii, (!clear).then_some(ground))
        }
        "watermark" => Overlay::thumbor(&list).map(Filter::Overlay),
        "proportion" => list.decimal(0).map(Filter::Proportion),
        "no_upscale" => Some(Filter::NoUpscale),
        "upscale" => Some(Filter::Upscale),
        "stretch" => Some(Filter::Stretch),
        "max_bytes" => list
            .positive(0)
            .filter(|bytes| *bytes > 0)
            .map(|bytes| Filter::MaxBytes(bytes.into())),
        "focal" => focal_box(list.text(0)?).map(Filter::Focal),
        "strip_exif" | "strip_metadata" => Some(Filter::StripMetadata),
        "strip_icc" => Some(Filter::ToSrgb),
        "max_age" => list
            .positive(0)
            .map(|seconds| Filter::MaxAge(seconds.into())),
        _ => None,
    }
}

/// Parses a region `AxB:CxD`; `None` if its width or height is 0.
fn focal_box(text: &str) -> Option<[f64; 4]> {
    let (start, end) = text.split_once(':')?;
    let numbers = [start.split_once('x')?, end.split_once('x')?];
    let whole = |text: &str| text.parse::<u32>().ok().map(f64::from);
    let area = [
        whole(numbers[0].0)?,
        whole(numbers[0].1)?,
        whole(numbers[1].0)?,
        whole(numbers[1].1)?,
    ];
    (area[0] != area[2] && area[1] != area[3]).then_some(area)
}

/// Arguments that are parsed leniently, as imagor does in Go: a text that is not a number is 0.
pub(super) struct Lenient<'a>(Vec<&'a str>);

impl<'a> Lenient<'a> {
    pub(super) fn split(args: &'a str) -> Self {
        Self(split(args))
    }

    pub(super) fn text(&self, at: usize) -> Option<String> {
        self.0.get(at).map(|text| unescaped(text))
    }

    pub(super) fn raw(&self, at: usize) -> Option<&str> {
        self.0.get(at).copied()
    }

    fn whole(&self, at: usize) -> i64 {
        self.0
            .get(at)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    }

    pub(super) fn decimal(&self, at: usize) -> f64 {
        let value: Option<f64> = self.0.get(at).and_then(|text| text.parse().ok());
        value.filter(|value| value.is_finite()).unwrap_or(0.0)
    }

    /// Returns an argument as a side in px; a negative number counts as 0.
    fn px(&self, at: usize) -> u32 {
        u32::try_from(self.whole(at).max(0)).unwrap_or(u32::MAX)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// Decodes a text like the value of a form, where `+` is a space. A text that cannot be decoded is returned unchanged.
pub(super) fn unescaped(text: &str) -> String {
    percent::decode(&text.replace('+', " ")).unwrap_or_else(|_| text.to_owned())
}

/// Splits at commas outside parentheses.
fn split(args: &str) -> Vec<&str> {
    let (mut list, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    if args.is_empty() {
        return list;
    }
    for (at, byte) in args.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                list.push(&args[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    list.push(&args[start..]);
    list
}

/// Reads a filter of imagor. Images in its arguments may have filters of their own, nested at most `deeper` levels
/// deep.
pub(super) fn imagor(name: &str, args: &str, deeper: usize) -> Option<Filter> {
    let list = Lenient::split(args);
    let turns = |degrees: i64| quarters(degrees).filter(|_| (0..360).contains(&degrees));
    match name {
        "quality" => Some(Filter::Quality(list.px(0))),
        "format" => list.text(0).map(Filter::Format),
        "fill" => Some(Filter::Fill(Ground::imagor(&list.text(0)?))),
        "background_color" => Some(Filter::Ground(match Ground::imagor(&list.text(0)?) {
            // No such colour.
            Ground::Blurred => Ground::Colour(colours::imagor("")),
            ground => ground,
        })),
        "rotate" => turns(list.whole(0)).map(Filter::Rotate),
        "orient" => turns(list.whole(0)).map(Filter::Orient),
        "blur" => {
            let sigma = match list.count() {
                2 => list.decimal(1),
                _ => list.decimal(0) / 2.0,
            };
            match sigma > 0.0 {
                true => effect("blur", &[format!("0x{}", number(sigma.min(1000.0)))]),
                false => Some(Filter::Nothing),
            }
        }
        "sharpen" => {
            let given = if list.count() > 1 {
                list.decimal(1)
            } else {
                list.decimal(0)
            };
            let sigma = (1.0 + 2.0 * given).clamp(0.0, 10.0);
            effect(
                "sharpen-l",
                &[number(sigma), "0".to_owned(), "2".to_owned()],
            )
        }
        "brightness" => effect("brightness", &[levels(list.decimal(0))]),
        "contrast" => effect("contrast", &[number(contrast(list.decimal(0)))]),
        "rgb" if list.count() == 3 => effect("rgb", &[0, 1, 2].map(|at| levels(list.decimal(at)))),
        "hue" => modulate(0.0, 0.0, list.decimal(0)),
        "saturation" => modulate(0.0, list.decimal(0), 0.0),
        "modulate" if list.count() == 3 => {
            modulate(list.decimal(0), list.decimal(1), list.decimal(2))
        }
        "invert" => effect("invert", &[]),
        "grayscale" => effect("gray", &["light".to_owned()]),
        "round_corner" if list.count() > 0 => {
            let ry = if list.count() > 1 {
                list.px(1)
            } else {
                list.px(0)
            };
            let ground = list.text(2).and_then(|text| colours::read(&text));
            rounded((list.px(0), ry), ground)
        }
        "watermark" => Overlay::imagor(&list).map(Filter::Overlay),
        "label" => Text::label(&list).map(Filter::Text),
        "text" => Text::typeset(&list).map(Filter::Text),
        "image" => Overlay::image(&list, deeper).map(Filter::Overlay),
        "proportion" => Some(Filter::Proportion(list.decimal(0))),
        "no_upscale" => Some(Filter::NoUpscale),
        "upscale" => Some(Filter::Upscale),
        "stretch" => Some(Filter::Stretch),
        "max_bytes" => Some(match list.whole(0) {
            bytes @ 1.. => Filter::MaxBytes(bytes as u64),
            _ => Filter::Nothing,
        }),
        "focal" => imagor_focal(args),
        "strip_exif" | "strip_metadata" => Some(Filter::StripMetadata),
        "strip_icc" => Some(Filter::ToSrgb),
        "to_colorspace" => match list
            .text(0)
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str()
        {
            "" | "srgb" => Some(Filter::ToSrgb),
            "p3" => Some(Filter::ToP3),
            _ => None,
        },
        "crop" if list.count() >= 4 => Some(Filter::Crop([0, 1, 2, 3].map(|at| list.decimal(at)))),
        "trim" => Some(Filter::Trim(Trim {
            from_end: list.text(1).is_some_and(|corner| corner == "bottom-right"),
            tolerance: Some(list.px(0)),
        })),
        "padding" if list.count() >= 2 => {
            let left = list.px(1);
            let (top, right) = match list.count() {
                2 => (left, left),
                _ => (list.px(2), if list.count() > 4 { list.px(3) } else { left }),
            };
            let bottom = if list.count() > 4 { list.px(4) } else { top };
            let ground = Ground::imagor(&list.text(0)?);
            Some(Filter::Padding(ground, [left, top, right, bottom]))
        }
        "pixelate" => Some(Filter::Pixelate(match list.whole(0) {
            side @ 1..=1_000_000 => side as u32,
            _ => 10,
        })),
        "page" => Some(Filter::Frame(list.px(0).max(1))),
        "max_frames" => match list.whole(0) {
            1 => Some(Filter::Frame(1)),
            most @ 2..=1_000_000 => Some(Filter::MostFrames(most as u32)),
            _ => Some(Filter::Nothing),
        },
        "lossless" => Some(Filter::Lossless),
        "bitdepth" => match list.whole(0) {
            16 => Some(Filter::Depth(16)),
            8 => Some(Filter::Depth(8)),
            // Fewer bits are places in a list of colours.
            bits @ (1 | 2 | 4) => Some(Filter::Colours(1 << bits)),
            _ => None,
        },
        "palette" => Some(Filter::Colours(256)),
        "compression" => match list.whole(0) {
            level @ 1..=9 => Some(Filter::Level(level as u8)),
            _ => None,
        },
        "max_age" => Some(Filter::MaxAge(list.px(0).into())),
        "expire" => Some(Filter::Expires(u64::try_from(list.whole(0)).unwrap_or(0))),
        "attachment" => Some(Filter::Attachment(list.text(0).unwrap_or_default())),
        "raw" => Some(Filter::Raw),
        "preview" => Some(Filter::Nothing),
        _ => Seen::read(name, args)?.ok().map(Filter::Seen),
    }
}

/// Returns a filter that changes brightness and saturation by percent, and hue by degrees.
fn modulate(brightness: f64, saturation: f64, hue: f64) -> Option<Filter> {
    let factor = |percent: f64| number((1.0 + percent / 100.0).clamp(0.0, 1000.0));
    effect(
        "modulate",
        &[factor(brightness), factor(saturation), number(hue % 360.0)],
    )
}

/// Parses a region `AxB:CxD`, or a point. The separators `x`, `,` and `:` are interchangeable.
fn imagor_focal(args: &str) -> Option<Filter> {
    let numbers: Option<Vec<f64>> = args
        .split(['x', ',', ':'])
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().ok().filter(|value: &f64| value.is_finite()))
        .collect();
    match numbers?.as_slice() {
        [left, top, right, bottom] => Some(Filter::Focal([*left, *top, *right, *bottom])),
        [x, y] => Some(Filter::Focal([*x, *y, f64::INFINITY, f64::INFINITY])),
        _ => None,
    }
}
