//! The three engines of ngx_small_light. Here a single engine imitates them: they differ only in the parameters that
//! they support and in their defaults.

/// An engine, chosen by the `e` parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Engine {
    /// ImageMagick: supports every parameter.
    #[default]
    ImageMagick,
    /// GD: sharpens a little, always interlaces, drops all metadata.
    Gd,
    /// Imlib2: sharpens and blurs by whole pixels, drops all metadata.
    Imlib2,
}

/// Parameters that GD does not support.
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

/// Parameters that Imlib2 does not support.
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
    /// Returns the engine of this name. `None` for any other name, for which ngx_small_light uses ImageMagick.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "imagemagick" => Some(Self::ImageMagick),
            "gd" => Some(Self::Gd),
            "imlib2" => Some(Self::Imlib2),
            _ => None,
        }
    }

    /// Returns the parameters that the engine ignores.
    pub(super) fn ignores(self) -> &'static [&'static str] {
        match self {
            Self::ImageMagick => &[],
            Self::Gd => NOT_IN_GD,
            Self::Imlib2 => NOT_IN_IMLIB2,
        }
    }

    /// Converts the quality of a URL to the quality of a recipe; `None`: the source's own quality is kept.
    pub(super) fn quality(self, q: f64) -> Option<u16> {
        // `as` truncates and saturates, as the casts of the engines do.
        match self {
            Self::ImageMagick => Some(q as u16).filter(|q| *q > 0).map(|q| q.min(1000)),
            Self::Gd if q == 0.0 => Some(100),
            // libgd uses its default for negative values.
            Self::Gd if q < 0.0 => Some(75),
            Self::Imlib2 if q <= 0.0 => Some(75),
            Self::Gd | Self::Imlib2 => Some((q as u16).clamp(1, 100)),
        }
    }
}
