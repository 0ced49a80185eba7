//! Finds the environment variables that are set in the files that start containers: environment files, docker-compose
//! files, Kubernetes manifests, values of Helm charts, Dockerfiles, systemd units, shell scripts, and the flags of
//! command lines. Variables whose values are elsewhere are reported as well.

mod compose;
mod lines;
mod manifest;
mod template;
mod yaml;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use toml::Value;

/// A position in one of the imported files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Index of the file: 0 for the imported file, higher numbers for the files that it refers to.
    pub(super) file: usize,
    /// Line in the file, counted from 1. 0 stands for the whole file.
    pub(super) line: usize,
}

impl At {
    /// The imported file as a whole.
    pub(super) const FILE: Self = Self::line(0);

    /// Returns the position of a line in the imported file.
    pub(super) const fn line(line: usize) -> Self {
        Self { file: 0, line }
    }
}

/// A variable and the value that a file sets it to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) at: At,
}

/// A variable that a file names, but whose value is in another place.
#[derive(Clone, Debug)]
pub(super) struct Absent {
    pub(super) name: String,
    pub(super) at: At,
    /// Where the value is, as the end of a sentence that begins with "its value is", such as "in a Secret (keys)".
    pub(super) place: String,
}

/// A source of further variables whose names the file does not contain.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    pub(super) at: At,
    /// The key in the imported file that refers to the further variables, such as `envFrom`.
    pub(super) key: String,
    /// Where the further variables come from, for messages: for example "the Secret `keys`".
    pub(super) place: String,
    /// Path of the file with the further variables, if they come from a file.
    pub(super) path: Option<String>,
}

/// The environment variables that configure a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    pub(super) set: Vec<Assignment>,
    pub(super) absent: Vec<Absent>,
    pub(super) elsewhere: Vec<Elsewhere>,
    /// Names of the further files that were read; `At::file` is 1 for the first of them.
    pub(super) files: Vec<String>,
    /// Whether the imported file is a docker-compose file, in whose values `${NAME}` is replaced by the value of a
    /// variable.
    pub(super) is_compose: bool,
}

/// Returns the variables that a text sets or names, in order. Flags such as `-imagor-secret` are converted to the
/// variables of the same name, `IMAGOR_SECRET`.
pub(super) fn environment(text: &str) -> Environment {
    let mut environment = match yaml::documents(text) {
        Some(documents) => manifest::read(documents),
        None => lines::read(text),
    };
    environment.add_named(text);
    environment.add_templates(text);
    environment
}

/// A scalar value of a YAML document, i.e. neither a map nor a list.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// The keys that lead to the value, joined by dots.
    pub(super) path: String,
    pub(super) value: String,
    pub(super) at: At,
}

/// Returns the scalar values below a key of a YAML text that is at the top level, or in a map at the top level. Empty
/// if there is none.
pub(super) fn below(text: &str, key: &str) -> Vec<Leaf> {
    yaml::documents(text).map_or_else(Vec::new, |all| manifest::leaves(&all, key))
}

impl Environment {
    /// Keeps only the variables whose name belongs to a server according to `is_own`.
    pub(super) fn retain(&mut self, is_own: impl Fn(&str) -> bool) {
        self.set.retain(|it| is_own(&it.name));
        self.absent.retain(|it| is_own(&it.name));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.absent.is_empty()
    }

    /// Whether the text starts `program`, such as imgproxy, and gives it variables from other places, so that it
    /// configures this program although it contains none of the program's variables.
    pub(super) fn starts(&self, program: &str, text: &str) -> bool {
        const KEYS: &[&str] = &["image", "repo", "docker ", "ExecStart"];
        let starts =
            |line: &str| line.contains(program) && KEYS.iter().any(|key| line.contains(key));
        !self.elsewhere.is_empty() && text.lines().any(starts)
    }

    /// Reads the environment files that the imported file refers to. `file` is the path of the imported file, whose
    /// folder their paths are relative to. Assignments in the imported file override those of the environment files.
    pub(super) fn read_files(&mut self, file: &Path) {
        let folder = file.parent().unwrap_or(Path::new(""));
        if self.is_compose {
            compose::interpolate(self, &folder.join(compose::FILE));
        }
        let mut of_files = Self::default();
        let mut unread_sources = Vec::new();
        for mut other in std::mem::take(&mut self.elsewhere) {
            let text = other.path.as_ref().map(|path| text_of(&folder.join(path)));
            match text {
                Some(Ok(text)) => {
                    self.files.push(other.path.unwrap_or_default());
                    let number = self.files.len();
                    let mut file_environment = lines::read(&text);
                    let ats = file_environment.set.iter_mut().map(|it| &mut it.at);
                    for at in ats.chain(file_environment.absent.iter_mut().map(|it| &mut it.at)) {
                        at.file = number;
                    }
                    of_files.set.append(&mut file_environment.set);
                    of_files.absent.append(&mut file_environment.absent);
                }
                Some(Err(why)) => {
                    other.place = format!("{} ({why})", other.place);
                    unread_sources.push(other);
                }
                None => unread_sources.push(other),
            }
        }
        self.elsewhere = unread_sources;
        of_files.set.append(&mut self.set);
        self.set = of_files.set;
        self.absent.append(&mut of_files.absent);
    }

    /// Adds the Helm template lines that generate variables, such as `{{- toYaml .Values.env | nindent 8 }}`, as
    /// sources of further variables.
    fn add_templates(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            let is_template = line.starts_with("{{") && line.ends_with("}}");
            let is_filled = ["toYaml", "range", "tpl", "include"]
                .iter()
                .any(|word| line.contains(word));
            if is_template && is_filled && line.to_ascii_lowercase().contains("env") {
                self.elsewhere.push(Elsewhere {
                    at: At::line(index + 1),
                    key: "template".to_owned(),
                    place: format!("`{line}`"),
                    path: None,
                });
            }
        }
    }

    /// Adds variables whose names occur in the text in a form that is not parsed, without values, so that the generated
    /// file has a note on each of them.
    fn add_named(&mut self, text: &str) {
        static NAME: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"(^|[^$\w{])([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b").ok());
        let Some(regex) = NAME.as_ref() else { return };
        let set = self.set.iter().map(|it| it.name.clone());
        let absent = self.absent.iter().map(|it| it.name.clone());
        let mut names: BTreeSet<String> = set.chain(absent).collect();
        for (index, line) in text.lines().enumerate() {
            let code = line.split(" #").next().unwrap_or_default();
            if code.trim_start().starts_with('#') {
                continue;
            }
            for name in regex
                .captures_iter(code)
                .map(|captures| captures[2].to_owned())
            {
                if names.insert(name.clone()) {
                    self.absent.push(Absent {
                        name,
                        at: At::line(index + 1),
                        place: "not in this file, or written in a way that is not read".to_owned(),
                    });
                }
            }
        }
    }
}

/// Reads an environment file, or returns why it cannot be read.
fn text_of(path: &Path) -> Result<String, String> {
    const LARGEST: u64 = 1 << 20;
    let of_error = |error: std::io::Error| format!("cannot be read: {error}");
    let metadata = std::fs::metadata(path).map_err(of_error)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err("is no file of a MiB at most".to_owned());
    }
    std::fs::read_to_string(path).map_err(of_error)
}

/// Whether a value refers to something outside the file, such as a variable or a template's value: `$KEY`, `${KEY:-x}`,
/// `$(command)` or `{{ .Values.key }}`.
pub(super) fn is_reference(value: &str) -> bool {
    static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\$(\{[^}]*\}|\(.*\)|[A-Za-z_]\w*)$|\$\{[A-Za-z_]\w*[^}]*\}|\{\{.*\}\}").ok()
    });
    REFERENCE.as_ref().is_some_and(|it| it.is_match(value))
}

fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(is_of_name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let pair = |it: Assignment| (it.name, it.value.as_str().unwrap_or_default().to_owned());
        environment(text).set.into_iter().map(pair).collect()
    }

    #[test]
    fn every_usual_way_to_set_a_variable_is_read() {
        for text in [
            "A_KEY=x y",
            "A_KEY=x y # why",
            "export A_KEY=\"x y\"",
            "environment:\n  A_KEY: x y",
            "environment:\n  A_KEY: 'x y'",
            "environment:\n  - A_KEY=x y",
            "environment:\n  - \"A_KEY=x y\"",
            "env:\n  - name: A_KEY\n    value: \"x y\"",
            "Environment=\"A_KEY=x y\"",
            "ENV A_KEY=\"x y\"",
            "docker run -e 'A_KEY=x y' image",
            "docker run \\\n  -e A_KEY='x y' \\\n  image",
            "A_KEY='x y' imagor",
            "imagor -a-key 'x y'",
            "imagor --a-key='x y'",
            "ExecStart=/usr/bin/imagor -a-key \"x y\"",
            "env: [{name: A_KEY, value: \"x y\"}]",
            "env:\n  - {name: A_KEY, value: x y}",
            "env:\n  - value: x y\n    name: A_KEY",
            "env:\n  A_KEY:\n    value: x y",
            "environment: {A_KEY: x y}",
            "environment: [\"A_KEY=x y\"]",
            "{\"environment\": [{\"name\": \"A_KEY\", \"value\": \"x y\"}]}",
            "data:\n  file.env: |\n    A_KEY=x y\n    b",
            "kind: Secret\ndata:\n  A_KEY: eCB5",
            "command: [sh, -c, \"exec imagor -a-key 'x y'\"]",
            "CMD [\"imagor\", \"-a-key\", \"x y\"]",
            "command:\n  - -a-key\n  - x y\nports: 80",
            "command: >\n  imagor\n  -a-key 'x y'",
            "x-key: &key x y\nenvironment:\n  A_KEY: *key",
            "x-env: &env\n  A_KEY: x y\nservices:\n  a:\n    environment: *env",
            "x-env: &env {A_KEY: other}\nenvironment:\n  <<: *env\n  A_KEY: x y",
            "a: &a\n  environment: {A_KEY: x y}\nb:\n  <<: *a",
        ] {
            assert_eq!(pairs(text), [("A_KEY".into(), "x y".into())], "{text}");
        }
        let two = [
            ("DEBUG".to_owned(), "1".to_owned()),
            ("A".into(), "b".into()),
        ];
        assert_eq!(pairs("imagor -debug -a b"), two);
        assert_eq!(pairs("DEBUG=1 A=b imagor"), two);
        assert_eq!(pairs("# A=b\nimage: a/b\nlower=1"), []);
        assert_eq!(environment("\n\nA=b").set[0].at.line, 3);
    }

    #[test]
    fn variables_without_a_value_are_named_with_where_it_is() {
        for (text, place) in [
            (
                "env:\n  - name: A_KEY\n    valueFrom:\n      secretKeyRef:\n        name: s\n        key: k",
                "in a Secret (s)",
            ),
            (
                "env: [{name: A_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]",
                "in a Secret (s)",
            ),
            (
                "env:\n  A_KEY: {valueFrom: {configMapKeyRef: {name: c, key: k}}}",
                "in a ConfigMap (c)",
            ),
            (
                "env:\n  A_KEY:\n    secretKeyRef: {name: s, key: k}",
                "in a Secret (s)",
            ),
            (
                "{\"secrets\": [{\"name\": \"A_KEY\", \"valueFrom\": \"arn:aws:x\"}]}",
                "in arn:aws:x",
            ),
            ("environment:\n  - A_KEY", lines::OF_STARTER),
            ("environment:\n  A_KEY:", lines::OF_STARTER),
            (
                "environment:\n  A_KEY: *key",
                "that of an anchor, which is not in this file",
            ),
            ("A_KEY", lines::OF_STARTER),
            (
                "kind: SealedSecret\nencryptedData:\n  A_KEY: AgB",
                "encrypted",
            ),
            (
                "(A_KEY a)",
                "not in this file, or written in a way that is not read",
            ),
        ] {
            let found = environment(text);
            assert_eq!(pairs(text), [], "{text}");
            assert_eq!(found.absent.len(), 1, "{text}");
            assert_eq!(found.absent[0].name, "A_KEY", "{text}");
            assert_eq!(found.absent[0].place, place, "{text}");
        }
    }

    #[test]
    fn places_with_further_variables_are_named() {
        for (text, key, place) in [
            (
                "envFrom:\n- secretRef:\n    name: s",
                "envFrom",
                "the Secret `s`",
            ),
            (
                "envFrom: [{configMapRef: {name: c}}]",
                "envFrom",
                "the ConfigMap `c`",
            ),
            ("env_file: .env", "env_file", "`.env`"),
            ("env_file:\n  - .env", "env_file", "`.env`"),
            (
                "env_file: [{path: .env, required: false}]",
                "env_file",
                "`.env`",
            ),
            ("docker run --env-file .env image", "--env-file", "`.env`"),
            (
                "[Service]\nEnvironmentFile=-/etc/a",
                "EnvironmentFile",
                "`/etc/a`",
            ),
        ] {
            let found = environment(text).elsewhere;
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!((&*found[0].key, &*found[0].place), (key, place), "{text}");
        }
        let own = "kind: Secret\nmetadata: {name: s}\nstringData: {A_KEY: b}\n---\nenvFrom: [{secretRef: {name: s}}]";
        assert!(environment(own).elsewhere.is_empty());
        assert_eq!(pairs(own), [("A_KEY".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn a_reference_is_told_from_a_value_with_a_dollar() {
        for text in [
            "$KEY",
            "${KEY}",
            "${KEY:-x}",
            "$(cat key)",
            "a${KEY}",
            "{{ .Values.key }}",
        ] {
            assert!(is_reference(text), "{text}");
        }
        for text in ["a$KEY", "$1/$2", "", "$"] {
            assert!(!is_reference(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            environment(&text);
        }

        #[test]
        fn a_quoted_value_is_read_as_it_is(value in "[^'\r\n\\\\]{0,20}") {
            let text = format!("A_KEY='{value}'");
            prop_assert_eq!(pairs(&text), [("A_KEY".to_owned(), value)]);
        }
    }
}
