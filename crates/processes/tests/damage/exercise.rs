//! Calls operations on a hall. Each operation may succeed or return an error.

use std::{path::Path, time::Duration};

use hallpass_processes::{Error, HallDir, MAX_SLOTS, SharedHall, SharedPass};

/// The name of every hall in this test.
pub const NAME: &str = "damaged-hall";
/// The number of slots of the halls.
pub const SLOTS: usize = 3;

/// The time limit. A process on an idle machine needs less than a tenth of it.
const SECONDS: u32 = 60;

/// Ends this process by a signal if it runs longer than the time limit.
pub fn set_alarm() {
    // SAFETY: `alarm` is always allowed.
    unsafe { libc::alarm(SECONDS) };
}

/// Accepts a value or an error. The error must have a message.
pub fn accepted<T>(answer: Result<T, Error>) -> Option<T> {
    answer.inspect_err(|error| assert!(!error.to_string().is_empty(), "{error:?}")).ok()
}

/// Accepts a pass with a possible slot, or an error.
pub fn accepted_pass(answer: Result<SharedPass, Error>) -> Option<SharedPass> {
    accepted(answer).inspect(|pass| assert!(pass.slot() < MAX_SLOTS, "slot {}", pass.slot()))
}

/// Opens the hall, uses it, and replaces it with a new hall.
pub fn exercise(path: &Path) -> i32 {
    set_alarm();
    let dir = HallDir::at(path);
    accepted(dir.names());
    if let Some(hall) = accepted(dir.open_existing(NAME)) {
        everything(&hall);
    }
    if let Some(hall) = accepted(dir.open(NAME, SLOTS)) {
        everything(&hall);
    }
    accepted(dir.remove(NAME, false));
    accepted(dir.remove(NAME, true));
    if let Some(hall) = accepted(dir.open(NAME, SLOTS)) {
        everything(&hall);
    }
    0
}

fn everything(hall: &SharedHall) {
    hall.describe_as("damage");
    look(hall);
    let one = accepted_pass(hall.try_acquire());
    let another = accepted_pass(hall.try_acquire_for(Duration::from_millis(20)));
    look(hall);
    drop(one);
    accepted(hall.reap());
    accepted(hall.resize(SLOTS - 1));
    let third = accepted_pass(hall.try_acquire_for(Duration::from_millis(5)));
    accepted(hall.resize(SLOTS + 2));
    drop((another, third));
    accepted(hall.resize(SLOTS));
    hall.close();
    accepted_pass(hall.try_acquire());
    look(hall);
}

/// Calls methods that only read.
pub fn look(hall: &SharedHall) {
    let numbers = (hall.slots(), hall.available(), hall.waiting(), hall.is_closed());
    assert!(numbers.0 <= MAX_SLOTS && numbers.1 <= MAX_SLOTS, "{numbers:?}");
    assert_eq!(hall.name(), NAME);
    let status = hall.status();
    assert!(!format!("{status:?}").is_empty());
}
