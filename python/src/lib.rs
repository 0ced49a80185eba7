//! The native half of the Python package `andon`. `andon/_api.py` is the public half, with the documentation and the
//! types. The functions here take their arguments by position, and return dictionaries, bytes and arrays.
//!
//! The interpreter's lock is released while an image is processed.

#![deny(unsafe_code)]

mod allocator;
mod array;
mod column;
mod data;
mod deadline;
mod error;
mod given;
mod images;
mod isolated;
mod limits;
mod rows;
mod still;

use pyo3::pymodule;

#[pymodule(gil_used = false)]
mod _andon {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::array::to_numpy;
    #[pymodule_export]
    use crate::isolated::as_process;
    #[pymodule_export]
    use crate::limits::{default_limits, format_names};
    #[pymodule_export]
    use crate::rows::render_batch;
    #[pymodule_export]
    use crate::still::{plan, probe, render};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::allocator::set();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
