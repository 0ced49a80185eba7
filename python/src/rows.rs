//! Arrays of images, by the Arrow C data interface.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_batch::{Renderer, each};
use andon_pixels::{Error, Rendered};
use andon_recipe::Recipe;
use arrow_array::builder::{LargeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StructArray};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use pyo3_arrow::input::AnyArray;

use crate::deadline::Timeout;
use crate::error::parsed;
use crate::given::Given;

/// For each recipe an array of `struct<bytes, error>`, row by row in the order of `images`; a row of neither was null.
#[pyfunction]
pub(crate) fn render_batch<'py>(
    py: Python<'py>,
    recipes: Vec<String>,
    images: AnyArray,
    threads: usize,
    given: Given<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    // Not after an hour's work.
    if py.import("pyarrow").is_err() {
        return Err(PyImportError::new_err(
            "the result is a pyarrow array: pip install 'andon[arrow]'",
        ));
    }
    let batch = Batch {
        recipes: recipes
            .iter()
            .map(|text| parsed(text))
            .collect::<PyResult<_>>()?,
        renderer: given.renderer(py)?,
        timeout: given.timeout()?,
        threads: match threads {
            0 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
            threads => threads,
        },
    };
    let (chunks, field) = images.into_chunked_array()?.into_inner();
    let images = rows(&chunks, field.data_type())?;
    let columns = py.detach(|| batch.run(&images))?;
    let pyarrow = |column: StructArray| {
        let array = PyArray::from_array_ref(Arc::new(column));
        let array = array.to_pyarrow(py)?.unbind();
        Ok(array.into_bound(py))
    };
    columns.into_iter().map(pyarrow).collect()
}

/// The files in these arrays; `None` for null.
fn rows<'a>(chunks: &'a [ArrayRef], kind: &DataType) -> PyResult<Vec<Option<&'a [u8]>>> {
    let mut rows = Vec::new();
    match kind {
        DataType::Binary => chunks
            .iter()
            .for_each(|chunk| rows.extend(chunk.as_binary::<i32>())),
        DataType::LargeBinary => chunks
            .iter()
            .for_each(|chunk| rows.extend(chunk.as_binary::<i64>())),
        DataType::BinaryView => chunks
            .iter()
            .for_each(|chunk| rows.extend(chunk.as_binary_view())),
        other => {
            return Err(PyTypeError::new_err(format!(
                "images are an array of binary, large_binary or binary_view, not {other}"
            )));
        }
    }
    Ok(rows)
}

/// What is made of every image.
struct Batch {
    recipes: Vec<Recipe>,
    renderer: Renderer,
    timeout: Timeout,
    threads: usize,
}

/// What one recipe made of one image.
type Made = Result<Rendered, Error>;

impl Batch {
    /// One array for each recipe. Ctrl-C ends it soon, not at once.
    fn run(&self, images: &[Option<&[u8]>]) -> PyResult<Vec<StructArray>> {
        let made: Vec<OnceLock<Vec<Made>>> = images.iter().map(|_| OnceLock::new()).collect();
        let signals = Signals::new();
        each(self.threads, images.len(), |index| {
            if let Some(image) = images[index]
                && !signals.stopped()
            {
                let deadline = self.timeout.begin(&signals.stop);
                let results = self.renderer.render(&self.recipes, image, &deadline);
                // Nobody else has this index.
                let _ = made[index].set(results);
            }
        });
        signals.raised()?;
        let mut columns: Vec<Column> = self.recipes.iter().map(|_| Column::default()).collect();
        for (image, made) in images.iter().zip(made) {
            match (image, made.into_inner()) {
                (Some(image), Some(made)) => columns
                    .iter_mut()
                    .zip(made)
                    .for_each(|(column, made)| column.push(image, &made)),
                _ => columns.iter_mut().for_each(Column::push_null),
            }
        }
        Ok(columns.into_iter().map(Column::finish).collect())
    }
}

/// An array of `struct<bytes, error>` that grows.
#[derive(Default)]
struct Column {
    bytes: LargeBinaryBuilder,
    errors: StringBuilder,
}

impl Column {
    fn push(&mut self, image: &[u8], made: &Made) {
        match made {
            Ok(made) => {
                self.bytes.append_value(made.bytes(image));
                self.errors.append_null();
            }
            Err(error) => {
                self.bytes.append_null();
                self.errors.append_value(error.to_string());
            }
        }
    }

    fn push_null(&mut self) {
        self.bytes.append_null();
        self.errors.append_null();
    }

    fn finish(mut self) -> StructArray {
        let field = |name, kind| Arc::new(Field::new(name, kind, true));
        StructArray::from(vec![
            (
                field("bytes", DataType::LargeBinary),
                Arc::new(self.bytes.finish()) as ArrayRef,
            ),
            (
                field("error", DataType::Utf8),
                Arc::new(self.errors.finish()) as ArrayRef,
            ),
        ])
    }
}

/// Ctrl-C, looked for now and then by the thread that Python called on: taking the interpreter's lock for every image
/// would have threads wait for each other.
struct Signals {
    caller: thread::ThreadId,
    stop: AtomicBool,
    state: Mutex<(Instant, Option<PyErr>)>,
}

impl Signals {
    fn new() -> Self {
        Self {
            caller: thread::current().id(),
            stop: AtomicBool::new(false),
            state: Mutex::new((Instant::now(), None)),
        }
    }

    /// Has a signal handler raised an exception?
    fn stopped(&self) -> bool {
        if thread::current().id() == self.caller {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.0.elapsed() >= PAUSE {
                state.0 = Instant::now();
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    state.1 = Some(raised);
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn raised(self) -> PyResult<()> {
        let (_, raised) = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        raised.map_or(Ok(()), Err)
    }
}

/// Between two looks for signals.
const PAUSE: Duration = Duration::from_millis(100);
