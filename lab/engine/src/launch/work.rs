//! Prepares a server's own work directory: copies files, patches configuration and replaces placeholders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::Value;

use super::patch;
use crate::scenario::{Scenario, ScenarioError, nearest, placeholders};
use crate::variant::Variant;

type Outcome<T = ()> = Result<T, ScenarioError>;

/// Fills an empty work directory with the files of the scenario, changed as the variant says.
pub(super) fn furnish(
    scenario: &Scenario,
    variant: &Variant,
    work: &Path,
    values: &BTreeMap<String, String>,
) -> Outcome {
    let mut toml = BTreeMap::new();
    let mut used_names = placeholders_used(scenario, variant);
    for (name, from) in &scenario.server.files {
        let key = || format!("server.files.{name}");
        let inside = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside {
            return Err(ScenarioError::new(key(), "must be a path inside of {work}"));
        }
        let from = scenario.path(&placeholders::fill(from, values));
        copy(&from, &work.join(name), values, &mut toml, &mut used_names)
            .map_err(|what| ScenarioError::new(key(), what))?;
    }
    change(variant, &mut toml, &used_names)?;
    for (path, document) in &toml {
        let text = toml::to_string(document).map_err(|error| error.to_string());
        text.and_then(|text| fs::write(path, text).map_err(|error| error.to_string()))
            .map_err(|what| ScenarioError::new("server.files", what).in_file(path))?;
    }
    Ok(())
}

/// Copies a file or a folder and replaces placeholders in text files. TOML files are collected in `toml`, to be patched
/// and written later; the placeholders found are added to `used_names`.
fn copy(
    from: &Path,
    to: &Path,
    values: &BTreeMap<String, String>,
    toml: &mut BTreeMap<PathBuf, Value>,
    used_names: &mut BTreeSet<String>,
) -> Result<(), String> {
    let message = |error: std::io::Error| format!("{}: {error}", from.display());
    if from.is_dir() {
        fs::create_dir_all(to).map_err(message)?;
        for entry in fs::read_dir(from).map_err(message)? {
            let name = entry.map_err(message)?.file_name();
            copy(&from.join(&name), &to.join(&name), values, toml, used_names)?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(message)?;
    }
    // `fs::copy` keeps the mode, so that scripts stay executable.
    let length = fs::copy(from, to).map_err(message)?;
    if length > LONGEST_TEXT {
        return Ok(());
    }
    let Ok(text) = String::from_utf8(fs::read(to).map_err(message)?) else {
        return Ok(());
    };
    used_names.extend(placeholders::names(&text).map(str::to_owned));
    let filled = placeholders::fill(&text, values);
    if to.extension().is_some_and(|extension| extension == "toml") {
        let document: toml::Table = (filled.parse())
            .map_err(|error: toml::de::Error| format!("{}: {error}", from.display()))?;
        toml.insert(to.to_owned(), Value::Table(document));
    } else if filled != text {
        fs::write(to, filled.as_bytes()).map_err(message)?;
    }
    Ok(())
}

/// Applies a variant's `set` and `unset` to the copied TOML files.
fn change(
    variant: &Variant,
    toml: &mut BTreeMap<PathBuf, Value>,
    used_names: &BTreeSet<String>,
) -> Outcome {
    let keys: Vec<String> = toml.values().flat_map(patch::paths).collect();
    let unplaced = |key: &str, what: &str| {
        let words = keys.iter().chain(used_names).map(String::as_str);
        let hint = match nearest(key, words) {
            Some(word) => format!("; did you mean `{word}`?"),
            None => String::new(),
        };
        ScenarioError::new(
            format!("variant.{what}.{key}"),
            format!(
                "variant `{}`: no copied TOML file has this key{hint}",
                variant.name
            ),
        )
    };
    for (key, new) in &variant.set {
        let wrong = |what: String| ScenarioError::new(format!("variant.set.{key}"), what);
        let mut is_placed = used_names.contains(key);
        for document in toml.values_mut() {
            if let Some(old) = patch::find(document, key) {
                patch::replace(old, new).map_err(wrong)?;
                is_placed = true;
            }
        }
        if is_placed {
            continue;
        }
        let mut documents = toml.values_mut();
        match (documents.next(), documents.next()) {
            (Some(only), None) => patch::add(only, key, new).map_err(wrong)?,
            _ => return Err(unplaced(key, "set")),
        }
    }
    for key in &variant.unset {
        let removed = toml
            .values_mut()
            .map(|document| patch::remove(document, key));
        if removed.filter(|removed| *removed).count() == 0 {
            return Err(unplaced(key, "unset"));
        }
    }
    Ok(())
}

/// Returns the names of the placeholders that occur anywhere but in the copied files.
fn placeholders_used(scenario: &Scenario, variant: &Variant) -> BTreeSet<String> {
    let server = &scenario.server;
    let list = variant.urls.as_ref().unwrap_or(&scenario.load.urls);
    let list = fs::read_to_string(scenario.path(list)).unwrap_or_default();
    let urls = &scenario.load.url;
    (variant.cmd.iter())
        .chain(variant.env.values())
        .chain([&server.before, &server.after, &server.cwd, &list])
        .chain(server.files.values())
        .chain(urls.iter().map(|url| &url.path))
        .chain(urls.iter().flat_map(|url| &url.headers))
        .flat_map(|text| placeholders::names(text).map(str::to_owned))
        .collect()
}

/// Largest file, in bytes, that is treated as configuration. Larger files are copied unchanged.
const LONGEST_TEXT: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::expand;

    /// Fills a work directory for the first variant of a scenario. `files` are the names and texts of the files in the
    /// scenario's folder, and `text` is what the scenario adds to a minimal `[server]`. Returns the directory or the
    /// error message.
    fn furnished(files: &[(&str, &str)], text: &str) -> Result<tempfile::TempDir, String> {
        let folder = tempfile::tempdir().expect("folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("writes");
        }
        let text = format!("[server]\ncmd = ['a']\n{text}");
        let scenario = Scenario::parse(&text, folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let variant = &expand(&scenario).expect("expands")[0];
        let mut values = variant.values();
        values.insert("port".into(), "81".into());
        let work = tempfile::tempdir().expect("folder");
        furnish(&scenario, variant, work.path(), &values).map_err(|error| error.to_string())?;
        Ok(work)
    }

    #[test]
    fn toml_is_patched_and_other_text_is_filled() {
        let work = furnished(
            &[
                (
                    "base.toml",
                    "listen = ['127.0.0.1:{port}']\nworkers = 0\n[cache]\nsize = '1'\n",
                ),
                ("nginx.conf", "http { sendfile {sendfile}; root ${x}; }\n"),
            ],
            "files = { 'a.toml' = 'base.toml', 'conf/n.conf' = 'nginx.conf' }\n\
             [[variant]]\nname = 'v'\nunset = ['cache.size']\n\
             set = { workers = '2', sendfile = 'on', 'cache.memory' = '0' }",
        )
        .expect("furnishes");
        let toml = fs::read_to_string(work.path().join("a.toml")).expect("reads");
        assert!(
            toml.contains("127.0.0.1:81") && toml.contains("workers = 2"),
            "{toml}"
        );
        assert!(
            toml.contains("memory = \"0\"") && !toml.contains("size"),
            "{toml}"
        );
        let text = fs::read_to_string(work.path().join("conf/n.conf")).expect("reads");
        assert_eq!(text, "http { sendfile on; root ${x}; }\n");
    }

    #[test]
    fn a_key_that_fits_nowhere_is_an_error_with_the_nearest() {
        let said = furnished(
            &[("n.conf", "sendfile {sendfile};")],
            "files = { 'n.conf' = 'n.conf' }\n[[variant]]\nname = 'v'\nset = { sendfil = 'on' }",
        )
        .expect_err("a typing error");
        assert!(said.contains("`variant.set.sendfil`"), "{said}");
        assert!(said.contains("did you mean `sendfile`?"), "{said}");
        let said = furnished(
            &[("a.toml", "workers = 1")],
            "files = { 'a.toml' = 'a.toml' }\n[[variant]]\nname = 'v'\nunset = ['worker']",
        )
        .expect_err("a typing error");
        assert!(said.contains("did you mean `workers`?"), "{said}");
    }

    #[test]
    fn no_file_leaves_the_work_directory() {
        let said = furnished(&[("a", "")], "files = { '../a' = 'a' }").expect_err("outside");
        assert!(said.contains("inside of {work}"), "{said}");
    }
}
