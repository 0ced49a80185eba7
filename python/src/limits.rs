//! Limits that come from Python, and their defaults.

use andon_pixels::{Damaged, Limits};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `andon.Limits`.
pub(crate) struct GivenLimits(pub(crate) Limits);

/// Reads and writes every limit by its name.
macro_rules! limits {
    ($($name:ident),*) => {
        impl<'py> FromPyObject<'_, 'py> for GivenLimits {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                Ok(Self(Limits {
                    $($name: object.getattr(stringify!($name))?.extract()?,)*
                    // Nobody waits in a queue behind this image.
                    cpu: None,
                    // It has a parameter of its own.
                    damaged: Damaged::default(),
                }))
            }
        }

        /// The defaults, by name.
        #[pyfunction]
        pub(crate) fn default_limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
            let (dict, limits) = (PyDict::new(py), Limits::default());
            $(dict.set_item(stringify!($name), limits.$name)?;)*
            Ok(dict)
        }
    };
}

/// The names of all formats that are read, and of those whose images are pixels.
#[pyfunction]
pub(crate) fn format_names() -> (Vec<&'static str>, Vec<&'static str>) {
    let all = || andon_codecs::ALL.iter().map(|codec| codec.name());
    (
        all().collect(),
        all().filter(|name| !ASKED_FOR.contains(name)).collect(),
    )
}

/// Formats that are read only if they are asked for: documents and drawings, and those of cameras and editors, which hold
/// others inside.
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
