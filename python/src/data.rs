//! Bytes that come from Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// A file in memory. `bytes` are used where they are; every other buffer is copied once, because a decoder must not
/// see it change while the interpreter's lock is released.
pub(crate) struct Data<'py>(pub(crate) Bound<'py, PyBytes>);

impl Data<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl<'py> FromPyObject<'_, 'py> for Data<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.to_owned()));
        }
        // Signed or unsigned, contiguous or not.
        let view = PyMemoryView::from(&object)?;
        let size: usize = view.getattr("itemsize")?.extract()?;
        if size != 1 {
            let why = format!("a buffer of bytes is needed, not one with items of {size} bytes");
            return Err(PyTypeError::new_err(why));
        }
        let bytes = view.call_method0("tobytes")?;
        Ok(Self(bytes.cast_into::<PyBytes>()?))
    }
}
