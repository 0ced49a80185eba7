//! Reads the requests to send from lists of URLs and from access logs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use andon_client::Past;
use andon_client::urls;
use anyhow::{Context, bail};

use crate::{accept, read};

/// One request for a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Path and query.
    pub(super) target: String,
    /// Value of the `Host` header, if the list names a host.
    pub(super) host: Option<String>,
    pub(super) accept: Option<String>,
}

impl Wanted {
    /// Formats the whole request as one line, as the file of `--done` records it.
    pub(super) fn line(&self) -> String {
        let host = self.host.as_ref().map(|host| format!("http://{host}"));
        let accept = self.accept.as_ref().map(|accept| format!(" {accept}"));
        [
            host.unwrap_or_default(),
            self.target.clone(),
            accept.unwrap_or_default(),
        ]
        .concat()
    }
}

/// Parses a URL or path. `https` is treated like `http`, because the host is only used for the `Host` header.
pub(super) fn parsed(line: &str) -> Result<Wanted, String> {
    let plain = line
        .strip_prefix("https://")
        .map(|rest| format!("http://{rest}"));
    let entry = urls::parse(plain.as_deref().unwrap_or(line))?;
    Ok(Wanted {
        host: entry.host,
        target: entry.path,
        accept: None,
    })
}

/// Reads the requests in a file that has one per line. `-` is standard input.
pub(super) fn of_file(path: &Path) -> anyhow::Result<Vec<Wanted>> {
    let name = path.display();
    let text = read::text(path).with_context(|| name.to_string())?;
    let mut requests = Vec::new();
    for (number, line) in lines(&text) {
        match parsed(line) {
            Ok(it) => requests.push(it),
            Err(why) => bail!("{name}, line {number}: {why}"),
        }
    }
    if requests.is_empty() {
        bail!("{name} has no URL in it");
    }
    Ok(requests)
}

/// Returns the lines that are neither blank nor comments (`#`), with their line numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches('\u{feff}'));
    let all = (1..).zip(lines);
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Reads the distinct requests of a log that had a successful response, the most frequent first. Counts the others in
/// `left_out`, by reason.
pub(super) fn of_log(
    path: &Path,
    top: Option<usize>,
    left_out: &mut BTreeMap<String, u64>,
) -> anyhow::Result<Vec<Wanted>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let past = Past::of_log(BufReader::new(file)).with_context(name)?;
    *left_out = past.left_out;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for request in past.requests {
        let is_own = OWN.iter().any(|path| request.target.starts_with(path));
        match (is_own, request.status) {
            (true, _) => {
                *left_out
                    .entry("the server's own pages".to_owned())
                    .or_default() += 1
            }
            (false, 200) => *counts.entry(request.target).or_default() += 1,
            (false, status) => {
                *left_out
                    .entry(format!("answered with {status}"))
                    .or_default() += 1
            }
        }
    }
    if counts.is_empty() {
        bail!("{} has no request that was answered with an image", name());
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if let Some(top) = top.filter(|top| *top < counts.len()) {
        let rare = counts.drain(top..).map(|(_, count)| count).sum();
        left_out.insert("less frequent than the URLs of --top".to_owned(), rare);
    }
    let requests = counts.into_iter().map(|(target, _)| Wanted {
        target,
        ..Wanted::default()
    });
    Ok(requests.collect())
}

/// Returns a copy of each request for each of the given `Accept` headers.
pub(super) fn accepting(requests: Vec<Wanted>, accepts: &[String]) -> Vec<Wanted> {
    if accepts.is_empty() {
        return requests;
    }
    let each = requests.into_iter().flat_map(|it| {
        accepts.iter().map(move |accept| Wanted {
            accept: accept::value(accept).map(str::to_owned),
            ..it.clone()
        })
    });
    each.collect()
}

/// Prefixes of paths that belong to the server itself and are not images.
const OWN: [&str; 4] = ["/_andon/", "/healthz", "/readyz", "/metrics"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_paths_and_urls_of_either_scheme() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("urls.txt");
        std::fs::write(&path, "# two\n/a.jpg?x=1\n\nhttps://img.example/b.jpg\r\n").unwrap();
        let wanted = of_file(&path).unwrap();
        let lines: Vec<String> = wanted.iter().map(Wanted::line).collect();
        assert_eq!(lines, ["/a.jpg?x=1", "http://img.example/b.jpg"]);
        assert_eq!(wanted[1].target, "/b.jpg");
        std::fs::write(&path, "/a.jpg\nftp://x/b.jpg\n").unwrap();
        let error = of_file(&path).unwrap_err().to_string();
        assert!(error.contains("line 2: `ftp://x/b.jpg`"), "{error}");
    }

    #[test]
    fn the_most_frequent_urls_of_a_log_come_first_and_what_is_left_out_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let line = |target: &str, status: u16| {
            format!("h - - [10/Oct/2000:13:55:36 +0000] \"GET {target} HTTP/1.1\" {status} 1\n")
        };
        let log = [
            line("/once", 200),
            line("/often", 200),
            line("/often", 304),
            line("/twice", 206),
            line("/twice", 200),
            line("/often", 200),
            line("/gone", 404),
            line("/metrics", 200),
        ];
        std::fs::write(&path, log.concat()).unwrap();
        let mut left_out = BTreeMap::new();
        let wanted = of_log(&path, Some(2), &mut left_out).unwrap();
        let targets: Vec<&str> = wanted.iter().map(|it| it.target.as_str()).collect();
        assert_eq!(targets, ["/often", "/twice"]);
        let reasons: Vec<(&str, u64)> =
            left_out.iter().map(|(why, n)| (why.as_str(), *n)).collect();
        assert_eq!(
            reasons,
            [
                ("answered with 404", 1),
                ("less frequent than the URLs of --top", 1),
                ("the server's own pages", 1)
            ]
        );
    }

    #[test]
    fn each_accept_header_is_a_request_of_its_own() {
        let accept = ["image/webp".to_owned(), String::new()];
        let wanted = accepting(vec![parsed("/a.jpg").unwrap()], &accept);
        let lines: Vec<String> = wanted.iter().map(Wanted::line).collect();
        assert_eq!(lines, ["/a.jpg image/webp", "/a.jpg"]);
    }
}
