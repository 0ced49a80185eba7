//! The documentation leads somewhere: its links, and its table of contents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every Markdown file of `folder` and of those in it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// `page` without what stands in blocks and spans of code.
fn prose(page: &str) -> String {
    let blocks = Regex::new(r"(?ms)^```.*?^```").unwrap();
    let spans = Regex::new(r"`[^`\n]*`").unwrap();
    spans
        .replace_all(&blocks.replace_all(page, ""), "")
        .into_owned()
}

/// The anchors that forges and mdBook give to the headings of `page`.
fn anchors(page: &str) -> BTreeSet<String> {
    let blocks = Regex::new(r"(?ms)^```.*?^```").unwrap();
    let page = blocks.replace_all(page, "");
    page.lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

#[test]
fn every_link_between_files_leads_to_a_file_and_every_anchor_to_a_heading() {
    let root = root();
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut files = pages(&root.join("docs"));
    files.extend(pages(&root.join("lab")));
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for link in link.captures_iter(&prose(&text)) {
            let (path, anchor) = link[1].split_once('#').unwrap_or((&link[1], ""));
            if path.contains("://") {
                continue;
            }
            seen += 1;
            let target = if path.is_empty() {
                file.clone()
            } else {
                file.parent().unwrap().join(path)
            };
            let there = if anchor.is_empty() {
                target.exists()
            } else {
                fs::read_to_string(&target).is_ok_and(|page| anchors(&page).contains(anchor))
            };
            if !there {
                wrong.push(format!("{}: {}", file.display(), &link[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 100, "{seen} links only: are they still found?");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let root = root();
    let docs = root.join("docs");
    let contents = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in [pages(&docs), pages(&root.join("lab/docs"))].concat() {
        let name = page.strip_prefix(&root).unwrap().to_str().unwrap();
        let name = match name.strip_prefix("docs/") {
            Some(name) => name.to_owned(),
            None => format!("../{name}"),
        };
        assert!(
            name == "SUMMARY.md" || contents.contains(&format!("]({name})")),
            "docs/SUMMARY.md lacks {name}"
        );
    }
}
