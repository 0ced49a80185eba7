//! The documentation's links lead somewhere, and its table of contents is complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Returns every Markdown file in `folder` and its subfolders.
fn pages(folder: &Path) -> Vec<PathBuf> {
    files(folder, "md")
}

/// Returns every file with this extension in `folder` and its subfolders.
fn files(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, wanted));
        } else if path
            .extension()
            .is_some_and(|extension| extension == wanted)
        {
            found.push(path);
        }
    }
    found
}

/// Returns `page` without code blocks and code spans.
fn prose(page: &str) -> String {
    let blocks = Regex::new(r"(?ms)^```.*?^```").unwrap();
    let spans = Regex::new(r"`[^`\n]*`").unwrap();
    spans
        .replace_all(&blocks.replace_all(page, ""), "")
        .into_owned()
}

/// Returns the anchors that forges and mdBook generate for the headings of `page`.
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

/// Runs the examples of these pages; without any, those of README.md and `docs/`.
fn run_pages(pages: &[&Path]) -> Output {
    let started = Command::new("/usr/bin/python3")
        .arg("-B")
        .arg(root().join("tools/pages/run.py"))
        .arg(env!("CARGO_BIN_EXE_andon"))
        .args(pages)
        .output();
    started.expect("python3")
}

#[test]
fn every_command_and_configuration_of_the_pages_works_or_says_why_it_is_not_run() {
    let done = run_pages(&[]);
    let told = String::from_utf8_lossy(&done.stdout);
    eprintln!("{told}");
    let faults = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{faults}");
}

#[test]
fn a_page_that_prints_what_does_not_work_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = [
        ("```sh\nandon config check missing.toml\n```", "ends with 1"),
        ("```toml\nlisen = 1\n```", "unknown key `lisen`"),
        ("```console\n$ echo one\ntwo\n```", "`echo one` prints\none"),
        (
            "```sh\nandon serve photos\n# 200\ncurl -s http://127.0.0.1:8080/no.jpg\n```",
            "404",
        ),
        ("```cobol\nSTOP RUN.\n```", "nothing checks"),
        (
            "```toml\n[[origin]]\nfs.root = \"photos\"\n```\n\n```html\n<img src=\"/r/as:nothing/a.jpg\">\n```",
            "/r/as:nothing/a.jpg: 400",
        ),
    ];
    for (text, fault) in wrong {
        let page = folder.path().join("page.md");
        fs::write(&page, format!("# Page\n\n{text}\n")).unwrap();
        let done = run_pages(&[&page]);
        if String::from_utf8_lossy(&done.stdout).starts_with("SKIPPED") {
            return;
        }
        let faults = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success(), "{text}");
        assert!(faults.contains(fault), "{text}: {faults}");
    }
    let marked = folder.path().join("marked.md");
    fs::write(
        &marked,
        "<!-- not run: nobody has it -->\n\n```cobol\nSTOP RUN.\n```\n",
    )
    .unwrap();
    assert!(run_pages(&[&marked]).status.success());
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

/// Returns the names of the tables and shared computations that the server and the cache declare: fields of the types
/// `Table`, `Flights` and `SourceMemo`, and newtypes of `Table` and `Flights`.
fn tables(root: &Path) -> Vec<String> {
    let field = r"(\w+): (?:Arc<|Option<)*(?:Table|Flights|SourceMemo)<";
    let newtype = r"struct (\w+)\((?:Table|Flights)<";
    let declared = Regex::new(&format!(
        r"(?m)^ *(?:pub(?:\(\w+\))? )?(?:{field}|{newtype})"
    ))
    .unwrap();
    let crates = ["crates/server/src", "crates/cache/src"];
    let sources = crates
        .map(|folder| files(&root.join(folder), "rs"))
        .concat();
    // The fields of a type that is declared in another file.
    let sources = sources
        .iter()
        .filter(|path| !path.ends_with("source_memo.rs"));
    let mut names = Vec::new();
    for path in sources {
        let text = fs::read_to_string(path).unwrap();
        let all = declared.captures_iter(&text);
        names.extend(all.map(|captures| captures.extract::<1>().1[0].to_owned()));
    }
    names
}

#[test]
fn the_figure_of_caches_has_every_table_and_names_files_that_know_it() {
    let root = root();
    let page = fs::read_to_string(root.join("crates/server/src/results/mod.rs")).unwrap();
    let (_, figure) = page.split_once("# Where a result is cached").unwrap();
    let row = Regex::new(r"(?m)^\W*(?:request\W*)?([\w.]+) +\S.*?([\w/]+(?:\.rs|/))$").unwrap();
    let figure = figure.split("```").nth(1).unwrap();
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for captures in row.captures_iter(figure) {
        let (line, [name, file]) = captures.extract();
        let name = name.trim_start_matches("Cache.");
        let below = ["crates/server/src", ""].map(|folder| root.join(folder).join(file));
        let sources = below.iter().filter(|path| path.exists());
        let sources = sources.flat_map(|path| match path.is_dir() {
            true => files(path, "rs"),
            false => vec![path.clone()],
        });
        let word = Regex::new(&format!(r"\b{name}\b")).unwrap();
        let mut texts = sources.map(|path| fs::read_to_string(path).unwrap());
        if !texts.any(|text| word.is_match(&text)) {
            wrong.push(line.to_owned());
        }
        rows.push(name.to_owned());
    }
    for name in tables(&root) {
        match rows.iter().position(|row| *row == name) {
            Some(place) => drop(rows.swap_remove(place)),
            None => wrong.push(format!("{name} is in the code only")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Fields of another type: the reason is in the file of each.
    rows.sort_unstable();
    let others = [
        "KeptSources",
        "RecentFiles",
        "SourceCache",
        "disk",
        "frames",
        "store",
    ];
    assert_eq!(rows, others);
}
