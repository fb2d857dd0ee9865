//! All that one can do with a hall, whatever comes of it.

use std::{path::Path, time::Duration};

use hallpass_processes::{Error, HallDir, MAX_SLOTS, SharedHall, SharedPass};

/// What the halls are called.
pub const NAME: &str = "damaged-hall";
/// How many slots they have.
pub const SLOTS: usize = 3;

/// Nothing here takes a tenth of that, on a machine that has time.
const SECONDS: u32 = 60;

/// Ends this process by a signal if it is still there then.
pub fn set_alarm() {
    // SAFETY: it is always allowed.
    unsafe { libc::alarm(SECONDS) };
}

/// An error is as good as any other answer, as long as it can say what it is.
pub fn heard<T>(answer: Result<T, Error>) -> Option<T> {
    answer.inspect_err(|error| assert!(!error.to_string().is_empty(), "{error:?}")).ok()
}

/// A slot that there can be.
pub fn looked_at(answer: Result<SharedPass, Error>) -> Option<SharedPass> {
    heard(answer).inspect(|pass| assert!(pass.slot() < MAX_SLOTS, "slot {}", pass.slot()))
}

/// Opens the hall in all ways, uses it, and at last puts a new one in its place.
pub fn exercise(path: &Path) -> i32 {
    set_alarm();
    let place = HallDir::at(path);
    heard(place.names());
    if let Some(hall) = heard(place.open_existing(NAME)) {
        everything(&hall);
    }
    if let Some(hall) = heard(place.open(NAME, SLOTS)) {
        everything(&hall);
    }
    heard(place.remove(NAME, false));
    heard(place.remove(NAME, true));
    if let Some(hall) = heard(place.open(NAME, SLOTS)) {
        everything(&hall);
    }
    0
}

fn everything(hall: &SharedHall) {
    hall.describe_as("damage");
    look(hall);
    let one = looked_at(hall.try_acquire());
    let another = looked_at(hall.try_acquire_for(Duration::from_millis(20)));
    look(hall);
    drop(one);
    heard(hall.reap());
    heard(hall.resize(SLOTS - 1));
    let third = looked_at(hall.try_acquire_for(Duration::from_millis(5)));
    heard(hall.resize(SLOTS + 2));
    drop((another, third));
    heard(hall.resize(SLOTS));
    hall.close();
    looked_at(hall.try_acquire());
    look(hall);
}

/// Whatever can be asked.
pub fn look(hall: &SharedHall) {
    let numbers = (hall.slots(), hall.available(), hall.waiting(), hall.is_closed());
    assert!(numbers.0 <= MAX_SLOTS && numbers.1 <= MAX_SLOTS, "{numbers:?}");
    assert_eq!(hall.name(), NAME);
    let status = hall.status();
    assert!(!format!("{status:?}").is_empty());
}
