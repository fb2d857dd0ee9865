//! Lets Ctrl-C stop a long computation early.

use std::{
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use super::output::say;

/// Whether Ctrl-C was pressed.
static STOP: AtomicBool = AtomicBool::new(false);

/// Returns a flag that the first Ctrl-C sets. The computation then stops and prints what it has found so
/// far. A second Ctrl-C ends the program.
pub fn stop_on_interrupt() -> &'static AtomicBool {
    // Only the first call can install the handler. All calls share the flag.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
        say(format_args!("stopping; Ctrl-C again ends immediately, without an answer"));
    });
    &STOP
}

/// Returns whether the flag of [`stop_on_interrupt`] is set.
pub fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}
