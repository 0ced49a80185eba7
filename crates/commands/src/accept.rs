//! Parses the `Accept` values of command-line options and manifests.

/// Returns the value of the `Accept` header to send, or `None` if `given` is empty, which stands for requests without
/// that header.
pub(crate) fn value(given: &str) -> Option<&str> {
    Some(given).filter(|it| !it.is_empty())
}
