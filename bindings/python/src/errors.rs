//! Conversion of errors into Python exceptions. The exception classes are in `hallpass_slots/_errors.py`.

use hallpass_processes::Error;
use pyo3::{exceptions::PyValueError, prelude::*};

/// A result whose error can be raised in Python.
pub(crate) trait IntoPython<T> {
    /// Turns the error into an exception.
    fn into_python(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> IntoPython<T> for Result<T, Error> {
    fn into_python(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error).unwrap_or_else(|failed| failed))
    }
}

/// Returns the exception for an argument that is not allowed.
pub(crate) fn value_error(text: &'static str) -> PyErr {
    PyValueError::new_err(text)
}

/// Returns the exception for a call that has timed out.
pub(crate) fn timeout(py: Python<'_>, hall: &str, count: usize, seconds: f64) -> PyErr {
    let text = match count {
        1 => format!("no slot of hall `{hall}` was free within {seconds} s"),
        _ => format!("{count} slots of hall `{hall}` were not free within {seconds} s"),
    };
    new(py, "Timeout", text).unwrap_or_else(|failed| failed)
}

/// Returns the exception for a call to the operating system that failed. `failed` says what failed.
pub(crate) fn system(py: Python<'_>, errno: i32, failed: String) -> PyErr {
    let create = || {
        let class = py.import("hallpass_slots._errors")?.getattr("SystemFailure")?;
        Ok(PyErr::from_value(class.call1((errno, failed))?))
    };
    create().unwrap_or_else(|failed: PyErr| failed)
}

/// Returns the exception for a number of slots that no hall can have.
pub(crate) fn bad_argument(py: Python<'_>, text: String) -> PyErr {
    new(py, "BadArgument", text).unwrap_or_else(|failed| failed)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = match error {
        Error::NoPermits => "Timeout",
        Error::Closed => "Closed",
        Error::Missing { .. } => "Missing",
        Error::Slots { .. } => "SlotsMismatch",
        Error::BadName { .. } | Error::BadSlots { .. } | Error::TooMany { .. } => "BadArgument",
        Error::InUse { .. } => "InUse",
        Error::Full { .. } => "Full",
        Error::System { source, .. } => {
            return Ok(system(py, source.raw_os_error().unwrap_or(0), error.to_string()));
        }
        // Of the remaining errors, only `Damaged`, `Version` and `NotAHall` can occur here. The others come from
        // `SharedCell`, which this package does not use.
        _ => "Damaged",
    };
    new(py, class, error.to_string())
}

fn new(py: Python<'_>, class: &str, text: String) -> PyResult<PyErr> {
    let class = py.import("hallpass_slots._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call1((text,))?))
}
