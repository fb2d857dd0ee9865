//! What the tests share: recorded histories, and threads that stop.
#![allow(dead_code, reason = "each test file uses a part of it")]

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

/// Long enough for any machine: who needs longer is stuck.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Runs it, and fails if it does not end: a test that hangs tells nothing.
pub fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || done.send(run()).expect("the test waits"));
    match result.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!("{what}: not done after {PATIENCE:?}, though fewer than k have stopped")
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            panic::resume_unwind(thread.join().expect_err("it sent nothing"))
        }
    }
}

/// What happened, and in which order: all ends of operations get their numbers from one clock.
pub struct Recorder<Op, Ret> {
    clock: AtomicUsize,
    /// One for each process, so that recording does not make them wait for each other.
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

    /// All so far, also of operations that are under way.
    pub fn history(&self) -> Vec<Event<Op, Ret>> {
        let logs: Vec<_> = self.logs.iter().map(|log| log.lock().unwrap()).collect();
        let mut all: Vec<_> = logs.iter().flat_map(|log| log.iter()).collect();
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, event)| event.clone()).collect()
    }
}

/// Where threads stop until it opens.
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

    /// Waits until so many have stopped here.
    pub fn wait_for(&self, stopped: usize) {
        let state = self.state.lock().unwrap();
        let (state, _) =
            self.changed.wait_timeout_while(state, PATIENCE, |state| state.0 < stopped).unwrap();
        assert!(state.0 >= stopped, "{} of {stopped} have stopped after {PATIENCE:?}", state.0);
    }

    /// Opens it when that is dropped: also when a test fails, so that it does not hang.
    pub fn opens_at_end(&self) -> Opens<'_> {
        Opens(self)
    }
}

pub struct Opens<'a>(&'a Gate);

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().1 = true;
        self.0.changed.notify_all();
    }
}

thread_local! {
    static GATE: RefCell<Option<Arc<Gate>>> = const { RefCell::new(None) };
}

/// This thread stops there, the next time it comes to [`stop_if_told`].
pub fn tell_to_stop(gate: &Arc<Gate>) {
    GATE.set(Some(Arc::clone(gate)));
}

/// Called by operations, whoever applies them: only a thread that was told so stops, and once.
pub fn stop_if_told() {
    if let Some(gate) = GATE.take() {
        gate.stop();
    }
}

/// Called by operations: now and then one takes so long that others come in past it.
pub fn dawdle() {
    if fastrand::u8(..4) == 0 {
        thread::sleep(Duration::from_micros(200));
    }
}
