//! The configuration of the IIIF dialect.

use andon_recipe::Wish;
use andon_settings::check;
use serde::Deserialize;

use super::{Iiif, Limits, Version};
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::spelling::{Spelt, Word};

/// The table `[iiif]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IiifConfig {
    /// URL prefix of version 3.0 of the IIIF Image API; empty: that version is off.
    pub prefix: String,
    /// URL prefix of version 2.1 of the IIIF Image API; empty: that version is off.
    pub prefix2: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Whether identifiers may contain slashes that are not encoded.
    pub slashes: Slashes,
    /// How a request for the size `!w,h` of IIIF 3.0 is answered if the box of `w` × `h` px is larger than the region
    /// of the image.
    pub larger_box: LargerBox,
    /// The beginning of URIs in responses: scheme, authority and the path prefix that a proxy removes. Empty: `http`
    /// and the request's `Host`.
    pub site: String,
    /// Whether the beginning of URIs in responses follows `X-Forwarded-Proto`, `X-Forwarded-Host` and
    /// `X-Forwarded-Prefix` (or `X-Forwarded-Path`), if `site` is empty.
    pub forwarded: bool,
    /// Largest width of a result, in px.
    pub max_width: u32,
    /// Largest height of a result, in px; 0: the value of `max_width`.
    pub max_height: u32,
    /// Largest area of a result, in px.
    pub max_area: u64,
    /// Width and height in px of the tiles that `info.json` recommends to viewers.
    pub tile: u32,
    /// URI of a licence that `info.json` states for every image; empty: none.
    pub rights: String,
    /// Attribution that `info.json` of IIIF 2.1 states for every image; empty: none.
    pub attribution: String,
}

/// How slashes in identifiers may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slashes {
    /// As `/` or `%2F`, since many proxies decode `%2F`.
    #[default]
    Either,
    /// As `%2F` only, as the IIIF specification demands.
    Encoded,
}

/// How a request for the size `!w,h` of IIIF 3.0 is answered if the box of `w` × `h` px is larger than the region of
/// the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LargerBox {
    /// With the region at its own size, as section 4.2 of the IIIF specification says.
    #[default]
    Image,
    /// With status 400, as release 1.0.5 of IIIF's public validator demands.
    Error,
}

impl Default for IiifConfig {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            prefix2: String::new(),
            open: false,
            slashes: Slashes::default(),
            larger_box: LargerBox::default(),
            site: String::new(),
            forwarded: false,
            max_width: 16_384,
            max_height: 0,
            max_area: 50_000_000,
            tile: 512,
            rights: String::new(),
            attribution: String::new(),
        }
    }
}

impl Settings for IiifConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let mut mounts = Vec::new();
        for (key, prefix, version) in [
            ("iiif.prefix", &self.prefix, Version::V3),
            ("iiif.prefix2", &self.prefix2, Version::V2),
        ] {
            let prefix = mount(key, prefix)?;
            mounts.extend(prefix.map(|prefix| (prefix, version)));
        }
        for (key, value, least) in [
            ("iiif.max_width", u64::from(self.max_width), 1),
            ("iiif.max_area", self.max_area, 1),
            ("iiif.tile", u64::from(self.tile), 16),
        ] {
            check(value >= least, key, || {
                format!("`{value}` is too small; {least} is the least")
            })?;
        }
        let max_height = match self.max_height {
            0 => self.max_width,
            height => height,
        };
        let dialect = Iiif {
            mounts,
            limits: Limits {
                width: self.max_width,
                height: max_height,
                area: self.max_area,
            },
            config: self.clone(),
        };
        Ok((!dialect.mounts.is_empty()).then(|| Box::new(dialect) as Box<dyn Dialect>))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix, &self.prefix2]),
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, _: Mount) {
        self.prefix = "/iiif/3".to_owned();
        self.prefix2 = "/iiif/2".to_owned();
    }

    fn forms() -> &'static [Form] {
        super::form::FORMS
    }

    fn words() -> Vec<Word> {
        super::spell::WORDS.to_vec()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        super::spell::spell(wish, source)
    }
}
