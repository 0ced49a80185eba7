//! The `[[fallback]]` tables: what is sent in place of an image whose source is missing, unusable or unavailable.

use std::time::Duration;

use andon_settings::check;
use hyper::StatusCode;
use serde::Deserialize;

use super::prefix::{check_source_prefix, longest_prefix};
use super::{ConfigError, Span};

/// One `[[fallback]]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FallbackConfig {
    /// The fallback is for sources whose path or URL begins with this prefix (whole segments); the longest prefix wins,
    /// and `/` is for all sources.
    pub prefix: String,
    /// Path or URL of the image that is sent instead, with the same recipe applied. A fallback that the requested URL
    /// names takes precedence; with `None`, only such fallbacks are sent.
    pub image: Option<String>,
    /// The HTTP status of the reply; 0 means the status of the error.
    pub status: u16,
    /// How long clients may cache the fallback.
    pub ttl: Span,
}

impl Default for FallbackConfig {
    fn default() -> Self {
        Self {
            prefix: "/".to_owned(),
            image: None,
            status: 200,
            ttl: Span(Duration::from_secs(60)),
        }
    }
}

impl FallbackConfig {
    /// Returns the item of `entries` that applies to `source`: the one whose `[[fallback]]` table, which `terms`
    /// returns, has the longest prefix that `source` is below. Returns `None` if `source` is below no prefix.
    pub(crate) fn of<'a, T>(
        entries: &'a [T],
        source: &str,
        terms: impl Fn(&T) -> &Self,
    ) -> Option<&'a T> {
        longest_prefix(entries, source, |entry| &terms(entry).prefix)
    }
}

pub(super) fn validate(fallbacks: &[FallbackConfig]) -> Result<(), ConfigError> {
    for (index, fallback) in fallbacks.iter().enumerate() {
        let FallbackConfig { prefix, status, .. } = fallback;
        check_source_prefix(prefix, format!("fallback.{index}.prefix"))?;
        let sound = *status == 0
            || StatusCode::from_u16(*status).is_ok_and(|it| {
                it == StatusCode::OK || it.is_client_error() || it.is_server_error()
            });
        check(sound, format!("fallback.{index}.status"), || {
            format!("{status} must be 200, an error's status, or 0 for that of the error itself")
        })?;
    }
    Ok(())
}
