//! Reads limits that come from Python, and provides their defaults.

use andon_pixels::{Damaged, Limits};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Limits read from an `andon.Limits` object.
pub(crate) struct GivenLimits(pub(crate) Limits);

/// Generates the code that reads every limit by its name, and the function that returns the defaults.
macro_rules! limits {
    ($($name:ident),*) => {
        impl<'py> FromPyObject<'_, 'py> for GivenLimits {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                Ok(Self(Limits {
                    $($name: object.getattr(stringify!($name))?.extract()?,)*
                    // No other client waits for this work, so its time is not limited.
                    cpu: None,
                    // `damaged` is a parameter of its own.
                    damaged: Damaged::default(),
                }))
            }
        }

        /// Returns the default limits by name.
        #[pyfunction]
        pub(crate) fn default_limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
            let (dict, limits) = (PyDict::new(py), Limits::default());
            $(dict.set_item(stringify!($name), limits.$name)?;)*
            Ok(dict)
        }
    };
}

/// Returns the names of all formats that can be read, and of those that are read by default.
#[pyfunction]
pub(crate) fn format_names() -> (Vec<&'static str>, Vec<&'static str>) {
    let all = || andon_codecs::ALL.iter().map(|codec| codec.name());
    (
        all().collect(),
        all().filter(|name| !ASKED_FOR.contains(name)).collect(),
    )
}

/// Formats that are read only on request: documents, drawings, and the formats of cameras and editors, which contain
/// other files.
const ASKED_FOR: &[&str] = &["svg", "pdf", "raw", "psd"];

limits!(
    source_bytes,
    pixels,
    frames,
    animation_pixels,
    side,
    result_pixels,
    result_side,
    memory,
    scans,
    metadata_bytes
);
