//! The table of weserv's parameters.

use andon_recipe::Effect;

use crate::options::About::{Answer, Ignored, Image};
use crate::options::Takes::{Number, Word};
use crate::options::{Table, Takes, row};

const LENGTH: Takes = Takes::any("px, or per cent of the stored image such as 50%");
const PART: Takes = Number(-100.0, 100.0);
const FACTOR: Takes = Number(0.0, 10_000.0);
const COLOUR: Takes = Takes::any("RGB, ARGB, RRGGBB, AARRGGBB or a CSS name");
const FLAG: Takes = Takes::any("nothing, true or false");
const FITS: Takes = Word(&["inside", "outside", "cover", "fill", "contain"]);
const PLACES: Takes = Takes::any(
    "center, top, right, bottom, left, top-left and so on, focal, focal-X-Y, entropy, attention",
);
const FORMATS: Takes = Word(&[
    "jpg", "png", "gif", "tiff", "webp", "avif", "json", "origin",
]);
const FILTERS: Takes = Word(&["greyscale", "sepia", "negate", "duotone"]);
const TIMING: &str = "animations keep their own";

/// The parameters of weserv, with deprecated ones as other names.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["w", "width"], Image, LENGTH, "width of the box"),
    row(&["h", "height"], Image, LENGTH, "height of the box"),
    row(&["dpr"], Image, Number(0.0, 8.0), "factor for the box"),
    row(&["fit", "t"], Image, FITS, "how the image is fitted to the box; inside by default"),
    row(&["we"], Image, FLAG, "does not enlarge"),
    row(&["crop"], Image, Takes::any("W,H,X,Y"), "cw, ch, cx and cy in one"),
    row(&["cx"], Image, LENGTH, "left edge of the part to keep"),
    row(&["cy"], Image, LENGTH, "top edge of the part to keep"),
    row(&["cw"], Image, LENGTH, "width of the part to keep"),
    row(&["ch"], Image, LENGTH, "height of the part to keep"),
    row(&["precrop"], Image, FLAG, "cuts the part out before scaling"),
    row(&["a", "align"], Image, PLACES, "what stays in view with fit=cover, and where the image lies with fit=contain"),
    row(&["fpx"], Image, Number(0.0, 1.0), "focal point from the left, with a=focal; 0.5 by default"),
    row(&["fpy"], Image, Number(0.0, 1.0), "focal point from the top, with a=focal; 0.5 by default"),
    row(&["mask", "shape"], Image, Word(Effect::MASKS), "cuts out a shape"),
    row(&["mtrim", "strim"], Image, FLAG, "cuts off what is around the mask"),
    row(&["mbg"], Image, COLOUR, "colour around the mask"),
    row(&["ro", "or"], Image, Takes::any("whole degrees"), "clockwise turn; scaled before it is turned"),
    row(&["flip"], Image, FLAG, "mirrors top and bottom"),
    row(&["flop"], Image, FLAG, "mirrors left and right"),
    row(&["bri"], Image, PART, "brightness"),
    row(&["mod"], Image, FACTOR, "factor for the brightness; or brightness, saturation and hue, with commas"),
    row(&["sat"], Image, FACTOR, "factor for the saturation"),
    row(&["hue"], Image, Takes::any("whole degrees"), "turns all hues"),
    row(&["con"], Image, PART, "contrast"),
    row(&["gam"], Image, Number(1.0, 3.0), "gamma; 2.2 by default"),
    row(&["sharp"], Image, Number(1e-6, 10.0), "sigma of sharpening; or sharpf, sharpj and it, with commas"),
    row(&["sharpf"], Image, FACTOR, "sharpening of flat areas; 1 by default"),
    row(&["sharpj"], Image, FACTOR, "sharpening of jagged areas; 2 by default"),
    row(&["trim"], Image, Number(1.0, 254.0), "cuts off the border, whose colours may differ by this; 10 by default"),
    row(&["blur"], Image, Number(0.3, 1000.0), "sigma of a blur; without it a mild one"),
    row(&["filt"], Image, FILTERS, "filter on colours"),
    row(&["start"], Image, COLOUR, "dark colour of filt=duotone; c83658 by default"),
    row(&["stop"], Image, COLOUR, "light colour of filt=duotone; d8e74f by default"),
    row(&["bg"], Image, COLOUR, "colour behind transparent parts"),
    row(&["cbg"], Image, COLOUR, "colour around the image with fit=contain"),
    row(&["rbg"], Image, COLOUR, "colour around an image that is turned askew"),
    row(&["tint"], Image, COLOUR, "tints the image"),
    row(&["q", "quality"], Image, Number(1.0, 100.0), "quality; 80 by default"),
    row(&["l", "level"], Image, Number(1.0, 9.0), "zlib's level in PNG"),
    row(&["output"], Image, FORMATS, "format of the result, or a JSON document about it"),
    row(&["il"], Image, FLAG, "writes JPEG and PNG progressive or interlaced"),
    row(&["ll", "lossless"], Image, FLAG, "writes WebP lossless"),
    row(&["af"], Image, FLAG, "adaptive filters in PNG; false: none"),
    row(&["page"], Image, Number(0.0, 100_000.0), "the page to show, from 0"),
    row(&["n", "pages"], Image, Takes::any("a whole number"), "any but 1 keeps all pages of an animation"),
    row(&["loop"], Ignored(TIMING), Takes::any("a whole number"), "how often an animation is played; output=json tells it"),
    row(&["delay"], Ignored(TIMING), Takes::any("ms, with commas"), "delays of the frames; output=json tells them"),
    row(&["fsol"], Ignored("decoders shrink as far as nobody sees it"), FLAG, "shrinks while decoding"),
    row(&["url"], Answer, Takes::any("a URL or path"), "the source"),
    row(&["default", "errorredirect"], Answer, Takes::any("a URL, or 1 for the source's own"), "where clients are sent if the source cannot be had"),
    row(&["filename"], Answer, Takes::any("up to 78 letters and digits"), "name under which browsers save the result"),
    row(&["encoding"], Answer, Word(&["base64"]), "answers with a data URI"),
    row(&["maxage"], Answer, Takes::any("seconds, or a number with d, w, M or y"), "how long the response may be kept: a day to a year"),
]);
