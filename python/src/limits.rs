//! Limits that come from Python, and their defaults.

use andon_pixels::Limits;
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
                    $($name: object.getattr(stringify!($name))?.extract()?),*
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
