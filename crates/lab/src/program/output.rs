//! Output that does not panic when the pipe is closed, as in `hallpass-lab list | head`.

use std::{
    env, fmt,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    process,
};

/// The exit status that a shell reports for a command killed by SIGPIPE.
const CLOSED_PIPE: i32 = 128 + 13;
const CANNOT_WRITE: i32 = 2;

/// Writes to standard output. Ends the program if this fails.
pub fn write(text: fmt::Arguments<'_>) {
    match io::stdout().lock().write_fmt(text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(CLOSED_PIPE),
        Err(error) => {
            say(format_args!("cannot write the output: {error}"));
            process::exit(CANNOT_WRITE);
        }
    }
}

/// Writes the name of the program and `text` to standard error, as one line. Ignores errors, such as a closed pipe.
pub fn say(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}: {text}", name());
}

/// Returns the name under which the program was started.
fn name() -> String {
    let path = env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or_else(|| "hallpass".into(), |name| name.to_string_lossy().into_owned())
}

/// Like `print!`, but does not panic.
#[doc(hidden)]
#[macro_export]
macro_rules! __out {
    ($($argument:tt)*) => { $crate::program::output::write(format_args!($($argument)*)) };
}

/// Like `println!`, but does not panic.
#[doc(hidden)]
#[macro_export]
macro_rules! __outln {
    ($($argument:tt)*) => {{
        $crate::program::output::write(format_args!($($argument)*));
        $crate::program::output::write(format_args!("\n"));
    }};
}

pub use crate::{__out as out, __outln as outln};
