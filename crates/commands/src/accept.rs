//! Accept headers, as options and manifests give them.

/// The header's value; "" stands for requests without the header.
pub(crate) fn value(given: &str) -> Option<&str> {
    Some(given).filter(|it| !it.is_empty())
}
