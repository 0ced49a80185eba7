//! The configuration of the imgproxy dialect. Keys are named after imgproxy's variables where they mean the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use andon_recipe::Wish;
use andon_settings::check;
use regex::Regex;
use serde::Deserialize;

use super::formats;
use super::options::Options;
use super::rules::{CommonSettings, Mark};
use super::secret::{Signer, Signing};
use super::sources::Sources;
use super::{Imgproxy, info, resembles, table};
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::{Dialect, Target};
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::signature::{Key, unhex};
use crate::spelling::{Spelt, Word};

/// The table `[imgproxy]` of the configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImgproxyConfig {
    /// Prefix of the dialect's URLs, or `/` for all URLs; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Signing keys, in hexadecimal digits. Empty: URLs are not signed.
    pub keys: Vec<String>,
    /// The salt of each key, in hexadecimal digits and in the order of `keys`.
    pub salts: Vec<String>,
    /// Whether keys may be weak: shorter than 16 bytes, or one byte repeated.
    pub weak_keys: bool,
    /// Length of a signature in bytes, 1 to 32.
    pub signature_size: usize,
    /// Texts that are accepted as a signature of any path.
    pub trusted_signatures: Vec<String>,
    /// Key that decrypts sources behind `enc/`: 16, 24 or 32 bytes in hexadecimal digits.
    pub source_key: Option<String>,
    /// The text between an option's name and its arguments.
    pub separator: String,
    /// Text that is put before each source that does not begin with it.
    pub base_url: String,
    /// Replacements that are applied to each source: a regular expression, and the text that replaces its matches.
    pub url_replacements: Vec<(String, String)>,
    /// Permitted beginnings of sources. `*` stands for any text without `/`. Empty: every source that an origin has is
    /// allowed.
    pub allowed_sources: Vec<String>,
    /// Whether the last segment of a source in base64 is a file name, which is ignored.
    pub base64_url_includes_filename: bool,
    /// Presets: options such as `a:1/b:2`, by name. Those of `default` apply to every request.
    pub presets: BTreeMap<String, String>,
    /// Whether URLs can name presets and nothing else.
    pub only_presets: bool,
    /// The options that URLs may use; empty: all.
    pub allowed_processing_options: Vec<String>,
    /// Whether URLs may use the options that set limits.
    pub allow_security_options: bool,
    /// Whether the headers `Sec-CH-DPR` (or `DPR`) and `Sec-CH-Width` (or `Width`) set density and width if presets and
    /// URL do not.
    pub client_hints: bool,
    /// Whether the header `Accept` selects the format among those of `[negotiation]`, if the URL names none.
    pub negotiate: bool,
    /// Whether the header `Accept` selects the format even if the URL names one. Clients that accept none of
    /// `[negotiation]` then get the format of the URL.
    pub enforce: bool,
    /// Quality of JPEG, 0 to 100, unless `format_quality` sets it. 0 stands for 80.
    pub quality: u8,
    /// Quality by format, 0 to 100, where 0 stands for 80. Formats that are not listed have imgproxy's defaults.
    pub format_quality: BTreeMap<String, u8>,
    /// Formats in which sources of the same format are sent. Results of all other sources get the first of these
    /// formats that can represent them.
    pub preferred_formats: Vec<String>,
    /// Maximum length of the sides of a result, in px; 0: only `limits.result_side` applies.
    pub max_result_dimension: u32,
    /// Whether animations stay animated: with 0 or 1 only a single frame is sent, with more all frames are.
    pub max_animation_frames: u32,
    /// For how many seconds clients may cache results, if neither the operator nor the origin sets that.
    pub ttl: u64,
    /// Whether metadata are removed.
    pub strip_metadata: bool,
    /// Whether copyright metadata are kept although `strip_metadata` removes the rest.
    pub keep_copyright: bool,
    /// Whether colours are converted to sRGB; otherwise the source's colour profile is kept.
    pub strip_color_profile: bool,
    /// Whether images are turned upright.
    pub auto_rotate: bool,
    /// Whether browsers are told to save results instead of displaying them.
    pub return_attachment: bool,
    /// The watermark that the option `wm` lays on results.
    pub watermark: Option<WatermarkConfig>,
}

/// The table `[imgproxy.watermark]` of the configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatermarkConfig {
    /// Path (which begins with `/`) or URL of the watermark, or the name of its file in the folder
    /// `small_light.material_dir`.
    pub file: String,
    /// Width and height of the watermark's file, in px. Without them, its position may be off by 1 px.
    #[serde(default)]
    pub size: Option<(u32, u32)>,
    /// Factor, 0 to 1, by which the opacity that URLs ask for is multiplied.
    #[serde(default = "one")]
    pub opacity: f64,
}

fn one() -> f64 {
    1.0
}

impl Default for ImgproxyConfig {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            open: false,
            keys: Vec::new(),
            salts: Vec::new(),
            weak_keys: false,
            signature_size: 32,
            trusted_signatures: Vec::new(),
            source_key: None,
            separator: ":".to_owned(),
            base_url: String::new(),
            url_replacements: Vec::new(),
            allowed_sources: Vec::new(),
            base64_url_includes_filename: false,
            presets: BTreeMap::new(),
            only_presets: false,
            allowed_processing_options: Vec::new(),
            allow_security_options: false,
            client_hints: false,
            negotiate: false,
            enforce: false,
            quality: 80,
            format_quality: BTreeMap::new(),
            preferred_formats: ["jpeg", "png", "gif"].map(str::to_owned).to_vec(),
            max_result_dimension: 0,
            max_animation_frames: 1,
            ttl: 31_536_000,
            strip_metadata: true,
            keep_copyright: true,
            strip_color_profile: true,
            auto_rotate: true,
            return_attachment: false,
            watermark: None,
        }
    }
}

impl Settings for ImgproxyConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let Some(prefix) = mount("imgproxy.prefix", &self.prefix)? else {
            return Ok(None);
        };
        Ok(Some(Box::new(self.dialect_at(prefix)?)))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            keys: !self.keys.is_empty(),
            only_presets: self.only_presets,
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, mount: Mount) {
        self.prefix = mount.of("/imgproxy").to_owned();
    }

    fn resembles(target: &Target<'_>) -> bool {
        resembles(target.path)
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

    fn option_help() -> Vec<OptionHelp> {
        let rows = table::ALL.iter().map(|row| OptionHelp {
            differs: row.difference(),
            ..OptionHelp::new(row.names, &row.sentence())
        });
        rows.chain(info::option_help()).collect()
    }
}

fn wrong(key: &str, why: String) -> ConfigError {
    ConfigError::new(format!("imgproxy.{key}"), why)
}

impl ImgproxyConfig {
    fn dialect_at(&self, prefix: String) -> Result<Imgproxy, ConfigError> {
        check(
            !self.separator.is_empty() && !self.separator.contains('/'),
            "imgproxy.separator",
            || {
                format!(
                    "`{}` must be a text without slashes, such as \":\"",
                    self.separator
                )
            },
        )?;
        let dialect = Imgproxy {
            prefix,
            signing: self.signing()?,
            source_key: self
                .source_key
                .as_ref()
                .map(|key| self.source_key(key))
                .transpose()?,
            sources: self.sources()?,
            options: self.options()?,
            common: Arc::new(self.common()?),
            config: self.clone(),
        };
        dialect.check_presets()?;
        Ok(dialect)
    }

    fn signing(&self) -> Result<Signing, ConfigError> {
        check(
            self.salts.len() == self.keys.len(),
            "imgproxy.salts",
            || {
                let (salts, keys) = (self.salts.len(), self.keys.len());
                format!("{salts} salts do not match {keys} keys: each key has its salt")
            },
        )?;
        check(
            (1..=32).contains(&self.signature_size),
            "imgproxy.signature_size",
            || format!("{} must be from 1 to 32 bytes", self.signature_size),
        )?;
        let signer = |(key, salt): (&String, &String)| {
            let salt = unhex(salt).filter(|salt| !salt.is_empty());
            Ok(Signer {
                key: Key::from_hex("imgproxy.keys", key, self.weak_keys)?,
                salt: salt.ok_or_else(|| {
                    wrong(
                        "salts",
                        "a salt must be an even number of hexadecimal digits".to_owned(),
                    )
                })?,
            })
        };
        let signers = self.keys.iter().zip(&self.salts).map(signer);
        Ok(Signing {
            signers: signers.collect::<Result<_, ConfigError>>()?,
            length: self.signature_size,
            trusted: self.trusted_signatures.clone(),
        })
    }

    fn source_key(&self, hex: &str) -> Result<Key, ConfigError> {
        let key = Key::from_hex("imgproxy.source_key", hex, self.weak_keys)?;
        let length = key.bytes().len();
        check(
            matches!(length, 16 | 24 | 32),
            "imgproxy.source_key",
            || format!("a key of {length} bytes must have 16, 24 or 32"),
        )?;
        check(!self.keys.is_empty(), "imgproxy.source_key", || {
            "encrypted sources are only read from signed URLs: `keys` must not be empty".to_owned()
        })?;
        Ok(key)
    }

    fn sources(&self) -> Result<Sources, ConfigError> {
        let pattern = |pattern: &String| {
            let literal: Vec<String> = pattern.split('*').map(regex::escape).collect();
            Regex::new(&format!("^{}", literal.join("[^/]*")))
                .map_err(|error| wrong("allowed_sources", error.to_string()))
        };
        let replacement = |(from, to): &(String, String)| {
            let from =
                Regex::new(from).map_err(|error| wrong("url_replacements", error.to_string()))?;
            Ok((from, to.clone()))
        };
        Ok(Sources {
            base: self.base_url.clone(),
            replacements: self
                .url_replacements
                .iter()
                .map(replacement)
                .collect::<Result<_, _>>()?,
            patterns: self
                .allowed_sources
                .iter()
                .map(pattern)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the options that every request starts with, before those of presets.
    fn options(&self) -> Result<Options, ConfigError> {
        let mut options = Options {
            strip_metadata: self.strip_metadata,
            keep_copyright: self.keep_copyright,
            strip_profile: self.strip_color_profile,
            auto_rotate: self.auto_rotate,
            attachment: self.return_attachment,
            ..Options::default()
        };
        options.limits.side = self.max_result_dimension;
        options.limits.frames = self.max_animation_frames;
        check(self.quality <= 100, "imgproxy.quality", || {
            format!("{} must be from 0 to 100", self.quality)
        })?;
        if self.quality > 0 {
            options.format_quality.insert("jpeg", self.quality);
        }
        for (name, quality) in &self.format_quality {
            let format = formats::format(name).map_err(|why| wrong("format_quality", why))?;
            check(*quality <= 100, "imgproxy.format_quality", || {
                format!("{quality} must be from 0 to 100")
            })?;
            options.format_quality.insert(format, *quality);
        }
        Ok(options)
    }

    fn common(&self) -> Result<CommonSettings, ConfigError> {
        let format =
            |name: &String| formats::format(name).map_err(|why| wrong("preferred_formats", why));
        let preferred: Vec<_> = self
            .preferred_formats
            .iter()
            .map(format)
            .collect::<Result<_, _>>()?;
        check(!preferred.is_empty(), "imgproxy.preferred_formats", || {
            "at least one format must be named, such as \"jpeg\"".to_owned()
        })?;
        let watermark = self.watermark.as_ref();
        if let Some(watermark) = watermark {
            check(
                (0.0..=1.0).contains(&watermark.opacity),
                "imgproxy.watermark.opacity",
                || format!("{} must be from 0 to 1", watermark.opacity),
            )?;
            check(
                watermark
                    .size
                    .is_none_or(|(width, height)| width > 0 && height > 0),
                "imgproxy.watermark.size",
                || "width and height of the file must be more than 0".to_owned(),
            )?;
        }
        Ok(CommonSettings {
            preferred,
            watermark: watermark.map(|watermark| Mark {
                file: watermark.file.clone(),
                size: watermark.size,
                opacity: watermark.opacity,
            }),
        })
    }
}
