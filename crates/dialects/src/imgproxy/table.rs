//! The table of imgproxy's options: their names, how their arguments are read and written, and what they do.

use super::args::{Wrong, any, bytes, colour, not_negative, percent, positive, share, size, yes};
use super::formats::format;
use super::options::{Mask, Options, Resizing};
use super::path::PIPELINE;
use super::row::{About, Arg, Row, custom, ignored, row};
use super::values::{
    THINNING, angle, areas, asks, bit, crop, crop_ratio, degrees, extend_text, fallback, filename,
    format_quality, format_text, hashsum, hex, levels, mask, moment, name_of, objects, page,
    page_text, palette, profile, profile_text, read_areas, read_autoquality, read_background,
    read_crop, read_crop_ratio, read_extend, read_fallback, read_filename, read_format_quality,
    read_hashsum, read_padding, read_palette, read_palette_size, read_skip, read_trim,
    read_watermark, read_watermark_text, read_watermark_url, read_webp, read_zoom, resizing, text,
    thinning, watermark, watermark_text, watermark_url, webp,
};
use crate::effects::rgb;
use crate::refusal::shorten;

/// Makes an argument that sets one value, from the functions that parse and write it, and the field that stores it.
macro_rules! arg {
    ($read:expr, $show:expr, $($field:tt).+) => {
        custom(
            |options, args| {
                options.$($field).+ = $read(args[0])?;
                Ok(())
            },
            |options| $show(&options.$($field).+),
        )
    };
}

/// Makes an argument that sets a Boolean.
macro_rules! flag {
    ($($field:tt).+) => {
        arg!(yes, bit, $($field).+).flag()
    };
}

/// Makes an argument that sets one value of the trim. It has no effect if the trim is switched off.
macro_rules! trim {
    ($read:expr, $show:expr, $($field:tt).+) => {
        custom(
            |options, args| {
                if let Some(trim) = &mut options.trim {
                    trim.$($field).+ = $read(args[0])?;
                }
                Ok(())
            },
            |options| options.trim.map_or(String::new(), |trim| $show(&trim.$($field).+)),
        )
    };
}

const RESIZING: Arg = arg!(resizing, |it: &_| name_of(&Resizing::ALL, *it), resizing);
const WIDTH: Arg = arg!(size, text, width);
const HEIGHT: Arg = arg!(size, text, height);
const ENLARGE: Arg = flag!(enlarge);
const EXTEND: Arg = custom(
    |options, args| read_extend(&mut options.extend, args),
    |options| extend_text(&options.extend),
)
.flag();
const EXTEND_RATIO: Arg = custom(
    |options, args| read_extend(&mut options.extend_ratio, args),
    |options| extend_text(&options.extend_ratio),
)
.flag();
const BRIGHTNESS: Arg = arg!(levels, text, effects.brightness);
const CONTRAST: Arg = custom(
    |options, args| {
        // `co` with a text is another option, about objects, which is ignored with a note.
        if args[0].parse::<f64>().is_ok() {
            options.effects.contrast = not_negative(args[0])?;
        }
        Ok(())
    },
    |options| options.effects.contrast.to_string(),
);
const SATURATION: Arg = arg!(not_negative, text, effects.saturation);

/// All options that a URL may contain, in the order that they have in canonical URLs.
#[rustfmt::skip]
pub(super) const ALL: &[Row] = &[
    row(&["resize", "rs"], &[RESIZING, WIDTH, HEIGHT, ENLARGE, EXTEND]).most(8).needed(0).unwritten()
        .help("Sets `rt`, `w`, `h`, `el` and `ex` together."),
    row(&["size", "s"], &[WIDTH, HEIGHT, ENLARGE, EXTEND]).most(7).needed(0).unwritten()
        .help("Sets `w`, `h`, `el` and `ex` together."),
    row(&["resizing_type", "rt"], &[RESIZING])
        .help("Says how the image is resized: `fit`, `fill`, `fill-down`, `force` or `auto`."),
    row(&["width", "w"], &[WIDTH]).help("Sets the width of the result, in px."),
    row(&["height", "h"], &[HEIGHT]).help("Sets the height of the result, in px."),
    row(&["min-width", "min_width", "mw"], &[arg!(size, text, min_width)])
        .help("Sets the least width that the image is scaled to, in px."),
    row(&["min-height", "min_height", "mh"], &[arg!(size, text, min_height)])
        .help("Sets the least height that the image is scaled to, in px."),
    row(&["zoom", "z"], &[custom(read_zoom, |options| format!("{}:{}", options.zoom.0, options.zoom.1))]).most(2)
        .help("Multiplies width and height by factors."),
    row(&["dpr"], &[arg!(positive, text, dpr)]).help("Multiplies all sizes by a device pixel ratio."),
    row(&["enlarge", "el"], &[ENLARGE]).help("Allows a result that is larger than the source."),
    row(&["extend", "ex"], &[EXTEND]).most(4)
        .help("Adds bars around an image that is smaller than the requested size."),
    row(&["extend_aspect_ratio", "extend_ar", "exar"], &[EXTEND_RATIO]).most(4)
        .help("Adds bars around an image up to the requested aspect ratio."),
    row(&["gravity", "g"], &[custom(|options, args| options.gravity.read(args, true), |options| options.gravity.text())])
        .most(usize::MAX).note("objects are not looked for", objects)
        .help("Says which part of the image stays: a side, a point (`fp`), what draws the eye (`sm`)."),
    row(&["crop", "c"], &[custom(read_crop, crop)]).most(usize::MAX).note("objects are not looked for", objects)
        .help("Crops before scaling, to a width and height in px or as shares."),
    row(&["crop_aspect_ratio", "crop_ar", "car"], &[custom(read_crop_ratio, crop_ratio)]).most(2)
        .help("Gives the crop an aspect ratio, by shrinking or growing it."),
    row(&["trim", "t"], &[
        custom(read_trim, |options| options.trim.map_or(String::new(), |trim| text(&trim.threshold))),
        trim!(|text| colour(text).map(Some), |colour: &Option<_>| colour.map(rgb).unwrap_or_default(), colour),
        trim!(yes, bit, equal.0).flag(), trim!(yes, bit, equal.1).flag(),
    ])
        .help("Cuts off the border: up to this threshold, of this colour, equally on both sides."),
    row(&["padding", "pd"], &[custom(read_padding, |options| options.padding.map(|px| px.to_string()).join(":"))]).most(4)
        .help("Adds margins in px, as in CSS: top, right, bottom, left."),
    row(&["auto_rotate", "ar"], &[flag!(auto_rotate)]).help("Turns the image upright."),
    row(&["rotate", "rot"], &[arg!(degrees, text, rotate)])
        .help("Turns the image clockwise by a multiple of 90 degrees."),
    row(&["flip", "fl"], &[flag!(flip.0), flag!(flip.1)]).needed(0)
        .help("Mirrors the image left to right, and top to bottom."),
    row(&["background", "bg"], &[custom(read_background, |options| options.background.map(rgb).unwrap_or_default())])
        .most(3).help("Fills what is transparent with a colour, `RRGGBB` or `R:G:B`."),
    row(&["background_alpha", "bga"], &[arg!(share, text, background_alpha)])
        .help("Sets the opacity of the background, 0 to 1."),
    row(&["adjust", "a"], &[BRIGHTNESS, CONTRAST, SATURATION]).most(4).needed(0).unwritten()
        .help("Sets `br`, `co` and `sa` together."),
    row(&["brightness", "br"], &[BRIGHTNESS]).help("Adds levels to all channels, -255 to 255."),
    row(&["contrast", "co"], &[CONTRAST]).most(usize::MAX)
        .note("objects are not looked for", |args| match args[0].parse::<f64>() {
            Ok(_) => None,
            Err(_) => Some("objects are not looked for; it is ignored".to_owned()),
        })
        .help("Multiplies the contrast by a factor."),
    row(&["saturation", "sa"], &[SATURATION]).help("Multiplies the saturation by a factor."),
    row(&["monochrome", "mc"], &[arg!(share, text, effects.monochrome.0), arg!(colour, hex, effects.monochrome.1)])
        .needed(2).help("Makes the image gray to this degree, in a colour."),
    row(&["duotone", "dt"], &[
        arg!(share, text, effects.duotone.0), arg!(colour, hex, effects.duotone.1),
        arg!(colour, hex, effects.duotone.2),
    ]).needed(3)
        .help("Replaces the colours by two: of the shadows and of the lights."),
    row(&["colorize", "col"], &[arg!(share, text, effects.colorize.0), arg!(colour, hex, effects.colorize.1)]).most(3)
        .needed(2).help("Lays a colour of this opacity over the image."),
    row(&["gradient", "gr"], &[
        arg!(share, text, effects.gradient.opacity), arg!(colour, hex, effects.gradient.colour),
        arg!(angle, text, effects.gradient.angle), arg!(share, text, effects.gradient.start),
        arg!(share, text, effects.gradient.stop),
    ])
        .help("Lays a gradient of a colour over the image: opacity, colour, direction, start, stop."),
    row(&["blur", "bl"], &[arg!(not_negative, text, effects.blur)]).help("Blurs with this sigma, in px."),
    row(&["sharpen", "sh"], &[arg!(not_negative, text, effects.sharpen)]).help("Sharpens with this sigma, in px."),
    row(&["unsharp_masking", "unsharpening", "ush"], &[
        arg!(mask, |it: &_| name_of(&Mask::ALL, *it), effects.unsharp.mode),
        arg!(positive, text, effects.unsharp.weight), arg!(positive, text, effects.unsharp.divider),
    ])
        .help("Sharpens with an unsharp mask of about the same strength: mode, weight, divider."),
    row(&["pixelate", "pix"], &[arg!(size, text, effects.pixelate)]).help("Makes squares of this side, in px."),
    row(&["blur_areas", "ba"], &[custom(read_areas, areas)]).most(5 * 16)
        .help("Blurs up to 16 areas: sigma, then left, top, width and height as shares."),
    row(&["watermark", "wm"], &[
        arg!(share, text, watermark.opacity), custom(read_watermark, watermark),
        arg!(any, text, watermark.gravity.x).unshown(), arg!(any, text, watermark.gravity.y).unshown(),
        arg!(not_negative, text, watermark.scale),
    ]).needed(0)
        .help("Lays a watermark on the result: opacity, place, offsets, scale. With the place `re`, the offsets are distances between copies."),
    row(&["watermark_url", "wmu"], &[custom(read_watermark_url, watermark_url)])
        .help("Names an image, as a source is named and in base64, that `wm` lays on in place of the configured watermark."),
    row(&["watermark_text", "wmt"], &[custom(read_watermark_text, watermark_text)])
        .differs("without markup, in one colour")
        .help("Writes a text, in base64, in place of the watermark: black, 16 px or as large as `wm` and `wms` say."),
    row(&["watermark_size", "wms"], &[arg!(size, text, watermark.size.0), arg!(size, text, watermark.size.1)])
        .needed(0).help("Fits the watermark into width and height, in px, if `wm` has no scale."),
    row(&["watermark_rotate", "wm_rot", "wmr"], &[arg!(any, text, watermark.angle)])
        .help("Turns the watermark clockwise, in degrees."),
    row(&["watermark_shadow", "wmsh"], &[arg!(not_negative, text, watermark.shadow)])
        .help("Casts a black shadow behind the watermark, blurred with this sigma in px, up to 100."),
    row(&["quality", "q"], &[arg!(percent, text, quality)]).help("Sets the quality, 1 to 100; 0: that of the format."),
    row(&["format_quality", "fq"], &[custom(read_format_quality, format_quality)]).most(2 * 16)
        .help("Sets the quality for each format, as pairs."),
    row(&["max_bytes", "mb"], &[arg!(bytes, text, max_bytes)])
        .help("Chooses the best quality whose file is no longer than this."),
    row(&["format", "ext", "f"], &[arg!(|text| format(text).map(Some), format_text, format)])
        .help("Sets the format of the result; `best` chooses by `Accept`."),
    row(&["strip_metadata", "sm"], &[flag!(strip_metadata)]).help("Leaves out the metadata."),
    row(&["keep_copyright", "kcr"], &[flag!(keep_copyright)])
        .help("Keeps who has the rights although `sm` leaves out the rest."),
    row(&["strip_color_profile", "scp"], &[flag!(strip_profile)])
        .help("Converts the colours to sRGB, and leaves out the profile."),
    row(&["jpeg_options", "jpgo"], &[arg!(yes, bit, progressive_jpeg), arg!(yes, bit, full_chroma)]).most(6).needed(0)
        .note("trellis, overshoot, scans and tables are the encoder's own", |args| {
            let is_unsupported = args.iter().skip(2).any(|text| asks(text));
            is_unsupported.then(|| "trellis, overshoot, scans and tables are the encoder's own".to_owned())
        })
        .help("Writes JPEG progressive, and without thinning colours."),
    row(&["png_options", "pngo"], &[
        arg!(yes, bit, interlaced_png), custom(read_palette, palette), custom(read_palette_size, palette).unshown(),
    ])
        .help("Writes PNG interlaced, and with a palette of at most this many colours."),
    row(&["webp_options", "webpo"], &[custom(read_webp, webp)]).most(3)
        .note("colours are thinned in one way, and presets have no effect", |args| {
            let preset = args.get(2).is_some_and(|text| !matches!(*text, "" | "default"));
            let is_unsupported = preset || args.get(1).is_some_and(|text| asks(text));
            is_unsupported.then(|| "colours are thinned in one way, and presets have no effect".to_owned())
        })
        .help("Writes WebP `lossless`, `near_lossless` or `lossy`."),
    row(&["autoquality", "aq"], &[custom(read_autoquality, |_| String::new()).unshown()]).most(5)
        .note("`dssim` and `ml` are not measured", |args| {
            let is_unsupported = matches!(args[0], "dssim" | "ml");
            is_unsupported.then(|| format!("`{}` is not measured; q says the quality", args[0]))
        })
        .help("With `size`: as `mb`; other methods are ignored, with a note."),
    row(&["page", "pg"], &[arg!(page, page_text, page)])
        .help("Shows this page or frame, from 0 on."),
    row(&["disable_animation", "da"], &[flag!(still)]).help("Shows one frame of an animation."),
    row(&["skip_processing", "skp"], &[custom(read_skip, |options| options.skip.join(":"))]).most(16)
        .help("Sends sources of these formats as they are."),
    row(&["raw"], &[flag!(raw)]).about(About::Answer).help("Sends the source unchanged."),
    row(&["cachebuster", "cb"], &[]).about(About::Answer).most(1).help("Changes the URL and nothing else."),
    row(&["filename", "fn"], &[custom(read_filename, filename)]).about(About::Answer).most(2)
        .help("Names the file under which browsers save the result."),
    row(&["return_attachment", "att"], &[flag!(attachment)]).about(About::Answer)
        .help("Tells browsers to save the result."),
    row(&["expires", "exp"], &[arg!(moment, text, expires)]).about(About::Answer)
        .help("Refuses the URL from this time on, in seconds since 1970."),
    row(&["hashsum", "hs"], &[custom(read_hashsum, hashsum)]).about(About::Answer).most(2)
        .help("Refuses a source with another digest."),
    row(&["max_src_resolution", "msr"], &[arg!(not_negative, text, limits.resolution)]).about(About::Limit)
        .help("Limits the source, in megapixels."),
    row(&["max_animation_frames", "maf"], &[arg!(size, text, limits.frames)]).about(About::Limit)
        .help("With 0 or 1 an animation becomes a still image."),
    row(&["max_result_dimension", "mrd"], &[arg!(size, text, limits.side)]).about(About::Limit)
        .help("Limits the longest side of the result, in px."),
    row(&["max_src_file_size", "msfs"], &[arg!(bytes, text, limits.bytes)]).about(About::Limit)
        .help("Limits the file of the source, in bytes."),
    row(&["max_animation_frame_resolution", "mafr"], &[custom(|_, args| not_negative(args[0]).map(drop), |_| String::new()).unshown()])
        .about(About::Limit).differs("`limits` of the server hold").help("Has no effect: `limits` of the server hold."),
    ignored(&["enforce_thumbnail", "eth"], "no image is made of an embedded thumbnail").most(1),
    ignored(&["preserve_hdr", "ph"], "the depth of the source is kept wherever the format holds it"),
    ignored(&["resizing_algorithm", "ra"], "images are always scaled with Lanczos 3"),
    ignored(&["objects_position", "obj_pos", "op"], "objects are not looked for"),
    ignored(&["blur_detections", "bd"], "objects are not looked for"),
    ignored(&["draw_detections", "dd"], "objects are not looked for"),
    ignored(&["style", "st"], "SVGs are not changed"),
    ignored(&["video_thumbnail_second", "vts"], "no videos are read"),
    ignored(&["video_thumbnail_keyframes", "vtk"], "no videos are read"),
    ignored(&["video_thumbnail_tile", "vtt"], "no videos are read"),
    ignored(&["video_thumbnail_animation", "vta"], "no videos are read"),
    row(&["avif_options", "avifo"], &[arg!(thinning, |it: &_| name_of(&THINNING, *it), thins_chroma)])
        .help("Says whether AVIF thins colours: `auto`, `on` or `off`."),
    ignored(&["pages", "pgs"], "one page is shown"),
    ignored(&["dpi"], "the resolution in print is not written"),
    row(&["color_profile", "icc", "cp"], &[arg!(|text| Ok::<_, Wrong>(profile(text)), profile_text, profile)])
        .note("only `srgb` and `p3` are known", |args| {
            let note = || format!("`{}` is none of srgb and p3; it is ignored", shorten(args[0]));
            profile(args[0]).is_none().then(note)
        })
        .help("Converts the colours to `srgb` or `p3`."),
    ignored(&["progressive_blur", "pbl"], "blur is as strong everywhere"),
    ignored(&["crop_objects"], "objects are not looked for"),
    ignored(&["bypass_cache", "bc"], "purging a URL makes its result anew"),
    ignored(&["cache_tags", "ct"], "results have the tags of the server"),
    ignored(&["gif_options", "gifo"], "GIF is written with the settings of the server"),
    ignored(&["jxl_options", "jxlo"], "JPEG XL is written with the settings of the server"),
    row(&["fallback_image_url", "fiu"], &[custom(read_fallback, fallback)]).about(About::Answer)
        .help("Names a source to use if the other one cannot be had, in base64."),
];

/// Writes the options whose values differ from those in `defaults`, pipeline by pipeline. Options are left out if
/// `kinds` returns false for the part of a request that they change.
pub(super) fn texts(
    options: &Options,
    defaults: &Options,
    kinds: impl Fn(About) -> bool,
) -> Vec<String> {
    let mut texts = Vec::new();
    let mut last: Option<&Options> = None;
    for pipeline in options.pipelines() {
        let chained_options = last.map(|last| last.clone().next_pipeline());
        let defaults = chained_options.as_ref().unwrap_or(defaults);
        if last.is_some() {
            texts.push(PIPELINE.to_owned());
        }
        texts.extend(ALL.iter().filter_map(|row| {
            let is_of_kind = kinds(row.kind);
            let (value, default_value) = (
                row.show(pipeline).filter(|_| is_of_kind)?,
                row.show(defaults)?,
            );
            (value != default_value).then(|| format!("{}:{value}", row.name()))
        }));
        last = Some(pipeline);
    }
    texts
}

/// Returns the option with this name.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().find(|row| row.names.contains(&name))
}
