//! The mapped file of a shared value: two copies of the value, and a count of updates that selects the valid copy.
//!
//! ```text
//! V1  update n+1 writes to the copy that is not valid. While it writes, the count is n.
//! V2  after the whole copy is written, one store, count = n+1, makes it the valid copy.
//! V3  only the holder of slot 0 of the hall writes.
//! ```
//!
//! A process that dies before the store has not changed the valid copy. A process that dies after the store has
//! made the whole update. In both cases, the next update starts from a complete value. By V1, the copy that is
//! valid at n does not change until the count is n+1. So if a reader finds the same count before and after it
//! copies the value, its copy is complete. A reader needs no slot of the hall.
//!
//! Nothing in the file is trusted: one bit of the count selects the copy, the sizes are those of this process's type,
//! and any bytes are a valid value of a `Pod` type. The file is accessed by atomics only; closures work on a private
//! copy.

use std::{
    alloc::Layout,
    fs::File,
    os::fd::{AsFd, BorrowedFd},
    path::Path,
    sync::atomic::{
        Ordering::{Acquire, Relaxed, Release, SeqCst},
        fence,
    },
};

use bytemuck::Pod;
use rustix::io::Errno;

use crate::{
    Error,
    hall_dir::NewDir,
    hall_file::{LINE, len_of, map_new},
    sys::{self, Mapping},
};

/// The version of the layout. Every change of the layout changes it.
const VERSION: u32 = 1;
const MAGIC: i64 = i64::from_le_bytes(*b"hallcell");
/// The name of the file, in the directory of the hall.
pub(crate) const VALUE: &str = "value";

// The header.
const MAGIC_AT: usize = 0;
const VERSION_AT: usize = 8;
const SIZE_AT: usize = 16;
const ALIGN_AT: usize = 24;
const COUNT_AT: usize = LINE;
const COPIES_AT: usize = 2 * LINE;

const WORD: usize = size_of::<i64>();

/// Returns the offset of a copy.
const fn copy_at<T>(copy: usize) -> usize {
    COPIES_AT + copy * size_of::<T>().next_multiple_of(LINE)
}

/// A value in a mapped file. The process that opens the file chooses the type `T` of the value. The file stores
/// only the size and the alignment of `T`.
pub(crate) struct ValueFile(Mapping);

impl ValueFile {
    /// Creates the file with this value in the directory of a new hall.
    pub(crate) fn create<T: Pod>(dir: &NewDir<'_>, initial: &T) -> Result<(), Error> {
        let (file, path) = dir.file(VALUE)?;
        let value = ValueFile(map_new(&file, &path, copy_at::<T>(2))?);
        let ValueFile(map) = &value;
        map.word(MAGIC_AT).store(MAGIC, SeqCst);
        map.word(VERSION_AT).store(VERSION.into(), SeqCst);
        map.word(SIZE_AT).store(size_of::<T>() as i64, SeqCst);
        map.word(ALIGN_AT).store(align_of::<T>() as i64, SeqCst);
        value.write(0, initial);
        Ok(())
    }

    /// Maps the file in the directory of a hall.
    pub(crate) fn open<T: Pod>(
        name: &str,
        dir: BorrowedFd<'_>,
        path: &Path,
    ) -> Result<Self, Error> {
        let path = &path.join(VALUE);
        let file: File = match sys::open_in(dir, VALUE) {
            Err(Errno::NOENT) => return Err(Error::NoValue { name: name.into() }),
            file => file.map_err(Error::system("open", path))?.into(),
        };
        let len = len_of(&file, path)?;
        check::<T>(&file, path, len)?;
        let map = Mapping::new(file.as_fd(), copy_at::<T>(2));
        Ok(ValueFile(map.map_err(Error::system("map", path))?))
    }

    /// Returns the number of updates so far.
    fn count(&self) -> i64 {
        self.0.word(COUNT_AT).load(SeqCst)
    }

    /// Returns the value. Only the holder of slot 0 may call this.
    pub(crate) fn get<T: Pod>(&self) -> T {
        self.read(self.count())
    }

    /// Replaces the value. Only the holder of slot 0 may call this (V3).
    pub(crate) fn set<T: Pod>(&self, value: &T) {
        let next = self.count().wrapping_add(1);
        // ORDERING: a reader that reads a word written below, and then executes its fence, reads a count that
        // includes all earlier updates.
        fence(Release);
        self.write(next, value);
        self.0.word(COUNT_AT).store(next, SeqCst); // V2
    }

    /// Returns the value without a slot, or `None` if the value was replaced during the read.
    pub(crate) fn look<T: Pod>(&self) -> Option<T> {
        let count = self.count();
        let value = self.read(count);
        // ORDERING: let n be `count`. If this reader has read a word that update n+2 wrote, it now reads a count of at
        // least n+1.
        fence(Acquire);
        (self.count() == count).then_some(value)
    }

    /// Reads the copy that is valid at this count.
    fn read<T: Pod>(&self, count: i64) -> T {
        let at = copy_at::<T>(usize::from(count & 1 == 1));
        // ORDERING: relaxed. The caller has read the count, which was stored after the copy was written. `look` then
        // checks that the count has not changed. In `get`, only the caller can change it (V3).
        let word = |index: usize| self.0.word(at + index * WORD).load(Relaxed).to_ne_bytes();
        let mut value = T::zeroed();
        let (words, rest) = bytemuck::bytes_of_mut(&mut value).as_chunks_mut::<WORD>();
        for (index, bytes) in words.iter_mut().enumerate() {
            *bytes = word(index);
        }
        if !rest.is_empty() {
            rest.copy_from_slice(&word(words.len())[..rest.len()]);
        }
        value
    }

    /// Writes the copy that is valid at this count.
    fn write<T: Pod>(&self, count: i64, value: &T) {
        let at = copy_at::<T>(usize::from(count & 1 == 1));
        // ORDERING: relaxed. The store of the count, which comes later, publishes the copy.
        let set = |index: usize, bytes: [u8; WORD]| {
            self.0.word(at + index * WORD).store(i64::from_ne_bytes(bytes), Relaxed);
        };
        let (words, rest) = bytemuck::bytes_of(value).as_chunks::<WORD>();
        for (index, bytes) in words.iter().enumerate() {
            set(index, *bytes);
        }
        if !rest.is_empty() {
            let mut last = [0; WORD];
            last[..rest.len()].copy_from_slice(rest);
            set(words.len(), last);
        }
    }
}

/// Checks that the file, `len` bytes long, holds a value of this type.
fn check<T>(file: &File, path: &Path, len: u64) -> Result<(), Error> {
    let damaged = |why: &str| Err(Error::Damaged { path: path.into(), why: why.into() });
    if len < COPIES_AT as u64 {
        return damaged(&format!("it has {len} bytes, too few for a value"));
    }
    let header = Mapping::new(file.as_fd(), COPIES_AT).map_err(Error::system("map", path))?;
    let word = |at: usize| header.word(at).load(SeqCst);
    if word(MAGIC_AT) != MAGIC {
        return damaged("its header is not that of a value");
    }
    if word(VERSION_AT) != i64::from(VERSION) {
        let found = u32::try_from(word(VERSION_AT)).unwrap_or(u32::MAX);
        return Err(Error::Version { path: path.into(), found, ours: VERSION });
    }
    let asked = Layout::new::<T>();
    let found = match (usize::try_from(word(SIZE_AT)), usize::try_from(word(ALIGN_AT))) {
        (Ok(size), Ok(align)) => Layout::from_size_align(size, align).ok(),
        _ => None,
    };
    let Some(found) = found else {
        return damaged("its header contains a size and an alignment that no value has");
    };
    if found != asked {
        return Err(Error::Value { path: path.into(), asked, found });
    }
    if len != copy_at::<T>(2) as u64 {
        return damaged(&format!("it has {len} bytes instead of {}", copy_at::<T>(2)));
    }
    Ok(())
}
