//! What holders run: it tells the witness that it is in, and stays for a moment.

use std::{
    env,
    io::{Read, Write},
    os::unix::net::UnixStream,
    process, thread,
    time::Duration,
};

/// Where the witness is.
pub(crate) const WITNESS: &str = "HALLPASS_WITNESS";

/// If this process was started as a visitor: comes in, and once the witness has written that down, stays for
/// some milliseconds, between those that `HALLPASS_STAY` says as `5-200`, and ends. Otherwise does nothing.
///
/// Slot and token are those that hallpass gives to the command, `HALLPASS_SLOT` and `HALLPASS_TOKEN`; what
/// it calls itself is `HALLPASS_VISITOR`.
///
/// # Panics
/// If there is something wrong with these, or there is no witness.
pub fn visit() {
    let Some(socket) = env::var_os(WITNESS) else { return };
    let word = |name: &str| env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let mut witness = UnixStream::connect(socket).expect("there is a witness");
    let (name, slot, token) =
        (word("HALLPASS_VISITOR"), word("HALLPASS_SLOT"), word("HALLPASS_TOKEN"));
    writeln!(witness, "enter {name} {slot} {token} {}", process::id()).expect("it listens");
    witness.read_exact(&mut [0]).expect("it says that we are seen");
    let stay = word("HALLPASS_STAY");
    let (least, most) = stay.split_once('-').expect("two numbers");
    let bound = |text: &str| text.parse::<u64>().expect("a number");
    thread::sleep(Duration::from_millis(fastrand::u64(bound(least)..=bound(most))));
    // The end of the process ends the connection, which says that it has left: not sooner.
    process::exit(0);
}
