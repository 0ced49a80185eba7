//! The parameters of ngx_small_light. The parser, suggestions in messages, the command `andon reference` and the
//! fuzzers' dictionary all use this list.

use andon_recipe::Arg;

/// All parameters of ngx_small_light.
pub const PARAMETERS: &[Arg] = &[
    Arg::text("p", "thumbnail")
        .default("")
        .help("a named pattern whose options apply where the URL has none"),
    Arg::choice("e", &["imagemagick", "gd", "imlib2"])
        .default("imagemagick")
        .help("engine, for its defaults and abilities"),
    length("sx").default("0").help("left edge of the part to use"),
    length("sy").default("0").help("top edge of the part"),
    length("sw").default("the whole width").help("width of the part"),
    length("sh").default("the whole height").help("height of the part"),
    length("dx").default("centred").help("left edge on the canvas"),
    length("dy").default("centred").help("top edge on the canvas"),
    length("dw").default("by the aspect ratio").help("width to scale to"),
    length("dh").default("by the aspect ratio").help("height to scale to"),
    Arg::choice("da", &["l", "s", "n"])
        .default("l")
        .help("with both dw and dh: l fits inside, s covers, n distorts"),
    Arg::choice("ds", &["s", "n"])
        .default("n")
        .help("s scales even if that enlarges, n does not"),
    pixels("cw", 1).default("no canvas").help("canvas width; needs ch"),
    pixels("ch", 1).default("no canvas").help("canvas height; needs cw"),
    Arg::colour("cc").default("000000").help("canvas colour"),
    pixels("bw", 0).default("0").help("border width at the left and right"),
    pixels("bh", 0).default("0").help("border width at the top and bottom"),
    Arg::colour("bc").default("000000").help("border colour"),
    Arg::choice("pt", &["n", "ptss", "ptls"])
        .default("n")
        .help("answer with the original: ptss when it is smaller than asked, ptls when larger"),
    Arg::whole("q", 0, 100)
        .default("0")
        .help("quality; 0: the source's own; PNG: zlib's level times 10, plus the filter; WebP at 100 is lossless"),
    Arg::choice("of", &["jpeg", "jpg", "gif", "png", "webp", "auto"])
        .default("the source's own")
        .help("output format; auto: by the Accept header"),
    flag("jpeghint").help("y shrinks a JPEG while decoding; done by itself unless strict"),
    flag("rmprof").help("y drops profiles and other metadata"),
    Arg::text("embedicon", "icon.png")
        .default("")
        .help("name of an image in material_dir to lay on top"),
    place("ix").help("left edge of that image; may be negative"),
    place("iy").help("top edge of that image; may be negative"),
    Arg::whole("angle", 0, 270)
        .unit("degrees")
        .default("0")
        .help("clockwise turn: 90, 180 or 270"),
    flag("progressive").help("y writes progressive or interlaced files"),
    flag("cmyk2rgb").help("y converts CMYK images to sRGB"),
    flag("autoorient").help("y turns the image upright by its EXIF orientation"),
    Arg::text("unsharp", "0x1+0.7+0.02")
        .default("")
        .help("unsharp mask, RADIUSxSIGMA+AMOUNT+THRESHOLD"),
    Arg::text("sharpen", "0x1").default("").help("sharpen, RADIUSxSIGMA"),
    Arg::text("blur", "0x1").default("").help("blur, RADIUSxSIGMA"),
];

/// Declares a parameter that is a length: pixels, or percent with a `p`.
const fn length(name: &'static str) -> Arg {
    Arg::length_with(name, 'p')
}

const fn pixels(name: &'static str, least: i64) -> Arg {
    Arg::whole(name, least, MOST_PX).unit("px")
}

const fn place(name: &'static str) -> Arg {
    Arg::whole(name, -MOST_PX, MOST_PX).unit("px").default("0")
}

const fn flag(name: &'static str) -> Arg {
    Arg::choice(name, &["y", "n"]).default("n")
}

const MOST_PX: i64 = andon_recipe::Length::MAX_PX as i64;

/// Returns the declaration of the parameter of this name.
pub(super) fn parameter(name: &str) -> Option<&'static Arg> {
    PARAMETERS.iter().find(|parameter| parameter.name == name)
}
