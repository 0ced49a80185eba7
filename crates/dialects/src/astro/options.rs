//! The table of the parameters of Astro's image endpoint.

use crate::options::About::{Answer, Image};
use crate::options::Takes::Word;
use crate::options::{Table, Takes, row};

const SIDE: Takes =
    Takes::any("the whole number that the value begins with; 0 and others count as not given");
const FITS: Takes = Word(&[
    "cover",
    "contain",
    "fill",
    "inside",
    "outside",
    "none",
    "scale-down",
]);
const PLACES: Takes = Takes::any(
    "top, right, bottom, left, `right top` and so on, north and so on, center, entropy, attention",
);
const FORMATS: Takes = Word(&["webp", "avif", "jpeg", "jpg", "png", "gif", "tiff", "svg"]);
const QUALITY: Takes = Takes::any("a number from 1 to 100, low, mid, high or max");

/// The parameters of Astro's image endpoint.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["href"], Answer, Takes::any("a path or URL"), "the source"),
    row(&["w"], Image, SIDE, "width of the box in px; images are never enlarged"),
    row(&["h"], Image, SIDE, "height of the box in px"),
    row(&["f"], Image, FORMATS, "format of the result; svg: a source in SVG as it is"),
    row(&["q"], Image, QUALITY, "quality, which needs f; 80 by default, of AVIF 50"),
    row(&["fit"], Image, FITS, "how the image is fitted to a box of two sides; cover by default"),
    row(&["position"], Image, PLACES, "what stays in view where the box cuts"),
    row(&["background"], Image, Takes::any("a CSS colour"), "colour behind transparent parts"),
]);
