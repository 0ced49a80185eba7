//! Image bytes that come from Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// An image file in memory. `bytes` objects are used in place. Every other buffer is copied once, because its contents
/// must not change while the image is decoded without the interpreter's lock.
pub(crate) struct Data<'py>(pub(crate) Bound<'py, PyBytes>);

impl Data<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns the error for an object that is not a buffer, with its type and how to get bytes from it.
fn no_buffer(object: &Borrowed<'_, '_, PyAny>) -> PyErr {
    let kind = object.get_type();
    let kind = kind
        .name()
        .map_or_else(|_| String::new(), |name| name.to_string());
    let has = |name| object.hasattr(name).unwrap_or(false);
    let way = if has("__fspath__") {
        "; of a path they are path.read_bytes()"
    } else if has("encode") {
        "; of a file's name they are open(name, \"rb\").read()"
    } else if has("read") {
        "; of an open file they are file.read()"
    } else {
        ""
    };
    let shown = object
        .repr()
        .map_or_else(|_| String::new(), |text| text.to_string());
    let shown: String = shown.chars().take(SHOWN).collect();
    PyTypeError::new_err(format!(
        "{shown} is of type {kind}, and an image is the bytes of its file{way}"
    ))
}

/// Number of characters of a wrong value that an error message shows.
const SHOWN: usize = 60;

impl<'py> FromPyObject<'_, 'py> for Data<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.to_owned()));
        }
        // The elements may be signed or unsigned, and need not be contiguous.
        let view = PyMemoryView::from(&object).map_err(|_| no_buffer(&object))?;
        let size: usize = view.getattr("itemsize")?.extract()?;
        if size != 1 {
            let why = format!("a buffer of bytes is needed, not one with items of {size} bytes");
            return Err(PyTypeError::new_err(why));
        }
        let bytes = view.call_method0("tobytes")?;
        Ok(Self(bytes.cast_into::<PyBytes>()?))
    }
}
