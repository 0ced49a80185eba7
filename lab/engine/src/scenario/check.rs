//! `[check]`: the checks that every reply must pass, and when the replies of two variants count as equivalent.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Share;

/// The checks applied to every reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Check {
    /// Expected status code. 0 stands for any below 400.
    pub status: u16,
    /// Expected media type. Empty for any.
    #[serde(rename = "type")]
    pub media_type: String,
    /// How closely bodies are checked.
    pub body: BodyCheck,
    /// Minimum share of correct replies, that is, of complete images of the right size that compare with the baseline's
    /// as `expect` demands. The baseline and each variant must reach it.
    pub bodies: AtLeast,
    /// The size in px that images must have.
    pub size: SizeCheck,
    /// How replies must compare with the baseline's, for variants without an `expect` of their own.
    pub expect: Expect,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            status: 200,
            media_type: String::new(),
            body: BodyCheck::Decode,
            bodies: AtLeast(Share(1.0)),
            size: SizeCheck::Any,
            expect: Expect::SamePixels,
        }
    }
}

/// How closely the bodies of replies are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyCheck {
    /// Bodies are not checked.
    None,
    /// Each body must be as long as the first one of the same URL.
    Length,
    /// Every body is hashed.
    Hash,
    /// Every body is hashed, and every distinct one is decoded after the block.
    #[default]
    #[serde(rename = "hash-all, decode-distinct", alias = "decode")]
    Decode,
}

/// A minimum share of at most 1, written `>= 99%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtLeast(pub Share);

impl AtLeast {
    /// Parses a minimum share: `>= 99%`, `≥ 99 %` or `99%`.
    ///
    /// # Errors
    /// A sentence that names the invalid value and what would be valid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let share = text.trim().trim_start_matches(">=").trim_start_matches('≥');
        let share = Share::parse(share).ok().filter(|share| share.0 <= 1.0);
        share
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a least share: write `>= 99%`, at most 100%"))
    }
}

impl Serialize for AtLeast {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!(">= {}", self.0))
    }
}

impl<'de> Deserialize<'de> for AtLeast {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The size in px that the images in replies must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeCheck {
    /// Any size.
    #[default]
    Any,
    /// No larger than the size that the URL asks for (`/w/150/h/100/`, `dw=250,dh=250`, `w=…&h=…`).
    Url,
    /// Exactly this width and height in px, written `"250x188"`. 0 stands for any.
    #[serde(untagged, with = "dimensions")]
    Exactly(u32, u32),
}

mod dimensions {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(w: &u32, h: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{w}x{h}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<(u32, u32), D::Error> {
        let text = String::deserialize(from)?;
        let sides = text
            .split_once('x')
            .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        sides.ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not a size: write `any`, `url` or `250x188`"
            ))
        })
    }
}

/// How a variant's replies must compare with the baseline's, URL by URL.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Expect {
    /// Equal bytes.
    SameBytes,
    /// Equal pixels after decoding.
    #[default]
    SamePixels,
    /// Structural similarity (SSIM) of luma of at least this value.
    Ssim(f64),
    /// Any body: bodies are not compared.
    Any,
}

impl Expect {
    /// Parses `same-bytes`, `same-pixels`, `ssim >= 0.98` or `any`.
    ///
    /// # Errors
    /// A sentence that names the invalid value and what would be valid.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "same-bytes" => Ok(Self::SameBytes),
            "same-pixels" => Ok(Self::SamePixels),
            "any" => Ok(Self::Any),
            other => other
                .strip_prefix("ssim")
                .and_then(|rest| rest.trim().strip_prefix(">="))
                .and_then(|number| number.trim().parse().ok())
                .filter(|ssim| (0.0..=1.0).contains(ssim))
                .map(Self::Ssim)
                .ok_or_else(|| {
                    format!(
                        "`{other}` is not an expectation: write `same-bytes`, `same-pixels`, \
                         `ssim >= 0.98` or `any`"
                    )
                }),
        }
    }
}

impl Serialize for Expect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::SameBytes => serializer.serialize_str("same-bytes"),
            Self::SamePixels => serializer.serialize_str("same-pixels"),
            Self::Ssim(least) => serializer.collect_str(&format_args!("ssim >= {least}")),
            Self::Any => serializer.serialize_str("any"),
        }
    }
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
