//! The class `Pass`.

use std::sync::Arc;

use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError},
    prelude::*,
    types::PyTuple,
};

use crate::open_hall::{Key, OpenHall};

/// A slot that this process holds until the pass is released.
///
/// A pass is released by ``release()``, by the garbage collector, at the end of a ``with`` block, and when the process
/// ends in any way. A pass belongs to the process that acquired it: in a forked child ``held`` is false,
/// and ``release()`` does nothing.
#[pyclass(frozen, module = "hallpass_slots")]
pub(crate) struct Pass {
    hall: Arc<OpenHall>,
    key: Key,
    /// The slots, the smallest first. There is at least one.
    slots: Vec<usize>,
}

impl Pass {
    pub(crate) fn new(hall: Arc<OpenHall>, slots: Vec<usize>, key: Key) -> Self {
        Pass { hall, key, slots }
    }
}

#[pymethods]
impl Pass {
    /// The slot: a number from 0 to the number of slots minus 1 that no other holder has.
    #[getter]
    fn slot(&self) -> usize {
        self.slots[0]
    }

    /// All slots of the request that made this pass. `Passes` shows them.
    #[getter]
    fn _slots<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.slots)
    }

    /// Whether this process still holds the slot.
    #[getter]
    fn held(&self) -> bool {
        self.hall.holds(self.key)
    }

    /// The name of the hall.
    #[getter]
    fn hall(&self) -> &str {
        &self.hall.name
    }

    /// Frees the slot. Does nothing if the pass was released before.
    fn release(&self) {
        self.hall.release(self.key);
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        // If the pass is not held, the `with` block would run without the slot.
        if slf.get().held() {
            return Ok(slf);
        }
        Err(PyRuntimeError::new_err(
            "this process does not hold the pass: it was released, or acquired by another process; acquire a new one",
        ))
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.hall.release(self.key);
    }

    fn __repr__(&self) -> String {
        let state = if self.held() { "held" } else { "released" };
        format!("<Pass of hall '{}', slot {}, {state}>", self.hall.name, self.slot())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a pass belongs to the process that acquired it and cannot be pickled: \
             send the hall to the other process and acquire there",
        ))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.hall.release(self.key);
    }
}
