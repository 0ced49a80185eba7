//! `[[fallback]]`: what is sent in place of an image whose source cannot be had.

use std::time::Duration;

use andon_settings::check;
use hyper::StatusCode;
use serde::Deserialize;

use super::{ConfigError, Span};

/// One `[[fallback]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FallbackConfig {
    /// For sources whose path begins with this (whole segments); the longest wins.
    #[serde(default = "everything")]
    pub prefix: String,
    /// The source of the image that is sent; the same is made of it. None: what URLs name themselves.
    pub image: Option<String>,
    /// The status; 0: that of the error.
    #[serde(default = "found")]
    pub status: u16,
    /// For which clients may keep it.
    #[serde(default = "minute")]
    pub ttl: Span,
}

impl Default for FallbackConfig {
    fn default() -> Self {
        Self {
            prefix: everything(),
            image: None,
            status: found(),
            ttl: minute(),
        }
    }
}

pub(super) fn validate(fallbacks: &[FallbackConfig]) -> Result<(), ConfigError> {
    for (index, fallback) in fallbacks.iter().enumerate() {
        let FallbackConfig { prefix, status, .. } = fallback;
        check(
            prefix.starts_with('/'),
            format!("fallback.{index}.prefix"),
            || format!("\"{prefix}\" does not begin with `/`"),
        )?;
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

fn everything() -> String {
    "/".to_owned()
}

fn found() -> u16 {
    200
}

fn minute() -> Span {
    Span(Duration::from_secs(60))
}
