//! Checks of a scenario that its types cannot express: keys that exclude each other, bounds, names that must be known.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use andon_settings::check;

use super::placeholders::{self, ALWAYS};
use super::{Address, Mode, Scenario, ScenarioError, UrlEntry, UrlOrder, cpus, unknown, urls};
use crate::assertion::Assertion;
use crate::variant::{CONNECTIONS, connections};

type Outcome = Result<(), ScenarioError>;

impl Scenario {
    /// Checks everything in the scenario that can be checked without starting a server.
    ///
    /// # Errors
    /// The first mistake found, with its key and what would be valid.
    pub fn validate(&self) -> Outcome {
        check(self.schema == 1, "schema", || {
            format!("`{}` is not a version of this format: write 1", self.schema)
        })?;
        self.server_is_sound()?;
        self.matrix_is_sound()?;
        self.variants_are_sound()?;
        self.load_is_sound()?;
        self.design_is_sound()?;
        self.placeholders_are_known()
    }

    /// Checks what depends on the machine: whether this process may use the CPUs that the scenario names.
    ///
    /// # Errors
    /// The first list with a CPU that this process may not use, with its key and the CPUs it may use.
    pub fn fits_here(&self) -> Outcome {
        named("server.cpus", cpus::usable(&self.server.cpus))?;
        named("load.cpus", cpus::usable(&self.load.cpus))
    }

    /// Checks that a server whose address is chosen by the laboratory can learn that address: from a placeholder in the
    /// scenario, or possibly in a copied file.
    pub fn tells_the_address(&self) -> Outcome {
        let is_chosen = !matches!(self.server.addr, Address::Fixed(_));
        let text = serde_json::to_string(self).unwrap_or_default();
        let placeholders = ["addr", "port", "socket"].map(|name| format!("{{{name}}}"));
        let has_placeholder = placeholders.iter().any(|name| text.contains(name));
        // A placeholder may also be in a copied file, which is not read here.
        check(
            !is_chosen || has_placeholder || !self.server.files.is_empty(),
            "server.cmd",
            || {
                format!(
                    "`{}` has no {{port}}, {{addr}} or {{socket}}, so that the server cannot know the address that is \
                 chosen for it; put one where it takes its address, or name the address it uses (127.0.0.1:8080)",
                    self.server.cmd.join(" ")
                )
            },
        )
    }

    fn server_is_sound(&self) -> Outcome {
        let server = &self.server;
        let has_command = |cmd: &[String]| cmd.first().is_some_and(|program| !program.is_empty());
        let elsewhere = !self.variant.is_empty()
            && (self.variant.iter()).all(|variant| variant.cmd.as_deref().is_some_and(has_command));
        check(has_command(&server.cmd) || elsewhere, "server.cmd", || {
            "the program to start is missing: write a list of words, e.g. \
             [\"andon\", \"--listen\", \"{addr}\"]"
                .into()
        })?;
        if let Address::Fixed(text) = &server.addr {
            let path = text.strip_prefix("unix:");
            let is_valid = path.map_or(text.parse::<SocketAddr>().is_ok(), |path| {
                path.starts_with('/')
            });
            check(is_valid, "server.addr", || {
                format!(
                    "`{text}` is not an address: write `tcp` (a free port), `unix` (a socket in \
                     {{work}}), `127.0.0.1:8080` or `unix:/path`"
                )
            })?;
        }
        named("server.cpus", cpus::parse(&server.cpus))?;
        named("server.stop.signal", server.stop.parsed())?;
        let target = &server.ready.http;
        check(
            target.is_empty() || target.starts_with('/'),
            "server.ready.http",
            || format!("`{target}` is not a path: write e.g. `/healthz`"),
        )
    }

    fn matrix_is_sound(&self) -> Outcome {
        let names: Vec<&str> = self.matrix_names().collect();
        for (name, values) in &self.matrix {
            let key = format!("matrix.{name}");
            check(!values.is_empty(), &key, || {
                "a list without values leaves no variant at all".into()
            })?;
            let scalar = |value: &toml::Value| !value.is_table() && !value.is_array();
            check(name == "skip" || values.iter().all(scalar), &key, || {
                "write a list of texts, numbers, or true and false".into()
            })?;
            let levels = name != CONNECTIONS || values.iter().all(|it| connections(it).is_some());
            check(levels, &key, || {
                "write a list of whole numbers, 1 or more each".into()
            })?;
        }
        for (index, cell) in self.skipped().enumerate() {
            let key = format!("matrix.skip.{index}");
            let Some(cell) = cell.as_table() else {
                return Err(ScenarioError::new(
                    key,
                    format!("`{cell}` is not a cell: write {{ name = value, … }}"),
                ));
            };
            for (name, value) in cell {
                let Some(values) = self.matrix.get(name).filter(|_| name != "skip") else {
                    return Err(ScenarioError::new(key, unknown("name", name, &names)));
                };
                check(values.contains(value), &key, || {
                    format!("`{name}` never is {value}, so this cell does not exist")
                })?;
            }
        }
        Ok(())
    }

    fn variants_are_sound(&self) -> Outcome {
        check(
            self.variant.is_empty() || self.matrix.is_empty(),
            "matrix",
            || "there are [[variant]]s as well; write either, not both".into(),
        )?;
        let mut names = BTreeSet::new();
        for (index, variant) in self.variant.iter().enumerate() {
            let key = |rest: &str| format!("variant.{index}.{rest}");
            check(!variant.name.is_empty(), format!("variant.{index}"), || {
                "the key `name` is missing here".into()
            })?;
            check(names.insert(&variant.name), key("name"), || {
                format!("`{}` is the name of two variants", variant.name)
            })?;
            check(
                variant.bin.is_none() || variant.cmd.is_none(),
                key("bin"),
                || "`cmd` replaces the whole command; write either, not both".into(),
            )?;
            for (number, assertion) in variant.assert.iter().enumerate() {
                named(
                    &key(&format!("assert.{number}")),
                    Assertion::parse(assertion),
                )?;
            }
        }
        Ok(())
    }

    fn load_is_sound(&self) -> Outcome {
        let load = &self.load;
        check(load.connections > 0, "load.connections", || {
            "must be 1 or more".into()
        })?;
        check(load.threads > 0, "load.threads", || {
            "must be 1 or more".into()
        })?;
        named("load.cpus", cpus::parse(&load.cpus))?;
        let open = load.mode == Mode::Open;
        check(
            !open || (load.rate > 0.0 && load.rate.is_finite()),
            "load.rate",
            || format!("mode = \"open\" needs a rate above 0, not `{}`", load.rate),
        )?;
        check(open || load.rate == 0.0, "load.rate", || {
            "only mode = \"open\" has a rate; elsewhere replies set the pace".into()
        })?;
        check(load.requests == 0 || load.loops == 0, "load.loops", || {
            "`requests` is given as well; write either, not both".into()
        })?;
        let mut weight = 0.0;
        for (index, url) in load.url.iter().enumerate() {
            let key = |rest: &str| format!("load.url.{index}.{rest}");
            named(&key("path"), urls::parse(&url.path))?;
            let sound = url.weight >= 0.0 && url.weight.is_finite();
            check(sound, key("weight"), || {
                format!("`{}` is not a weight: write 0 or more", url.weight)
            })?;
            let header = url.headers.iter().find(|header| !header.contains(':'));
            check(header.is_none(), key("headers"), || {
                format!(
                    "`{}` is not a header: write `name: value`",
                    header.map_or("", |h| h)
                )
            })?;
            weight += url.weight;
        }
        let is_weighted = load.order == UrlOrder::Weighted && load.urls.is_empty();
        check(
            !is_weighted || load.url.is_empty() || weight > 0.0,
            "load.order",
            || "no [[load.url]] has a weight above 0".into(),
        )
    }

    fn design_is_sound(&self) -> Outcome {
        let design = &self.design;
        check(design.block.0 > 0.0, "design.block", || {
            "must be longer than 0".into()
        })?;
        check(
            design.warmup.min <= design.warmup.max,
            "design.warmup.min",
            || {
                format!(
                    "{} is longer than max = {}",
                    design.warmup.min, design.warmup.max
                )
            },
        )?;
        let pairs = &design.pairs;
        check(
            pairs.min > 0 && pairs.min <= pairs.max,
            "design.pairs.min",
            || format!("`{}` is not within 1 and max = {}", pairs.min, pairs.max),
        )?;
        check(self.sample.every.0 >= 0.01, "sample.every", || {
            format!("{} is too short: write 10ms or more", self.sample.every)
        })
    }

    /// Checks that all placeholders are known. A command with an unknown one would start, and then fail without
    /// revealing the cause.
    fn placeholders_are_known(&self) -> Outcome {
        let server = &self.server;
        let mut common: Vec<&str> = ALWAYS.to_vec();
        common.extend(self.matrix_names().filter(|name| *name != CONNECTIONS));
        let mut any = common.clone();
        any.extend(
            self.variant
                .iter()
                .flat_map(|variant| variant.set.keys().map(String::as_str)),
        );
        for (index, variant) in self.variant.iter().enumerate() {
            let key = |rest: &str| format!("variant.{index}.{rest}");
            let mut names = common.clone();
            names.extend(variant.set.keys().map(String::as_str));
            for word in variant.cmd.iter().flatten() {
                known_names(&key("cmd"), word, &names)?;
            }
            for word in variant.args.iter().chain(&variant.bin) {
                known_names(&key("args"), word, &names)?;
            }
            env_names(&key("env"), &variant.env, &names)?;
        }
        for word in &server.cmd {
            known_names("server.cmd", word, &any)?;
        }
        env_names("server.env", &server.env, &any)?;
        known_names("server.before", &server.before, &any)?;
        known_names("server.after", &server.after, &any)?;
        known_names("server.cwd", &server.cwd, &any)?;
        for (index, UrlEntry { path, headers, .. }) in self.load.url.iter().enumerate() {
            for text in headers.iter().chain([path]) {
                known_names(&format!("load.url.{index}.path"), text, &any)?;
            }
        }
        Ok(())
    }
}

fn env_names(key: &str, env: &BTreeMap<String, String>, names: &[&str]) -> Outcome {
    env.iter()
        .try_for_each(|(name, value)| known_names(&format!("{key}.{name}"), value, names))
}

fn known_names(key: &str, text: &str, names: &[&str]) -> Outcome {
    match placeholders::names(text).find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(wrong) => Err(ScenarioError::new(
            key,
            format!(
                "{} (write {{{{{wrong}}}}} for the word in braces itself)",
                unknown("placeholder", wrong, names)
            ),
        )),
    }
}

fn named<T>(key: &str, result: Result<T, String>) -> Outcome {
    result
        .map(drop)
        .map_err(|what| ScenarioError::new(key, what))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn said(text: &str) -> String {
        match Scenario::parse(text, Path::new("/x")) {
            Ok(_) => "fine".into(),
            Err(error) => error.in_file(Path::new("s.toml")).to_string(),
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_told_with_its_line_before_anything_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s.toml");
        for (table, line) in [("server", 3), ("load", 4)] {
            let cpus = if table == "load" {
                "[load]\ncpus"
            } else {
                "cpus"
            };
            let text = format!("[server]\ncmd = ['a']\n{cpus} = '0,1023'");
            std::fs::write(&file, text).expect("writes");
            let said = Scenario::read(&file).expect_err("no machine of a test has so many");
            let said = said.to_string();
            let part = format!("s.toml, line {line}: `{table}.cpus`: `0,1023` names a CPU");
            assert!(said.contains(&part), "{said}");
        }
    }

    #[test]
    fn an_error_names_file_line_key_and_value() {
        let cases = [
            (
                "[server]\ncmd = ['a']\nadr = 'tcp'",
                "s.toml, line 3: unknown key `adr`; did you mean `addr`?",
            ),
            (
                "[server]\ncmd = ['a']\naddr = 'tpc'",
                "line 3: `server.addr`: `tpc` is not an address",
            ),
            (
                "[server]\naddr = 'tcp'",
                "line 1: `server.cmd`: the program to start is missing",
            ),
            (
                "[server]\ncmd = 'a'",
                "line 2: `server.cmd`: expected a list: [ ] of values, [[ ]] of tables, not \"a\"",
            ),
            (
                "[server]\ncmd = ['a', '{prot}']",
                "line 2: `server.cmd`: unknown placeholder `prot`; did you mean `port`?",
            ),
            (
                "[server]\ncmd = ['a']\nstop = { signal = 'TREM' }",
                "line 3: `server.stop.signal`: unknown signal `TREM`; did you mean `TERM`?",
            ),
            (
                "[server]\ncmd = ['a']\n[design]\nblock = '8'",
                "line 4: `design.block`: `8` is not a duration",
            ),
            (
                "[server]\ncmd = ['a']\n[design]\ndiscard = { steal = '5%' }",
                "line 4: `design.discard.steal`: `5%` is not a bound",
            ),
            (
                "[server]\ncmd = ['a']\n[load]\n\nrate = 3",
                "line 5: `load.rate`: only mode = \"open\"",
            ),
            (
                "[server]\ncmd = ['a']\n[load]\nmode = 'opn'",
                "line 4: `load.mode`: unknown value `opn`; did you mean `open`?",
            ),
            (
                "[server]\ncmd = ['a']\n[[load.url]]\npath = 'a b'",
                "line 4: `load.url.path`: `a b` is not one URL",
            ),
            (
                "[server]\ncmd = ['a']\n[[variant]]\nname = 'a'\n[[variant]]\nname = 'a'",
                "line 6: `variant.name`: `a` is the name of two",
            ),
            (
                "[server]\ncmd = ['a']\n[[variant]]\nname = 'a'\nassert = [{ threadspeak = '> 1' }]",
                "line 5: `variant.assert`: unknown assertion `threadspeak`; did you mean `threads_peak`?",
            ),
            (
                "[server]\ncmd = ['a']\n[matrix]\na = []",
                "line 4: `matrix.a`: a list without values",
            ),
            (
                "[server]\ncmd = ['a']\n[matrix]\n'load.connections' = [1, 0]",
                "line 4: `matrix.load.connections`: write a list of whole numbers, 1 or more",
            ),
            (
                "[server]\ncmd = ['{load.connections}']\n[matrix]\n'load.connections' = [1]",
                "unknown",
            ),
            (
                "[server]\ncmd = ['a']\n[matrix]\na = [1]\nskip = [{ b = 1 }]",
                "line 5: `matrix.skip`: unknown name `b`",
            ),
            (
                "[server]\ncmd = ['a']\n[matrix]\na = [1]\n[[variant]]\nname = 'v'",
                "line 3: `matrix`: there are [[variant]]s as well",
            ),
            ("[server]\ncmd = ['a']\n[server", "line 3: "),
            ("[server]\ncmd = ['a']", "fine"),
        ];
        for (text, part) in cases {
            let said = said(text);
            assert!(said.contains(part), "{text}\nsaid: {said}");
        }
    }
}
