//! The native half of the Python package `hallpass_slots`: classes over `SharedHall` of the crate
//! `hallpass-processes`. The Python half adds asyncio, decorators, type annotations and the pytest plugin.
//!
//! | module | content |
//! |---|---|
//! | [`open_hall`] | a hall that this process has open, its passes, and what a fork does to both |
//! | [`hall`] | the class `Hall` |
//! | [`pass`] | the class `Pass` |
//! | [`waiting`] | a position in the queue; Ctrl-C, a time limit or a cancelled task can end the wait |
//! | [`errors`] | exceptions |
//!
//! # Locks and forks
//!
//! CPython forks while the forking thread holds the GIL. A thread that takes a lock of this crate holds the GIL until
//! it has released the lock. So at the moment of a fork, no other thread holds a lock of this crate, and a child never
//! finds one locked.

mod errors;
mod hall;
mod open_hall;
mod pass;
mod waiting;

use std::path::{self, PathBuf};

use hallpass_processes::{HallDir, MAX_SLOTS};
use pyo3::{exceptions::PyImportError, ffi, prelude::*};

use crate::errors::IntoPython;

/// Returns the directory that the arguments `directory` and `system` of a Python function specify. Its path is
/// absolute, because a forked child, or a process that unpickles the hall, opens the hall again. By then, the working
/// directory may be a different one.
fn hall_dir(py: Python<'_>, directory: Option<PathBuf>, system: bool) -> PyResult<HallDir> {
    match (directory, system) {
        (Some(_), true) => Err(errors::value_error(
            "`directory` and `system=True` name two directories: pass one of them",
        )),
        (Some(path), false) if path.as_os_str().is_empty() => Err(errors::value_error(
            "`directory` must not be empty: pass a path, or None for the default",
        )),
        (Some(path), false) => Ok(HallDir::at(path::absolute(path)?)),
        (None, true) => Ok(HallDir::system()),
        (None, false) => {
            let dir = HallDir::user().into_python(py)?;
            // `HALLPASS_DIR` may be relative.
            Ok(if dir.path().is_absolute() {
                dir
            } else {
                HallDir::at(path::absolute(dir.path())?)
            })
        }
    }
}

/// Returns the names of the halls in a directory, sorted.
#[pyfunction]
#[pyo3(signature = (*, directory=None, system=false))]
fn names(py: Python<'_>, directory: Option<PathBuf>, system: bool) -> PyResult<Vec<String>> {
    hall_dir(py, directory, system)?.names().into_python(py)
}

/// Removes a hall. With `force`, it also removes a hall that is in use or damaged.
#[pyfunction]
#[pyo3(signature = (name, *, directory=None, system=false, force=false))]
fn remove(
    py: Python<'_>,
    name: &str,
    directory: Option<PathBuf>,
    system: bool,
    force: bool,
) -> PyResult<()> {
    hall_dir(py, directory, system)?.remove(name, force).into_python(py)
}

/// Closes the passes and handles that a forked child has inherited. Python calls it in every child of `os.fork`.
#[pyfunction]
fn after_fork_in_child() {
    open_hall::close_inherited();
}

/// Refuses every interpreter except the main one. PyO3 keeps the classes of a module in static variables,
/// but interpreters must not share objects.
fn refuse_sub_interpreter(_attached: Python<'_>) -> PyResult<()> {
    // SAFETY: the token proves that this thread is attached to an interpreter, which is then the current one.
    #[allow(unsafe_code, reason = "PyO3 has no safe function for this")]
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if id == MAIN_INTERPRETER {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "hallpass_slots does not support subinterpreters: import it in the main interpreter, \
         or use processes",
    ))
}

/// The number that CPython gives to the main interpreter.
const MAIN_INTERPRETER: i64 = 0;

// The reasoning in "Locks and forks" at the top of this file relies on the GIL. `gil_used` makes free-threaded
// interpreters turn the GIL on.
#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    refuse_sub_interpreter(module.py())?;
    module.add_class::<hall::Hall>()?;
    module.add_class::<pass::Pass>()?;
    module.add_class::<waiting::Waiting>()?;
    module.add_function(wrap_pyfunction!(names, module)?)?;
    module.add_function(wrap_pyfunction!(remove, module)?)?;
    module.add_function(wrap_pyfunction!(after_fork_in_child, module)?)?;
    module.add("MAX_SLOTS", MAX_SLOTS)
}
