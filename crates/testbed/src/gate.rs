//! A gate between two parties. It can be closed or slowed down.

use std::{
    sync::{Condvar, Mutex},
    thread,
    time::Duration,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Open,
    /// All data is delayed by this time.
    Delayed(Duration),
    /// No data passes, and connections stay open.
    Cut,
    /// Connections are closed.
    Closed,
}

/// A gate through which all data from one party to another passes.
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
        *self.mode.lock().expect("not poisoned") = mode;
        self.changed.notify_all();
    }

    /// Waits until data may pass. Returns `false` if the connection has to be closed instead.
    pub fn pass(&self) -> bool {
        let mode = self.mode.lock().expect("not poisoned");
        let mode = self.changed.wait_while(mode, |mode| *mode == Mode::Cut);
        let mode = *mode.expect("not poisoned");
        if let Mode::Delayed(time) = mode {
            thread::sleep(time);
        }
        mode != Mode::Closed
    }
}
