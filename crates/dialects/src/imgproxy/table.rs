//! The table of all options: their names, how their arguments are read, and how they are written.

use andon_recipe::{Colour, Profile};

use super::args::{self, Wrong, colour, int, not_negative, number, positive, size, truth};
use super::gravity::Gravity;
use super::options::{Extend, Mask, Options, Resizing, Trim, format};
use super::partly::profile;
use super::path::PIPELINE;
use crate::effects::rgb;
use crate::signature::{Checksum, base64};

/// An option of the table.
pub(super) struct Row {
    /// All names of the option. It is written by the last one.
    pub(super) names: &'static [&'static str],
    /// The most arguments that the option takes.
    pub(super) most: usize,
    /// Reads the option's arguments, of which there is at least one.
    pub(super) read: fn(&mut Options, &[&str]) -> Result<(), Wrong>,
    /// Writes the option's arguments. `None`: other options write what it sets.
    pub(super) show: Option<fn(&Options) -> String>,
    /// The part of a request that the option changes.
    pub(super) kind: About,
}

/// The part of a request that an option changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The image that is made.
    Picture,
    /// How the response is sent.
    Answer,
    /// Limits, which URLs may set only if the configuration allows it.
    Limit,
    /// Nothing: the option is read, and ignored for this reason.
    Ignored(&'static str),
}

macro_rules! row {
    ($names:expr, $most:expr, $kind:expr, $read:expr, $show:expr) => {
        Row {
            names: $names,
            most: $most,
            read: $read,
            show: $show,
            kind: $kind,
        }
    };
}

/// Makes the row of an option that sets one value from one argument.
macro_rules! value {
    ($names:expr, $read:expr, $($field:ident).+) => {
        row!($names, 1, About::Picture,
            |options, args| {
                options.$($field).+ = $read(args[0])?;
                Ok(())
            },
            Some(|options| options.$($field).+.to_string()))
    };
}

/// Makes the row of an option that sets a Boolean.
macro_rules! flag {
    ($names:expr, $kind:expr, $field:ident) => {
        row!(
            $names,
            1,
            $kind,
            |options, args| {
                options.$field = truth(args[0]);
                Ok(())
            },
            Some(|options| u8::from(options.$field).to_string())
        )
    };
}

/// Makes the row of an option that is read and ignored.
macro_rules! ignored {
    ($names:expr, $why:expr) => {
        row!(
            $names,
            usize::MAX,
            About::Ignored($why),
            |_, _| Ok(()),
            None
        )
    };
}

/// All options, in the order in which they are written.
pub(super) const ALL: &[Row] = &[
    row!(&["resize", "rs"], 8, About::Picture, resize, None),
    row!(&["size", "s"], 7, About::Picture, read_size, None),
    row!(
        &["resizing_type", "rt"],
        1,
        About::Picture,
        |options, args| {
            let named = Resizing::ALL.iter().find(|(name, _)| *name == args[0]);
            let (_, resizing) =
                named.ok_or_else(|| format!("`{}` is no way to resize", args[0]))?;
            options.resizing = *resizing;
            Ok(())
        },
        Some(|options| {
            let named = Resizing::ALL
                .iter()
                .find(|(_, kind)| *kind == options.resizing);
            named.map_or("fit", |(name, _)| name).to_owned()
        })
    ),
    value!(&["width", "w"], size, width),
    value!(&["height", "h"], size, height),
    value!(&["min-width", "min_width", "mw"], size, min_width),
    value!(&["min-height", "min_height", "mh"], size, min_height),
    row!(
        &["zoom", "z"],
        2,
        About::Picture,
        |options, args| {
            let zoom = positive(args[0])?;
            options.zoom = (zoom, args.get(1).map_or(Ok(zoom), |text| positive(text))?);
            Ok(())
        },
        Some(|options| format!("{}:{}", options.zoom.0, options.zoom.1))
    ),
    value!(&["dpr"], positive, dpr),
    flag!(&["enlarge", "el"], About::Picture, enlarge),
    row!(
        &["extend", "ex"],
        4,
        About::Picture,
        |options, args| extend(&mut options.extend, args),
        Some(|options| extended(&options.extend))
    ),
    row!(
        &["extend_aspect_ratio", "extend_ar", "exar"],
        4,
        About::Picture,
        |options, args| extend(&mut options.extend_ratio, args),
        Some(|options| extended(&options.extend_ratio))
    ),
    row!(
        &["gravity", "g"],
        usize::MAX,
        About::Picture,
        |options, args| options.gravity.read(args, true),
        Some(|options| options.gravity.text())
    ),
    row!(
        &["crop", "c"],
        usize::MAX,
        About::Picture,
        |options, args| {
            options.crop.width = not_negative(args[0])?;
            if let Some(height) = args.get(1) {
                options.crop.height = not_negative(height)?;
            }
            match args.get(2..) {
                Some(args) if !args.is_empty() => {
                    let gravity = options.crop.gravity.get_or_insert_with(Gravity::default);
                    gravity.read(args, true)
                }
                _ => Ok(()),
            }
        },
        Some(|options| {
            let crop = &options.crop;
            let gravity = crop
                .gravity
                .map_or(String::new(), |gravity| format!(":{}", gravity.text()));
            format!("{}:{}{gravity}", crop.width, crop.height)
        })
    ),
    row!(
        &["crop_aspect_ratio", "crop_ar", "car"],
        2,
        About::Picture,
        |options, args| {
            options.crop.ratio = not_negative(args[0])?;
            options.crop.grows = args.get(1).is_some_and(|text| truth(text));
            Ok(())
        },
        Some(|options| format!("{}:{}", options.crop.ratio, u8::from(options.crop.grows)))
    ),
    row!(
        &["trim", "t"],
        4,
        About::Picture,
        trim,
        Some(|options| options.trim.map_or(String::new(), |trim| {
            let colour = trim.colour.map(rgb).unwrap_or_default();
            let (across, down) = trim.equal;
            format!(
                "{}:{colour}:{}:{}",
                trim.threshold,
                u8::from(across),
                u8::from(down)
            )
        }))
    ),
    row!(
        &["padding", "pd"],
        4,
        About::Picture,
        |options, args| {
            for (place, text) in args.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
                let px = size(text)?;
                // As in CSS, a side says what those opposite and after it are.
                let sides: &[usize] = [&[0, 1, 2, 3][..], &[1, 3], &[2], &[3]][place];
                sides.iter().for_each(|side| options.padding[*side] = px);
            }
            Ok(())
        },
        Some(|options| options.padding.map(|px| px.to_string()).join(":"))
    ),
    flag!(&["auto_rotate", "ar"], About::Picture, auto_rotate),
    row!(
        &["rotate", "rot"],
        1,
        About::Picture,
        |options, args| match int(args[0], i64::MIN, i64::MAX)? {
            degrees if degrees % 90 == 0 => {
                options.rotate = degrees.rem_euclid(360) as u16;
                Ok(())
            }
            degrees => Err(format!("{degrees} is no multiple of 90 degrees")),
        },
        Some(|options| options.rotate.to_string())
    ),
    row!(
        &["flip", "fl"],
        2,
        About::Picture,
        |options, args| {
            let (across, down) = &mut options.flip;
            for (text, place) in args.iter().zip([across, down]) {
                if !text.is_empty() {
                    *place = truth(text);
                }
            }
            Ok(())
        },
        Some(|options| format!("{}:{}", u8::from(options.flip.0), u8::from(options.flip.1)))
    ),
    row!(
        &["background", "bg"],
        3,
        About::Picture,
        |options, args| {
            options.background = match args {
                [""] => None,
                [digits] => Some(colour(digits)?),
                [r, g, b] => {
                    let level = |text: &str| int(text, 0, 255).map(|level| level as u8);
                    let (r, g, b) = (level(r)?, level(g)?, level(b)?);
                    Some(Colour { r, g, b, a: 255 })
                }
                _ => return Err("a background is RRGGBB or R:G:B".to_owned()),
            };
            Ok(())
        },
        Some(|options| options.background.map(rgb).unwrap_or_default())
    ),
    value!(&["background_alpha", "bga"], share, background_alpha),
    row!(&["adjust", "a"], 4, About::Picture, adjust, None),
    row!(
        &["brightness", "br"],
        1,
        About::Picture,
        |options, args| {
            options.effects.brightness = int(args[0], -255, 255)? as i16;
            Ok(())
        },
        Some(|options| options.effects.brightness.to_string())
    ),
    row!(
        &["contrast", "co"],
        usize::MAX,
        About::Picture,
        |options, args| {
            // Objects have the same short name.
            if args[0].parse::<f64>().is_ok() {
                options.effects.contrast = not_negative(args[0])?;
            }
            Ok(())
        },
        Some(|options| options.effects.contrast.to_string())
    ),
    value!(&["saturation", "sa"], not_negative, effects.saturation),
    row!(
        &["monochrome", "mc"],
        2,
        About::Picture,
        |options, args| {
            options.effects.monochrome.0 = share(args[0])?;
            args.get(1).map_or(Ok(()), |text| {
                options.effects.monochrome.1 = colour(text)?;
                Ok(())
            })
        },
        Some(|options| {
            let (intensity, colour) = options.effects.monochrome;
            format!("{intensity}:{}", rgb(colour))
        })
    ),
    row!(
        &["duotone", "dt"],
        3,
        About::Picture,
        |options, args| {
            let (intensity, dark, light) = &mut options.effects.duotone;
            *intensity = share(args[0])?;
            for (text, place) in args[1..].iter().zip([dark, light]) {
                *place = colour(text)?;
            }
            Ok(())
        },
        Some(|options| {
            let (intensity, dark, light) = options.effects.duotone;
            format!("{intensity}:{}:{}", rgb(dark), rgb(light))
        })
    ),
    row!(
        &["colorize", "col"],
        3,
        About::Picture,
        |options, args| {
            options.effects.colorize.0 = share(args[0])?;
            args.get(1).map_or(Ok(()), |text| {
                options.effects.colorize.1 = colour(text)?;
                Ok(())
            })
        },
        Some(|options| {
            let (opacity, colour) = options.effects.colorize;
            format!("{opacity}:{}", rgb(colour))
        })
    ),
    row!(
        &["gradient", "gr"],
        5,
        About::Picture,
        gradient,
        Some(|options| {
            let gradient = &options.effects.gradient;
            let (colour, angle) = (rgb(gradient.colour), gradient.angle);
            let (opacity, start, stop) = (gradient.opacity, gradient.start, gradient.stop);
            format!("{opacity}:{colour}:{angle}:{start}:{stop}")
        })
    ),
    value!(&["blur", "bl"], not_negative, effects.blur),
    value!(&["sharpen", "sh"], not_negative, effects.sharpen),
    row!(
        &["unsharp_masking", "unsharpening", "ush"],
        3,
        About::Picture,
        |options, args| {
            let unsharp = &mut options.effects.unsharp;
            let name = given(args, 0).unwrap_or("auto");
            let named = Mask::ALL.iter().find(|(known, _)| *known == name);
            let (_, mode) =
                named.ok_or_else(|| format!("`{name}` is no mode of an unsharp mask"))?;
            unsharp.mode = *mode;
            if let Some(text) = given(args, 1) {
                unsharp.weight = positive(text)?;
            }
            if let Some(text) = given(args, 2) {
                unsharp.divider = positive(text)?;
            }
            Ok(())
        },
        Some(|options| {
            let unsharp = &options.effects.unsharp;
            let named = Mask::ALL.iter().find(|(_, mode)| *mode == unsharp.mode);
            let name = named.map_or("none", |(name, _)| name);
            format!("{name}:{}:{}", unsharp.weight, unsharp.divider)
        })
    ),
    value!(&["pixelate", "pix"], size, effects.pixelate),
    row!(
        &["blur_areas", "ba"],
        5 * 16,
        About::Picture,
        |options, args| {
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
            options.effects.blurred = match args {
                [""] => Vec::new(),
                _ => args.chunks(5).map(area).collect::<Result<_, _>>()?,
            };
            Ok(())
        },
        Some(|options| {
            let areas = options.effects.blurred.iter().flatten();
            areas.map(f64::to_string).collect::<Vec<_>>().join(":")
        })
    ),
    row!(
        &["watermark", "wm"],
        5,
        About::Picture,
        watermark,
        Some(|options| {
            let watermark = &options.watermark;
            let gravity = match (watermark.tiled, &watermark.gravity) {
                (true, gravity) => format!("re:{}:{}", gravity.x, gravity.y),
                (false, gravity) => gravity.text(),
            };
            format!("{}:{gravity}:{}", watermark.opacity, watermark.scale)
        })
    ),
    row!(
        &["quality", "q"],
        1,
        About::Picture,
        |options, args| {
            options.quality = percent(args[0])?;
            Ok(())
        },
        Some(|options| options.quality.to_string())
    ),
    row!(
        &["format_quality", "fq"],
        2 * 16,
        About::Picture,
        |options, args| {
            for pair in args.chunks(2) {
                let [name, quality] = pair else {
                    return Err("qualities come in pairs of format and quality".to_owned());
                };
                options
                    .format_quality
                    .insert(format(name)?, percent(quality)?);
            }
            Ok(())
        },
        Some(|options| {
            let pairs = options.format_quality.iter();
            pairs
                .map(|(name, quality)| format!("{name}:{quality}"))
                .collect::<Vec<_>>()
                .join(":")
        })
    ),
    row!(
        &["max_bytes", "mb"],
        1,
        About::Picture,
        |options, args| {
            options.max_bytes = int(args[0], 0, i64::MAX)?.unsigned_abs();
            Ok(())
        },
        Some(|options| options.max_bytes.to_string())
    ),
    row!(
        &["format", "ext", "f"],
        1,
        About::Picture,
        |options, args| {
            options.format = Some(format(args[0])?);
            Ok(())
        },
        Some(|options| match options.format {
            Some("auto") => "best".to_owned(),
            other => other.unwrap_or_default().to_owned(),
        })
    ),
    flag!(&["strip_metadata", "sm"], About::Picture, strip_metadata),
    flag!(&["keep_copyright", "kcr"], About::Picture, keep_copyright),
    flag!(
        &["strip_color_profile", "scp"],
        About::Picture,
        strip_profile
    ),
    row!(
        &["jpeg_options", "jpgo"],
        6,
        About::Picture,
        |options, args| {
            let places = [&mut options.progressive, &mut options.full_chroma];
            for (place, text) in places.into_iter().zip(args) {
                if !text.is_empty() {
                    *place = truth(text);
                }
            }
            Ok(())
        },
        Some(|options| format!(
            "{}:{}",
            u8::from(options.progressive),
            u8::from(options.full_chroma)
        ))
    ),
    row!(
        &["png_options", "pngo"],
        3,
        About::Picture,
        |options, args| {
            options.progressive = truth(args[0]);
            if let Some(text) = given(args, 1) {
                options.colours = if truth(text) { MOST_COLOURS } else { 0 };
            }
            if let Some(text) = given(args, 2) {
                let most = int(text, 2, MOST_COLOURS.into())? as u16;
                // The number alone asks for nothing.
                options.colours = options.colours.min(most);
            }
            Ok(())
        },
        Some(|options| {
            let (interlaced, colours) = (u8::from(options.progressive), options.colours);
            match colours {
                0 => format!("{interlaced}:0"),
                most => format!("{interlaced}:1:{most}"),
            }
        })
    ),
    row!(
        &["webp_options", "webpo"],
        3,
        About::Picture,
        |options, args| {
            options.lossless = args[0] == "lossless";
            options.near_lossless = args[0] == "near_lossless";
            Ok(())
        },
        Some(|options| match (options.lossless, options.near_lossless) {
            (true, _) => "lossless",
            (_, true) => "near_lossless",
            _ => "lossy",
        }
        .to_owned())
    ),
    row!(
        &["autoquality", "aq"],
        5,
        About::Picture,
        |options, args| match (args[0], given(args, 1)) {
            ("size", Some(bytes)) => {
                options.max_bytes = int(bytes, 0, i64::MAX)?.unsigned_abs();
                Ok(())
            }
            ("" | "none" | "size" | "dssim" | "ml", _) => Ok(()),
            (method, _) => Err(format!("`{method}` is no way to find a quality")),
        },
        None
    ),
    row!(
        &["page", "pg"],
        1,
        About::Picture,
        |options, args| {
            options.page = size(args[0])?.saturating_add(1);
            Ok(())
        },
        Some(|options| options
            .page
            .checked_sub(1)
            .map_or(String::new(), |page| page.to_string()))
    ),
    flag!(&["disable_animation", "da"], About::Picture, still),
    row!(
        &["skip_processing", "skp"],
        16,
        About::Picture,
        |options, args| {
            options.skip = match args {
                [""] => Vec::new(),
                names => names
                    .iter()
                    .map(|name| format(name))
                    .collect::<Result<_, _>>()?,
            };
            Ok(())
        },
        Some(|options| options.skip.join(":"))
    ),
    flag!(&["raw"], About::Answer, raw),
    row!(
        &["cachebuster", "cb"],
        1,
        About::Answer,
        |_, _| Ok(()),
        None
    ),
    row!(
        &["filename", "fn"],
        2,
        About::Answer,
        |options, args| {
            let name = match args.get(1).is_some_and(|text| truth(text)) {
                false => Some(args[0].to_owned()),
                true => base64::read(args[0]).and_then(|bytes| String::from_utf8(bytes).ok()),
            };
            options.filename =
                Some(name.ok_or_else(|| format!("`{}` is no base64 of a name", args[0]))?);
            Ok(())
        },
        Some(|options| {
            let name = options.filename.as_ref();
            name.map_or(String::new(), |name| {
                format!("{}:1", base64::bare(name.as_bytes()))
            })
        })
    ),
    flag!(&["return_attachment", "att"], About::Answer, attachment),
    row!(
        &["expires", "exp"],
        1,
        About::Answer,
        |options, args| {
            // What was before 1970 is past as well.
            let seconds = int(args[0], i64::MIN, i64::MAX)?;
            options.expires = if seconds < 0 {
                1
            } else {
                seconds.unsigned_abs()
            };
            Ok(())
        },
        Some(|options| options.expires.to_string())
    ),
    row!(
        &["hashsum", "hs"],
        2,
        About::Answer,
        |options, args| {
            let digits = args.get(1).copied().unwrap_or_default();
            let read = Checksum::new(args[0], digits);
            options.checksum = Some(read.ok_or_else(|| {
                format!(
                    "`{}` is no md5, sha1, sha256 or sha512 in hex digits",
                    args.join(":")
                )
            })?);
            Ok(())
        },
        Some(|options| {
            let checksum = options.checksum.as_ref();
            checksum.map_or(String::new(), Checksum::to_string)
        })
    ),
    row!(
        &["max_src_resolution", "msr"],
        1,
        About::Limit,
        |options, args| {
            options.limits.resolution = not_negative(args[0])?;
            Ok(())
        },
        Some(|options| options.limits.resolution.to_string())
    ),
    row!(
        &["max_animation_frames", "maf"],
        1,
        About::Limit,
        |options, args| {
            options.limits.frames = size(args[0])?;
            Ok(())
        },
        Some(|options| options.limits.frames.to_string())
    ),
    row!(
        &["max_result_dimension", "mrd"],
        1,
        About::Limit,
        |options, args| {
            options.limits.side = size(args[0])?;
            Ok(())
        },
        Some(|options| options.limits.side.to_string())
    ),
    row!(
        &["max_src_file_size", "msfs"],
        1,
        About::Limit,
        |options, args| {
            options.limits.bytes = int(args[0], 0, i64::MAX)?.unsigned_abs();
            Ok(())
        },
        Some(|options| options.limits.bytes.to_string())
    ),
    row!(
        &["max_animation_frame_resolution", "mafr"],
        1,
        About::Limit,
        |_, args| not_negative(args[0]).map(drop),
        None
    ),
    row!(
        &["enforce_thumbnail", "eth"],
        1,
        About::Ignored("no image is made of an embedded thumbnail"),
        |_, _| Ok(()),
        None
    ),
    ignored!(
        &["preserve_hdr", "ph"],
        "the depth of the source is kept wherever the format holds it"
    ),
    ignored!(
        &["resizing_algorithm", "ra"],
        "images are always scaled with Lanczos 3"
    ),
    ignored!(
        &["watermark_url", "wmu"],
        "the watermark is the configuration's"
    ),
    ignored!(
        &["watermark_text", "wmt"],
        "the watermark is the configuration's"
    ),
    ignored!(
        &["watermark_size", "wms"],
        "the scale of `wm` sets its size"
    ),
    ignored!(
        &["watermark_rotate", "wm_rot", "wmr"],
        "watermarks are not turned"
    ),
    ignored!(&["watermark_shadow", "wmsh"], "watermarks have no shadow"),
    ignored!(
        &["objects_position", "obj_pos", "op"],
        "objects are not looked for"
    ),
    ignored!(&["blur_detections", "bd"], "objects are not looked for"),
    ignored!(&["draw_detections", "dd"], "objects are not looked for"),
    ignored!(&["style", "st"], "SVGs are not changed"),
    ignored!(&["video_thumbnail_second", "vts"], "no videos are read"),
    ignored!(&["video_thumbnail_keyframes", "vtk"], "no videos are read"),
    ignored!(&["video_thumbnail_tile", "vtt"], "no videos are read"),
    ignored!(&["video_thumbnail_animation", "vta"], "no videos are read"),
    row!(
        &["avif_options", "avifo"],
        1,
        About::Picture,
        |options, args| {
            options.thins_chroma = match args[0] {
                "" | "auto" => None,
                "on" => Some(true),
                "off" => Some(false),
                other => return Err(format!("`{other}` is none of auto, on and off")),
            };
            Ok(())
        },
        Some(|options| match options.thins_chroma {
            None => "auto",
            Some(true) => "on",
            Some(false) => "off",
        }
        .to_owned())
    ),
    ignored!(&["pages", "pgs"], "one page is shown"),
    ignored!(&["dpi"], "the resolution in print is not written"),
    row!(
        &["color_profile", "icc", "cp"],
        1,
        About::Picture,
        |options, args| {
            options.profile = profile(args[0]);
            Ok(())
        },
        Some(|options| match options.profile {
            Some(Profile::P3) => "p3",
            Some(_) => "srgb",
            None => "",
        }
        .to_owned())
    ),
    ignored!(&["progressive_blur", "pbl"], "blur is as strong everywhere"),
    ignored!(&["crop_objects"], "objects are not looked for"),
    ignored!(
        &["bypass_cache", "bc"],
        "purging a URL makes its result anew"
    ),
    ignored!(&["cache_tags", "ct"], "results have the tags of the server"),
    ignored!(
        &["gif_options", "gifo"],
        "GIF is written with the settings of the server"
    ),
    ignored!(
        &["jxl_options", "jxlo"],
        "JPEG XL is written with the settings of the server"
    ),
    row!(
        &["fallback_image_url", "fiu"],
        1,
        About::Answer,
        |options, args| {
            let url = base64::read(args[0]).and_then(|bytes| String::from_utf8(bytes).ok());
            let url = url.ok_or_else(|| format!("`{}` is no base64 of a URL", args[0]))?;
            options.fallback = Some(url).filter(|url| !url.is_empty());
            Ok(())
        },
        Some(|options| {
            let url = options.fallback.as_ref();
            url.map_or(String::new(), |url| base64::bare(url.as_bytes()))
        })
    ),
];

/// The most colours of a palette.
const MOST_COLOURS: u16 = 256;

/// Writes those options whose values differ from the ones in `beyond`, pipeline by pipeline. `kinds` chooses the kinds
/// of options.
pub(super) fn texts(
    options: &Options,
    beyond: &Options,
    kinds: impl Fn(About) -> bool,
) -> Vec<String> {
    let mut texts = Vec::new();
    let mut last: Option<&Options> = None;
    for pipeline in options.pipelines() {
        let chained = last.map(|last| last.clone().chained());
        let beyond = chained.as_ref().unwrap_or(beyond);
        if last.is_some() {
            texts.push(PIPELINE.to_owned());
        }
        texts.extend(ALL.iter().filter_map(|row| {
            let show = row.show.filter(|_| kinds(row.kind))?;
            let (own, other) = (show(pipeline), show(beyond));
            (own != other).then(|| format!("{}:{own}", row.names.last().unwrap_or(&"")))
        }));
        last = Some(pipeline);
    }
    texts
}

/// Returns the option with this name.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().find(|row| row.names.contains(&name))
}

/// Reads a share from 0 to 1.
fn share(text: &str) -> Result<f64, Wrong> {
    number(text, 0.0, 1.0)
}

fn percent(text: &str) -> Result<u8, Wrong> {
    Ok(int(text, 0, 100)? as u8)
}

fn given<'a>(args: &[&'a str], place: usize) -> Option<&'a str> {
    args.get(place).copied().filter(|text| !text.is_empty())
}

fn resize(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    if let (Some(kind), Some(row)) = (given(args, 0), find("rt")) {
        (row.read)(options, &[kind])?;
    }
    read_size(options, &args[1..])
}

fn read_size(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    if let Some(width) = given(args, 0) {
        options.width = size(width)?;
    }
    if let Some(height) = given(args, 1) {
        options.height = size(height)?;
    }
    if let Some(enlarge) = given(args, 2) {
        options.enlarge = truth(enlarge);
    }
    match given(args, 3) {
        Some(_) => extend(&mut options.extend, &args[3..]),
        None => Ok(()),
    }
}

fn extend(extend: &mut Extend, args: &[&str]) -> Result<(), Wrong> {
    if let Some(on) = given(args, 0) {
        extend.on = truth(on);
    }
    match given(args, 1) {
        Some(_) => extend.gravity.read(&args[1..], false),
        None => Ok(()),
    }
}

fn extended(extend: &Extend) -> String {
    format!("{}:{}", u8::from(extend.on), extend.gravity.text())
}

fn trim(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let Some(threshold) = given(args, 0) else {
        options.trim = None;
        return Ok(());
    };
    let mut trim = Trim {
        threshold: not_negative(threshold)?,
        ..options.trim.unwrap_or_default()
    };
    if let Some(text) = given(args, 1) {
        trim.colour = Some(colour(text)?);
    }
    if let Some(text) = given(args, 2) {
        trim.equal.0 = truth(text);
    }
    if let Some(text) = given(args, 3) {
        trim.equal.1 = truth(text);
    }
    options.trim = Some(trim);
    Ok(())
}

fn adjust(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    for (place, name) in ["br", "co", "sa"].into_iter().enumerate() {
        if let (Some(text), Some(row)) = (given(args, place), find(name)) {
            (row.read)(options, &[text])?;
        }
    }
    Ok(())
}

fn gradient(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let gradient = &mut options.effects.gradient;
    gradient.opacity = share(args[0])?;
    if let Some(text) = given(args, 1) {
        gradient.colour = colour(text)?;
    }
    if let Some(text) = given(args, 2) {
        gradient.angle = match text {
            "down" => 0.0,
            "left" => 90.0,
            "up" => 180.0,
            "right" => 270.0,
            degrees => number(degrees, f64::MIN, f64::MAX)?.rem_euclid(360.0),
        };
    }
    if let Some(text) = given(args, 3) {
        gradient.start = share(text)?;
    }
    if let Some(text) = given(args, 4) {
        gradient.stop = share(text)?;
    }
    Ok(())
}

fn watermark(options: &mut Options, args: &[&str]) -> Result<(), Wrong> {
    let watermark = &mut options.watermark;
    if let Some(opacity) = given(args, 0) {
        watermark.opacity = share(opacity)?;
    }
    if let Some(place) = given(args, 1) {
        watermark.tiled = matches!(place, "re" | "ch");
        match place {
            "re" | "ch" => {}
            "fp" => return Err("`fp` is no place of a watermark".to_owned()),
            place => watermark.gravity.read(&[place], false)?,
        }
    }
    let offset = |text: &str| number(text, f64::MIN, f64::MAX);
    if let Some(x) = given(args, 2) {
        watermark.gravity.x = offset(x)?;
    }
    if let Some(y) = given(args, 3) {
        watermark.gravity.y = offset(y)?;
    }
    if let Some(scale) = given(args, 4) {
        watermark.scale = not_negative(scale)?;
    }
    Ok(())
}

/// Returns the first argument that ought to be a Boolean and is none. It counts as false, and is worth a note.
pub(super) fn doubtful<'a>(row: &Row, args: &[&'a str]) -> Option<&'a str> {
    let places: &[usize] = match *row.names.last()? {
        "rs" => &[3, 4],
        "s" => &[2, 3],
        "el" | "ex" | "exar" | "ar" | "sm" | "kcr" | "scp" | "da" | "raw" | "att" => &[0],
        "fl" => &[0, 1],
        "t" => &[2, 3],
        _ => &[],
    };
    let mut texts = places.iter().filter_map(|place| given(args, *place));
    texts.find(|text| !args::is_truth(text))
}
