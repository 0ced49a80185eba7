//! Worker processes, for callers who request them. The processes are interpreters that load nothing but this module.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use andon_isolation::{Pool, Prepared, Program, Settings, Which};
use andon_pixels::{Codec, Limits};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

type Codecs = &'static [&'static dyn Codec];

/// The codecs that run in worker processes, with the id of the process that started the workers. After a fork, the
/// child cannot use its parent's workers, and starts its own.
static ISOLATED: Mutex<Option<(u32, Codecs)>> = Mutex::new(None);

/// Returns codecs that run in worker processes. The first call starts the processes.
pub(crate) fn codecs(py: Python<'_>) -> PyResult<Codecs> {
    let mut isolated = ISOLATED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, codecs)) = *isolated
        && of == process
    {
        return Ok(codecs);
    }
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let prepared = Prepared::new(Settings {
        program: program(py)?,
        ready: cores,
        memory: Limits::default().memory,
        kept: andon_isolation::AT_REST,
        shared: None,
        suspect: SUSPECT,
    });
    let pool = prepared.map_err(|error| {
        PyOSError::new_err(format!(
            "isolate=True needs worker processes, and none can be started: {error}"
        ))
    })?;
    let codecs = andon_isolation::isolated(andon_codecs::ALL, leak(pool.start()), Which::All);
    *isolated = Some((process, codecs));
    Ok(codecs)
}

/// Leaks a pool, so that any thread may use it until the process ends.
fn leak(pool: Arc<Pool>) -> &'static Pool {
    Box::leak(Box::new(pool))
}

/// How long an image is rejected after it has crashed two worker processes.
const SUSPECT: Duration = Duration::from_secs(3600);

/// Returns the program that worker processes run: the interpreter with only this module.
fn program(py: Python<'_>) -> PyResult<Program> {
    let interpreter: String = py.import("sys")?.getattr("executable")?.extract()?;
    let module: String = py.import("andon._andon")?.getattr("__file__")?.extract()?;
    if interpreter.is_empty() {
        let why = "isolate=True starts sys.executable, which is empty here";
        return Err(PyOSError::new_err(why));
    }
    let arguments = ["-I", "-S", "-B", "-c", LOAD, &module];
    Ok(Program {
        path: interpreter.into(),
        arguments: arguments.into_iter().map(OsString::from).collect(),
    })
}

const LOAD: &str = "\
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location('_andon', sys.argv[1], loader=ExtensionFileLoader('_andon', sys.argv[1]))
module = module_from_spec(spec)
spec.loader.exec_module(module)
sys.exit(module.as_process(sys.argv[2:]))";

/// Runs this process as a worker, or as the process that starts workers, until it is no longer needed. Returns its exit
/// code: 0 for success, 1 for failure, and 2 for arguments that are not those of a worker.
#[pyfunction]
pub(crate) fn as_process(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let run = || {
        let adopt = andon_codecs::Fonts::adopt;
        andon_isolation::as_process(andon_codecs::ALL, adopt, arguments.into_iter())
    };
    match py.detach(run) {
        Some(Ok(())) => 0,
        Some(Err(_)) => 1,
        None => 2,
    }
}
