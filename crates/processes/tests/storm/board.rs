//! Shared memory in which all processes of a storm record what they do. It does not depend on the hall. A *passage*
//! begins when a thread asks for a slot, and ends when the thread has left or has given up. The *observer* is the
//! process that looks at the queue all the time (see `observer`).

use std::{
    fs::OpenOptions,
    io::Write,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use rustix::time::{ClockId, clock_gettime};

use crate::mapped::Shareable;

/// The number of processes at any time.
pub const WORKERS: usize = 64;
/// The maximum number of threads of a process.
pub const THREADS: usize = 2;
/// The maximum number of slots of a case.
pub const SLOTS: usize = 64;
/// The number of entries that the log keeps.
const LOG: usize = 1 << 15;

/// The activity of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum State {
    Outside,
    Opening,
    Asking,
    Trying,
    Inside,
    Leaving,
    Reaping,
    Resizing,
}

/// All states, each at the index of its number.
pub const STATES: [State; 8] = [
    State::Outside,
    State::Opening,
    State::Asking,
    State::Trying,
    State::Inside,
    State::Leaving,
    State::Reaping,
    State::Resizing,
];

/// The record of a thread.
#[repr(C)]
pub struct Note {
    state: AtomicU64,
    /// The time at which the current passage began.
    asked: AtomicU64,
    /// The length of the log at that time.
    from: AtomicU64,
    /// The passage in which the observer last saw the thread in the queue, by its value of `asked`.
    seen: AtomicU64,
    /// A time after the observer first saw this passage.
    first_seen: AtomicU64,
    /// A time before the observer last saw this passage.
    last_seen: AtomicU64,
}

/// A passage that got a slot: the time at which it got the slot, and the time at which it began.
#[repr(C)]
struct Entry {
    entered: AtomicU64,
    asked: AtomicU64,
}

#[repr(C)]
pub struct Board {
    /// The number of passages that got a slot.
    pub entries: AtomicU64,
    /// The number of passages that gave up.
    pub gave_up: AtomicU64,
    /// The number of holders that called exec.
    pub execs: AtomicU64,
    /// The number of holders that left their slot to a child.
    pub left_to_child: AtomicU64,
    /// The number of violations.
    pub violations: AtomicU64,
    /// The number of waits that the observer saw more than once.
    pub watched_waits: AtomicU64,
    /// The number of waiters that were overtaken.
    pub overtaken: AtomicU64,
    /// The longest time, in nanoseconds, that a new holder had to wait because a dead process still had a lock on the
    /// witness's file for this slot.
    pub lingered: AtomicU64,
    /// The holder of each slot.
    pub owners: [AtomicU64; SLOTS],
    /// The pid of each process with one thread; 0 for other processes.
    pub pids: [AtomicU64; WORKERS],
    pub notes: [[Note; THREADS]; WORKERS],
    log: [Entry; LOG],
}

// SAFETY: all fields are atomics, for which any value is valid.
unsafe impl Shareable for Board {}

/// Returns the time in nanoseconds, on a clock that all processes share.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Note {
    pub fn set(&self, state: State) {
        self.state.store(state as u64, SeqCst);
    }

    pub fn state(&self) -> State {
        STATES[self.state.load(SeqCst) as usize]
    }

    /// Records that the observer saw this thread in the queue. Its passage began at the time `asked`. The observer read
    /// the queue after the time `began`.
    pub fn seen_in_queue(&self, asked: u64, began: u64) {
        if self.seen.load(SeqCst) != asked {
            self.first_seen.store(now(), SeqCst);
            self.seen.store(asked, SeqCst);
        }
        self.last_seen.store(began, SeqCst);
    }

    pub fn asked(&self) -> u64 {
        self.asked.load(SeqCst)
    }
}

impl Board {
    /// Records that a thread begins a passage.
    pub fn asks(&self, note: &Note, state: State) {
        note.from.store(self.entries.load(SeqCst), SeqCst);
        note.asked.store(now(), SeqCst);
        note.set(state);
    }

    /// Records that a thread got a slot.
    pub fn enters(&self, note: &Note) {
        let entered = now();
        note.set(State::Inside);
        let entry = &self.log[self.entries.fetch_add(1, SeqCst) as usize % LOG];
        // The order of these stores matters. If the process is killed between them, the entry has an old `asked`,
        // which shows no overtaking.
        entry.entered.store(entered, SeqCst);
        entry.asked.store(note.asked(), SeqCst);
    }

    /// Checks whether a thread whose wait is over was overtaken. It was overtaken if another passage began after the
    /// observer saw the thread in the queue, and got a slot before the observer saw the thread there again.
    pub fn check_order(&self, note: &Note) {
        let (first, last) = (note.first_seen.load(SeqCst), note.last_seen.load(SeqCst));
        if note.seen.load(SeqCst) != note.asked() || first >= last {
            return;
        }
        let end = self.entries.load(SeqCst);
        let start = note.from.load(SeqCst).max(end.saturating_sub(LOG as u64));
        let overtakes =
            |entry: &Entry| entry.asked.load(SeqCst) > first && entry.entered.load(SeqCst) < last;
        let mut entries = (start..end).map(|index| &self.log[index as usize % LOG]);
        self.overtaken.fetch_add(entries.any(overtakes).into(), SeqCst);
        self.watched_waits.fetch_add(1, SeqCst);
    }

    /// Finds the process with this pid. If it has one thread and still waits, returns its note and the time at which
    /// its passage began.
    pub fn asks_since(&self, pid: u32) -> Option<(&Note, u64)> {
        let worker = self.pids.iter().position(|other| other.load(SeqCst) == u64::from(pid))?;
        let note = &self.notes[worker][0];
        let asked = note.asked();
        (note.state() == State::Asking).then_some((note, asked))
    }

    /// Appends a violation to the file that the test reads at the end.
    pub fn record_violation(&self, folder: &Path, what: &str) {
        let log = OpenOptions::new().create(true).append(true).open(violations_file(folder));
        writeln!(log.unwrap(), "{what}").unwrap();
        self.violations.fetch_add(1, SeqCst);
    }
}

/// Returns the path of the file to which processes write violations.
pub fn violations_file(folder: &Path) -> std::path::PathBuf {
    folder.join("violations")
}
