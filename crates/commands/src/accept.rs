//! Parses the `Accept` values of command-line options and manifests.

/// Returns the value of the `Accept` header to send, or `None` if `text` is empty, which stands for requests without
/// that header.
pub(crate) fn value(text: &str) -> Option<&str> {
    Some(text).filter(|it| !it.is_empty())
}
