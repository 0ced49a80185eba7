//! Lists of URLs, one per line, as the multi-URL patch of ab reads them with `-L`.

use std::path::Path;

use andon_client::urls::{self, ListedUrl};

use super::{ScenarioError, UrlEntry};

/// Reads a list of URLs with [`urls::read`]. The host of a URL becomes the `Host` header.
///
/// # Errors
/// File, line and value of the first line that is not a URL, or the reason why the file cannot be read.
pub fn read(file: &Path) -> Result<Vec<UrlEntry>, ScenarioError> {
    Ok(urls::read(file)?.into_iter().map(entry).collect())
}

/// Parses one URL.
///
/// # Errors
/// A sentence that names the invalid value and what would be valid.
pub fn parse(url: &str) -> Result<UrlEntry, String> {
    urls::parse(url).map(entry)
}

fn entry(listed: ListedUrl) -> UrlEntry {
    UrlEntry {
        path: listed.path,
        headers: listed
            .host
            .iter()
            .map(|host| format!("Host: {host}"))
            .collect(),
        ..UrlEntry::default()
    }
}
