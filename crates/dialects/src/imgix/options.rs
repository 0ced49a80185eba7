//! The table of imgix's parameters.

use crate::options::About::{Answer, Ignored, Image, Partly, Unsupported};
use crate::options::Takes::{Number, Word};
use crate::options::{OptionRow, Table, Takes, row};

/// The longest side that a URL may request, in px.
pub(super) const MOST: f64 = 8192.0;

const SIDE: Takes = Number(0.0, MOST);
const PLACE: Takes = Number(-MOST, MOST);
const PART: Takes = Number(-100.0, 100.0);
const PERCENT: Takes = Number(1.0, 100.0);
const COLOUR: Takes = Takes::any("RGB, ARGB, RRGGBB, AARRGGBB or a CSS name");
const FLAG: Takes = Word(&["true", "false", "1", "0"]);
const ALIGN: Takes =
    Takes::any("top, middle, bottom and left, center, right, with a comma between them");
const MODES: Takes = Takes::any(
    "normal, burn, color, darken, difference, dodge, exclusion, hardlight, hue, lighten, luminosity, multiply, overlay, saturation, screen, softlight",
);
const FORMATS: Takes = Word(&[
    "jpg", "pjpg", "png", "png8", "png32", "gif", "webp", "avif", "jxl", "json",
]);
const FITS: Takes = Word(&[
    "clip", "crop", "facearea", "fill", "fillmax", "clamp", "max", "min", "scale",
]);
const CROPS: Takes = Takes::any("top, bottom, left, right, faces, focalpoint, entropy, edges");

/// The parameters of imgix. One-letter names other than `f` are left out, because pages append arguments such as `?t=1`
/// to the URLs of files.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["w", "width"], Image, SIDE, "width in px; up to 1: a share of the source's"),
    row(&["h", "height"], Image, SIDE, "height in px; up to 1: a share of the source's"),
    row(&["dpr"], Image, Number(0.0, 5.0), "px of the result for each px of the URL"),
    row(&["fit", "f"], Partly(&["clamp", "facearea"]), FITS, "how the image is fitted to the box; clip by default"),
    row(&["ar"], Image, Takes::any("W:H"), "aspect ratio of the box, with fit=crop, fill, fillmax or min"),
    row(&["min-w", "min-width"], Image, SIDE, "least width, with fit=crop"),
    row(&["min-h", "min-height"], Image, SIDE, "least height, with fit=crop"),
    row(&["max-w", "max-width"], Image, SIDE, "largest width, with fit=crop"),
    row(&["max-h", "max-height"], Image, SIDE, "largest height, with fit=crop"),
    row(&["fm"], Image, FORMATS, "format of the result, or a JSON document about the source"),
    row(&["auto"], Partly(&["enhance", "redeye", "compress", "true"]), Takes::any("format"), "format: the format is chosen by the client"),
    row(&["q"], Image, Number(0.0, 100.0), "quality; 75 by default"),
    row(&["lossless"], Image, FLAG, "whether WebP, AVIF and JPEG XL are lossless"),
    row(&["jpg-progressive"], Image, FLAG, "false: fm=pjpg is not progressive"),
    row(&["chromasub"], Image, Word(&["444", "422", "420"]), "chroma subsampling of JPEG and AVIF"),
    row(&["cs"], Image, Takes::any("srgb, tinysrgb, strip"), "converts to sRGB; strip: drops metadata"),
    row(&["page"], Image, Number(1.0, 1e6), "the page or frame to show"),
    row(&["frame"], Image, Number(1.0, 1e6), "the frame to show, if there is no page"),
    row(&["dl"], Answer, Takes::any("a name"), "browsers save the result under this name"),
    row(&["expires"], Answer, Takes::any("seconds since 1970"), "when the URL expires"),
    row(&["palette"], Answer, Word(&["css", "json"]), "the colours of the result, in place of the image"),
    row(&["colors"], Answer, Number(0.0, 16.0), "how many colours a palette has; 6 by default"),
    row(&["prefix"], Answer, Takes::any("letters, digits, - and _"), "how class names of a palette begin; image by default"),
    row(&["bg"], Image, COLOUR, "colour behind transparent parts and around the image"),
    row(&["fill"], Partly(&["blur", "generative", "gradient", "gen"]), Word(&["solid"]), "solid: fill-color is around the image"),
    row(&["fill-color", "fillcolor"], Image, COLOUR, "colour around the image, with fill=solid"),
    row(&["pad"], Image, SIDE, "margins in px"),
    row(&["pad-top"], Image, SIDE, "upper margin in px"),
    row(&["pad-right"], Image, SIDE, "right margin in px"),
    row(&["pad-bottom"], Image, SIDE, "lower margin in px"),
    row(&["pad-left"], Image, SIDE, "left margin in px"),
    row(&["border"], Image, Takes::any("WIDTH,COLOUR"), "border with its width in px"),
    row(&["border-radius"], Image, Number(1.0, MOST), "radius in px of the corners, with the border"),
    row(&["mask"], Image, Takes::any("ellipse, corners, or a path or a URL"), "cuts out an ellipse, rounds the corners, or keeps what is bright and opaque in an image"),
    row(&["corner-radius"], Image, Number(1.0, MOST), "radius in px of the corners, with mask=corners"),
    row(&["mask-bg", "maskbg"], Image, COLOUR, "colour around a mask"),
    row(&["rect"], Image, Takes::any("X,Y,W,H"), "part to use: px, shares up to 1, or words for X and Y"),
    row(&["crop"], Image, CROPS, "what stays in view where the box cuts; several, with commas"),
    row(&["fp-x"], Image, Number(0.0, 1.0), "focal point from the left, with crop=focalpoint; 0.5 by default"),
    row(&["fp-y"], Image, Number(0.0, 1.0), "focal point from the top, with crop=focalpoint; 0.5 by default"),
    row(&["fp-z"], Image, Number(1.0, 100.0), "zoom on the focal point"),
    row(&["trim"], Partly(&["colorUnlessAlpha"]), Word(&["auto", "color", "alpha"]), "cuts off the border of one colour"),
    row(&["trim-tol", "trimtol"], Image, Number(0.0, 255.0), "how far colours of the border may differ; 10 by default"),
    row(&["trim-color", "trimcolor"], Ignored("the border has the colour of its corner"), Takes::any("a colour"), "colour of the border"),
    row(&["orient", "or"], Image, Number(1.0, 270.0), "turn in place of that of EXIF: 1 to 8 as there, or 90, 180, 270 degrees"),
    row(&["rot"], Image, Number(0.0, 359.0), "clockwise turn in degrees, before scaling"),
    row(&["flip"], Image, Word(&["h", "v", "hv", "vh"]), "mirrors the image"),
    row(&["blend"], Image, Takes::any("a path, a URL or a colour"), "image or colour to lay over the image"),
    row(&["blend-mode", "blendmode", "bm"], Image, MODES, "how it acts; overlay by default"),
    row(&["blend-align", "blendalign", "ba"], Image, ALIGN, "where it lies; top,left by default"),
    row(&["blend-alpha", "blendalpha", "balph"], Image, Number(0.0, 100.0), "its opacity in per cent"),
    row(&["blend-fit", "blendfit", "bf"], Image, Word(&["clip", "crop", "scale"]), "how it is fitted to its box"),
    row(&["blend-w", "blendw", "bw"], Image, SIDE, "its width in px; up to 1: a share of the image's"),
    row(&["blend-h", "blendh", "bh"], Image, SIDE, "its height in px; up to 1: a share of the image's"),
    row(&["blend-pad", "blendpad", "bp"], Image, SIDE, "its distance from the edges in px"),
    row(&["blend-x", "blendx", "bx"], Image, PLACE, "its left edge in px"),
    row(&["blend-y", "blendy", "by"], Image, PLACE, "its top edge in px"),
    row(&["mark"], Image, Takes::any("a path or a URL"), "image to lay over the image, after blend"),
    row(&["mark-align", "markalign", "ma"], Image, ALIGN, "where it lies; bottom,right by default"),
    row(&["mark-alpha", "markalpha", "malph"], Image, Number(0.0, 100.0), "its opacity in per cent"),
    row(&["mark-fit", "markfit", "mf"], Image, Word(&["clip", "crop", "scale"]), "how it is fitted to its box"),
    row(&["mark-w", "markw", "mw"], Image, SIDE, "its width in px; up to 1: a share of the image's"),
    row(&["mark-h", "markh", "mh"], Image, SIDE, "its height in px; up to 1: a share of the image's"),
    row(&["mark-pad", "markpad", "mp"], Image, SIDE, "its distance from the edges in px; 5 by default"),
    row(&["mark-scale", "markscale", "ms"], Image, PERCENT, "its width in per cent of the image's"),
    row(&["mark-tile", "marktile", "mtile"], Image, Word(&["grid"]), "repeats it"),
    row(&["mark-rot"], Image, Number(0.0, 359.0), "counter-clockwise turn in degrees"),
    row(&["mark-x", "markx", "mx"], Image, PLACE, "its left edge in px"),
    row(&["mark-y", "marky", "my"], Image, PLACE, "its top edge in px"),
    row(&["txt"], Image, Takes::any("text"), "text to write on the image"),
    row(&["txt-align", "txtalign", "ta"], Image, ALIGN, "where the text stands; bottom,right by default"),
    row(&["txt-color", "txtcolor", "txt-clr", "txtclr", "tc"], Image, COLOUR, "colour of the text; black by default"),
    row(&["txt-pad", "txtpad", "tp"], Image, SIDE, "distance of the text from the edges in px; 10 by default"),
    row(&["txt-size", "txtsize", "tsz"], Image, Number(1.0, MOST), "size of the text in px; 12 by default"),
    row(&["txt-font", "txtfont", "tf"], Image, Takes::any("FAMILY,bold,italic"), "font of the text; the server's by default"),
    row(&["txt-width", "txtwidth"], Image, SIDE, "width of the text in px; up to 1: a share of the image's; by default all but txt-pad"),
    row(&["txt-h"], Image, SIDE, "height of the text in px; up to 1: a share of the image's; needs txt-fit"),
    row(&["txt-fit", "txtfit"], Image, Word(&["max", "wrap", "wrapmax"]), "makes the text smaller (max), breaks lines (wrap), or both"),
    row(&["txt-clip", "txtclip", "tcl"], Image, Takes::any("start, middle, end, ellipsis, with a comma between them"), "which part of a text is cut off that is too long, and whether an ellipsis stands for it"),
    row(&["txt-x", "txtx"], Image, PLACE, "left edge of the text in px, in place of txt-align and txt-pad"),
    row(&["txt-y", "txty"], Image, PLACE, "top edge of the text in px, in place of txt-align and txt-pad"),
    row(&["txt-line", "txtline", "tl"], Image, Number(0.0, 100.0), "width in px of an outline around the letters"),
    row(&["txt-line-color", "txtlinecolor", "txt-line-clr", "txtlineclr"], Image, COLOUR, "colour of the outline; white by default"),
    row(&["txt-shad", "txtshad", "tsh"], Image, Number(0.0, 10.0), "strength of a black shadow; with txt-shad-blur how far it falls, in px"),
    row(&["txt-shad-blur"], Image, Number(0.0, 100.0), "blur in px of a shadow that falls to the lower right"),
    row(&["txt-alpha"], Image, Number(0.0, 100.0), "opacity of the text in per cent, its outline and shadow included"),
    row(&["txt-rotate"], Image, Takes::any("a number of degrees"), "clockwise turn of the text about its middle, 0 to 360"),
    row(&["txt-track", "txttrack", "tt"], Image, Number(-100.0, 100.0), "additional distance between characters in px"),
    row(&["txt-lead", "txtlead"], Image, Number(0.0, MOST), "additional distance between lines in px"),
    row(&["bri"], Image, PART, "brightness"),
    row(&["con"], Image, PART, "contrast"),
    row(&["exp"], Image, PART, "exposure"),
    row(&["gam"], Image, PART, "gamma"),
    row(&["sat"], Image, PART, "saturation; -100 makes the image gray"),
    row(&["vib"], Image, PART, "vibrance: half as strong as sat"),
    row(&["hue"], Image, Number(0.0, 359.0), "turns all hues by these degrees"),
    row(&["invert", "inv"], Image, FLAG, "inverts all colours"),
    row(&["sepia"], Image, PERCENT, "sepia"),
    row(&["monochrome", "mono"], Image, COLOUR, "gray tinted in this colour"),
    row(&["duotone"], Image, Takes::any("DARK,LIGHT"), "colours from the dark one to the light one"),
    row(&["duotone-alpha"], Ignored("both colours act in full"), Number(0.0, 99.0), "opacity of duotone"),
    row(&["sharp"], Image, PERCENT, "sharpening"),
    row(&["usm"], Image, PERCENT, "unsharp mask"),
    row(&["usmrad"], Image, Number(0.1, 500.0), "radius in px of the unsharp mask; 2.5 by default"),
    row(&["blur"], Image, Number(1.0, 2000.0), "blur"),
    row(&["px"], Image, PERCENT, "size in px of pixels to see"),
    unsupported(&["bg-remove"]),
    unsupported(&["blend-color", "blendcolor", "blend-clr", "blendclr"]),
    unsupported(&["blend-crop", "blendcrop", "bc"]),
    unsupported(&["blend-size", "blendsize", "bs"]),
    unsupported(&["border-bottom"]),
    unsupported(&["border-left"]),
    unsupported(&["border-radius-inner"]),
    unsupported(&["border-right"]),
    unsupported(&["border-top"]),
    unsupported(&["ch"]),
    unsupported(&["colorquant"]),
    unsupported(&["dpi"]),
    unsupported(&["faceindex"]),
    unsupported(&["facepad"]),
    unsupported(&["faces"]),
    unsupported(&["fp-debug"]),
    unsupported(&["grid-colors"]),
    unsupported(&["grid-size"]),
    unsupported(&["high"]),
    unsupported(&["htn"]),
    unsupported(&["iptc"]),
    unsupported(&["mark-base", "markbase", "mb"]),
    unsupported(&["nr"]),
    unsupported(&["nrs"]),
    unsupported(&["pdf-annotation", "annotation"]),
    unsupported(&["shad"]),
    unsupported(&["transparency"]),
    unsupported(&["trim-md", "trimmd"]),
    unsupported(&["trim-pad", "trimpad"]),
    unsupported(&["trim-sd", "trimsd"]),
    unsupported(&["txt-lig", "txtlig"]),
    unsupported(&["upscale"]),
]);

/// Makes the row of a parameter that imgix has, but that is not supported here.
const fn unsupported(names: &'static [&'static str]) -> OptionRow {
    row(names, Unsupported, Takes::any(""), "")
}
