//! `[[fallback]]`: what is sent in place of an image whose source cannot be had.

use std::time::Duration;

use andon_settings::check;
use hyper::StatusCode;
use serde::Deserialize;

use super::prefix::{check_prefix, longest_prefix};
use super::{ConfigError, Span};

/// One `[[fallback]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FallbackConfig {
    /// For sources whose path begins with this (whole segments); the longest wins.
    pub prefix: String,
    /// The source of the image that is sent; the same is made of it. None: what URLs name themselves.
    pub image: Option<String>,
    /// The status; 0: that of the error.
    pub status: u16,
    /// For which clients may keep it.
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
    /// The one for a source.
    pub(crate) fn of(fallbacks: &[Self], source: &str) -> Self {
        let of_source = longest_prefix(fallbacks, source, |one| &one.prefix);
        of_source.cloned().unwrap_or_default()
    }
}

pub(super) fn validate(fallbacks: &[FallbackConfig]) -> Result<(), ConfigError> {
    for (index, fallback) in fallbacks.iter().enumerate() {
        let FallbackConfig { prefix, status, .. } = fallback;
        check_prefix(prefix, format!("fallback.{index}.prefix"))?;
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
