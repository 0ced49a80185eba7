//! Renders arrays of images, which are exchanged through the Arrow C data interface.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_batch::{Renderer, each};
use andon_recipe::Recipe;
use arrow_array::StructArray;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use pyo3_arrow::input::AnyArray;

use crate::column::{Column, Outcome, Source};
use crate::deadline::Timeout;
use crate::error::parse_and_check;
use crate::given::Given;
use crate::images::files;

/// Renders all images with all recipes. Returns a struct array for each recipe, with rows in the order of `images`.
#[pyfunction]
pub(crate) fn render_batch<'py>(
    py: Python<'py>,
    recipes: Vec<String>,
    images: AnyArray,
    threads: usize,
    given: Given<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    // Fail at once if pyarrow is missing, rather than after all the work.
    if py.import("pyarrow").is_err() {
        return Err(PyImportError::new_err(
            "the result is a pyarrow array: pip install 'andon[arrow]'",
        ));
    }
    let renderer = given.renderer(py)?;
    let batch = Batch {
        recipes: recipes
            .iter()
            .map(|text| parse_and_check(text, &renderer))
            .collect::<PyResult<_>>()?,
        renderer,
        timeout: given.timeout()?,
        threads: match threads {
            0 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
            threads => threads,
        },
    };
    let (chunks, _) = images.into_chunked_array()?.into_inner();
    let mut images = Vec::new();
    for chunk in &chunks {
        images.extend(files(chunk)?);
    }
    let columns = py.detach(|| batch.run(&images))?;
    let pyarrow = |column: StructArray| {
        let array = PyArray::from_array_ref(Arc::new(column));
        let array = array.to_pyarrow(py)?.unbind();
        Ok(array.into_bound(py))
    };
    columns.into_iter().map(pyarrow).collect()
}

/// The recipes and settings that apply to every image.
struct Batch {
    recipes: Vec<Recipe>,
    renderer: Renderer,
    timeout: Timeout,
    threads: usize,
}

impl Batch {
    /// Renders all images, and returns an array for each recipe. Ctrl-C ends the work soon, but not at once.
    fn run(&self, images: &[Option<&[u8]>]) -> PyResult<Vec<StructArray>> {
        let rows: Vec<OnceLock<Row>> = images.iter().map(|_| OnceLock::new()).collect();
        let signals = Signals::new();
        each(self.threads, images.len(), |index| {
            if let Some(image) = images[index]
                && !signals.stopped()
            {
                let deadline = self.timeout.begin(&signals.stop);
                let results = self.renderer.render(&self.recipes, image, &deadline);
                // Each index is processed once, so the cell is still empty.
                let _ = rows[index].set(Row {
                    source: results.source.as_ref().map(Source::of),
                    outcomes: results.made,
                });
            }
        });
        signals.result()?;
        let mut columns: Vec<Column> = (0..self.recipes.len())
            .map(|recipe| Column::new(images.len(), length(images, &rows, recipe)))
            .collect();
        for (image, row) in images.iter().zip(rows) {
            let image = image.unwrap_or_default();
            let row = row.into_inner().unwrap_or_default();
            let mut outcomes = row.outcomes.iter();
            for column in &mut columns {
                column.push(image, row.source, outcomes.next());
            }
        }
        Ok(columns.into_iter().map(Column::finish).collect())
    }
}

/// The results for one image; empty for a null image.
#[derive(Default)]
struct Row {
    source: Option<Source>,
    outcomes: Vec<Outcome>,
}

/// Returns the total length in bytes of all results of a recipe. With it the array is allocated once; a growing array
/// would need twice the memory.
fn length(images: &[Option<&[u8]>], rows: &[OnceLock<Row>], recipe: usize) -> usize {
    let rows = images.iter().zip(rows);
    rows.filter_map(|(image, row)| {
        let rendered = row.get()?.outcomes.get(recipe)?.as_ref().ok()?;
        Some(rendered.bytes(image.unwrap_or_default()).len())
    })
    .sum()
}

/// Checks for Ctrl-C at intervals, on the thread that Python called. If every thread checked after each image, threads
/// would wait for the interpreter's lock.
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

    /// Whether a signal handler has raised an exception.
    fn stopped(&self) -> bool {
        if thread::current().id() == self.caller {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.0.elapsed() >= PAUSE {
                state.0 = Instant::now();
                if let Err(exception) = Python::attach(|py| py.check_signals()) {
                    state.1 = Some(exception);
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn result(self) -> PyResult<()> {
        let (_, exception) = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        exception.map_or(Ok(()), Err)
    }
}

/// Time between two checks for signals.
const PAUSE: Duration = Duration::from_millis(100);
