//! Checks that no slot has two holders, without using the hall.
//!
//! Each slot has a word with its holder, and a file that the holder locks. The kernel keeps the lock exactly
//! as long as a process has the file description open. If a new holder finds the lock taken, the word shows the old
//! holder. This is allowed only if the old holder is gone and its files are about to be closed.

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

/// The longest time that the files of a dead process stay open. The kernel needs time on a core to close them.
const LINGER: Duration = Duration::from_secs(20);

/// Bit of the word: the holder has announced that its files are about to be closed.
const CLOSING: u64 = 1 << 63;

#[derive(Clone)]
pub struct Witness {
    pub board: Mapped<Board>,
    pub folder: PathBuf,
    pub me: Life,
}

/// A holder's stay in a slot.
pub struct Stay {
    slot: usize,
    _lock: File,
}

fn path(folder: &Path, slot: usize) -> PathBuf {
    folder.join(format!("slot-{slot}"))
}

/// Creates the files.
pub fn prepare(folder: &Path, slots: usize) {
    for slot in 0..slots {
        File::create(path(folder, slot)).unwrap();
    }
}

impl Witness {
    /// Records that this process has a slot. Returns an error if another process has it.
    pub fn enter(&self, slot: usize, slots: usize) -> Result<Stay, String> {
        let me = self.me.pid();
        if slot >= slots {
            return Err(format!("{me} has slot {slot} of {slots}"));
        }
        let word = &self.board.owners[slot];
        let former = word.load(SeqCst);
        let owner = Life(former & !CLOSING);
        if former != 0 && former & CLOSING == 0 && !owner.is_gone() {
            return Err(format!("{me} has slot {slot}, which {} still has", owner.pid()));
        }
        word.compare_exchange(former, self.me.0, SeqCst, SeqCst).map_err(|other| {
            let other = Life(other & !CLOSING).pid();
            format!("{me} and {other} both have slot {slot}, which {} had before", owner.pid())
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

    /// Records that this process is about to leave.
    pub fn leave(&self, stay: Stay) {
        let slot = stay.slot;
        drop(stay);
        self.board.owners[slot].store(0, SeqCst);
    }

    /// Records that the files of this process are about to be closed although it does not die.
    pub fn closes(&self, stay: &Stay) {
        self.board.owners[stay.slot].store(self.me.0 | CLOSING, SeqCst);
    }

    /// Records that this process, which was forked from the holder, is now the holder.
    pub fn inherit(&self, stay: &Stay) {
        self.board.owners[stay.slot].store(Life::own().0, SeqCst);
    }
}

/// Locks the file, unless another file description has it locked.
fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: all fields of a flock are numbers, so zeros are valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_whence = libc::SEEK_SET as _;
    // SAFETY: the descriptor is open, and the kernel only reads the flock.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) } {
        0 => Ok(true),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            error => Err(error),
        },
    }
}
