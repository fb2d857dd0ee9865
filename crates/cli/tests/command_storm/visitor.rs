//! The command that a storm runs in a slot, and its witness: a lock for each slot. A visitor that finds the lock
//! of its slot taken reports a conflict.

use std::{
    env,
    fs::{File, OpenOptions},
    io::Write,
    os::fd::AsRawFd,
    path::Path,
    process::{self, Command},
    thread,
    time::Duration,
};

use rustix::fs::{FlockOperation, flock};

/// The file in which conflicts are reported.
pub const CONFLICTS: &str = "conflicts";
/// The file with a byte for each visit.
pub const VISITS: &str = "visits";

/// The directory of the witness. Only a visitor has this variable.
const WITNESS: &str = "HALLPASS_STORM_WITNESS";
/// How long a visit lasts, in milliseconds.
const STAY: &str = "HALLPASS_STORM_STAY";
/// The exit status of the visitor.
const STATUS: &str = "HALLPASS_STORM_STATUS";

/// Adds the visitor to a `hallpass run`: this program, with a filter that selects one test.
pub fn add_to(command: &mut Command, witness: &Path, stay: u64, status: u8) {
    command.arg(env::current_exe().expect("this program"));
    command.args(["--exact", "visitor::a_visitor_holds_the_lock_of_its_slot", "--test-threads=1"]);
    command.env(WITNESS, witness).env(STAY, stay.to_string()).env(STATUS, status.to_string());
}

/// In a storm, this is the visitor. In a normal test run, it checks the witness.
#[test]
fn a_visitor_holds_the_lock_of_its_slot() {
    let Some(witness) = env::var_os(WITNESS) else {
        let folder = tempfile::tempdir().expect("a folder");
        let first = lock(folder.path(), "0").expect("free");
        assert!(lock(folder.path(), "0").is_none(), "a second holder of a slot is noticed");
        assert!(lock(folder.path(), "1").is_some());
        drop(first);
        assert!(lock(folder.path(), "0").is_some());
        return;
    };
    let number =
        |name: &str| -> u64 { env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(0) };
    visit(Path::new(&witness), Duration::from_millis(number(STAY)));
    process::exit(number(STATUS) as i32);
}

/// Takes the lock of a slot. The descriptor has the lowest free number. When a process dies, the kernel closes its
/// descriptors from the highest number down, so this one is among the last. Returns `None` if the lock is taken.
fn lock(witness: &Path, slot: &str) -> Option<File> {
    let path = witness.join(format!("lock-{slot}"));
    let file = OpenOptions::new().create(true).append(true).open(path).expect("opened");
    flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(file)
}

fn visit(witness: &Path, stay: Duration) {
    let slots = env::var("HALLPASS_SLOTS_HELD").or_else(|_| env::var("HALLPASS_SLOT"));
    let slots = slots.expect("hallpass sets the slot");
    let mut locks = Vec::new();
    for slot in slots.split(',') {
        match lock(witness, slot) {
            Some(lock) => locks.push(lock),
            None => report(witness, &format!("slot {slot} has two holders")),
        }
        if slot.parse().is_ok_and(|slot: usize| slot >= super::SLOTS) {
            report(witness, &format!("slot {slot} does not exist"));
        }
    }
    // A second descriptor of the same lock has a high number, so the kernel closes it first. This must not free the lock.
    let high = locks.first().map(|lock| rustix::io::fcntl_dupfd_cloexec(lock, 200));
    assert!(locks.iter().all(|lock| lock.as_raw_fd() < 100));
    append(witness, VISITS, "v");
    thread::sleep(stay);
    drop((high, locks));
}

fn report(witness: &Path, what: &str) {
    let words: Vec<_> = env::vars().filter(|(name, _)| name.starts_with("HALLPASS")).collect();
    append(witness, CONFLICTS, &format!("{what}: process {} with {words:?}\n", process::id()));
}

/// Appends with one write, so that the texts of several processes do not mix.
fn append(witness: &Path, file: &str, text: &str) {
    let file = OpenOptions::new().create(true).append(true).open(witness.join(file));
    file.expect("opened").write_all(text.as_bytes()).expect("written");
}
