//! The labels of errors on docs/logging.md are those of the source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

fn found(pattern: &str, text: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).expect("a pattern");
    let all = pattern.captures_iter(text);
    all.map(|groups| groups[1].to_owned()).collect()
}

#[test]
fn every_label_is_on_the_page_and_there_are_no_others() {
    let page = read("../../docs/logging.md");
    let table = page.split("### Errors").nth(1).expect("its heading");
    let table = table.split("\n## ").next().expect("its end");
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|row| row.splitn(3, '|').nth(2).expect("a second column"))
        .collect();
    let documented = found("`([a-z_]+)`", &rows.join("\n"));

    let errors = read("src/error/mod.rs");
    let mut labels = found(r#"Fault::\w+,\s*"([a-z_]+)""#, &errors);
    labels.extend(found(r#"\(StatusCode::\w+, "([a-z_]+)"\)"#, &errors));
    for (file, types) in [
        ("src/error/mod.rs", "Hidden|NoImage|OutsideLink"),
        ("src/error/rejection.rs", r"\w+"),
        ("src/error/origin.rs", r"[^\n]+"),
        ("../pixels/src/error.rs", r"[^\n]+"),
    ] {
        let pattern = format!(r#"Self::(?:{types}) => "([a-z_]+)""#);
        labels.extend(found(&pattern, &read(file)));
    }
    labels.insert("malformed".to_owned());
    assert!(labels.len() > 40, "only {labels:?}");
    assert_eq!(documented, labels);
}
