//! Reads `Accept` header values as command-line options and manifests give them.

/// Returns the value of the `Accept` header, or `None` if `given` is empty, which stands for requests without the
/// header.
pub(crate) fn value(given: &str) -> Option<&str> {
    Some(given).filter(|it| !it.is_empty())
}
