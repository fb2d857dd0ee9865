//! Output that does not panic when the pipe is closed, as in `hallpass list | head`.

use std::{
    env, fmt,
    io::{self, ErrorKind, Write},
    process,
};

/// The exit status that a shell reports for a command killed by SIGPIPE.
pub const CLOSED_PIPE: u8 = 128 + 13;
const CANNOT_WRITE: i32 = 2;

/// Writes to standard output, or ends the program.
pub fn write(text: fmt::Arguments<'_>) {
    match io::stdout().lock().write_fmt(text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(CLOSED_PIPE.into()),
        Err(error) => {
            eprintln!("hallpass: cannot write the output: {error}");
            process::exit(CANNOT_WRITE);
        }
    }
}

/// Writes a line to standard error, and ignores a closed pipe.
pub fn say(text: fmt::Arguments<'_>) {
    // One write, so that messages of several processes do not mix.
    let _ = io::stderr().write_all(format!("hallpass: {text}\n").as_bytes());
}

/// Returns `true` if the terminal can move its cursor. Call this only if there is a terminal.
pub fn can_paint() -> bool {
    env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// `print!` that does not panic.
macro_rules! out {
    ($($argument:tt)*) => { $crate::output::write(format_args!($($argument)*)) };
}

/// `println!` that does not panic.
macro_rules! outln {
    ($($argument:tt)*) => {{
        $crate::output::write(format_args!($($argument)*));
        $crate::output::write(format_args!("\n"));
    }};
}

pub(crate) use {out, outln};
