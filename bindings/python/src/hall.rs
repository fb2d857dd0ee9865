//! The native class `Hall`. The Python class `hallpass_slots.Hall` is a subclass of it.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use hallpass_processes::{Error, HallDir, MAX_SLOTS, Participant, SharedHall};
use pyo3::{exceptions::PyOverflowError, prelude::*};

use crate::{
    errors::{self, IntoPython},
    hall_dir,
    open_hall::OpenHall,
    pass::Pass,
    waiting::{self, Waiting},
};

/// A fair semaphore with slot numbers for the processes of one machine.
#[pyclass(frozen, subclass, module = "hallpass_slots._native")]
pub(crate) struct Hall(Arc<OpenHall>);

/// The fields of a `Participant`: slot, PID, user ID, command, seconds since 1970, whether the process is alive.
type ParticipantTuple = (Option<usize>, u32, Option<u32>, String, f64, bool);

/// The fields of a `Status`: name, slots, closed, holders, waiters.
type StatusTuple = (String, usize, bool, Vec<ParticipantTuple>, Vec<ParticipantTuple>);

impl Hall {
    fn open(&self, py: Python<'_>) -> PyResult<SharedHall> {
        self.0.hall().into_python(py)
    }

    fn acquire_slots(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<Pass> {
        if let Some(seconds) = timeout {
            waiting::duration(seconds)?;
        }
        match self.0.try_acquire(count) {
            Ok((slots, key)) => Ok(Pass::new(self.0.clone(), slots, key)),
            Err(Error::NoPermits) if timeout == Some(0.0) => {
                Err(errors::timeout(py, &self.0.name, count, 0.0))
            }
            Err(Error::NoPermits) => waiting::block(py, &self.0, count, timeout),
            Err(error) => Err(error).into_python(py),
        }
    }

    fn try_acquire_slots(&self, py: Python<'_>, count: usize) -> PyResult<Option<Pass>> {
        match self.0.try_acquire(count) {
            Ok((slots, key)) => Ok(Some(Pass::new(self.0.clone(), slots, key))),
            Err(Error::NoPermits) => Ok(None),
            Err(error) => Err(error).into_python(py),
        }
    }
}

#[pymethods]
impl Hall {
    #[new]
    #[pyo3(signature = (name, slots=None, *, directory=None, system=false))]
    fn new(
        py: Python<'_>,
        name: &str,
        slots: Option<&Bound<'_, PyAny>>,
        directory: Option<PathBuf>,
        system: bool,
    ) -> PyResult<Self> {
        let slots = slots.map(slot_count).transpose()?;
        let dir = hall_dir(py, directory, system)?;
        OpenHall::new(dir, name, slots).into_python(py).map(Hall)
    }

    /// The name of the hall.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The directory that contains the hall.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.0.dir.path().into()
    }

    /// Whether all users share the hall.
    #[getter]
    fn system(&self) -> bool {
        self.0.dir == HallDir::system()
    }

    /// The number of slots, or 0 if the hall is closed.
    #[getter]
    fn slots(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.open(py)?.slots())
    }

    /// The number of free slots: a snapshot that may already be stale.
    #[getter]
    fn available(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.open(py)?.available())
    }

    /// The number of waiters: a snapshot that may already be stale.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.open(py)?.waiting())
    }

    /// Whether the hall is closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.is_closed())
    }

    /// Waits until a slot is free and takes it.
    ///
    /// Waiters get a slot in the order of their arrival. The GIL is released while the caller waits.
    ///
    /// :param timeout: the longest time to wait, in seconds; ``None`` waits without a limit.
    /// :raises Timeout: if no slot was free in time.
    /// :raises Closed: if the hall is closed, before or while the caller waits.
    /// :raises KeyboardInterrupt: on Ctrl-C, after the caller has left the queue.
    #[pyo3(signature = (timeout=None))]
    fn acquire(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Pass> {
        self.acquire_slots(py, 1, timeout)
    }

    /// Takes a slot if one is free and nobody waits. Returns ``None`` otherwise.
    ///
    /// :raises Closed: if the hall is closed.
    fn try_acquire(&self, py: Python<'_>) -> PyResult<Option<Pass>> {
        self.try_acquire_slots(py, 1)
    }

    /// Waits until ``count`` slots are free and takes them together.
    fn _acquire_many(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<Pass> {
        self.acquire_slots(py, count, timeout)
    }

    /// Takes ``count`` slots together if they are free and nobody waits. Returns ``None`` otherwise.
    fn _try_acquire_many(&self, py: Python<'_>, count: usize) -> PyResult<Option<Pass>> {
        self.try_acquire_slots(py, count)
    }

    /// Joins the queue with a request for ``count`` slots and returns the position in it, for an event loop.
    #[pyo3(signature = (count=1))]
    fn _join_queue(&self, py: Python<'_>, count: usize) -> PyResult<Waiting> {
        Waiting::new(py, self.0.clone(), count)
    }

    /// Changes the number of slots while the hall is in use.
    ///
    /// Waiters get new slots immediately. After the hall has shrunk, holders keep their slots until they leave, and
    /// nobody else gets a slot until fewer slots are held than the hall has. There is one exception: a process that is
    /// in the middle of entering or leaving during the call may still take one slot, or give slots to one waiter.
    ///
    /// :raises BadArgument: if no hall can have this number of slots.
    /// :raises Closed: if the hall is closed.
    fn resize(&self, py: Python<'_>, slots: &Bound<'_, PyAny>) -> PyResult<()> {
        self.open(py)?.resize(slot_count(slots)?).into_python(py)
    }

    /// Closes the hall permanently. Waiters and newcomers get ``Closed``; holders keep their slots until they
    /// leave.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.open(py)?.close();
        Ok(())
    }

    /// Frees the slots of dead processes, and returns how many records of dead processes it removed.
    ///
    /// Waiters do this by themselves. While nobody waits, call it before ``available`` or ``status()`` to get exact
    /// figures.
    fn reap(&self, py: Python<'_>) -> PyResult<usize> {
        self.open(py)?.reap().into_python(py)
    }

    /// Sets the command that ``status()`` shows for this process. At most 176 bytes of the command are kept.
    fn describe_as(&self, py: Python<'_>, command: &str) -> PyResult<()> {
        self.0.describe_as(command).into_python(py)
    }

    fn _status(&self, py: Python<'_>) -> PyResult<StatusTuple> {
        let status = self.open(py)?.status();
        let all = |participants: &[Participant]| participants.iter().map(participant).collect();
        let (holders, waiters) = (all(&status.holders), all(&status.waiters));
        Ok((status.name, status.slots, status.closed, holders, waiters))
    }
}

/// Reads a number of slots. A number that does not fit into a `usize` gets the same error as any other number that is
/// too large.
fn slot_count(slots: &Bound<'_, PyAny>) -> PyResult<usize> {
    match slots.extract::<usize>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(slots.py()) => {
            let text = format!("a hall can have 1 to {MAX_SLOTS} slots, not {slots}");
            Err(errors::bad_argument(slots.py(), text))
        }
        count => count,
    }
}

fn participant(one: &Participant) -> ParticipantTuple {
    let since = one.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    (one.slot, one.pid, one.uid, one.command.clone(), since, one.alive)
}
