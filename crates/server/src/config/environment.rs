//! The environment variables of the process, in which platforms and tools say where credentials are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The environment variables of this process, or those of a test.
#[derive(Clone, Default)]
pub(crate) struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// Returns the variables of this process, except those that are not UTF-8.
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

    /// Returns the path in the variable `name` or, if that is not set, the path `below_home` in the home folder; `None`
    /// if the home folder is needed and unknown.
    pub(crate) fn path_or_home(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        match self.get(name) {
            Some(path) => Some(PathBuf::from(path)),
            None => Some(Path::new(self.get("HOME")?).join(below_home)),
        }
    }

    /// Returns the path of the credentials file of Google's tools and libraries.
    pub(crate) fn google_file(&self) -> Option<PathBuf> {
        self.path_or_home(
            "GOOGLE_APPLICATION_CREDENTIALS",
            ".config/gcloud/application_default_credentials.json",
        )
    }
}

/// Prints the names only, because the values may be secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
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
}
