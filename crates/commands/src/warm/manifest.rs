//! Reads a manifest, which lists sources and the URLs to request for each of them.

use std::path::Path;

use anyhow::{Context, bail};
use toml::{Table, Value};

use super::list::{Wanted, accepting, lines, parsed};
use crate::template::{SOURCE, decoded, filled};

const KEYS: [&str; 4] = ["sources", "sources_from", "urls", "accept"];

/// Returns all URLs of all sources, one source after the other, so that a server reads each source once.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Wanted>> {
    of_manifest(path).with_context(|| path.display().to_string())
}

fn of_manifest(path: &Path) -> anyhow::Result<Vec<Wanted>> {
    let text = std::fs::read_to_string(path)?;
    let table: Table = toml::from_str(&text)?;
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        bail!("{}", andon_recipe::unknown("key", key, &KEYS));
    }
    let mut sources = texts(&table, "sources")?;
    if let Some(file) = table.get("sources_from") {
        let file = file
            .as_str()
            .context("`sources_from` is the name of a file")?;
        let file = path.parent().unwrap_or(Path::new("")).join(file);
        let text = std::fs::read_to_string(&file);
        let text = text.with_context(|| file.display().to_string())?;
        sources.extend(lines(&text).map(|(_, line)| line.to_owned()));
    }
    let urls = texts(&table, "urls")?;
    for (key, list) in [("sources", &sources), ("urls", &urls)] {
        if list.is_empty() {
            bail!("`{key}` is missing or empty");
        }
    }
    if let Some(url) = urls.iter().find(|url| !url.contains(SOURCE)) {
        bail!("`{url}` in `urls` has no {SOURCE} in it");
    }
    let mut requests = Vec::new();
    for source in &sources {
        if !source.starts_with('/') {
            bail!("the source `{source}` does not begin with a slash; write it like /trip/a.jpg");
        }
        let source = decoded(source)?;
        for url in &urls {
            let url = filled(url, &source);
            requests.push(parsed(&url).map_err(anyhow::Error::msg)?);
        }
    }
    Ok(accepting(requests, &texts(&table, "accept")?))
}

fn texts(table: &Table, key: &str) -> anyhow::Result<Vec<String>> {
    let Some(value) = table.get(key) else {
        return Ok(Vec::new());
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let texts: Option<Vec<String>> = value
        .as_array()
        .and_then(|all| all.iter().map(text).collect());
    texts.with_context(|| format!("`{key}` is a list of texts, such as [\"…\", \"…\"]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> anyhow::Result<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.toml");
        std::fs::write(&path, text).unwrap();
        std::fs::write(folder.path().join("more.txt"), "/c d.jpg\n").unwrap();
        Ok(read(&path)?.iter().map(Wanted::line).collect())
    }

    #[test]
    fn every_source_is_wanted_at_every_url() {
        let text = "sources = [\"/a.jpg\"]\nsources_from = \"more.txt\"\n\
                    urls = [\"/r/fit:2x2{source}\", \"/s{source}?w=2\"]\naccept = [\"image/webp\", \"\"]";
        let all = [
            "/r/fit:2x2/a.jpg image/webp",
            "/r/fit:2x2/a.jpg",
            "/s/a.jpg?w=2 image/webp",
            "/s/a.jpg?w=2",
            "/r/fit:2x2/c%20d.jpg image/webp",
            "/r/fit:2x2/c%20d.jpg",
            "/s/c%20d.jpg?w=2 image/webp",
            "/s/c%20d.jpg?w=2",
        ];
        assert_eq!(of(text).unwrap(), all);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("url = []", "did you mean `urls`?"),
            ("sources = [\"/a\"]", "`urls` is missing"),
            ("sources = [\"/a\"]\nurls = [\"/r\"]", "`/r` in `urls`"),
            (
                "sources = [\"a\"]\nurls = [\"{source}\"]",
                "`a` does not begin",
            ),
            ("sources = \"a\"", "`sources` is a list"),
        ] {
            let error = format!("{:#}", of(text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
