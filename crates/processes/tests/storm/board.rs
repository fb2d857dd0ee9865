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
    /// When it had asked who was seen in the queue,
    seen: AtomicU64,
    /// for the first time before this,
    first_seen: AtomicU64,
    /// and for the last time after this.
    last_seen: AtomicU64,
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
    /// Waits that were seen more than once.
    pub watched_waits: AtomicU64,
    /// How many were overtaken.
    pub overtaken: AtomicU64,
    /// The longest that a dead process's lock outlived it, in nanoseconds.
    pub lingered: AtomicU64,
    /// Who is in which slot.
    pub owners: [AtomicU64; SLOTS],
    /// The pid of each process that has one thread only; 0 of others.
    pub pids: [AtomicU64; WORKERS],
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

    /// It was seen in the queue by one who began to look then; it had asked then.
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
    /// The thread is about to ask.
    pub fn asks(&self, note: &Note, state: State) {
        note.from.store(self.entries.load(SeqCst), SeqCst);
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

    /// Looks whether this thread, whose wait is over, was overtaken: by somebody who asked after this
    /// one was seen in the queue, and was in before this one was seen there again.
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

    /// When the process with this pid asked, if it has one thread only and still waits for the answer.
    pub fn asks_since(&self, pid: u32) -> Option<(&Note, u64)> {
        let worker = self.pids.iter().position(|other| other.load(SeqCst) == u64::from(pid))?;
        let note = &self.notes[worker][0];
        let asked = note.asked();
        (note.state() == State::Asking).then_some((note, asked))
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
