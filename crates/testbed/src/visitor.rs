//! The command that holders run. It reports its visit to the witness, and stays for a moment.

use std::{
    env,
    io::{Read, Write},
    os::unix::net::UnixStream,
    process, thread,
    time::Duration,
};

/// The environment variable with the path of the witness's socket.
pub(crate) const WITNESS: &str = "HALLPASS_WITNESS";

/// Acts as a visitor if this process was started as one, and does nothing otherwise. A visitor connects
/// to the witness. After the witness has recorded the visitor, the visitor stays for a random number of
/// milliseconds in the range `HALLPASS_STAY`, such as `5-200`. Then it exits.
///
/// hallpass gives the slot and the token to the command, as `HALLPASS_SLOT` and `HALLPASS_TOKEN`.
/// `HALLPASS_VISITOR` is the name of the visitor.
///
/// # Panics
/// Panics if one of these variables is missing or invalid, or if there is no witness.
pub fn visit() {
    let Some(socket) = env::var_os(WITNESS) else { return };
    let word = |name: &str| env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let mut witness = UnixStream::connect(socket).expect("there is a witness");
    let (name, slot, token) =
        (word("HALLPASS_VISITOR"), word("HALLPASS_SLOT"), word("HALLPASS_TOKEN"));
    writeln!(witness, "enter {name} {slot} {token} {}", process::id()).expect("it listens");
    witness.read_exact(&mut [0]).expect("it confirms the visit");
    let stay = word("HALLPASS_STAY");
    let (min, max) = stay.split_once('-').expect("two numbers");
    let bound = |text: &str| text.parse::<u64>().expect("a number");
    thread::sleep(Duration::from_millis(fastrand::u64(bound(min)..=bound(max))));
    // The connection closes only when the process ends, so the witness sees when the visitor has left.
    process::exit(0);
}
