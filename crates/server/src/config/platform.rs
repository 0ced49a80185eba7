//! The files that credentials of the platform are read from: those that environment variables of the process name, or
//! else the default locations of the providers' tools.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::aws_profiles::Profiles;
use super::bucket::Store;
use super::environment::Environment;

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

/// Returns the path of the token file that a Google credentials file for an external account names.
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
