//! What may happen to what is on its way.

use std::{
    sync::{Condvar, Mutex},
    thread,
    time::Duration,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Open,
    /// Everything takes longer.
    Delayed(Duration),
    /// Nothing passes, and nobody is told.
    Cut,
    /// Connections are closed.
    Closed,
}

/// Before which everything waits that is on its way from one place to another.
#[derive(Debug)]
pub(crate) struct Gate {
    mode: Mutex<Mode>,
    changed: Condvar,
}

impl Gate {
    pub fn new() -> Gate {
        Gate { mode: Mutex::new(Mode::Open), changed: Condvar::new() }
    }

    pub fn set(&self, mode: Mode) {
        *self.mode.lock().expect("nobody panics here") = mode;
        self.changed.notify_all();
    }

    /// Waits until one may pass; says whether one still may.
    pub fn pass(&self) -> bool {
        let mode = self.mode.lock().expect("nobody panics here");
        let mode = self.changed.wait_while(mode, |mode| *mode == Mode::Cut);
        let mode = *mode.expect("nobody panics here");
        if let Mode::Delayed(time) = mode {
            thread::sleep(time);
        }
        mode != Mode::Closed
    }
}
