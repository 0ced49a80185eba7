//! The configuration files that Amazon's tools share: `~/.aws/config` and `~/.aws/credentials`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ini::{Ini, ParseOption};

use super::environment::Environment;

/// The profiles of `~/.aws/config` and `~/.aws/credentials` by name. If both files set a key of a profile, the
/// credentials file wins.
#[derive(Debug, Default)]
pub(crate) struct Profiles(BTreeMap<String, Profile>);

/// The settings of one AWS profile, such as `role_arn`, by name.
#[derive(Clone, Default)]
pub(crate) struct Profile(BTreeMap<String, String>);

impl Profiles {
    /// Returns the paths of the AWS configuration file and the AWS credentials file, in this order, whether they exist
    /// or not.
    pub(crate) fn files(environment: &Environment) -> Vec<PathBuf> {
        [
            ("AWS_CONFIG_FILE", ".aws/config"),
            ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
        ]
        .into_iter()
        .filter_map(|(variable, home)| environment.path_or_home(variable, home))
        .collect()
    }

    /// Reads the AWS configuration and credentials files. Skips files that do not exist and, if no variable names a
    /// profile or a file, files that cannot be read.
    ///
    /// # Errors
    /// A sentence that names a file that cannot be read or parsed.
    pub(crate) fn read(environment: &Environment) -> Result<Self, String> {
        let mut profiles = Self::default();
        let variables = [
            "AWS_PROFILE",
            "AWS_CONFIG_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
        ];
        let is_named = variables.iter().any(|name| environment.get(name).is_some());
        for (index, file) in Self::files(environment).iter().enumerate() {
            let text = match std::fs::read_to_string(file) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // A service may not be permitted to read the home folder. That is an error only if a variable names a
                // profile or a file.
                Err(_) if !is_named => continue,
                Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
            };
            profiles.add(&text, index == 0, file)?;
        }
        Ok(profiles)
    }

    /// Returns the profile of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Profile> {
        self.0.get(name)
    }

    /// Returns the files with web identity tokens that profiles name.
    pub(crate) fn token_files(&self) -> impl Iterator<Item = PathBuf> {
        let token_file =
            |profile: &Profile| profile.get("web_identity_token_file").map(PathBuf::from);
        self.0.values().filter_map(token_file)
    }

    /// Adds the profiles of a file. In the configuration file, the section of every profile but `default` is called
    /// `profile NAME`, and other sections are not profiles.
    fn add(&mut self, text: &str, is_config: bool, file: &Path) -> Result<(), String> {
        let options = ParseOption {
            // Secrets may contain backslashes and quotes, which have no special meaning.
            enabled_escape: false,
            enabled_quote: false,
            ..ParseOption::default()
        };
        let ini = Ini::load_from_str_opt(text, options)
            .map_err(|error| format!("{} is not an INI file: {error}", file.display()))?;
        for (section, properties) in &ini {
            let Some(section) = section.map(str::trim) else {
                continue;
            };
            let name = match section.strip_prefix("profile ") {
                Some(name) if is_config => name.trim(),
                None if !is_config || section == "default" => section,
                _ => continue,
            };
            let profile = self.0.entry(name.to_owned()).or_default();
            for (key, value) in properties {
                let value = value.split(" #").next().unwrap_or_default().trim();
                profile.0.insert(key.to_ascii_lowercase(), value.to_owned());
            }
        }
        Ok(())
    }
}

impl Profile {
    /// Returns the value of a key, or `None` if it is empty or not there.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let value = self.0.get(key)?;
        (!value.is_empty()).then_some(value)
    }
}

/// Prints the keys only, because the values are secrets.
impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: &str, credentials: &str) -> Result<Profiles, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".aws")).unwrap();
        std::fs::write(folder.path().join(".aws/config"), config).unwrap();
        std::fs::write(folder.path().join(".aws/credentials"), credentials).unwrap();
        Profiles::read(&Environment::of(&[(
            "HOME",
            folder.path().to_str().unwrap(),
        )]))
    }

    #[test]
    fn profiles_of_both_files_are_one_and_the_credentials_file_wins() {
        let config = "[default]\nregion = eu-central-1\n[profile shop]\nrole_arn = arn # a role\n\
                      s3 =\n  addressing_style = path\nsource_profile = base\n[sso-session x]\nsso_region = y\n\
                      [base]\nregion = nowhere\n[profile base]\naws_secret_access_key = old\n";
        let credentials = "[base]\naws_access_key_id = AKIA\naws_secret_access_key = a\\b/c+d\"=\n";
        let profiles = read(config, credentials).unwrap();
        let get = |profile: &str, key: &str| profiles.get(profile)?.get(key).map(str::to_owned);
        for (profile, key, value) in [
            ("default", "region", Some("eu-central-1")),
            ("shop", "role_arn", Some("arn")),
            ("shop", "source_profile", Some("base")),
            ("base", "aws_access_key_id", Some("AKIA")),
            ("base", "aws_secret_access_key", Some("a\\b/c+d\"=")),
            ("base", "region", None),
            ("sso-session x", "sso_region", None),
        ] {
            assert_eq!(get(profile, key).as_deref(), value, "{profile} {key}");
        }
        assert_eq!(
            format!("{:?}", profiles.get("base").unwrap()),
            "{\"aws_access_key_id\", \"aws_secret_access_key\"}"
        );
    }

    #[test]
    fn a_file_that_is_no_ini_is_named() {
        let error = read("[profile", "").unwrap_err();
        assert!(error.contains(".aws/config is not an INI file"), "{error}");
    }
}
