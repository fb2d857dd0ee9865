//! The mapped file of a hall: the layout of its words, its creation, and the checks before it is used.
//!
//! No value from the file is trusted. A count that is too large is reduced to what the file has room for. The number
//! of a record or slot is checked or masked before it is used as an index. The step machine only compares the other
//! words. All words are native-endian, because the file is for one machine.

use std::{
    fs::File,
    io,
    os::fd::AsFd,
    path::Path,
    sync::atomic::{AtomicI64, AtomicU8, AtomicU32, Ordering::SeqCst},
};

use hallpass_algorithms::halls::processes as machine;
use hallpass_common::MAX_SLOTS;

use crate::{
    Error,
    sys::{self, Mapping},
};

/// The maximum number of registrations for passages in a hall.
///
/// A *registration* is a record in the file of the hall. Each passage (an acquire and its release) needs one from its
/// arrival until its pass is dropped. A process keeps idle registrations for its next passages until it drops its last
/// handle of the hall.
pub const MAX_REGISTRATIONS: usize = RECORDS - RESERVED;

/// The number of records that a file has room for.
pub(crate) const RECORDS: usize = machine::PROCESSES_IN_TAG;
/// The number of records at the end of the file that passages cannot use. They are reserved so that a full hall can
/// still be resized, reaped and removed.
const RESERVED: usize = 16;

// The step machine and the file have room for as many slots as `hallpass_common` allows.
const _: () = assert!(machine::MAX_SLOTS == MAX_SLOTS);

/// The version of the layout. Every change of the layout changes it.
pub(crate) const VERSION: u32 = 4;
const MAGIC: i64 = i64::from_le_bytes(*b"hallpass");

/// The size of a cache line. Words that different processes write are on different lines.
pub(crate) const LINE: usize = 64;

// The header.
const MAGIC_AT: usize = 0;
const VERSION_AT: usize = 8;
const ROOM_AT: usize = 16;
const SIZE_AT: usize = LINE;
const NEXT_AT: usize = 2 * LINE;
/// `quiet` is on the same cache line as `next`, because both are read together.
const QUIET_AT: usize = NEXT_AT + 8;
const RECORDS_USED_AT: usize = 3 * LINE;
const LAST_ID_AT: usize = RECORDS_USED_AT + 8;
const RECORDS_READY_AT: usize = RECORDS_USED_AT + 16;
const SLOTS_READY_AT: usize = RECORDS_USED_AT + 24;
const HEAD_AT: usize = RECORDS_USED_AT + 32;

// A record, one for each registration: the words of the step machine, then the words that `status` shows.
const RECORDS_AT: usize = 4096;
const RECORD: usize = 4 * LINE;
const CARD: usize = 0;
const OWNER: usize = 8;
const LINK: usize = 16;
const FOLLOWED: usize = 24;
const NAP: usize = 32;
const PROCESS: usize = LINE;
const SINCE: usize = LINE + 8;
const COMMAND: usize = LINE + 16;
const COMMAND_LEN: usize = RECORD - COMMAND;

const SLOTS_AT: usize = RECORDS_AT + RECORDS * RECORD;
/// The length of a file. At first, most of it is a hole. Pages are allocated when records or slots are added.
pub(crate) const LEN: usize = SLOTS_AT + MAX_SLOTS * LINE;

/// The number of records that are allocated together when more are needed.
const MORE_RECORDS: usize = 64;
/// The number of slots that are allocated together. They take one page.
const MORE_SLOTS: usize = 64;

/// The numbers of records and slots for which a file of this version has room.
const ROOM: i64 = (RECORDS as i64) << 32 | MAX_SLOTS as i64;

/// The name of the file in a hall's directory.
pub(crate) const HALL: &str = "hall";

/// Extends an empty file to `len` zero bytes and maps it.
pub(crate) fn map_new(file: &File, path: &Path, len: usize) -> Result<Mapping, Error> {
    sys::allocate(file, len).map_err(Error::system("allocate", path))?;
    Mapping::new(file.as_fd(), len).map_err(Error::system("map", path))
}

const fn record_at(record: usize) -> usize {
    RECORDS_AT + record * RECORD
}

const fn slot_at(slot: usize) -> usize {
    SLOTS_AT + slot * LINE
}

/// Reads the number of allocated records or slots. If the word is not positive, the file does not contain the number:
/// then `max` records or slots are allocated.
fn ready(word: &AtomicI64, max: usize) -> usize {
    match usize::try_from(word.load(SeqCst)) {
        Ok(count @ 1..) => count.min(max),
        _ => max,
    }
}

/// Returns the length of a regular file.
pub(crate) fn len_of(file: &File, path: &Path) -> Result<u64, Error> {
    let metadata = file.metadata().map_err(Error::system("inspect", path))?;
    if !metadata.is_file() {
        return Err(Error::Damaged { path: path.into(), why: "it is not a regular file".into() });
    }
    Ok(metadata.len())
}

/// The words of a hall.
pub(crate) struct HallFile(Mapping);

impl HallFile {
    /// Turns an empty file into a hall with `k` slots.
    pub(crate) fn create(file: &File, path: &Path, k: usize) -> Result<(), Error> {
        let failed = |error: io::Error| Error::system("allocate", path)(error);
        // Make room for all holders, the same number of waiters, and some idle registrations.
        let (mut records, mut slots) = ((2 * k + MORE_RECORDS).min(RECORDS), k);
        slots = slots.next_multiple_of(MORE_SLOTS).min(MAX_SLOTS);
        file.set_len(LEN as u64).map_err(failed)?;
        let is_sparse = sys::allocate_range(file, 0..record_at(records)).map_err(failed)?
            && sys::allocate_range(file, SLOTS_AT..slot_at(slots)).map_err(failed)?;
        if !is_sparse {
            (records, slots) = (RECORDS, MAX_SLOTS);
            sys::allocate(file, LEN).map_err(failed)?;
        }
        let map = Mapping::new(file.as_fd(), LEN).map_err(Error::system("map", path))?;
        map.word(RECORDS_READY_AT).store(records as i64, SeqCst);
        map.word(SLOTS_READY_AT).store(slots as i64, SeqCst);
        map.word(MAGIC_AT).store(MAGIC, SeqCst);
        map.word(VERSION_AT).store(VERSION.into(), SeqCst);
        map.word(ROOM_AT).store(ROOM, SeqCst);
        map.word(SIZE_AT).store(machine::Size::new(k).pack(), SeqCst);
        map.word(NEXT_AT).store(1, SeqCst);
        map.word(QUIET_AT).store(1, SeqCst);
        Ok(())
    }

    /// Maps the file of an existing hall, and checks its length and header.
    pub(crate) fn open(file: &File, path: &Path) -> Result<Self, Error> {
        let damaged = |why: String| Error::Damaged { path: path.into(), why };
        let len = len_of(file, path)?;
        if len != LEN as u64 {
            return Err(damaged(format!("it has {len} bytes instead of {LEN}")));
        }
        let map = Mapping::new(file.as_fd(), LEN).map_err(Error::system("map", path))?;
        if map.word(MAGIC_AT).load(SeqCst) != MAGIC {
            return Err(damaged("its header is not that of a hall".into()));
        }
        let version = map.word(VERSION_AT).load(SeqCst);
        if version != i64::from(VERSION) {
            let found = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(Error::Version { path: path.into(), found, ours: VERSION });
        }
        if map.word(ROOM_AT).load(SeqCst) != ROOM {
            return Err(damaged("it has room for a different number of slots or records".into()));
        }
        Ok(HallFile(map))
    }

    /// The number of records whose pages are allocated.
    fn records_ready(&self) -> usize {
        ready(self.0.word(RECORDS_READY_AT), RECORDS)
    }

    /// The number of slots whose pages are allocated. No process has ever had a slot beyond these.
    pub(crate) fn slots_ready(&self) -> usize {
        ready(self.0.word(SLOTS_READY_AT), MAX_SLOTS)
    }

    /// Allocates the pages of the first `count` records. `open` opens the file.
    pub(crate) fn prepare_records(
        &self,
        count: usize,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<()> {
        if count <= self.records_ready() {
            return Ok(());
        }
        let count = count.next_multiple_of(MORE_RECORDS).min(RECORDS);
        // If the file system cannot allocate a part of a file, `create` has allocated the whole file.
        let _ = sys::allocate_range(&open()?, RECORDS_AT..record_at(count))?;
        self.0.word(RECORDS_READY_AT).fetch_max(count as i64, SeqCst);
        Ok(())
    }

    /// Allocates the pages of the first `count` slots. `open` opens the file.
    pub(crate) fn prepare_slots(
        &self,
        count: usize,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<()> {
        if count <= self.slots_ready() {
            return Ok(());
        }
        let count = count.next_multiple_of(MORE_SLOTS).min(MAX_SLOTS);
        let _ = sys::allocate_range(&open()?, SLOTS_AT..slot_at(count))?;
        self.0.word(SLOTS_READY_AT).fetch_max(count as i64, SeqCst);
        Ok(())
    }

    /// The size of the hall, packed; 0 when the hall is closed.
    #[inline]
    pub(crate) fn size(&self) -> &AtomicI64 {
        self.0.word(SIZE_AT)
    }

    /// The next ticket. A *ticket* is a position in the queue.
    #[inline]
    pub(crate) fn next(&self) -> &AtomicI64 {
        self.0.word(NEXT_AT)
    }

    /// No process waits with a ticket before this one.
    #[inline]
    pub(crate) fn quiet(&self) -> &AtomicI64 {
        self.0.word(QUIET_AT)
    }

    /// The [tag](machine::Tag) of the waiter that was chosen last to get slots. It wants several slots or, if the hall
    /// has shrunk, any number of slots.
    pub(crate) fn head(&self) -> &AtomicI64 {
        self.0.word(HEAD_AT)
    }

    /// The number of records that have ever been used. It only grows.
    #[inline]
    pub(crate) fn records_used(&self) -> &AtomicI64 {
        self.0.word(RECORDS_USED_AT)
    }

    /// The last identity that a registration has got; see [`owner`](Self::owner).
    pub(crate) fn last_id(&self) -> &AtomicI64 {
        self.0.word(LAST_ID_AT)
    }

    /// The tag of a slot: 0 if the slot is free, otherwise a packed [`Tag`](machine::Tag), with the number of a record.
    #[inline]
    pub(crate) fn slot(&self, slot: usize) -> &AtomicI64 {
        assert!(slot < MAX_SLOTS);
        self.0.word(slot_at(slot))
    }

    #[inline]
    fn in_record(&self, record: usize, offset: usize) -> &AtomicI64 {
        assert!(record < RECORDS);
        self.0.word(record_at(record) + offset)
    }

    /// The card of a record: a packed [`Card`](machine::Card), with the phase of the record's process.
    #[inline]
    pub(crate) fn card(&self, record: usize) -> &AtomicI64 {
        self.in_record(record, CARD)
    }

    /// The identity of the registration that has the record; 0 if none has.
    #[inline]
    pub(crate) fn owner(&self, record: usize) -> &AtomicI64 {
        self.in_record(record, OWNER)
    }

    /// The record that this one follows, plus 1; 0 if none. A sleeping waiter follows the waiter just before it in the
    /// queue: it watches that waiter until that waiter dies or no longer waits.
    pub(crate) fn link(&self, record: usize) -> &AtomicI64 {
        self.in_record(record, LINK)
    }

    /// 1 if a sleeping waiter in another record may follow this record.
    pub(crate) fn followed(&self, record: usize) -> &AtomicI64 {
        self.in_record(record, FOLLOWED)
    }

    /// 1 while the owner of the record naps: it waits for a short time before it goes to sleep.
    #[inline]
    pub(crate) fn nap(&self, record: usize) -> &AtomicU32 {
        assert!(record < RECORDS);
        self.0.half_word(record_at(record) + NAP)
    }

    /// Process and user, as `uid << 32 | pid`.
    pub(crate) fn process(&self, record: usize) -> &AtomicI64 {
        self.in_record(record, PROCESS)
    }

    /// The time at which the passage began to wait or got its slot, in nanoseconds since 1970.
    #[inline]
    pub(crate) fn since(&self, record: usize) -> &AtomicI64 {
        self.in_record(record, SINCE)
    }

    fn command_bytes(&self, record: usize) -> &[AtomicU8] {
        assert!(record < RECORDS);
        self.0.bytes(record_at(record) + COMMAND, COMMAND_LEN)
    }

    /// Writes the command that the process runs, truncated to the room in the record.
    pub(crate) fn set_command(&self, record: usize, command: &str) {
        let mut end = command.len().min(COMMAND_LEN);
        while !command.is_char_boundary(end) {
            end -= 1;
        }
        let text = command.as_bytes()[..end].iter().copied().chain(std::iter::repeat(0));
        for (cell, byte) in self.command_bytes(record).iter().zip(text) {
            cell.store(byte, SeqCst);
        }
    }

    /// Returns the command that the process runs. Spaces replace control characters, because a terminal would
    /// interpret them.
    pub(crate) fn command(&self, record: usize) -> String {
        let bytes = self.command_bytes(record).iter().map(|cell| cell.load(SeqCst));
        let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
        let text = String::from_utf8_lossy(&bytes);
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
}
