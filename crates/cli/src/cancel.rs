//! `hallpass cancel`: makes a waiter leave the queue.

use rustix::process::Signal;

/// The signal by which `hallpass cancel` asks a waiting `hallpass run` to give up. By default, a process ignores
/// it, so it does no harm to a command that has got its slot meanwhile, or to another program.
pub const CANCEL: Signal = Signal::URG;
