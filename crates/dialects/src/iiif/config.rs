//! The dialect's keys.

use andon_settings::check;
use serde::Deserialize;

use super::{Iiif, Limits, Version};
use crate::ConfigError;
use crate::config::{Gate, Settings, below, mount};
use crate::dialect::Dialect;

/// `[iiif]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IiifConfig {
    /// What targets of version 3.0 begin with; empty: none are read.
    pub prefix: String,
    /// What targets of version 2.1 begin with; empty: none are read.
    pub prefix2: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
    /// Where identifiers may have slashes.
    pub slashes: Slashes,
    /// What `!w,h` of 3.0 with a box larger than the region answers.
    pub larger_box: LargerBox,
    /// What URIs in answers begin with: scheme, authority and what a proxy takes off paths; empty: `http` and the request's
    /// `Host`.
    pub site: String,
    /// Believe `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` (or `X-Forwarded-Path`) instead.
    pub forwarded: bool,
    /// The widest result, px.
    pub max_width: u32,
    /// The highest, px; 0: as `max_width`.
    pub max_height: u32,
    /// The largest, px.
    pub max_area: u64,
    /// Width and height of the tiles that viewers are told to ask for, px.
    pub tile: u32,
    /// The URI of a licence, for every image; empty: nothing is said.
    pub rights: String,
    /// Who is to be named, in 2.1; empty: nothing is said.
    pub attribution: String,
}

/// Where identifiers may have slashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slashes {
    /// Bare ones too: many proxies decode `%2F`.
    #[default]
    Either,
    /// As `%2F` only, as the specification says.
    Encoded,
}

/// What `!w,h` of 3.0 with a box larger than the region answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LargerBox {
    /// The region at its own size, as section 4.2 of the specification says.
    #[default]
    Image,
    /// 400, as the public validator's release 1.0.5 demands.
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
            let mounted = mount(key, prefix)?;
            mounts.extend(mounted.map(|prefix| (prefix, version)));
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
}
