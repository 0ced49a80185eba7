//! Lists of URLs, one a line, as the multi-URL patch of ab reads them with `-L`.

use std::path::Path;

use andon_client::urls::{self, ListedUrl};

use super::{ScenarioError, UrlEntry};

/// Reads a list ([`urls::read`](andon_client::urls::read)); a URL's host becomes the `Host` header.
///
/// # Errors
/// File, line and value of the first line that is no URL; or why the file cannot be read.
pub fn read(file: &Path) -> Result<Vec<UrlEntry>, ScenarioError> {
    Ok(urls::read(file)?.into_iter().map(entry).collect())
}

/// Reads one URL.
///
/// # Errors
/// A sentence with the offending value and what would do.
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
