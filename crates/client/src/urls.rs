//! Reads lists of URLs, one per line, in the format that the multi-URL patch of ab reads with `-L`.

use std::fs;
use std::path::Path;

use andon_settings::Error;

/// One URL of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUrl {
    /// Path and query.
    pub path: String,
    /// The host in the URL, with its port. `None` if the line is only a path.
    pub host: Option<String>,
}

/// Reads a list. Blank lines and lines that begin with `#` are skipped. Every other line is either an absolute URL
/// (`http://host/path`) or only a path.
///
/// # Errors
/// The file, line and value of the first invalid line, or the reason why the file cannot be read. A list without URLs
/// is an error, too.
pub fn read(file: &Path) -> Result<Vec<ListedUrl>, Error> {
    let text = fs::read_to_string(file)
        .map_err(|error| Error::new("", error.to_string()).in_file(file))?;
    let mut urls = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let url =
            parse(line).map_err(|what| Error::new("", what).on_line(number + 1).in_file(file))?;
        urls.push(url);
    }
    if urls.is_empty() {
        return Err(Error::new("", "no URL in this list").in_file(file));
    }
    Ok(urls)
}

/// Parses one URL of a list.
///
/// # Errors
/// A sentence with the invalid value and what would be valid.
pub fn parse(url: &str) -> Result<ListedUrl, String> {
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{url}` is not one URL: write spaces as %20"));
    }
    if let Some(rest) = url.strip_prefix("http://") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, target) = rest.split_at(end);
        if host.is_empty() {
            return Err(format!("`{url}` names no host"));
        }
        let target = target.split('#').next().unwrap_or_default();
        let slash = if target.starts_with('/') { "" } else { "/" };
        return Ok(ListedUrl {
            path: format!("{slash}{target}"),
            host: Some(host.to_owned()),
        });
    }
    if url.starts_with('/') {
        return Ok(ListedUrl {
            path: url.to_owned(),
            host: None,
        });
    }
    Err(format!(
        "`{url}` is not a URL here: write `/path` or `http://host/path`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_urls_and_paths_may_be_mixed() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("url.txt");
        fs::write(
            &file,
            "# seven\n\nhttp://img.test:81/a.jpg?x=1#top\r\n/b.jpg\nhttp://h\n",
        )
        .expect("writes");
        let urls = read(&file).expect("reads");
        let paths: Vec<_> = urls.iter().map(|url| url.path.as_str()).collect();
        assert_eq!(paths, ["/a.jpg?x=1", "/b.jpg", "/"]);
        assert_eq!(urls[0].host.as_deref(), Some("img.test:81"));
        assert_eq!(urls[1].host, None);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("url.txt");
        fs::write(&file, "/a\n\nhttps://h/a\n").expect("writes");
        let error = read(&file).expect_err("https").to_string();
        assert!(error.contains("url.txt, line 3: `https://h/a`"), "{error}");
    }
}
