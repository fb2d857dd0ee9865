//! Files and directories that other processes see complete or not at all.

use std::{
    fs::File,
    io::{self, Write},
    ops::Range,
    os::fd::{BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{CWD, FallocateFlags, Mode, OFlags, RenameFlags, fallocate, openat, renameat_with},
    io::{Errno, retry_on_intr},
};

/// Opens a directory, and fails if the last part of the path is a symbolic link.
pub(crate) fn open_dir(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(CWD, path, flags, Mode::empty())
}

/// Opens a file in the directory of a hall for reading and writing. Does not follow symbolic links, and does not
/// wait for the other end of a pipe.
pub(crate) fn open_in(dir: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    openat(dir, name, flags, Mode::empty())
}

/// Extends an empty file to `len` zeros, and allocates all its pages. So a full disk causes an error here, and not a
/// fault later, when the mapped page is first accessed.
pub(crate) fn allocate(file: &File, len: usize) -> io::Result<()> {
    match allocate_range(file, 0..len)? {
        true => Ok(()),
        false => {
            let mut file = file;
            file.write_all(&vec![0; len])
        }
    }
}

/// Allocates the pages of a part of a file, and keeps their content. Returns `false` if the file system does not
/// support this.
pub(crate) fn allocate_range(file: &File, range: Range<usize>) -> io::Result<bool> {
    let (start, len) = (range.start as u64, range.len() as u64);
    match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), start, len)) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(false),
        allocated => Ok(allocated.map(|()| true)?),
    }
}

/// Renames `from` to `to`. If `to` exists already, does nothing and returns `false`.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
