//! The module's parameters: the one list of them.

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in a URL.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
}

/// All of them.
pub const PARAMETERS: &[Parameter] = &[
    parameter(
        "p",
        "a named pattern whose options apply where the URL has none",
    ),
    parameter(
        "e",
        "engine: imagemagick (default), gd or imlib2, for its defaults and abilities",
    ),
    parameter("sx", "left edge of the part to use, px or percent (`25p`)"),
    parameter("sy", "top edge of the part"),
    parameter("sw", "width of the part; absent: the whole width"),
    parameter("sh", "height of the part; absent: the whole height"),
    parameter("dx", "left edge on the canvas; absent: centred"),
    parameter("dy", "top edge on the canvas; absent: centred"),
    parameter("dw", "width to scale to, px or percent"),
    parameter("dh", "height to scale to"),
    parameter(
        "da",
        "with both dw and dh: l fits inside (default), s covers, n distorts",
    ),
    parameter("ds", "s scales even if that enlarges, n does not (default)"),
    parameter("cw", "canvas width; needs ch"),
    parameter("ch", "canvas height; needs cw"),
    parameter("cc", "canvas colour, rrggbb (default 000000)"),
    parameter("bw", "border width at the left and right, px"),
    parameter("bh", "border width at the top and bottom, px"),
    parameter("bc", "border colour, rrggbb or rrggbbaa (default 000000)"),
    parameter(
        "pt",
        "answer with the original: ptss when it is smaller than asked, ptls when larger",
    ),
    parameter("q", "quality, 1 to 100; 0 or absent: the source's own"),
    parameter(
        "of",
        "output format: jpeg, jpg, gif, png or webp; absent: the source's own",
    ),
    parameter(
        "jpeghint",
        "y shrinks a JPEG while decoding; done by itself unless strict",
    ),
    parameter("rmprof", "y drops profiles and other metadata"),
    parameter(
        "embedicon",
        "name of a picture in material_dir to lay on top",
    ),
    parameter("ix", "left edge of that picture; may be negative"),
    parameter("iy", "top edge of that picture; may be negative"),
    parameter("angle", "clockwise turn: 90, 180 or 270"),
    parameter("progressive", "y writes progressive or interlaced files"),
    parameter("cmyk2rgb", "y converts CMYK pictures to sRGB"),
    parameter(
        "autoorient",
        "y turns the picture upright by its EXIF orientation",
    ),
    parameter("unsharp", "unsharp mask, RADIUSxSIGMA+AMOUNT+THRESHOLD"),
    parameter("sharpen", "sharpen, RADIUSxSIGMA"),
    parameter("blur", "blur, RADIUSxSIGMA"),
];

const fn parameter(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, help }
}

/// The list's own copy of a name, if it is a parameter.
pub(super) fn known(name: &str) -> Option<&'static str> {
    PARAMETERS
        .iter()
        .map(|parameter| parameter.name)
        .find(|known| *known == name)
}
