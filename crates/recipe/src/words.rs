//! The words of the language, each declared once: parsing, the suggestions in error messages and the reference all use
//! these declarations. Effects are declared by the engine, which checks them.

use crate::args::{Arg, Word};
use crate::options;
use crate::step::{Flip, Gravity, Length, Step, Turn};

/// Every word that is not an effect, in the order of the reference. A word with two forms is listed twice.
pub const WORDS: &[&Word] = &[
    &SAME,
    &ORIGINAL,
    &ORIENT,
    &STORED,
    &TURN,
    &FLIP,
    &ROTATE,
    &CROP,
    &CROP_TOWARDS,
    &FIT,
    &COVER,
    &EXACT,
    &FOCUS,
    &FOCUS_SMART,
    &BLUR_FACES,
    &TRIM,
    &PAD,
    &CANVAS,
    &FLATTEN,
    &DPR,
    &SHRINK,
    &BACKGROUND,
    &PROFILE,
    &METADATA,
    &GAIN_MAP,
    &LINEAR,
    &AS,
    &MOVING,
    &options::QUALITY,
    &options::MAX,
    &options::SCORE,
    &options::LOSSLESS,
    &options::DEPTH,
    &options::PROGRESSIVE,
    &options::CHROMA,
    &options::EFFORT,
    &WITH,
    &FRAME,
    &FRAMES,
];

/// Whether `name` is a word of the language, so that no effect may use it.
pub(crate) fn is_taken(name: &str) -> bool {
    WORDS.iter().any(|word| word.name == name)
}

pub(crate) const fn word(
    name: &'static str,
    args: &'static [Arg],
    help: &'static str,
    example: &'static str,
) -> Word {
    Word {
        name,
        args,
        help,
        example,
    }
}

pub(crate) const SAME: Word = word(
    "same",
    &[],
    "changes nothing but the encoding; stands alone. As everywhere, an image that is stored turned becomes upright",
    "same",
);
pub(crate) const ORIGINAL: Word = word(
    "original",
    &[],
    "the source's own bytes; stands alone",
    "original",
);
pub(crate) const ORIENT: Word = word(
    "orient",
    &[],
    "turns the image upright here; without it, that comes first. Which way is up is what browsers read: EXIF in JPEG and \
     PNG, the header of AVIF, HEIC, JPEG XL and TIFF, nothing in WebP and GIF",
    "orient",
);
pub(crate) const STORED: Word = word(
    "stored",
    &[Arg::choice("turn", STORED_TURNS)
        .default("kept")
        .help("verbatim: the pixels are never turned, and only metadata:all keeps the tag")],
    "steps act on the image as it is stored, before it is turned upright. JPEG, PNG and still AVIF results keep the turn as \
     a tag; where browsers read none, and with metadata:none, the pixels are turned last",
    "stored",
);
pub(crate) const TURN: Word = word(
    "turn",
    &[Arg::choice("angle", TURNS)
        .unit("degrees clockwise")
        .help("how far")],
    "turns by quarters",
    "turn:90",
);
pub(crate) const FLIP: Word = word(
    "flip",
    &[Arg::choice("direction", FLIPS).help("h: left to right; v: top to bottom; hv: both")],
    "mirrors the image",
    "flip:h",
);
pub(crate) const ROTATE: Word = word(
    "rotate",
    &[
        Arg::number("degrees", -360.0, 360.0)
            .unit("degrees clockwise")
            .help("how far"),
        Arg::colour("colour")
            .default("00000000")
            .help("what the corners show"),
    ],
    "turns by any angle; the image grows to hold all of it",
    "rotate:12.5:ffffff",
);
pub(crate) const CROP: Word = word(
    "crop",
    &[
        Arg::length("x").help("left edge"),
        Arg::length("y").help("top edge"),
        Arg::length("width").help("width of the part"),
        Arg::length("height").after('x').help("height of the part"),
    ],
    "keeps a rectangle; before scaling it is measured on the source, after scaling on the scaled image",
    "crop:10:10:50%x50%",
);
pub(crate) const CROP_TOWARDS: Word = word(
    "crop",
    &[
        Arg::length("width").help("width of the part"),
        Arg::length("height").after('x').help("height of the part"),
        GRAVITY,
    ],
    "keeps a part of this size, or all of a side that is shorter",
    "crop:400x300:north",
);
pub(crate) const FIT: Word = word(
    "fit",
    &[
        Arg::side("width").help("width of the box; may be left out"),
        Arg::side("height")
            .after('x')
            .help("height of the box; may be left out"),
        ENLARGE,
    ],
    "scales to fit inside a box and keeps the aspect ratio; sides are rounded to the nearest pixel",
    "fit:250x250",
);
pub(crate) const COVER: Word = word(
    "cover",
    &[
        Arg::length("width").help("width of the result"),
        Arg::length("height")
            .after('x')
            .help("height of the result"),
        GRAVITY,
        ENLARGE,
    ],
    "scales to cover a box, keeps the aspect ratio and crops what hangs over",
    "cover:400x300:north",
);
pub(crate) const EXACT: Word = word(
    "exact",
    &[
        Arg::length("width").help("width of the result"),
        Arg::length("height")
            .after('x')
            .help("height of the result"),
    ],
    "scales to exactly this size, larger or smaller, and ignores the aspect ratio",
    "exact:400x300",
);
pub(crate) const FOCUS: Word = word(
    "focus",
    &[
        Arg::length("x").help("from the left edge"),
        Arg::length("y").help("from the top edge"),
    ],
    "the point that later crops keep in view, unless they name a gravity",
    "focus:30%:40%",
);
pub(crate) const FOCUS_SMART: Word = word(
    "focus",
    &[Arg::choice("point", &[SMART, FACES]).help(
        "smart: where edges, colour and skin draw the eye; faces: frontal faces, or as smart where none is found, in \
         builds with the cargo feature of that name",
    )],
    "the same, looked for in the source; docs/smart.md says how, and how often it is right",
    "focus:smart",
);
pub(crate) const BLUR_FACES: Word = word(
    "blur-faces",
    &[Arg::number("sigma", 0.05, 1000.0)
        .unit("px")
        .default("a fifth of each face's side")
        .help("standard deviation")],
    "blurs the frontal faces that are found in the source, in builds with the cargo feature `faces`; docs/smart.md says \
     which are not found",
    "blur-faces",
);
pub(crate) const TRIM: Word = word(
    "trim",
    &[Arg::whole("tolerance", 0, 255)
        .unit("levels of 255")
        .default("10")
        .help(
            "how far opacity, or red, green or blue times opacity, may differ from the pixel in the upper left \
             corner and still be border",
        )],
    "cuts a uniform border off, be it of one colour or transparent; comes before other geometry, except orient, turn \
     and flip. Images of one colour stay as they are. Exact for formats that are always decoded in full (PNG, GIF) \
     and up to 4 megapixels; larger JPEG and WebP images are measured on a reduced decode: up to 7 pixels of border may \
     stay on each side, and a detail thinner than a reduced pixel (8 pixels at most) may be cut off. Of an animation, only what is border in every frame is cut off",
    "trim:10",
);
pub(crate) const PAD: Word = word(
    "pad",
    &[
        Arg::whole("top", 0, MOST_PX)
            .unit("px")
            .help("margin above"),
        Arg::whole("right", 0, MOST_PX)
            .unit("px")
            .help("margin to the right"),
        Arg::whole("bottom", 0, MOST_PX)
            .unit("px")
            .help("margin below"),
        Arg::whole("left", 0, MOST_PX)
            .unit("px")
            .help("margin to the left"),
        Arg::colour("colour")
            .default("00000000")
            .help("what the margins show"),
    ],
    "adds margins",
    "pad:10:20:10:20:ffffff",
);
pub(crate) const CANVAS: Word = word(
    "canvas",
    &[
        Arg::whole("width", 1, MOST_PX)
            .unit("px")
            .help("width of the canvas"),
        Arg::whole("height", 1, MOST_PX)
            .after('x')
            .unit("px")
            .help("height of the canvas"),
        Arg::colour("colour").help("what shows around and through the image"),
        Arg::whole("x", -MOST_PX, MOST_PX)
            .unit("px")
            .default("centred")
            .help("left edge of the image on the canvas"),
        Arg::whole("y", -MOST_PX, MOST_PX)
            .unit("px")
            .default("centred")
            .help("top edge of the image on the canvas"),
    ],
    "lays the image on a canvas of fixed size; what hangs over is cut off",
    "canvas:300x300:ffffff",
);
pub(crate) const FLATTEN: Word = word(
    "flatten",
    &[Arg::colour("colour").help("an opaque colour")],
    "shows a colour where the image is transparent",
    "flatten:ffffff",
);
pub(crate) const DPR: Word = word(
    "dpr",
    &[Arg::number("ratio", 0.1, 10.0).help("device pixels per CSS pixel")],
    "multiplies the pixels of later boxes, margins and canvases, and of crops after a scaling",
    "dpr:2",
);
pub(crate) const SHRINK: Word = word(
    "shrink",
    &[Arg::whole("eighths", 1, 7).help("the scale is this many eighths")],
    "decodes smaller, where the format can; comes first, except for orient, turn and flip",
    "shrink:4",
);
pub(crate) const BACKGROUND: Word = word(
    "background",
    &[Arg::text("colour", "ffffff")
        .help("6 hex digits; none: opacity is dropped, hidden colours show")],
    "what shows through in formats that keep no opacity, such as JPEG; absent: white",
    "background:3080c0",
);
pub(crate) const PROFILE: Word = word(
    "profile",
    &[Arg::choice("space", PROFILES).help(
        "keep: the source's own, CMYK too; drop: the source's numbers, of which the result does not say what they \
         mean; ignore: the same, but CMYK becomes RGB by a plain formula",
    )],
    "the colour space of the result; absent: Display P3 stays, wider spaces become it, everything else becomes sRGB",
    "profile:srgb",
);
pub(crate) const METADATA: Word = word(
    "metadata",
    &[Arg::choice("kept", METADATA_KEPT).help(
        "copyright: author, copyright and licence of EXIF, IPTC and XMP, whether the image was made by AI, and which way \
         is up; public: all but the place where it was taken; all: that, too; thumbnails and previews never",
    )],
    "what the result keeps of EXIF, IPTC and XMP; absent: copyright",
    "metadata:none",
);
pub(crate) const GAIN_MAP: Word = word(
    "gainmap",
    &[Arg::choice("choice", &["keep", DROP]).help(
        "keep: cropped, scaled and turned with the image, where the result's format holds it",
    )],
    "what becomes of the gain map of an HDR photograph (Ultra HDR, ISO 21496-1), which makes it brighter on screens \
     that can show that; absent: keep",
    "gainmap:drop",
);
pub(crate) const LINEAR: Word = word(
    "linear",
    &[],
    "scales in linear light, before effects: fine patterns, stars and thin lights keep their brightness. JPEGs are then \
     decoded in full and pixels held in 16 bits, which takes several times as long. HDR, and sources whose own profile \
     is kept though it is neither sRGB nor Display P3, are scaled as they are stored",
    "linear",
);
pub(crate) const AS: Word = word(
    "as",
    &[Arg::text("format", "webp").help("a format's name; auto: by the Accept header")],
    "the format of the result; absent: the source's own",
    "as:webp",
);
pub(crate) const MOVING: Word = word(
    "moving",
    &[Arg::text("format", "webp").help("a format's name; source: the source's own")],
    "the format of the result where the source is an animation, in place of the one that as names",
    "as:jxl,moving:webp",
);
pub(crate) const WITH: Word = word(
    "with",
    &[
        Arg::text("option", "level").help("its name"),
        Arg::text("value", "6")
            .default("")
            .help("its value, if it takes one"),
    ],
    "an option of the format's own: see the formats below",
    "with:level:6",
);
pub(crate) const FRAME: Word = word(
    "frame",
    &[Arg::whole("number", 1, 1_000_000).help("which one, counted from 1")],
    "one frame of an animation as a still image; absent: an animation stays one where the format holds it",
    "frame:3",
);

pub(crate) const FRAMES: Word = word(
    "frames",
    &[Arg::whole("most", 1, 1_000_000).help("an animation ends after so many")],
    "the first frames of an animation alone; absent: all of them",
    "frames:10",
);

const MOST_PX: i64 = Length::MAX_PX as i64;

const GRAVITY: Arg = Arg::choice("gravity", GRAVITIES)
    .default("centre")
    .help("which part is kept");

const ENLARGE: Arg = Arg::choice("enlarge", &["enlarge"])
    .default("")
    .help("the image may grow");

pub(crate) const SMART: &str = "smart";
pub(crate) const FACES: &str = "faces";
pub(crate) const DROP: &str = "drop";
pub(crate) const TURNS: &[&str] = &["90", "180", "270"];
pub(crate) const FLIPS: &[&str] = &["h", "v", "hv"];
pub(crate) const PROFILES: &[&str] = &["srgb", "p3", "keep", "drop", "ignore"];
pub(crate) const STORED_TURNS: &[&str] = &["kept", "verbatim"];
pub(crate) const METADATA_KEPT: &[&str] = &["none", "copyright", "public", "all"];
/// Names of the middle, sides and corners in arguments.
pub const GRAVITIES: &[&str] = &[
    "centre",
    "north",
    "east",
    "south",
    "west",
    "northeast",
    "southeast",
    "southwest",
    "northwest",
];

impl Turn {
    pub(crate) const ALL: [Self; 3] = [Self::R90, Self::R180, Self::R270];
}

impl Flip {
    pub(crate) const ALL: [Self; 3] = [Self::Horizontal, Self::Vertical, Self::Both];
}

/// Returns the value at the position that `word` has among `words`.
pub(crate) fn at<T: Copy>(values: &[T], words: &[&str], word: &str) -> Option<T> {
    let place = words.iter().position(|known| *known == word)?;
    values.get(place).copied()
}

/// Returns the word at the position that `value` has among `values`.
pub(crate) fn of<T: PartialEq>(values: &[T], words: &[&'static str], value: &T) -> &'static str {
    let place = values.iter().position(|known| known == value);
    place
        .and_then(|place| words.get(place))
        .copied()
        .unwrap_or_default()
}

impl Gravity {
    pub(crate) fn word(self) -> &'static str {
        of(&Self::ALL, GRAVITIES, &self)
    }
}

impl Step {
    /// Returns the word that the step is written with. An effect's word is its name.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Original => ORIGINAL.name,
            Self::Orient => ORIENT.name,
            Self::Shrink(_) => SHRINK.name,
            Self::Turn(_) => TURN.name,
            Self::Flip(_) => FLIP.name,
            Self::Rotate { .. } => ROTATE.name,
            Self::Trim(_) => TRIM.name,
            Self::Crop(_) => CROP.name,
            Self::Fit { .. } => FIT.name,
            Self::Cover { .. } => COVER.name,
            Self::Exact { .. } => EXACT.name,
            Self::Pad(_) => PAD.name,
            Self::Canvas(_) => CANVAS.name,
            Self::Flatten(_) => FLATTEN.name,
            Self::Focus { .. } | Self::Salient | Self::Faces => FOCUS.name,
            Self::BlurFaces(_) => BLUR_FACES.name,
            Self::Dpr(_) => DPR.name,
            Self::Effect(effect) => &effect.name,
        }
    }
}
