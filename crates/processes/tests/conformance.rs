//! Runs the conformance suite on halls that processes share. The callers are threads of one process. Tests with
//! several processes are in `behaviour`.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hallpass_conformance::{
    Capacity, HallUnderTest, ManyUnderTest, Refusal, TasksUnderTest, conformance,
};
use hallpass_processes::{
    Error, HallDir, MAX_SLOTS, OwnedSharedPass, OwnedSharedPasses, SharedHall, SharedPass,
};
use tempfile::TempDir;

/// A hall in a temporary directory.
#[derive(Clone)]
struct Processes {
    hall: SharedHall,
    _folder: Arc<TempDir>,
}

/// A pass that does not borrow the hall.
#[derive(Debug)]
enum Pass {
    Owned(OwnedSharedPass),
    Borrowed(Keeper),
}

/// A pass that borrows the hall, in a thread that keeps the pass until this value is dropped.
#[derive(Debug)]
struct Keeper {
    slot: usize,
    wanted: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the keeper does not panic");
        }
    }
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::NoPermits => Refusal::NoPermits,
        Error::Closed => Refusal::Closed,
        Error::TooMany { .. } => Refusal::TooMany,
        error => panic!("{error}"),
    }
}

impl Processes {
    /// Acquires with a method whose pass borrows the hall.
    fn acquire_with(
        &self,
        acquire: impl FnOnce(&SharedHall) -> Result<SharedPass<'_>, Error> + Send + 'static,
    ) -> Result<Pass, Refusal> {
        let (answer, answered) = mpsc::channel();
        let (wanted, is_wanted) = mpsc::channel();
        let hall = self.hall.clone();
        let thread = thread::spawn(move || {
            let (slot, _pass) = match acquire(&hall) {
                Ok(pass) => (Ok(pass.slot()), Some(pass)),
                Err(error) => (Err(refusal(error)), None),
            };
            answer.send(slot).expect("the test waits for the answer");
            // Returns when the other end is dropped.
            let _ = is_wanted.recv();
        });
        let slot = answered.recv().expect("the keeper answers")?;
        Ok(Pass::Borrowed(Keeper { slot, wanted: Some(wanted), thread: Some(thread) }))
    }
}

impl HallUnderTest for Processes {
    type Pass = Pass;

    const CAPACITY: Capacity = Capacity {
        max_slots: MAX_SLOTS,
        sizes: &[1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 128, 200],
        rounds: 100,
        hand_over: Duration::from_micros(50),
    };

    fn open(k: usize) -> Result<Self, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let hall = HallDir::at(folder.path()).open("hall", k).map_err(|error| error.to_string())?;
        Ok(Processes { hall, _folder: Arc::new(folder) })
    }

    fn acquire(&self) -> Result<Pass, Refusal> {
        self.hall.acquire_owned().map(Pass::Owned).map_err(refusal)
    }

    fn try_acquire(&self) -> Result<Pass, Refusal> {
        self.hall.try_acquire_owned().map(Pass::Owned).map_err(refusal)
    }

    fn acquire_for(&self, time: Duration) -> Result<Pass, Refusal> {
        self.acquire_with(move |hall| hall.try_acquire_for(time))
    }

    fn acquire_until(&self, deadline: Instant) -> Result<Pass, Refusal> {
        self.acquire_with(move |hall| hall.try_acquire_until(deadline))
    }

    fn slot(pass: &Pass) -> usize {
        match pass {
            Pass::Owned(pass) => pass.slot(),
            Pass::Borrowed(keeper) => keeper.slot,
        }
    }

    fn slots(&self) -> usize {
        self.hall.slots()
    }

    fn available(&self) -> usize {
        self.hall.available()
    }

    fn waiting(&self) -> usize {
        self.hall.waiting()
    }

    fn resize(&self, k: usize) -> Result<(), String> {
        self.hall.resize(k).map_err(|error| error.to_string())
    }

    fn close(&self) {
        self.hall.close();
    }

    fn is_closed(&self) -> bool {
        self.hall.is_closed()
    }
}

impl ManyUnderTest for Processes {
    type Passes = OwnedSharedPasses;

    fn acquire_many(&self, m: usize) -> Result<OwnedSharedPasses, Refusal> {
        self.hall.acquire_many_owned(m).map_err(refusal)
    }

    fn try_acquire_many(&self, m: usize) -> Result<OwnedSharedPasses, Refusal> {
        self.hall.try_acquire_many_owned(m).map_err(refusal)
    }

    fn acquire_many_for(&self, m: usize, time: Duration) -> Result<OwnedSharedPasses, Refusal> {
        self.hall.try_acquire_many_owned_for(m, time).map_err(refusal)
    }

    fn slots_of(passes: &OwnedSharedPasses) -> Vec<usize> {
        passes.slots().to_vec()
    }
}

impl TasksUnderTest for Processes {
    type Acquiring = Pin<Box<dyn Future<Output = Result<Pass, Refusal>> + Send>>;

    fn acquire_async(&self) -> Self::Acquiring {
        let acquiring = self.hall.acquire_async();
        Box::pin(async { acquiring.await.map(Pass::Owned).map_err(refusal) })
    }
}

conformance!(Processes: many, tasks);
