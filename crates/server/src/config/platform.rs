//! What the environment of the process says about credentials: variables, and the files that they name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::aws_profiles::Profiles;
use super::bucket::Store;

/// The environment variables of this process, or those of a test.
#[derive(Clone, Default)]
pub(crate) struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// Returns the variables of this process, but for those that are not UTF-8.
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(Arc::new(std::env::vars_os().filter_map(text).collect()))
    }

    /// Returns an environment of these variables.
    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(Arc::new(variables.iter().map(text).collect()))
    }

    /// Returns the value of a variable, or `None` if it is empty or not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    /// Returns all variables.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// Returns the path in a variable, or else this path below the home directory if that is known.
    pub(crate) fn path_or_home(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        match self.get(name) {
            Some(path) => Some(PathBuf::from(path)),
            None => Some(Path::new(self.get("HOME")?).join(below_home)),
        }
    }

    /// Returns the file with the credentials of Google's tools and libraries.
    pub(crate) fn google_file(&self) -> Option<PathBuf> {
        self.path_or_home(
            "GOOGLE_APPLICATION_CREDENTIALS",
            ".config/gcloud/application_default_credentials.json",
        )
    }
}

/// Shows names only: values are secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Returns the files that a client with credentials of the platform reads for a store, each of which may be replaced at
/// any time.
pub(crate) fn credential_files(store: Store, environment: &Environment) -> Vec<PathBuf> {
    let variable = |name: &str| environment.get(name).map(PathBuf::from);
    match store {
        Store::S3 => {
            let profiles = Profiles::read(environment).unwrap_or_default();
            Profiles::files(environment)
                .into_iter()
                .chain(variable("AWS_WEB_IDENTITY_TOKEN_FILE"))
                .chain(variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"))
                .chain(profiles.token_files())
                .collect()
        }
        Store::Gcs => {
            let file = environment.google_file();
            let subject = file.as_deref().and_then(subject_token_file);
            file.into_iter().chain(subject).collect()
        }
        Store::Azure => variable("AZURE_FEDERATED_TOKEN_FILE").into_iter().collect(),
    }
}

/// Returns the file with the token of an external account that a credentials file of Google names.
fn subject_token_file(credentials: &Path) -> Option<PathBuf> {
    let text = std::fs::read(credentials).ok()?;
    let account: Value = serde_json::from_slice(&text).ok()?;
    let file = account.get("credential_source")?.get("file")?.as_str()?;
    Some(PathBuf::from(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_as_good_as_none_and_values_are_not_shown() {
        let environment = Environment::of(&[("A", "secret"), ("B", "")]);
        assert_eq!(
            (environment.get("A"), environment.get("B")),
            (Some("secret"), None)
        );
        assert_eq!(format!("{environment:?}"), "{\"A\", \"B\"}");
    }

    #[test]
    fn the_files_of_each_store_are_those_that_its_variables_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = |name: &str| path(name).to_str().unwrap().to_owned();
        std::fs::write(
            path("config"),
            format!("[profile web]\nweb_identity_token_file = {}\n", text("web")),
        )
        .unwrap();
        let account = serde_json::json!({ "credential_source": { "file": text("subject") } });
        std::fs::write(path("google.json"), account.to_string()).unwrap();
        let environment = Environment::of(&[
            ("HOME", folder.path().to_str().unwrap()),
            ("AWS_CONFIG_FILE", &text("config")),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", &text("irsa")),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &text("pod")),
            ("GOOGLE_APPLICATION_CREDENTIALS", &text("google.json")),
            ("AZURE_FEDERATED_TOKEN_FILE", &text("azure")),
        ]);
        let files = |store| credential_files(store, &environment);
        let names = ["config", ".aws/credentials", "irsa", "pod", "web"];
        assert_eq!(files(Store::S3), names.map(path));
        assert_eq!(files(Store::Gcs), ["google.json", "subject"].map(path));
        assert_eq!(files(Store::Azure), ["azure"].map(path));
    }
}
