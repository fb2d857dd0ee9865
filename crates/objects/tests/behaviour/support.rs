//! Recorded histories, and threads that stop.

use std::{
    cell::RefCell,
    panic,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::Duration,
};

use hallpass_lab::linear::Event;

/// A time limit that no correct test reaches on any computer. A test that takes longer is stuck.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the closure in a thread. Fails if the closure does not return within [`PATIENCE`].
pub fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || done.send(run()).expect("the test waits for the result"));
    match result.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!(
                "{what}: not done after {PATIENCE:?}, although fewer than k threads have stopped"
            )
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => panic::resume_unwind(
            thread.join().expect_err("a thread that sent nothing has panicked"),
        ),
    }
}

/// Records calls and returns. One clock determines their order.
pub struct Recorder<Op, Ret> {
    clock: AtomicUsize,
    /// One log for each process, so that recording does not make processes wait for each other.
    logs: Vec<Mutex<Vec<Stamped<Op, Ret>>>>,
}

type Stamped<Op, Ret> = (usize, Event<Op, Ret>);

impl<Op: Clone, Ret: Clone> Recorder<Op, Ret> {
    pub fn new(processes: usize) -> Self {
        let logs = (0..processes).map(|_| Mutex::new(Vec::new())).collect();
        Recorder { clock: AtomicUsize::new(0), logs }
    }

    pub fn call(&self, process: usize, op: Op, run: impl FnOnce(&Op) -> Ret) -> Ret {
        self.note(process, Event::invoke(process, op.clone()));
        let ret = run(&op);
        self.note(process, Event::returned(process, ret.clone()));
        ret
    }

    fn note(&self, process: usize, event: Event<Op, Ret>) {
        let mut log = self.logs[process].lock().unwrap();
        log.push((self.clock.fetch_add(1, SeqCst), event));
    }

    /// Returns all events so far, including the calls of operations that are under way.
    pub fn history(&self) -> Vec<Event<Op, Ret>> {
        let logs: Vec<_> = self.logs.iter().map(|log| log.lock().unwrap()).collect();
        let mut all: Vec<_> = logs.iter().flat_map(|log| log.iter()).collect();
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, event)| event.clone()).collect()
    }
}

/// A gate at which threads stop until it opens.
#[derive(Default)]
pub struct Gate {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gate {
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.1).unwrap());
    }

    /// Waits until this many threads have stopped at the gate.
    pub fn wait_for(&self, stopped: usize) {
        let state = self.state.lock().unwrap();
        let (state, _) =
            self.changed.wait_timeout_while(state, PATIENCE, |state| state.0 < stopped).unwrap();
        assert!(
            state.0 >= stopped,
            "{} of {stopped} threads have stopped after {PATIENCE:?}",
            state.0
        );
    }

    /// Returns a guard that opens the gate when it is dropped. This happens even if the test fails, so
    /// that the test does not hang.
    pub fn open_on_drop(&self) -> OpenOnDrop<'_> {
        OpenOnDrop(self)
    }
}

pub struct OpenOnDrop<'a>(&'a Gate);

impl Drop for OpenOnDrop<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().1 = true;
        self.0.changed.notify_all();
    }
}

thread_local! {
    static GATE: RefCell<Option<Arc<Gate>>> = const { RefCell::new(None) };
}

/// Makes this thread stop at the gate when it next calls [`stop_if_armed`].
pub fn arm(gate: &Arc<Gate>) {
    GATE.set(Some(Arc::clone(gate)));
}

/// Stops the thread if it is armed, and disarms it. Operations call this function in every thread that
/// applies them.
pub fn stop_if_armed() {
    if let Some(gate) = GATE.take() {
        gate.stop();
    }
}

/// Sleeps in one call out of four, so that other threads overtake the operation that calls this function.
pub fn sleep_sometimes() {
    if fastrand::u8(..4) == 0 {
        thread::sleep(Duration::from_micros(200));
    }
}
