//! The table of the filters of thumbor and imagor: which of the two programs has each, how its arguments are parsed,
//! and which [`Filter`] it becomes. Filters that are not in the table, and those with invalid arguments, are skipped,
//! as in both programs.

use std::ops::RangeInclusive;

use andon_recipe::{Colour, Effect, Turn};

use super::args::Args;
use super::colours::{self, Ground};
use super::filters::{Filter, Nested, PixelData};
use super::flavour::Flavour;
use super::overlay::Overlay;
use super::path::{Trim, edges};
use super::text::Text;
use crate::options::OptionHelp;
use crate::percent;
use crate::refusal::shorten;

/// Parses the arguments of a filter; `None` if the filter is skipped.
type Read = fn(&Args<'_>) -> Option<Filter>;

/// Parses the arguments of a filter that adds data to the document of imagor's `meta`, or says what is wrong with them.
type ParseData = fn(&Args<'_>) -> Result<PixelData, &'static str>;

/// A filter of the table.
struct Row {
    name: &'static str,
    /// What the filter does, or why it does nothing, as one sentence.
    help: &'static str,
    /// How the filter differs from the filter of thumbor or imagor, and from which of the two.
    differs: Option<(&'static str, &'static [Flavour])>,
    /// The permitted numbers of arguments, and the parser for thumbor, if it has the filter.
    thumbor: Option<(RangeInclusive<usize>, Read)>,
    /// The parser for imagor's arguments, if it has the filter.
    imagor: Option<Read>,
    /// Returns a note if a filter is applied, but a part of it is not supported or acts differently. The parameters are
    /// the program and the filter's arguments as written in the URL.
    note: fn(Flavour, &str) -> Option<String>,
    /// The parser for a filter that adds data to the document of imagor's `meta`.
    pixel_data: Option<ParseData>,
}

const fn row(name: &'static str) -> Row {
    Row {
        name,
        help: "",
        differs: None,
        thumbor: None,
        imagor: None,
        note: |_, _| None,
        pixel_data: None,
    }
}

/// Makes the row of a known filter that is not supported.
const fn skipped(name: &'static str, flavour: Flavour) -> Row {
    let row = row(name)
        .help("Skipped, with a note.")
        .differs("not supported");
    match flavour {
        Flavour::Thumbor => row.thumbor(0..=usize::MAX, |_| None),
        Flavour::Imagor => row.imagor(|_| None),
    }
}

impl Row {
    const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    const fn differs(self, what: &'static str) -> Self {
        self.differs_from(&[Flavour::Thumbor, Flavour::Imagor], what)
    }

    const fn differs_from(self, flavours: &'static [Flavour], what: &'static str) -> Self {
        let differs = Some((what, flavours));
        Self { differs, ..self }
    }

    const fn thumbor(self, counts: RangeInclusive<usize>, read: Read) -> Self {
        let thumbor = Some((counts, read));
        Self { thumbor, ..self }
    }

    const fn imagor(self, read: Read) -> Self {
        let imagor = Some(read);
        Self { imagor, ..self }
    }

    const fn both(self, counts: RangeInclusive<usize>, read: Read) -> Self {
        self.thumbor(counts, read).imagor(read)
    }

    const fn note(self, note: fn(Flavour, &str) -> Option<String>) -> Self {
        Self { note, ..self }
    }

    const fn pixel_data(self, read: ParseData) -> Self {
        let pixel_data = Some(read);
        Self { pixel_data, ..self }
    }

    /// Whether this program has the filter.
    fn is_of(&self, flavour: Flavour) -> bool {
        match flavour {
            Flavour::Thumbor => self.thumbor.is_some(),
            Flavour::Imagor => self.imagor.is_some() || self.pixel_data.is_some(),
        }
    }
}

/// All filters of thumbor and imagor, sorted by name.
#[rustfmt::skip]
const ALL: &[Row] = &[
    row("attachment").help("Tells browsers to save the result, under this name if one is given.")
        .imagor(|args| Some(Filter::Attachment(args.text(0).unwrap_or_default().into()))),
    skipped("autojpg", Flavour::Thumbor),
    row("avgcolor").help("Adds the mean colour to the document of `meta`.").pixel_data(|args| bare(args, PixelData::Average)),
    row("background_color").help("Fills what is transparent with a colour.")
        .thumbor(1..=1, |args| Some(Filter::Ground(Ground::Colour(colours::read(&args.word(0)?)?))))
        .imagor(|args| match Ground::read(args.flavour, &args.text(0)?)? {
            // imagor takes `blur` for an unknown colour here, which is black.
            Ground::Blurred => Some(Filter::Ground(Ground::Colour(Colour::BLACK))),
            ground => Some(Filter::Ground(ground)),
        }),
    row("bitdepth").help("Sets the bits per sample of a PNG: 16, 8, 4, 2 or 1.").imagor(depth),
    row("blur").help("Blurs with a Gaussian of this radius and sigma.").thumbor(1..=2, blur_thumbor)
        .imagor(blur_imagor),
    row("blurhash").help("Adds a BlurHash of this many components to the document of `meta`.").pixel_data(blurhash),
    row("brightness").help("Adds a percentage of full scale to all levels.")
        .thumbor(1..=1, |args| effect("brightness", &[levels(args.whole(0)? as f64)]))
        .imagor(|args| effect("brightness", &[levels(args.decimal(0)?)])),
    skipped("colorize", Flavour::Thumbor),
    row("compression").help("Sets the level of compression of a PNG, 1 to 9.")
        .imagor(|args| match args.whole(0)? {
            level @ 1..=9 => Some(Filter::Level(level as u8)),
            _ => None,
        }),
    row("contrast").help("Changes the contrast by this percentage.")
        .thumbor(1..=1, |args| effect("contrast", &[number(contrast_thumbor(args.whole(0)?))]))
        .imagor(|args| effect("contrast", &[number(contrast_imagor(args.decimal(0)?))])),
    skipped("convolution", Flavour::Thumbor),
    skipped("cover", Flavour::Thumbor),
    row("crop").help("Crops to left, top, width and height, in px or as shares of the sides.")
        .imagor(|args| {
            let area = [0, 1, 2, 3].map(|at| args.decimal(at).unwrap_or(0.0));
            args.has(3).then_some(Filter::Crop(area))
        }),
    skipped("curve", Flavour::Thumbor),
    skipped("dpi", Flavour::Imagor),
    skipped("draw_detections", Flavour::Imagor),
    skipped("equalize", Flavour::Thumbor),
    row("expire").help("Refuses the URL from this time on, in milliseconds since 1970.")
        .imagor(|args| Some(Filter::Expires(u64::try_from(args.whole(0)?).unwrap_or(0)))),
    skipped("extract_focal", Flavour::Thumbor),
    row("fill").help("Places the image on a background of the requested size: a colour, `auto` or `blur`.")
        .thumbor(1..=2, |args| {
            args.flag(1)?;
            fill(args)
        })
        .imagor(fill),
    row("focal").help("Keeps this region in view when the image is cropped.")
        .thumbor(1..=1, |args| {
            let area = edges(&args.text(0)?, |text| text.parse::<u32>().ok().map(f64::from))?;
            (area[0] != area[2] && area[1] != area[3]).then_some(Filter::Focal(area))
        })
        .imagor(focal),
    row("format").help("Sets the format of the result; one that is not written is ignored, with a note.")
        .thumbor(1..=1, |args| Some(Filter::Format(args.text(0)?.to_ascii_lowercase())))
        .imagor(|args| Some(Filter::Format(args.text(0)?.into_owned())))
        .differs("formats that are not written are ignored")
        .note(|flavour, args| {
            let name = args.to_ascii_lowercase();
            let why = || format!("format: {} is not written; it is ignored", shorten(&name));
            flavour.format(&name).is_none().then(why)
        }),
    skipped("frame", Flavour::Thumbor),
    row("grayscale").help("Makes the image gray; imagor keeps the lightness of its colours.")
        .thumbor(0..=0, |_| effect("gray", &[])).imagor(|_| effect("gray", &["light".to_owned()])),
    row("hue").help("Turns the hues by degrees.").imagor(|args| modulate(0.0, 0.0, args.decimal(0)?)),
    row("image").help("Lays an image over this one, with a path of its own, opacity and blend mode.").imagor(image),
    row("invert").help("Inverts the colours.").imagor(|_| effect("invert", &[])),
    row("label").help("Writes a line of text on the image.")
        .imagor(|args| Text::label(args).map(Filter::Text)),
    row("lossless").help("Writes WebP, AVIF and JPEG XL without loss.").imagor(|_| Some(Filter::Lossless)),
    row("max_age").help("Says for how many seconds clients may cache the result.")
        .both(1..=1, |args| args.size(0).map(|seconds| Filter::MaxAge(seconds.into()))),
    row("max_bytes").help("Lowers the quality until the file is no longer than this, where that can be.")
        .thumbor(1..=1, |args| {
            let bytes = args.size(0).filter(|bytes| *bytes > 0)?;
            Some(Filter::MaxBytes(bytes.into()))
        })
        .imagor(|args| {
            Some(match args.whole(0)? {
                bytes @ 1.. => Filter::MaxBytes(bytes as u64),
                _ => Filter::Nothing,
            })
        }),
    row("max_frames").help("Limits the frames of an animation.")
        .imagor(|args| {
            Some(match args.whole(0)? {
                1 => Filter::Frame(1),
                most @ 2..=1_000_000 => Filter::MostFrames(most as u32),
                _ => Filter::Nothing,
            })
        }),
    row("modulate").help("Changes brightness and saturation by percent, and hue by degrees.")
        .imagor(|args| {
            let [brightness, saturation, hue] = [0, 1, 2].map(|at| args.decimal(at));
            modulate(brightness?, saturation?, hue.filter(|_| args.count() == 3)?)
        }),
    row("no_upscale").help("Never makes the image larger.").both(0..=0, |_| Some(Filter::NoUpscale)),
    skipped("noise", Flavour::Thumbor),
    row("orient").help("Turns counter-clockwise by 0, 90, 180 or 270 degrees before everything else.")
        .imagor(|args| turn_imagor(args).map(Filter::Orient)),
    row("padding").help("Adds margins of a colour, in px.").imagor(padding),
    row("page").help("Shows this page or frame, from 1 on.").imagor(|args| Some(Filter::Frame(args.size(0)?.max(1)))),
    row("palette").help("Writes a PNG with a palette of 256 colours.").imagor(|_| Some(Filter::Colours(256))),
    row("pixelate").help("Makes squares of this side in px; 10 if none is given.")
        .imagor(|args| {
            Some(Filter::Pixelate(match args.whole(0)? {
                side @ 1..=1_000_000 => side as u32,
                _ => 10,
            }))
        }),
    row("preview").help("Has no effect: results are kept as the cache says.").differs("results are kept as the cache says").imagor(|_| Some(Filter::Nothing)),
    row("proportion").help("Scales the image by a factor; imagor also takes one above 1 as per cent.")
        .both(1..=1, |args| args.decimal(0).map(Filter::Proportion)),
    row("quality").help("Sets the quality of the file, 1 to 100.")
        .both(1..=1, |args| args.size(0).map(Filter::Quality)),
    row("raw").help("Sends the source unchanged.").imagor(|_| Some(Filter::Raw)),
    skipped("red_eye", Flavour::Thumbor),
    skipped("redact", Flavour::Imagor),
    skipped("redact_oval", Flavour::Imagor),
    row("rgb").help("Adds a percentage of full scale to each of red, green and blue.")
        .thumbor(3..=3, |args| rgb(|at| args.whole(at).map(|value| value as f64)))
        .imagor(|args| rgb(|at| args.decimal(at).filter(|_| args.count() == 3))),
    row("rotate").help("Turns counter-clockwise by a multiple of 90 degrees.")
        .thumbor(1..=1, |args| turn(args.whole(0)?).map(Filter::Rotate))
        .imagor(|args| turn_imagor(args).map(Filter::Rotate)),
    row("round_corner").help("Rounds the corners by a radius across and down, on a colour.")
        .thumbor(4..=5, corners_thumbor).imagor(corners_imagor),
    row("saturation").help("Changes the saturation: thumbor by a factor, imagor by percent.")
        .thumbor(1..=1, |args| {
            let factor = args.decimal(0)?.clamp(0.0, 1000.0);
            effect("saturation", &[number(factor), "rms".to_owned()])
        })
        .imagor(|args| modulate(0.0, args.decimal(0)?, 0.0)),
    row("sharpen").help("Sharpens: thumbor's wavelets are an unsharp mask here, with a note.")
        .thumbor(3..=3, |args| {
            let (amount, radius) = (args.decimal(0)?, args.decimal(1)?);
            args.flag(2)?;
            let is_valid = (0.0..=1000.0).contains(&amount) && (0.0..=1000.0).contains(&radius);
            effect("unsharp", &[format!("0x{}+{}+0", number(radius), number(amount))]).filter(|_| is_valid)
        })
        .imagor(|args| {
            let strength = args.decimal(usize::from(args.has(1)))?;
            let sigma = (1.0 + 2.0 * strength).clamp(0.0, 10.0);
            effect("sharpen-l", &[number(sigma), "0".to_owned(), "2".to_owned()])
        })
        .differs_from(&[Flavour::Thumbor], "an unsharp mask in place of wavelets")
        .note(|flavour, _| {
            let note = "sharpen: an unsharp mask is near thumbor's wavelets, not equal to them";
            (flavour == Flavour::Thumbor).then(|| note.to_owned())
        }),
    row("stretch").help("Scales to the requested size without keeping the aspect ratio.")
        .both(0..=0, |_| Some(Filter::Stretch)),
    row("strip_exif").help("Leaves out all metadata.").both(0..=0, |_| Some(Filter::StripMetadata)),
    row("strip_icc").help("Converts the colours to sRGB, and leaves out the profile.")
        .both(0..=0, |_| Some(Filter::ToSrgb)),
    row("strip_metadata").help("Leaves out all metadata.").both(0..=0, |_| Some(Filter::StripMetadata)),
    row("text").help("Writes text on the image, in a font, broken into lines of a width, aligned and blended.")
        .imagor(|args| Text::typeset(args).map(Filter::Text))
        .differs("a text is no mask")
        .note(|_, args| ignored("text", &Text::typeset_ignores(args))),
    row("thumbhash").help("Adds a ThumbHash to the document of `meta`.").pixel_data(|args| bare(args, PixelData::ThumbHash)),
    row("to_colorspace").help("Converts the colours to `srgb` or `p3`; others are skipped, with a note.")
        .differs("only `srgb` and `p3` are known")
        .imagor(|args| match &*args.text(0).unwrap_or_default().to_ascii_lowercase() {
            "" | "srgb" => Some(Filter::ToSrgb),
            "p3" => Some(Filter::ToP3),
            _ => None,
        }),
    row("trim").help("Cuts off the border, compared with a corner to this tolerance.")
        .imagor(|args| {
            let from_end = args.text(1).as_deref() == Some("bottom-right");
            Some(Filter::Trim(Trim { from_end, tolerance: args.size(0) }))
        }),
    row("upscale").help("Lets `fit-in` make the image larger.").both(0..=0, |_| Some(Filter::Upscale)),
    row("watermark").help("Lays another image, by path or URL, over the image: at a place, with an opacity and a size.")
        .both(4..=6, |args| Some(Filter::Overlay(Overlay::watermark(args)?, None))),
];

/// Returns the documentation of each filter that a program has.
pub(super) fn option_help(flavour: Flavour) -> Vec<OptionHelp> {
    let rows = ALL.iter().filter(|row| row.is_of(flavour));
    let of =
        |(what, flavours): (&str, &[Flavour])| flavours.contains(&flavour).then(|| what.to_owned());
    rows.map(|row| OptionHelp {
        differs: row.differs.and_then(of),
        ..OptionHelp::new(&[row.name], row.help)
    })
    .collect()
}

/// Parses a filter; `None` if it is skipped. Overlay images in its arguments may have filters of their own, nested at
/// most `levels` deep.
pub(super) fn read(flavour: Flavour, name: &str, args: &str, levels: usize) -> Option<Filter> {
    let row = ALL.iter().find(|row| row.name == name)?;
    match flavour {
        Flavour::Thumbor => {
            let (counts, read) = row.thumbor.as_ref()?;
            let args = percent::decode(args).ok()?;
            let args = Args::new(flavour, &args, levels);
            read(&args).filter(|_| counts.contains(&args.count()))
        }
        Flavour::Imagor => {
            let args = Args::new(flavour, args, levels);
            match row.pixel_data {
                Some(parse) => parse(&args).ok().map(Filter::PixelData),
                None => row.imagor?(&args),
            }
        }
    }
}

/// Whether thumbor or imagor has this filter, written as `name(args)`, with this number of arguments. The end of the
/// text may be cut off.
pub(super) fn has(flavour: Flavour, filter: &str) -> bool {
    let (name, args) = filter.split_once('(').unwrap_or((filter, ""));
    let Some(row) = ALL.iter().find(|row| row.name == name) else {
        return false;
    };
    match (flavour, &row.thumbor) {
        (Flavour::Imagor, _) => row.imagor.is_some() || row.pixel_data.is_some(),
        (Flavour::Thumbor, None) => false,
        (Flavour::Thumbor, Some((counts, _))) => match args.strip_suffix(')') {
            Some(args) => counts.contains(&Args::new(flavour, args, 0).count()),
            None => true,
        },
    }
}

/// Returns a note if a filter is applied, but a part of it is not supported or acts differently.
pub(super) fn note(flavour: Flavour, name: &str, args: &str) -> Option<String> {
    let row = ALL.iter().find(|row| row.name == name)?;
    (row.note)(flavour, args)
}

/// Returns what is wrong with the arguments of a filter that adds data to the document of imagor's `meta`; `None` if
/// nothing is, or for any other filter.
pub(super) fn data_mistake(name: &str, args: &str) -> Option<&'static str> {
    let parse = ALL.iter().find(|row| row.name == name)?.pixel_data?;
    parse(&Args::new(Flavour::Imagor, args, 0)).err()
}

fn bare(args: &Args<'_>, data: PixelData) -> Result<PixelData, &'static str> {
    match args.count() {
        0 => Ok(data),
        _ => Err("it takes no arguments"),
    }
}

fn blurhash(args: &Args<'_>) -> Result<PixelData, &'static str> {
    let count = |at: usize| args.raw(at).and_then(|text| text.parse().ok());
    match (count(0), count(1), args.count()) {
        (Some(across @ 1..=9), Some(down @ 1..=9), 2) => Ok(PixelData::BlurHash(across, down)),
        _ => Err("it takes two numbers of components, each 1 to 9"),
    }
}

fn ignored(name: &str, what: &[&str]) -> Option<String> {
    (!what.is_empty()).then(|| format!("{name}: {} is ignored", what.join(", ")))
}

fn effect(name: &str, args: &[String]) -> Option<Filter> {
    Effect::new(name, args.to_vec()).ok().map(Filter::Effect)
}

/// Formats a number with up to four decimals, without trailing zeros.
fn number(value: f64) -> String {
    ((value * 1e4).round() / 1e4 + 0.0).to_string()
}

/// Returns imagor's contrast factor for -100 to 100 percent.
fn contrast_imagor(percent: f64) -> f64 {
    let c = (percent * 2.55).clamp(-255.0, 255.0);
    259.0 * (c + 255.0) / (255.0 * (259.0 - c))
}

/// Returns thumbor's contrast factor, which thumbor computes in whole hundredths.
fn contrast_thumbor(percent: i64) -> f64 {
    let share = percent.clamp(-1_000_000, 1_000_000) + 100;
    ((share * share / 100) as f64 / 100.0).min(1000.0)
}

/// Converts percent of full scale to levels of 255, as text.
fn levels(percent: f64) -> String {
    number((percent * 2.55).clamp(-255.0, 255.0))
}

/// Makes the effect that adds a percentage of full scale to each channel. `percent` returns those of red, green and
/// blue.
fn rgb(percent: impl Fn(usize) -> Option<f64>) -> Option<Filter> {
    effect(
        "rgb",
        &[
            levels(percent(0)?),
            levels(percent(1)?),
            levels(percent(2)?),
        ],
    )
}

/// Returns the turn for degrees counterclockwise, where the inner `None` is that by 0. `None` for other angles than
/// multiples of 90.
fn turn(degrees: i64) -> Option<Option<Turn>> {
    match degrees.rem_euclid(360) {
        0 => Some(None),
        90 => Some(Some(Turn::R270)),
        180 => Some(Some(Turn::R180)),
        270 => Some(Some(Turn::R90)),
        _ => None,
    }
}

fn turn_imagor(args: &Args<'_>) -> Option<Option<Turn>> {
    turn(args.whole(0).filter(|degrees| (0..360).contains(degrees))?)
}

fn fill(args: &Args<'_>) -> Option<Filter> {
    Ground::read(args.flavour, &args.word(0)?).map(Filter::Fill)
}

fn blur_thumbor(args: &Args<'_>) -> Option<Filter> {
    let radius = args.size(0).filter(|radius| *radius > 0)?.min(150);
    let sigma = match args.has(1) {
        false => 0.0,
        // thumbor squares sigma, so that its sign has no effect.
        true => args.decimal(1)?.abs().min(150.0),
    };
    let sigma = if sigma == 0.0 {
        f64::from(radius)
    } else {
        sigma
    };
    effect("blur", &[format!("{radius}x{}", number(sigma))])
}

fn blur_imagor(args: &Args<'_>) -> Option<Filter> {
    let sigma = match args.count() {
        2 => args.decimal(1)?,
        _ => args.decimal(0)? / 2.0,
    };
    match sigma > 0.0 {
        true => effect("blur", &[format!("0x{}", number(sigma.min(1000.0)))]),
        false => Some(Filter::Nothing),
    }
}

fn corners_thumbor(args: &Args<'_>) -> Option<Filter> {
    let radii = args.text(0)?;
    let (rx, ry) = radii.split_once('|').unwrap_or((&radii, &radii));
    let (r, g, b) = (args.byte(1)?, args.byte(2)?, args.byte(3)?);
    let clear = args.flag(4)?;
    round_corners(
        (rx.parse().ok()?, ry.parse().ok()?),
        (!clear).then_some(Colour { r, g, b, a: 255 }),
    )
}

fn corners_imagor(args: &Args<'_>) -> Option<Filter> {
    let rx = args.size(0).filter(|_| args.has(0))?;
    let ground = args.text(2).and_then(|text| colours::read(&text));
    round_corners((rx, args.size(usize::from(args.has(1)))?), ground)
}

fn round_corners(radii: (u32, u32), ground: Option<Colour>) -> Option<Filter> {
    let mut args = vec![radii.0.to_string(), radii.1.to_string()];
    args.extend(ground.map(crate::effects::rgb));
    effect("round", &args)
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
fn focal(args: &Args<'_>) -> Option<Filter> {
    let numbers: Option<Vec<f64>> = args
        .all
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

/// Parses the margins after a colour: left, top, right and bottom. Without the last two, opposite sides are equal.
fn padding(args: &Args<'_>) -> Option<Filter> {
    let ground = Ground::read(args.flavour, &args.text(0)?)?;
    let left = args.size(1).filter(|_| args.has(1))?;
    let top = if args.has(2) { args.size(2)? } else { left };
    let all = args.has(4);
    let (right, bottom) = if all {
        (args.size(3)?, args.size(4)?)
    } else {
        (left, top)
    };
    Some(Filter::Padding(ground, [left, top, right, bottom]))
}

fn depth(args: &Args<'_>) -> Option<Filter> {
    match args.whole(0)? {
        bits @ (8 | 16) => Some(Filter::Depth(bits as u8)),
        // PNGs with fewer bits have a palette of that many index bits.
        bits @ (1 | 2 | 4) => Some(Filter::Colours(1 << bits)),
        _ => None,
    }
}

/// Parses imagor's filter `image`; `None` also if overlay images are nested too deeply.
fn image(args: &Args<'_>) -> Option<Filter> {
    let (overlay, nested) = Overlay::image(args)?;
    let Some((mut parts, sides)) = nested else {
        return Some(Filter::Overlay(overlay, None));
    };
    let levels_below = args.levels.checked_sub(1)?;
    let filters = std::mem::take(&mut parts.filters).into_iter();
    let parse =
        |(name, own_args): (String, String)| read(args.flavour, &name, &own_args, levels_below);
    let nested = Nested {
        parts,
        sides,
        filters: filters.filter_map(parse).collect(),
    };
    Some(Filter::Overlay(overlay, Some(Box::new(nested))))
}
