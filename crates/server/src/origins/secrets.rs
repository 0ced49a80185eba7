//! Credentials from the environment variables that the configuration names.

use super::platform::{self, Issued};
use crate::config::{BucketConfig, Credentials, Store};

/// Returns the value of the environment variable `name`, which the configuration names under `key`.
///
/// # Errors
/// A message that names both if the variable is not set.
pub(super) fn from_env(key: &str, name: &str) -> Result<String, String> {
    std::env::var(name)
        .map_err(|_| format!("`{key}` names the environment variable {name}, and it is not set"))
}

/// The credentials for a bucket.
pub(super) enum Keys {
    /// No credentials, because everybody may read the bucket.
    None,
    S3 {
        access: String,
        secret: String,
        token: Option<String>,
    },
    /// The key of a Google service account, or the path of its file.
    Google(String),
    /// The key of an Azure storage account.
    Azure(String),
    /// An Azure shared access signature.
    Sas(String),
    /// Credentials of the platform, which expire.
    Platform(Issued),
}

/// Reads the keys that a bucket's configuration names, or returns the platform's credentials, which are renewed before
/// they expire.
///
/// # Errors
/// A message about the configuration key that cannot work.
pub(super) fn keys(store: Store, config: &BucketConfig) -> Result<Keys, String> {
    let secret = |key: &str, name: &Option<String>| {
        let read = |name: &String| from_env(&format!("{store}.{key}"), name);
        name.as_ref().map(read).transpose()
    };
    if let Some(Credentials::Platform) = config.credentials {
        return platform::of_store(store, config.region()).map(Keys::Platform);
    }
    let access_key = secret("access_key_env", &config.access_key_env)?;
    match store {
        Store::S3 => match (
            access_key,
            secret("secret_key_env", &config.secret_key_env)?,
        ) {
            (Some(access), Some(key)) => Ok(Keys::S3 {
                access,
                secret: key,
                token: secret("session_token_env", &config.session_token_env)?,
            }),
            (None, None) => Ok(Keys::None),
            _ => Err(
                "give `s3.access_key_env` and `s3.secret_key_env` together, or neither for a \
                 bucket that everybody may read"
                    .to_owned(),
            ),
        },
        Store::Gcs => {
            let credentials = secret("credentials_env", &config.credentials_env)?;
            Ok(credentials.map_or(Keys::None, Keys::Google))
        }
        Store::Azure => match (access_key, secret("sas_env", &config.sas_env)?) {
            (None, sas) => Ok(sas.map_or(Keys::None, Keys::Sas)),
            (Some(_), Some(_)) => {
                Err("give `azure.access_key_env` or `azure.sas_env`, not both".to_owned())
            }
            (Some(key), None) => Ok(Keys::Azure(key)),
        },
    }
}
