//! Sees whether two are in one slot, without asking the hall.
//!
//! A slot has a word that names who is in, and a file that it locks. The lock is the kernel's own
//! word: it is there exactly as long as somebody has the description open. The word tells whether
//! whoever has it open may still be: only one that is gone.

use std::{
    fs::{File, OpenOptions},
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::atomic::Ordering::SeqCst,
    thread,
    time::{Duration, Instant},
};

use crate::{board::Board, life::Life, mapped::Mapped};

/// How long a dead process's files may stay open: it must be given time on one of few cores.
const LINGER: Duration = Duration::from_secs(20);

/// In the word: who is in has said that its files are about to be closed.
const CLOSING: u64 = 1 << 63;

#[derive(Clone)]
pub struct Witness {
    pub board: Mapped<Board>,
    pub folder: PathBuf,
    pub me: Life,
}

/// Somebody in a slot.
pub struct Stay {
    slot: usize,
    _lock: File,
}

fn path(folder: &Path, slot: usize) -> PathBuf {
    folder.join(format!("slot-{slot}"))
}

/// Makes what is needed, once.
pub fn prepare(folder: &Path, slots: usize) {
    for slot in 0..slots {
        File::create(path(folder, slot)).unwrap();
    }
}

impl Witness {
    /// This process is in; an error if that cannot be.
    pub fn enter(&self, slot: usize, slots: usize) -> Result<Stay, String> {
        let me = self.me.pid();
        if slot >= slots {
            return Err(format!("{me} has slot {slot} of {slots}"));
        }
        let word = &self.board.owners[slot];
        let former = word.load(SeqCst);
        let owner = Life(former & !CLOSING);
        if former != 0 && former & CLOSING == 0 && !owner.is_gone() {
            return Err(format!("{me} has slot {slot}, in which {} lives", owner.pid()));
        }
        word.compare_exchange(former, self.me.0, SeqCst, SeqCst).map_err(|other| {
            let other = Life(other & !CLOSING).pid();
            format!("{me} and {other} both have slot {slot}, and had it from {}", owner.pid())
        })?;
        let file = OpenOptions::new().write(true).open(path(&self.folder, slot));
        let file = file.map_err(|error| format!("slot {slot}: {error}"))?;
        let begun = Instant::now();
        while !try_lock(&file).map_err(|error| format!("slot {slot}: {error}"))? {
            if former == 0 || begun.elapsed() > LINGER {
                return Err(format!("{me} has slot {slot}, which {} still locks", owner.pid()));
            }
            thread::sleep(Duration::from_micros(50));
        }
        if former != 0 {
            self.board.lingered.fetch_max(begun.elapsed().as_nanos() as u64, SeqCst);
        }
        Ok(Stay { slot, _lock: file })
    }

    /// It is about to leave.
    pub fn leave(&self, stay: Stay) {
        let slot = stay.slot;
        drop(stay);
        self.board.owners[slot].store(0, SeqCst);
    }

    /// It is about to have its files closed, without dying.
    pub fn closes(&self, stay: &Stay) {
        self.board.owners[stay.slot].store(self.me.0 | CLOSING, SeqCst);
    }

    /// This process was forked from the one that is in, and takes its place.
    pub fn inherit(&self, stay: &Stay) {
        self.board.owners[stay.slot].store(Life::own().0, SeqCst);
    }
}

/// Locks the description, unless another one has it locked.
fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: all zeros are a valid flock: numbers throughout.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_whence = libc::SEEK_SET as _;
    // SAFETY: the descriptor is open, and the kernel reads a flock.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) } {
        0 => Ok(true),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            error => Err(error),
        },
    }
}
