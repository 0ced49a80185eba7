//! Settings for the contents and metadata that the result takes from the source.

use super::{Setting, flag};
use crate::choices::Choices;
use crate::{Arg, Colour, Word};

/// Words for the contents and metadata that the result takes from the source, in the order in which they are printed.
pub(super) const SETTINGS: &[Setting] = &[STORED, BACKGROUND, PROFILE, METADATA, GAIN_MAP, LINEAR];

/// What happens to the orientation that a source declares in EXIF or its container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoredTurn {
    /// The pixels are turned upright before anything else, unless an [`Orient`](crate::Orient) step does so later.
    #[default]
    Applied,
    /// Steps are applied to the pixels as they are stored. The result declares the orientation if its format can and
    /// browsers read it there; otherwise its pixels are turned last.
    Kept,
    /// Steps are applied to the pixels as they are stored, which are never turned. The orientation is treated like any
    /// other metadata, which [`Kept::All`] keeps.
    Verbatim,
}

impl StoredTurn {
    /// The words for the treatment of the stored orientation.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &["kept", "verbatim"],
        values: &[Self::Kept, Self::Verbatim],
    };
}

const STORED: Setting = Setting {
    word: &Word {
        name: "stored",
        args: &[Arg::choice("turn", StoredTurn::CHOICES.words)
            .default("kept")
            .help("verbatim: the pixels are never turned, and only metadata:all keeps the tag")],
        help: "steps act on the image as it is stored, before it is turned upright. JPEG, PNG and still AVIF results \
               keep the turn as a tag; where browsers read none, and with metadata:none, the pixels are turned last",
        example: "stored",
    },
    read: |output, parts| {
        let turn = StoredTurn::CHOICES.read(STORED.word, parts);
        turn.map(|turn| output.stored_turn = turn)
    },
    write: |output| match output.stored_turn {
        StoredTurn::Kept => Some(String::new()),
        turn => StoredTurn::CHOICES.unless_default(turn),
    },
};

/// The background of transparent parts in a result whose format stores no opacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// The recipe names no background: it is white, unless the server is configured otherwise.
    #[default]
    Unsaid,
    /// This colour; its alpha has no effect.
    Colour(Colour),
    /// No background: opacity is dropped, and colours hidden by transparency become visible, as in ngx_small_light.
    Dropped,
}

impl Background {
    /// Returns the background colour, if there is one. The default is white.
    #[must_use]
    pub fn colour(self) -> Option<Colour> {
        match self {
            Self::Unsaid => Some(Colour::WHITE),
            Self::Colour(colour) => Some(colour),
            Self::Dropped => None,
        }
    }
}

const DROPPED: &str = "none";

const BACKGROUND: Setting = Setting {
    word: &Word {
        name: "background",
        args: &[Arg::text("colour", "ffffff")
            .help("6 hex digits; none: opacity is dropped, hidden colours show")],
        help: "what shows through in formats that keep no opacity, such as JPEG; absent: white",
        example: "background:3080c0",
    },
    read: |output, parts| {
        output.background = match BACKGROUND.word.texts(parts)? {
            [DROPPED] => Background::Dropped,
            [colour] => Background::Colour(Colour {
                a: u8::MAX,
                ..colour.parse()?
            }),
        };
        Ok(())
    },
    write: |output| match output.background {
        Background::Unsaid => None,
        Background::Colour(colour) => Some(colour.to_string()),
        Background::Dropped => Some(DROPPED.to_owned()),
    },
};

/// The colour space of a result, and how the result declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Display P3 stays, wider spaces become Display P3, and everything else becomes sRGB. The default.
    #[default]
    Unsaid,
    /// sRGB, without a declaration in the file.
    Srgb,
    /// Display P3.
    P3,
    /// The source's own colour space, with its profile.
    Keep,
    /// The source's own sample values, without its profile.
    Drop,
    /// The source's own sample values, without its profile. CMYK becomes RGB by a plain formula.
    Ignore,
}

impl Profile {
    /// The words for the colour spaces that a recipe may name.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &["srgb", "p3", "keep", "drop", "ignore"],
        values: &[Self::Srgb, Self::P3, Self::Keep, Self::Drop, Self::Ignore],
    };
}

const PROFILE: Setting = Setting {
    word: &Word {
        name: "profile",
        args: &[Arg::choice("space", Profile::CHOICES.words).help(
            "keep: the source's own, CMYK too; drop: the source's numbers, of which the result does not say what they \
             mean; ignore: the same, but CMYK becomes RGB by a plain formula",
        )],
        help: "the colour space of the result; absent: Display P3 stays, wider spaces become it, everything else \
               becomes sRGB",
        example: "profile:srgb",
    },
    read: |output, parts| {
        let space = Profile::CHOICES.read(PROFILE.word, parts);
        space.map(|space| output.profile = space)
    },
    write: |output| Profile::CHOICES.unless_default(output.profile),
};

/// The metadata (EXIF, IPTC and XMP) that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// Author, copyright and licence, whether AI made the image, and the orientation.
    #[default]
    Copyright,
    /// No metadata.
    None,
    /// Everything except the place where the image was taken.
    Public,
    /// Everything, including the place where the image was taken.
    All,
}

impl Kept {
    /// The words for the amounts of metadata.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &["none", "copyright", "public", "all"],
        values: &[Self::None, Self::Copyright, Self::Public, Self::All],
    };
}

const METADATA: Setting = Setting {
    word: &Word {
        name: "metadata",
        args: &[Arg::choice("kept", Kept::CHOICES.words).help(
            "copyright: author, copyright and licence of EXIF, IPTC and XMP, whether the image was made by AI, and \
             which way is up; public: all but the place where it was taken, by its coordinates or its names; all: that, \
             too; thumbnails and previews never",
        )],
        help: "what the result keeps of EXIF, IPTC and XMP; absent: copyright",
        example: "metadata:none",
    },
    read: |output, parts| {
        let kept = Kept::CHOICES.read(METADATA.word, parts);
        kept.map(|kept| output.metadata = kept)
    },
    write: |output| Kept::CHOICES.unless_default(output.metadata),
};

const GAIN_MAPS: Choices<bool> = Choices {
    words: &["keep", "drop"],
    values: &[false, true],
};

const GAIN_MAP: Setting = Setting {
    word: &Word {
        name: "gainmap",
        args: &[Arg::choice("choice", GAIN_MAPS.words).help(
            "keep: cropped, scaled and turned with the image, where the result's format holds it",
        )],
        help: "what becomes of the gain map of an HDR photo (Ultra HDR, ISO 21496-1), which makes it brighter on \
               screens that can show that; absent: keep",
        example: "gainmap:drop",
    },
    read: |output, parts| {
        let drops = GAIN_MAPS.read(GAIN_MAP.word, parts);
        drops.map(|drops| output.drops_gain_map = drops)
    },
    write: |output| GAIN_MAPS.unless_default(output.drops_gain_map),
};

const LINEAR: Setting = Setting {
    word: &Word {
        name: "linear",
        args: &[],
        help: "scales in linear light, before effects: fine patterns, stars and thin lights keep their brightness. \
               JPEGs are then decoded in full and pixels held in 16 bits, which takes several times as long. HDR, and \
               sources whose own profile is kept though it is neither sRGB nor Display P3, are scaled as they are \
               stored",
        example: "linear",
    },
    read: |output, parts| LINEAR.word.texts(parts).map(|[]| output.linear = true),
    write: |output| flag(output.linear),
};
