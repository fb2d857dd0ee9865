//! Stops a thread in the middle of its operation.
//!
//! A thread that has to stop calls [`arm`]. Every operation calls [`point`]. When the armed thread reaches this
//! call, it stays there until the gate opens. Other threads may apply the same operation and make the same call,
//! but only an armed thread stops.

use std::{
    cell::{Cell, RefCell},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// A gate at which threads stop until it opens.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stopped: usize,
    open: bool,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until this many threads have stopped. Returns `false` if the time ran out first.
    pub fn wait_for(&self, count: usize, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut state = self.state();
        while state.stopped < count {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Releases all stopped threads. From then on, the gate stops no thread.
    pub fn open(&self) {
        self.state().open = true;
        self.changed.notify_all();
    }

    fn stop(&self) {
        let mut state = self.state();
        state.stopped += 1;
        self.changed.notify_all();
        let open = self.changed.wait_while(state, |state| !state.open);
        open.unwrap_or_else(PoisonError::into_inner).stopped -= 1;
    }
}

thread_local! {
    /// Whether this thread is armed. Every operation reads this flag, so it must be cheap to read. This is why it is
    /// separate from the gate.
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static GATE: RefCell<Option<Arc<Gate>>> = const { RefCell::new(None) };
}

/// Makes this thread stop when it next reaches [`point`].
pub fn arm(gate: Arc<Gate>) {
    GATE.set(Some(gate));
    ARMED.set(true);
}

/// Returns `true` if this thread would stop now.
#[inline]
pub fn is_armed() -> bool {
    ARMED.get()
}

/// Stops an armed thread; all others continue.
#[inline]
pub fn point() {
    if is_armed() {
        stop();
    }
}

#[cold]
fn stop() {
    ARMED.set(false);
    if let Some(gate) = GATE.take() {
        gate.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn only_an_armed_thread_stops_and_only_once() {
        let gate = Arc::new(Gate::default());
        point();
        assert!(!gate.wait_for(1, Duration::ZERO));
        let stopped = thread::spawn({
            let gate = Arc::clone(&gate);
            move || {
                arm(gate);
                point();
                point();
            }
        });
        assert!(gate.wait_for(1, LONG));
        point();
        gate.open();
        stopped.join().expect("the thread continues");
    }
}
