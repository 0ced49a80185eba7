//! The forms of URLs that a log is searched for: the dialects, and their variants that need other settings.

use std::fmt;

/// A form of URLs: a dialect, or a variant of one that needs settings of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Iiif3,
    Iiif2,
    Next,
    Vercel,
    Astro,
    SmallLight,
    Cloudflare,
    Ipx,
    Native,
    Weserv,
    Imgproxy,
    Thumbor,
    Imagor,
    /// Photon with a host as the first segment of the path.
    PhotonHost,
    Imgix,
    /// Photon with paths below the origins.
    PhotonPath,
}

/// Kinds in the order in which they are looked for. Those whose URLs say what they are come before those that nearly
/// every URL could be of. Kinds of one row have the same grammar, so that only one of them is taken for a prefix.
pub(super) const ROWS: &[&[Kind]] = &[
    &[Kind::Next],
    &[Kind::Vercel],
    &[Kind::Astro],
    &[Kind::SmallLight],
    &[Kind::Iiif3, Kind::Iiif2],
    &[Kind::Cloudflare],
    &[Kind::Ipx],
    &[Kind::Weserv],
    &[Kind::Imgproxy],
    &[Kind::Thumbor, Kind::Imagor],
    &[Kind::Native],
    &[Kind::PhotonHost],
    &[Kind::Imgix, Kind::PhotonPath],
];

impl Kind {
    /// Returns the name of the dialect and of its table in the configuration.
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Iiif3 | Self::Iiif2 => "iiif",
            Self::Next | Self::Vercel => "next",
            Self::Astro => "astro",
            Self::SmallLight => "small_light",
            Self::Cloudflare => "cloudflare",
            Self::Ipx => "ipx",
            Self::Native => "native",
            Self::Weserv => "weserv",
            Self::Imgproxy => "imgproxy",
            Self::Thumbor => "thumbor",
            Self::Imagor => "imagor",
            Self::PhotonHost | Self::PhotonPath => "photon",
            Self::Imgix => "imgix",
        }
    }

    /// Returns the key of the table that has the prefix; `None` if the dialect has no prefix.
    pub(super) fn prefix_key(self) -> Option<&'static str> {
        match self {
            Self::SmallLight => None,
            Self::Iiif2 => Some("prefix2"),
            Self::Vercel => Some("vercel_prefix"),
            _ => Some("prefix"),
        }
    }

    /// Returns the keys of the table that make the dialect read as many URLs of this kind as possible, in TOML.
    pub(super) fn lenient(self) -> &'static str {
        match self {
            Self::Next | Self::Vercel => {
                "device_sizes = []\nimage_sizes = []\nqualities = []\nremote_patterns = [{ hostname = \"**\" }]\n"
            }
            Self::Imgproxy => "allow_security_options = true\n",
            Self::Imagor => "allow_unsafe = true\nmax_filters = 0\n",
            Self::PhotonPath => "source = \"path\"\n",
            _ => "",
        }
    }

    /// Whether the dialect, mounted at a prefix, takes or refuses everything below it, so that nothing else can be
    /// there.
    pub(super) fn takes_everything(self) -> bool {
        matches!(
            self,
            Self::Iiif3
                | Self::Iiif2
                | Self::Cloudflare
                | Self::Ipx
                | Self::Native
                | Self::Imgproxy
                | Self::Thumbor
                | Self::Imagor
        )
    }

    /// Returns a regular expression of what follows the prefix in paths of this kind, without anchors and groups that
    /// capture. It uses what the regex crate and PCRE have in common.
    pub(super) fn form(self) -> &'static str {
        match self {
            Self::Iiif3 | Self::Iiif2 => {
                "/.+/(?:info\\.json|[^/]+/[^/]+/!?[0-9.]+/[a-z]+\\.[a-z0-9]+)"
            }
            Self::Next | Self::Vercel | Self::Astro | Self::Weserv => "/?",
            Self::SmallLight => "/.*small_light(?:\\(|%28).*",
            Self::Cloudflare => "/[^/=]+=[^/]*/.+",
            Self::Ipx => "/(?:_|[A-Za-z]+(?:[_&,][^/]*)?)/.+",
            Self::Native => "/[a-z-]+:[^/]*/.+",
            Self::Imgproxy => {
                "/(?:info/)?(?:[^/]+/(?:[^/]+/)*(?:plain|enc)/.+|[A-Za-z0-9_=-]+/(?:[a-z_-]+(?::|%3A)[^/]*/)+[A-Za-z0-9_=/-]+(?:\\.[a-z0-9]+)?|[A-Za-z0-9_-]{43}/[A-Za-z0-9_=/-]+(?:\\.[a-z0-9]+)?)"
            }
            Self::Thumbor | Self::Imagor => "/(?:unsafe|[A-Za-z0-9_-]{26,88}(?:=|%3D){0,2})/.+",
            Self::PhotonHost => "/[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,}/.+",
            Self::Imgix | Self::PhotonPath => "/.+",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iiif3 => "IIIF 3",
            Self::Iiif2 => "IIIF 2",
            Self::Next => "Next.js",
            Self::Vercel => "Vercel",
            Self::Astro => "Astro",
            Self::SmallLight => "ngx_small_light",
            Self::Cloudflare => "Cloudflare",
            Self::Ipx => "ipx",
            Self::Native => "Andon",
            Self::Weserv => "weserv",
            Self::Imgproxy => "imgproxy",
            Self::Thumbor => "thumbor",
            Self::Imagor => "imagor",
            Self::PhotonHost | Self::PhotonPath => "Photon",
            Self::Imgix => "imgix",
        })
    }
}
