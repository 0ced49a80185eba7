//! The module's three engines. Here all of them are one; what is kept of each is what it can do and
//! what it does unasked.

/// An engine, by the `e` parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Engine {
    /// ImageMagick: knows every parameter.
    #[default]
    ImageMagick,
    /// GD: sharpens a little, always interlaces, loses all metadata.
    Gd,
    /// Imlib2: sharpens and blurs by whole pixels, loses all metadata.
    Imlib2,
}

/// Parameters that mean nothing to GD.
const NOT_IN_GD: &[&str] = &[
    "blur",
    "unsharp",
    "embedicon",
    "ix",
    "iy",
    "jpeghint",
    "rmprof",
    "cmyk2rgb",
    "autoorient",
    "progressive",
];

/// Parameters that mean nothing to Imlib2.
const NOT_IN_IMLIB2: &[&str] = &[
    "unsharp",
    "embedicon",
    "ix",
    "iy",
    "rmprof",
    "cmyk2rgb",
    "autoorient",
    "progressive",
];

impl Engine {
    /// By name; any other is ImageMagick, as in the module.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "imagemagick" => Some(Self::ImageMagick),
            "gd" => Some(Self::Gd),
            "imlib2" => Some(Self::Imlib2),
            _ => None,
        }
    }

    /// Parameters that it ignores.
    pub(super) fn ignores(self) -> &'static [&'static str] {
        match self {
            Self::ImageMagick => &[],
            Self::Gd => NOT_IN_GD,
            Self::Imlib2 => NOT_IN_IMLIB2,
        }
    }

    /// The quality in a recipe for the one in a URL. `None`: the source's own.
    pub(super) fn quality(self, q: f64) -> Option<u16> {
        // `as` truncates and saturates, as the casts of the engines do.
        match self {
            Self::ImageMagick => Some(q as u16).filter(|q| *q > 0).map(|q| q.min(1000)),
            Self::Gd if q == 0.0 => Some(100),
            // libgd's own default stands for what is negative.
            Self::Gd if q < 0.0 => Some(75),
            Self::Imlib2 if q <= 0.0 => Some(75),
            Self::Gd | Self::Imlib2 => Some((q as u16).clamp(1, 100)),
        }
    }
}
