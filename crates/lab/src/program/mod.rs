//! The parts that the programs `hallpass-lab` and `hallpass-bench` share: output, files, Ctrl-C, and
//! exit statuses. This module needs the feature `cli`.

pub mod files;
mod interrupt;
pub mod output;

use std::{error::Error, process::ExitCode};

pub use interrupt::{is_stopped, stop_on_interrupt};

/// Exit status: all requested properties hold.
pub const HOLDS: u8 = 0;
/// Exit status: a property is violated.
pub const VIOLATED: u8 = 1;
/// Exit status: invalid arguments.
pub const BAD_USAGE: u8 = 2;
/// Exit status: no violation was found, but the exploration was incomplete, an option left out a promised property, or
/// Ctrl-C stopped the program before it had an answer.
pub const PARTIAL: u8 = 3;

/// The exit status of a subcommand, or the reason why it could not run.
pub type Result = std::result::Result<ExitCode, Box<dyn Error>>;

/// Ends a program. Prints an error, if there is one, and turns it into [`BAD_USAGE`], or into [`PARTIAL`] after Ctrl-C.
pub fn finish(done: Result) -> ExitCode {
    done.unwrap_or_else(|error| {
        output::say(format_args!("{error}"));
        ExitCode::from(if is_stopped() { PARTIAL } else { BAD_USAGE })
    })
}
