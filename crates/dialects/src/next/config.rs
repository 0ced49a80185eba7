//! The configuration of the Next.js dialect.

use andon_recipe::Wish;
use andon_settings::check;
use serde::Deserialize;
use url::Url;

use super::patterns::{LocalPattern, Patterns};
use super::query::{Checks, OPTIONS};
use super::{Next, spell};
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::remote_pattern::RemotePattern;
use crate::spelling::{Spelt, Word};

/// The table `[next]` of the configuration. The keys from `device_sizes` on are those of `images` in the configuration
/// of Next.js, and have its defaults.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NextConfig {
    /// The path of the URLs, such as `/_next/image`; empty: they are not served.
    pub prefix: String,
    /// The path of URLs of Vercel's image API, such as `/_vercel/image`; empty: they are not served.
    pub vercel_prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// The path under which the application is mounted (`basePath`); empty: `/`.
    pub base_path: String,
    /// Scheme and host of the application, from which paths with a query are fetched. An origin with `http.urls` must
    /// allow it. Empty: queries of paths are left out.
    pub site: String,
    /// Permitted widths in px, in addition to `image_sizes`. If both are empty, any width is permitted.
    pub device_sizes: Vec<u32>,
    /// Permitted widths in px, in addition to `device_sizes`.
    pub image_sizes: Vec<u32>,
    /// Permitted qualities; empty: any.
    pub qualities: Vec<u8>,
    /// Media types that are sent to browsers that accept them, the preferred one first: `image/avif`, `image/webp`.
    pub formats: Vec<String>,
    /// Minimum number of seconds for which browsers and proxies cache a result.
    pub minimum_cache_ttl: u64,
    /// Hosts of the URLs that may be named as sources.
    pub domains: Vec<String>,
    /// Patterns of the URLs that may be named as sources, in addition to those at `domains`.
    pub remote_patterns: Vec<RemotePattern>,
    /// Patterns of paths that may be named as sources; empty: all paths, without a query.
    pub local_patterns: Vec<LocalPattern>,
    /// Whether SVG sources are served, unchanged (`dangerouslyAllowSVG`).
    pub allow_svg: bool,
    /// Value of the header `Content-Security-Policy` of results.
    pub content_security_policy: String,
    /// Whether browsers save or display a result that is opened by itself.
    pub content_disposition: Disposition,
}

/// What browsers do with a result that is opened by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    /// Browsers save the result.
    #[default]
    Attachment,
    /// Browsers display the result.
    Inline,
}

impl Disposition {
    /// Returns the value for the header `Content-Disposition`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Attachment => "attachment",
            Self::Inline => "inline",
        }
    }
}

impl Default for NextConfig {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            vercel_prefix: String::new(),
            open: false,
            base_path: String::new(),
            site: String::new(),
            device_sizes: vec![640, 750, 828, 1080, 1200, 1920, 2048, 3840],
            image_sizes: vec![32, 48, 64, 96, 128, 256, 384],
            qualities: vec![75],
            formats: vec!["image/webp".to_owned()],
            minimum_cache_ttl: 14_400,
            domains: Vec::new(),
            remote_patterns: Vec::new(),
            local_patterns: Vec::new(),
            allow_svg: false,
            content_security_policy: "script-src 'none'; frame-src 'none'; sandbox;".to_owned(),
            content_disposition: Disposition::default(),
        }
    }
}

impl NextConfig {
    /// Validates `formats`, and returns the engine's names of them.
    ///
    /// # Errors
    /// A media type that is not supported.
    fn format_names(&self) -> Result<Vec<&'static str>, ConfigError> {
        let names = self.formats.iter().map(|media_type| match &**media_type {
            "image/avif" => Ok("avif"),
            "image/webp" => Ok("webp"),
            other => Err(ConfigError::new(
                "next.formats",
                format!("`{other}` must be \"image/avif\" or \"image/webp\""),
            )),
        });
        names.collect()
    }

    fn checked_site(&self) -> Result<String, ConfigError> {
        let site = self.site.trim_end_matches('/');
        let is_host = |url: Url| ["http", "https"].contains(&url.scheme()) && url.path() == "/";
        let sound = site.is_empty() || Url::parse(site).is_ok_and(is_host);
        check(sound, "next.site", || {
            format!("`{site}` must be scheme and host, such as \"http://127.0.0.1:3000\"")
        })?;
        Ok(site.to_owned())
    }
}

impl Settings for NextConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let prefixes = [
            mount("next.prefix", &self.prefix)?,
            mount("next.vercel_prefix", &self.vercel_prefix)?,
        ];
        let prefixes: Vec<String> = prefixes.into_iter().flatten().collect();
        if prefixes.is_empty() {
            return Ok(None);
        }
        let sizes = self.device_sizes.iter().chain(&self.image_sizes);
        let base_path = mount("next.base_path", &self.base_path)?;
        Ok(Some(Box::new(Next {
            checks: Checks {
                widths: sizes.copied().collect(),
                qualities: self.qualities.clone(),
                prefixes: prefixes.clone(),
                patterns: Patterns::new(
                    &self.domains,
                    &self.remote_patterns,
                    &self.local_patterns,
                )?,
            },
            prefixes,
            formats: self.format_names()?,
            base_path: base_path.unwrap_or_default(),
            site: self.checked_site()?,
            allow_svg: self.allow_svg,
            least: self.minimum_cache_ttl,
            security_policy: self.content_security_policy.clone(),
            disposition: self.content_disposition,
        })))
    }

    fn gate(&self) -> Gate {
        let at = |prefix: &String| prefix.trim_end_matches('/').to_owned();
        let prefixes = [&self.prefix, &self.vercel_prefix].into_iter();
        let prefixes = prefixes.filter(|prefix| !prefix.is_empty());
        Gate {
            open: self.open,
            places: prefixes.map(at).collect(),
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, _: Mount) {
        self.prefix = "/_next/image".to_owned();
        self.vercel_prefix = "/_vercel/image".to_owned();
    }

    fn forms() -> &'static [Form] {
        super::form::FORMS
    }

    fn words() -> Vec<Word> {
        spell::WORDS.to_vec()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        spell::spell(wish, source)
    }

    fn option_help() -> Vec<OptionHelp> {
        OPTIONS.help()
    }
}
