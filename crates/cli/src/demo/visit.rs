//! The command that a worker of the demo runs in its slot. It reports to the witness, stays for a while, and ends.

use std::{
    env,
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    process::ExitCode,
    thread,
    time::Duration,
};

use crate::output::say;

/// The hidden subcommand that calls [`run`] in the workers of the demo.
pub const SUBCOMMAND: &str = "demo-visit";
/// The environment variable with the number of the worker.
pub const WORKER: &str = "HALLPASS_DEMO_WORKER";
/// The environment variable with the path of the socket of the witness.
pub const SOCKET: &str = "HALLPASS_DEMO_SOCKET";
/// The environment variable with the length of a visit in milliseconds.
pub const STAY: &str = "HALLPASS_DEMO_STAY";

/// Reports the worker and its slot to the witness, waits for the answer, stays for a while, and ends. The kernel
/// closes the connection when the process ends, even if it is killed.
pub fn run() -> ExitCode {
    match visit() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("a worker of `hallpass demo` failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn visit() -> io::Result<()> {
    let variable = |name: &str| {
        env::var(name)
            .map_err(|_| io::Error::other(format!("{name} is not set; only the demo runs this")))
    };
    let mut witness = UnixStream::connect(variable(SOCKET)?)?;
    witness
        .write_all(format!("{} {}\n", variable(WORKER)?, variable("HALLPASS_SLOT")?).as_bytes())?;
    witness.read_exact(&mut [0])?;
    let stay = variable(STAY)?.parse().map_err(io::Error::other)?;
    thread::sleep(Duration::from_millis(stay));
    Ok(())
}
