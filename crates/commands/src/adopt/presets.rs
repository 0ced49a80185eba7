//! Presets of imgproxy: URLs contain their names, but no log contains their options.

use std::collections::{BTreeMap, BTreeSet};

use andon_dialects::imgproxy::only_presets;

use super::secrets::{Secret, value};
use crate::import::quoted;

/// The environment variable of imgproxy with its presets: `name=options`, separated by commas.
const VARIABLE: &str = "IMGPROXY_PRESETS";

/// Options without an effect on the image, for presets whose options are unknown.
const NOTHING: &str = "cb:0";

/// Returns a line of TOML that defines all presets named in these targets, with options that have no effect. Empty if
/// no preset is named.
pub(super) fn placeholders<'a>(targets: impl Iterator<Item = &'a str>) -> String {
    let names = targets
        .flat_map(names)
        .map(|name| (name, NOTHING.to_owned()));
    let all: BTreeMap<String, String> = names.collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("{}\n", line(&all)),
    }
}

/// Returns the presets that these URLs name, as a secret to fill in, or `None` if they name none.
pub(super) fn of<'a>(targets: impl Iterator<Item = &'a str>) -> Option<Secret> {
    let names: BTreeSet<String> = targets.flat_map(names).collect();
    if names.is_empty() {
        return None;
    }
    let definitions = value(VARIABLE).unwrap_or_default();
    let definitions = definitions.split(',').filter_map(|it| it.split_once('='));
    let mut all: BTreeMap<String, String> = definitions
        .map(|(name, options)| (name.trim().to_owned(), options.trim().to_owned()))
        .collect();
    let unknown: Vec<&String> = names
        .iter()
        .filter(|name| !all.contains_key(*name))
        .collect();
    let is_known = unknown.is_empty();
    for name in unknown.into_iter().cloned().collect::<Vec<_>>() {
        all.insert(name, NOTHING.to_owned());
    }
    let note = match is_known {
        true => String::new(),
        false => format!("  # SECRET: {VARIABLE} goes here; `{NOTHING}` changes nothing"),
    };
    Some(Secret {
        key: "imgproxy.presets".to_owned(),
        variables: vec![VARIABLE],
        lines: vec![format!("{}{note}", line(&all))],
        is_known,
        is_key: false,
    })
}

fn line(presets: &BTreeMap<String, String>) -> String {
    let each =
        |(name, options): (&String, &String)| format!("{} = {}", quoted(name), quoted(options));
    let all: Vec<String> = presets.iter().map(each).collect();
    format!("presets = {{ {} }}", all.join(", "))
}

/// Returns the names of all presets that an imgproxy URL uses: the arguments of the options `pr` and `preset`, and, as
/// with `IMGPROXY_ONLY_PRESETS`, the names in a segment that lists presets in place of options.
fn names(target: &str) -> Vec<String> {
    let path = target.split('?').next().unwrap_or_default();
    let starts = path.match_indices('/').map(|(at, _)| &path[at..]);
    let mut names: Vec<String> = starts.filter_map(only_presets).flatten().collect();
    let path = target.split("/plain/").next().unwrap_or_default();
    for segment in path.split('/') {
        let segment = segment.replace("%3A", ":").replace("%3a", ":");
        let arguments = segment
            .strip_prefix("pr:")
            .or_else(|| segment.strip_prefix("preset:"));
        let is_name = |name: &&str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !name.is_empty() && name.bytes().all(plain)
        };
        let all = arguments.unwrap_or_default().split(':').filter(is_name);
        names.extend(all.map(str::to_owned));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_options_before_the_source() {
        let target = "/i/insecure/pr:a:b/w:9/preset%3Ac/plain/local:///pr:d/e.jpg";
        assert_eq!(names(target), ["a", "b", "c"]);
        let alone = "/i/insecure/thumb:big/plain/local:///e.jpg";
        assert_eq!(names(alone), ["thumb", "big"]);
        let line = placeholders([target].into_iter());
        assert!(
            line.contains("'a' = 'cb:0'") || line.contains("\"a\" = \"cb:0\""),
            "{line}"
        );
        assert_eq!(placeholders(["/a.jpg"].into_iter()), "");
    }
}
