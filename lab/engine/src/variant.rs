//! The variants that are compared: those written in the scenario, or the cells of its matrix. Each is one complete way
//! to start the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::scenario::{
    Expect, Load, Scenario, ScenarioError, UrlEntry, VariantEntry, placeholders, unknown, urls,
};

/// One complete way to start the server: its command and environment need nothing more from `[server]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Name as given in the scenario, or `engine=gd,jpeghint=n` for a cell of the matrix.
    pub name: String,
    /// Program and arguments, with placeholders not yet replaced.
    pub cmd: Vec<String>,
    /// Environment variables in addition to `PATH` and inherited ones. An empty value removes a variable.
    pub env: BTreeMap<String, String>,
    /// Values for keys of TOML files, and for placeholders of other files.
    pub set: BTreeMap<String, toml::Value>,
    /// Keys to remove from TOML files.
    pub unset: Vec<String>,
    /// File of URLs that replaces the scenario's list.
    pub urls: Option<String>,
    /// Name and bound of each assertion, e.g. `threads_peak`, `<= 3`.
    #[serde(alias = "witness")]
    pub assert: Vec<BTreeMap<String, String>>,
    /// The way in which the variant's responses must compare with the baseline's.
    pub expect: Expect,
    /// Number of connections that replaces the load's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
}

/// Returns all variants of a scenario, the first of which is the baseline. Without `[matrix]` and `[[variant]]` there
/// is one.
///
/// # Errors
/// What [`Scenario::validate`] finds, or a matrix whose cells are all skipped.
pub fn expand(scenario: &Scenario) -> Result<Vec<Variant>, ScenarioError> {
    scenario.validate()?;
    if !scenario.variant.is_empty() {
        return Ok((scenario.variant.iter())
            .map(|entry| complete(scenario, entry))
            .collect());
    }
    let cells = cells(scenario);
    if cells.is_empty() {
        let what = "every cell is skipped, so that nothing is left to compare";
        return Err(ScenarioError::new("matrix.skip", what));
    }
    Ok(cells.iter().map(|cell| complete(scenario, cell)).collect())
}

impl Scenario {
    /// Returns the URLs to request from a variant: those of its list or the scenario's, then those of `[[load.url]]`,
    /// or `/` if there are none. Placeholders that the variant fixes (`set`, the matrix) are replaced. Those that
    /// depend on the running server (`{host}`) are left.
    ///
    /// # Errors
    /// What [`urls::read`] finds.
    pub fn urls(&self, variant: &Variant) -> Result<Vec<UrlEntry>, ScenarioError> {
        let list = variant.urls.as_ref().unwrap_or(&self.load.urls);
        let mut all = Vec::new();
        if !list.is_empty() {
            all = urls::read(&self.path(list))?;
        }
        for url in &self.load.url {
            let parsed =
                urls::parse(&url.path).map_err(|what| ScenarioError::new("load.url.path", what))?;
            let mut url = url.clone();
            url.path = parsed.path;
            // A `Host` header in the entry takes precedence over the host in the URL.
            let host = |header: &String| header.to_ascii_lowercase().starts_with("host:");
            if !url.headers.iter().any(host) {
                url.headers.extend(parsed.headers);
            }
            all.push(url);
        }
        if all.is_empty() {
            all.push(UrlEntry {
                path: "/".into(),
                ..UrlEntry::default()
            });
        }
        let values = variant.values();
        for url in &mut all {
            url.path = placeholders::fill(&url.path, &values).into_owned();
            for header in &mut url.headers {
                *header = placeholders::fill(header, &values).into_owned();
            }
        }
        Ok(all)
    }

    /// Keeps only the variants with these names, which may be cells of the matrix. The first remaining one becomes the
    /// baseline.
    ///
    /// # Errors
    /// One of the names is no variant's, or [`expand`] fails.
    pub fn only(&mut self, names: &[String]) -> Result<(), ScenarioError> {
        let variants = expand(self)?;
        let variant_names: Vec<&str> = variants.iter().map(|it| it.name.as_str()).collect();
        if let Some(wrong) = names
            .iter()
            .find(|name| !variant_names.contains(&name.as_str()))
        {
            return Err(ScenarioError::new(
                "",
                unknown("variant", wrong, &variant_names),
            ));
        }
        self.matrix.clear();
        self.variant = (variants.iter())
            .filter(|variant| names.contains(&variant.name))
            .map(Variant::entry)
            .collect();
        Ok(())
    }

    /// Returns the names in the matrix, except `skip`.
    pub(crate) fn matrix_names(&self) -> impl Iterator<Item = &str> {
        (self.matrix.keys().map(String::as_str)).filter(|name| *name != SKIP)
    }

    pub(crate) fn skipped(&self) -> impl Iterator<Item = &toml::Value> {
        self.matrix.get(SKIP).into_iter().flatten()
    }
}

impl Variant {
    /// Returns a `[[variant]]` entry that stands for this variant in any scenario.
    #[must_use]
    pub fn entry(&self) -> VariantEntry {
        VariantEntry {
            name: self.name.clone(),
            bin: None,
            cmd: Some(self.cmd.clone()),
            args: Vec::new(),
            env: self.env.clone(),
            set: self.set.clone(),
            unset: self.unset.clone(),
            urls: self.urls.clone(),
            assert: self.assert.clone(),
            expect: Some(self.expect),
            connections: self.connections,
        }
    }

    /// Returns the scenario's load with this variant's number of connections.
    #[must_use]
    pub fn load(&self, load: &Load) -> Load {
        Load {
            connections: self.connections.unwrap_or(load.connections),
            ..load.clone()
        }
    }

    /// Returns the values of the placeholders that this variant fixes.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, String> {
        (self.set.iter())
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect()
    }
}

/// Returns the cross product of the matrix without skipped cells, in the order of its names, the last name varying
/// fastest.
fn cells(scenario: &Scenario) -> Vec<VariantEntry> {
    let mut cells: Vec<BTreeMap<String, toml::Value>> = vec![BTreeMap::new()];
    for (name, values) in scenario.matrix.iter().filter(|(name, _)| *name != SKIP) {
        cells = (cells.iter())
            .flat_map(|cell| {
                values.iter().map(move |value| {
                    let mut cell = cell.clone();
                    cell.insert(name.clone(), value.clone());
                    cell
                })
            })
            .collect();
    }
    cells.retain(|cell| !scenario.skipped().any(|skip| matches(cell, skip)));
    (cells.into_iter())
        .map(|mut set| VariantEntry {
            name: name(scenario, &set),
            connections: set.remove(CONNECTIONS).as_ref().and_then(connections),
            set,
            ..VariantEntry::default()
        })
        .collect()
}

/// Parses a value of [`CONNECTIONS`]: an integer above 0.
pub(crate) fn connections(value: &toml::Value) -> Option<u32> {
    let number = value.as_integer()?;
    u32::try_from(number).ok().filter(|number| *number > 0)
}

/// Whether a cell has all the values that an entry of `skip` names.
fn matches(cell: &BTreeMap<String, toml::Value>, skip: &toml::Value) -> bool {
    skip.as_table()
        .is_some_and(|skip| (skip.iter()).all(|(name, value)| cell.get(name) == Some(value)))
}

fn name(scenario: &Scenario, cell: &BTreeMap<String, toml::Value>) -> String {
    if cell.is_empty() {
        return match scenario.name.as_str() {
            "" => "server".into(),
            name => name.into(),
        };
    }
    let parts = (cell.iter()).map(|(name, value)| format!("{name}={}", plain(value)));
    parts.collect::<Vec<_>>().join(",")
}

fn complete(scenario: &Scenario, entry: &VariantEntry) -> Variant {
    let server = &scenario.server;
    let mut cmd = entry.cmd.clone().unwrap_or_else(|| server.cmd.clone());
    if let (Some(bin), Some(program)) = (&entry.bin, cmd.first_mut()) {
        program.clone_from(bin);
    }
    cmd.extend(entry.args.iter().cloned());
    let mut env = server.env.clone();
    env.extend(entry.env.clone());
    Variant {
        name: entry.name.clone(),
        cmd,
        env,
        set: entry.set.clone(),
        unset: entry.unset.clone(),
        urls: entry.urls.clone(),
        assert: entry.assert.clone(),
        expect: entry.expect.unwrap_or(scenario.check.expect),
        connections: entry.connections,
    }
}

/// Formats a value as it appears in a command: strings without quotes.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The name in `[matrix]` that varies the load's connections. It is neither a key of `set` nor a placeholder.
pub(crate) const CONNECTIONS: &str = "load.connections";

/// The name in `[matrix]` that lists the cells to remove.
const SKIP: &str = "skip";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn scenario(text: &str) -> Scenario {
        let text = format!("[server]\ncmd = ['serve', '{{addr}}']\nenv = {{ LANG = 'C' }}\n{text}");
        Scenario::parse(&text, Path::new("/x")).unwrap_or_else(|error| panic!("{error}"))
    }

    fn names(text: &str) -> Vec<String> {
        let variants = expand(&scenario(text)).expect("expands");
        variants.into_iter().map(|variant| variant.name).collect()
    }

    #[test]
    fn a_matrix_becomes_its_cells_without_the_skipped() {
        let text = "[matrix]\nengine = ['im', 'gd']\nworkers = [1, 2]\n\
                    skip = [{ engine = 'gd', workers = 2 }]";
        assert_eq!(
            names(text),
            [
                "engine=im,workers=1",
                "engine=im,workers=2",
                "engine=gd,workers=1"
            ]
        );
    }

    #[test]
    fn connections_in_a_matrix_are_the_loads_and_no_key_of_the_server() {
        let scenario = scenario("[matrix]\nengine = ['im']\n'load.connections' = [1, 8]");
        let variants = expand(&scenario).expect("expands");
        let levels: Vec<u32> = (variants.iter())
            .map(|variant| variant.load(&scenario.load).connections)
            .collect();
        assert_eq!(levels, [1, 8]);
        assert_eq!(variants[1].name, "engine=im,load.connections=8");
        assert_eq!(variants[1].set.len(), 1);
    }

    #[test]
    fn a_matrix_of_which_all_is_skipped_is_an_error() {
        let scenario = scenario("[matrix]\na = [1]\nskip = [{ a = 1 }]");
        assert!(expand(&scenario).is_err());
    }

    #[test]
    fn some_of_the_cells_can_be_left_and_a_wrong_name_is_told_the_nearest() {
        let mut scenario = scenario("[matrix]\nengine = ['im', 'gd']\nworkers = [1, 2]\n");
        let wrong = scenario.only(&["engine=gd,worker=1".into()]);
        let wrong = wrong.expect_err("no such cell").to_string();
        assert!(
            wrong.contains("did you mean `engine=gd,workers=1`"),
            "{wrong}"
        );
        let left = ["engine=im,workers=2", "engine=gd,workers=2"].map(str::to_owned);
        scenario.only(&left).expect("they are there");
        let variants = expand(&scenario).expect("expands");
        let names: Vec<&str> = variants.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, left);
        assert_eq!(variants[1].values()["engine"], "gd");
    }

    #[test]
    fn without_variants_the_server_itself_is_the_one() {
        assert_eq!(names(""), ["server"]);
    }

    #[test]
    fn a_variant_is_complete() {
        let scenario = scenario(
            "[check]\nexpect = 'any'\n\
             [[variant]]\nname = 'a'\nbin = 'other'\nargs = ['-k']\nenv = { OMP_NUM_THREADS = '1' }\n\
             [[variant]]\nname = 'b'\nexpect = 'ssim >= 0.98'",
        );
        let variants = expand(&scenario).expect("expands");
        assert_eq!(variants[0].cmd, ["other", "{addr}", "-k"]);
        assert_eq!(variants[0].env["LANG"], "C");
        assert_eq!(variants[0].env["OMP_NUM_THREADS"], "1");
        assert_eq!(variants[0].expect, Expect::Any);
        assert_eq!(variants[1].cmd, ["serve", "{addr}"]);
        assert_eq!(variants[1].expect, Expect::Ssim(0.98));
    }

    #[test]
    fn urls_are_the_list_then_the_ones_in_words_with_the_variants_values() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("url.txt"), "/list/{engine}\n").expect("writes");
        let mut scenario = scenario(
            "[matrix]\nengine = ['gd']\n[load]\nurls = 'url.txt'\n\
             [[load.url]]\npath = 'http://h/{engine}'\nweight = 2.0",
        );
        scenario.dir = folder.path().to_owned();
        let variants = expand(&scenario).expect("expands");
        let urls = scenario.urls(&variants[0]).expect("reads");
        assert_eq!(urls[0].path, "/list/gd");
        assert_eq!((urls[1].path.as_str(), urls[1].weight), ("/gd", 2.0));
        assert_eq!(urls[1].headers, ["Host: h"]);
    }
}
