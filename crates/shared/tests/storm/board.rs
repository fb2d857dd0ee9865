//! What all processes of a storm know of each other. The hall has no part in it.

use std::{
    fs::OpenOptions,
    io::Write,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use rustix::time::{ClockId, clock_gettime};

use crate::mapped::Shareable;

/// How many processes there are at any time.
pub const WORKERS: usize = 64;
/// How many threads one may have.
pub const THREADS: usize = 2;
/// The most slots that a case has.
pub const SLOTS: usize = 64;
/// How many entries are remembered.
const LOG: usize = 1 << 15;

/// What a thread is about.
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

/// All of them; each at the place of its number.
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

/// What one thread says of itself.
#[repr(C)]
pub struct Note {
    state: AtomicU64,
    /// When it asked.
    asked: AtomicU64,
    /// How long the log was then.
    from: AtomicU64,
    /// How often it had been stopped until then.
    stops: AtomicU64,
    /// How often it has asked. Who asks for the first time opens files on its way to the queue.
    times: AtomicU64,
}

/// One who got in: when, and when it had asked.
#[repr(C)]
struct Entry {
    entered: AtomicU64,
    asked: AtomicU64,
}

#[repr(C)]
pub struct Board {
    /// How many got in.
    pub entries: AtomicU64,
    /// How many did not wait so long.
    pub gave_up: AtomicU64,
    /// How many replaced themselves by another program, inside.
    pub execs: AtomicU64,
    /// How many left their slot to a child.
    pub heirs: AtomicU64,
    /// What must not be: how often.
    pub violations: AtomicU64,
    /// Waits that were so long that somebody could have overtaken by more than is allowed.
    pub long_waits: AtomicU64,
    /// The farthest that anybody was overtaken, in nanoseconds.
    pub overtaken: AtomicU64,
    /// The longest that a dead process's lock outlived it, in nanoseconds.
    pub lingered: AtomicU64,
    /// Who is in which slot.
    pub owners: [AtomicU64; SLOTS],
    /// How often each process was stopped.
    pub stops: [AtomicU64; WORKERS],
    pub notes: [[Note; THREADS]; WORKERS],
    log: [Entry; LOG],
}

// SAFETY: it is atomics throughout, for which any value will do.
unsafe impl Shareable for Board {}

/// Nanoseconds on a clock that all processes share.
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

    /// A new process begins.
    pub fn reset(&self) {
        self.set(State::Outside);
        self.times.store(0, SeqCst);
    }

    pub fn asked(&self) -> u64 {
        self.asked.load(SeqCst)
    }
}

impl Board {
    /// The thread is about to ask.
    pub fn asks(&self, worker: usize, note: &Note, state: State) {
        note.from.store(self.entries.load(SeqCst), SeqCst);
        note.stops.store(self.stops[worker].load(SeqCst), SeqCst);
        note.times.fetch_add(1, SeqCst);
        note.asked.store(now(), SeqCst);
        note.set(state);
    }

    /// The thread got in.
    pub fn enters(&self, note: &Note) {
        let entered = now();
        note.set(State::Inside);
        let entry = &self.log[self.entries.fetch_add(1, SeqCst) as usize % LOG];
        // In this order: whoever is killed between leaves an entry that asked long ago, which is
        // nobody's concern.
        entry.entered.store(entered, SeqCst);
        entry.asked.store(note.asked(), SeqCst);
    }

    /// Looks whether this thread, which asked and was not in before `until`, was overtaken: by
    /// somebody who asked later, and got in. How much later, and how long before `until`: the lesser
    /// of the two counts, for what happens between asking and having a place in the queue, and between
    /// having a slot and saying so, takes whatever time the scheduler likes.
    ///
    /// Who was stopped meanwhile does not count, and who asks for the first time.
    pub fn check_order(&self, worker: usize, note: &Note, until: u64, allowed: u64) {
        let asked = note.asked();
        if until.saturating_sub(asked) <= 2 * allowed || note.times.load(SeqCst) == 1 {
            return;
        }
        let end = self.entries.load(SeqCst);
        let start = note.from.load(SeqCst).max(end.saturating_sub(LOG as u64));
        let by = |entry: &Entry| {
            let later = entry.asked.load(SeqCst).saturating_sub(asked);
            later.min(until.saturating_sub(entry.entered.load(SeqCst)))
        };
        let entries = (start..end).map(|index| &self.log[index as usize % LOG]);
        let overtaken = entries.map(by).max().unwrap_or(0);
        if note.stops.load(SeqCst) == self.stops[worker].load(SeqCst) {
            self.long_waits.fetch_add(1, SeqCst);
            self.overtaken.fetch_max(overtaken, SeqCst);
        }
    }

    /// Says that something is wrong.
    pub fn accuse(&self, folder: &Path, what: &str) {
        let log = OpenOptions::new().create(true).append(true).open(complaints(folder));
        writeln!(log.unwrap(), "{what}").unwrap();
        self.violations.fetch_add(1, SeqCst);
    }
}

/// The file with what is wrong.
pub fn complaints(folder: &Path) -> std::path::PathBuf {
    folder.join("complaints")
}
