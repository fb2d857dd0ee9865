//! The mapped file: where each word lies, how a file comes to be, and what is checked before it is used.
//!
//! Nothing that is read from it is trusted later: a count is cut to what there is room for, and whatever
//! words hold, the lines only compare them. All words are native-endian; the file is for one machine.

use std::{
    fs::File,
    io::Write,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    sync::atomic::{AtomicI64, AtomicU8, Ordering::SeqCst},
};

use hallpass_algorithms::halls::processes as shared;
use hallpass_common::MAX_SLOTS;
use rustix::{
    fs::{FallocateFlags, Mode, OFlags, fallocate, openat},
    io::{Errno, retry_on_intr},
};

use crate::{Error, sys::Mapping};

/// The most participants: passages that run at once, and processes that keep a place for the next.
pub const MAX_REGISTRATIONS: usize = shared::PROCESSES_IN_TAG;

// The machine and the file have room for every hall that the common rules allow.
const _: () = assert!(shared::MAX_SLOTS == MAX_SLOTS);

/// Changes whenever the layout does.
pub(crate) const VERSION: u32 = 1;
const MAGIC: i64 = i64::from_le_bytes(*b"hallpass");

/// Words that different processes write lie on different cache lines.
pub(crate) const LINE: usize = 64;

// The header.
const MAGIC_AT: usize = 0;
const VERSION_AT: usize = 8;
const ROOM_AT: usize = 16;
const SIZE_AT: usize = LINE;
const NEXT_AT: usize = 2 * LINE;
/// Beside `next`: who looks at one looks at the other.
const QUIET_AT: usize = NEXT_AT + 8;
const PEOPLE_AT: usize = 3 * LINE;
const IDS_AT: usize = PEOPLE_AT + 8;

// A member's record: the words of the machine, then what `status` shows.
const MEMBERS_AT: usize = 4096;
const MEMBER: usize = 4 * LINE;
const CARD: usize = 0;
const OWNER: usize = 8;
const LINK: usize = 16;
const PROCESS: usize = LINE;
const SINCE: usize = LINE + 8;
const COMMAND: usize = LINE + 16;
const COMMAND_LEN: usize = MEMBER - COMMAND;

const SLOTS_AT: usize = MEMBERS_AT + MAX_REGISTRATIONS * MEMBER;
/// How long a file is.
pub(crate) const LEN: usize = SLOTS_AT + MAX_SLOTS * LINE;

/// How many members and slots a file of this version has room for.
const ROOM: i64 = (MAX_REGISTRATIONS as i64) << 32 | MAX_SLOTS as i64;

/// The name of the file in a hall's directory.
pub(crate) const HALL: &str = "hall";

/// Opens a file of a hall's directory, and nothing that lies elsewhere or that one would wait for.
pub(crate) fn open_in(dir: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    openat(dir, name, flags, Mode::empty())
}

/// Maps an empty file, which is zeros of this length then.
pub(crate) fn mapped_new(file: &File, path: &Path, len: usize) -> Result<Mapping, Error> {
    // With every page there already, a full disk is an error here and not a fault later.
    match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, len as u64)) {
        // Not every file system can: then it is written.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            (&*file).write_all(&vec![0; len]).map_err(Error::system("make room for", path))?;
        }
        made => made.map_err(Error::system("make room for", path))?,
    }
    Mapping::new(file.as_fd(), len).map_err(Error::system("map", path))
}

/// How long a file is, if it is one.
pub(crate) fn len_of(file: &File, path: &Path) -> Result<u64, Error> {
    let metadata = file.metadata().map_err(Error::system("look at", path))?;
    if !metadata.is_file() {
        return Err(Error::Damaged { path: path.into(), why: "not a regular file".into() });
    }
    Ok(metadata.len())
}

/// A hall's words.
pub(crate) struct Words(Mapping);

impl Words {
    /// Makes an empty file a hall with `k` slots.
    pub(crate) fn create(file: &File, path: &Path, k: usize) -> Result<(), Error> {
        let words = Words(mapped_new(file, path, LEN)?);
        words.0.word(MAGIC_AT).store(MAGIC, SeqCst);
        words.0.word(VERSION_AT).store(VERSION.into(), SeqCst);
        words.0.word(ROOM_AT).store(ROOM, SeqCst);
        words.0.word(SIZE_AT).store(k as i64, SeqCst);
        words.0.word(NEXT_AT).store(1, SeqCst);
        words.0.word(QUIET_AT).store(1, SeqCst);
        Ok(())
    }

    /// Maps a file that has been a hall for some time.
    pub(crate) fn open(file: &File, path: &Path) -> Result<Self, Error> {
        let damaged = |why: String| Error::Damaged { path: path.into(), why };
        let len = len_of(file, path)?;
        if len != LEN as u64 {
            return Err(damaged(format!("{len} bytes and not {LEN}")));
        }
        let words = Words(Mapping::new(file.as_fd(), LEN).map_err(Error::system("map", path))?);
        if words.0.word(MAGIC_AT).load(SeqCst) != MAGIC {
            return Err(damaged("it does not begin as a hall does".into()));
        }
        let version = words.0.word(VERSION_AT).load(SeqCst);
        if version != i64::from(VERSION) {
            let found = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(Error::Version { path: path.into(), found, ours: VERSION });
        }
        if words.0.word(ROOM_AT).load(SeqCst) != ROOM {
            return Err(damaged("it has room for other numbers of slots and members".into()));
        }
        Ok(words)
    }

    /// How many slots there are; 0 when it is closed.
    #[inline]
    pub(crate) fn size(&self) -> &AtomicI64 {
        self.0.word(SIZE_AT)
    }

    #[inline]
    pub(crate) fn next(&self) -> &AtomicI64 {
        self.0.word(NEXT_AT)
    }

    #[inline]
    pub(crate) fn quiet(&self) -> &AtomicI64 {
        self.0.word(QUIET_AT)
    }

    /// How many records have ever been used.
    #[inline]
    pub(crate) fn people(&self) -> &AtomicI64 {
        self.0.word(PEOPLE_AT)
    }

    /// The last identity that was given out.
    pub(crate) fn ids(&self) -> &AtomicI64 {
        self.0.word(IDS_AT)
    }

    #[inline]
    pub(crate) fn slot(&self, slot: usize) -> &AtomicI64 {
        assert!(slot < MAX_SLOTS);
        self.0.word(SLOTS_AT + slot * LINE)
    }

    #[inline]
    fn of_member(&self, member: usize, offset: usize) -> &AtomicI64 {
        assert!(member < MAX_REGISTRATIONS);
        self.0.word(MEMBERS_AT + member * MEMBER + offset)
    }

    #[inline]
    pub(crate) fn card(&self, member: usize) -> &AtomicI64 {
        self.of_member(member, CARD)
    }

    /// The identity of who has this record; 0 if nobody.
    #[inline]
    pub(crate) fn owner(&self, member: usize) -> &AtomicI64 {
        self.of_member(member, OWNER)
    }

    /// One more than the member that this one follows; 0 if nobody.
    pub(crate) fn link(&self, member: usize) -> &AtomicI64 {
        self.of_member(member, LINK)
    }

    /// Process and user, as `uid << 32 | pid`.
    pub(crate) fn process(&self, member: usize) -> &AtomicI64 {
        self.of_member(member, PROCESS)
    }

    /// Since when it stands as it does, in nanoseconds since 1970.
    #[inline]
    pub(crate) fn since(&self, member: usize) -> &AtomicI64 {
        self.of_member(member, SINCE)
    }

    fn command_bytes(&self, member: usize) -> &[AtomicU8] {
        assert!(member < MAX_REGISTRATIONS);
        self.0.bytes(MEMBERS_AT + member * MEMBER + COMMAND, COMMAND_LEN)
    }

    /// Writes down what the member runs, as much of it as there is room for.
    pub(crate) fn set_command(&self, member: usize, command: &str) {
        let mut end = command.len().min(COMMAND_LEN);
        while !command.is_char_boundary(end) {
            end -= 1;
        }
        let text = command.as_bytes()[..end].iter().copied().chain(std::iter::repeat(0));
        for (cell, byte) in self.command_bytes(member).iter().zip(text) {
            cell.store(byte, SeqCst);
        }
    }

    /// What the member runs, as it was written, and nothing that a terminal would obey.
    pub(crate) fn command(&self, member: usize) -> String {
        let bytes = self.command_bytes(member).iter().map(|cell| cell.load(SeqCst));
        let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
        let text = String::from_utf8_lossy(&bytes);
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
}
