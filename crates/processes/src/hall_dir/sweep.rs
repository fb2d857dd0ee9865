//! Cleans up after processes that were killed while they created or removed a hall.
//!
//! A removal renames the hall to `.old-*`, and then closes it and deletes its files. If the process that removes the
//! hall is killed after the rename, the hall may still be open, but its name is free for a new hall. So before a
//! process creates a hall, it *closes* every renamed hall. Otherwise, waiters of the removed hall would wait forever,
//! and a newcomer that has the removed hall open could take slot 0 while a holder of the new hall also has slot 0.

use std::{
    fs::{self, DirEntry},
    os::unix::fs::MetadataExt,
    time::{Duration, SystemTime},
};

use super::{HIDDEN, HallDir};
use crate::{SharedHall, sys};

/// A hidden directory counts as abandoned after this time. A creation or removal takes milliseconds, but its process
/// may be suspended for a while, and must still find its directory when it continues.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// The kind of a hidden directory. Its name, which [`HallDir::hidden`] makes, contains the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A hall that is being created.
    New,
    /// A hall that is being removed.
    Old,
}

impl HallDir {
    /// Closes halls whose removal has begun, and removes hidden directories that a killed process has left behind.
    /// Ignores directories that cannot be opened or removed.
    pub(super) fn sweep(&self) {
        self.sweep_older_than(ABANDONED);
    }

    fn sweep_older_than(&self, limit: Duration) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let Some(kind) = entry.file_name().to_str().and_then(kind_of) else { continue };
            if kind == Kind::Old {
                close(&entry);
            }
            if age(&entry).is_some_and(|age| age >= limit) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Closes a hall whose removal has begun. If the hall cannot be opened, it stays as it is: for example, it is damaged,
/// or another process has just deleted it.
fn close(entry: &DirEntry) {
    let path = entry.path();
    let Ok(dir) = sys::open_dir(&path) else { return };
    if let Ok(hall) = SharedHall::in_dir("", path, dir) {
        hall.close();
        hall.handle.state.seal_free_slots();
    }
}

/// Returns the time since the directory was created, renamed or changed. A rename changes only the time of the last
/// status change (ctime).
fn age(entry: &DirEntry) -> Option<Duration> {
    let metadata = entry.metadata().ok()?;
    let changed = Duration::new(metadata.ctime().try_into().ok()?, metadata.ctime_nsec() as u32);
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + changed).ok()
}

/// Returns the kind of the hidden directory with this name, if [`HallDir::hidden`] made the name.
fn kind_of(name: &str) -> Option<Kind> {
    let (kind, number) = name.strip_prefix(HIDDEN)?.split_once('-')?;
    let is_number = number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit());
    match kind {
        "new" if is_number => Some(Kind::New),
        "old" if is_number => Some(Kind::Old),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, thread};

    use super::*;
    use crate::Error;

    #[test]
    fn files_that_a_killed_creation_or_removal_leaves_are_removed_later() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("hall"), "").unwrap();
            path
        };
        let abandoned = [make(".new-0123456789abcdef"), make(".old-fedcba9876543210")];
        let others = [make(".newsletter"), make(".git"), make(".old-123")];
        let dir = HallDir::at(folder.path());
        dir.sweep();
        assert!(abandoned.iter().all(|path| path.exists()), "they are not old yet");
        dir.sweep_older_than(Duration::ZERO);
        assert!(abandoned.iter().all(|path| !path.exists()));
        assert!(others.iter().all(|path| path.exists()));
    }

    /// The content of the hall has not changed for hours, but its removal began just now.
    #[test]
    fn a_hall_that_was_just_renamed_does_not_count_as_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        dir.open("hall", 1).unwrap();
        let long_ago = SystemTime::now() - 10 * ABANDONED;
        File::open(folder.path().join("hall")).unwrap().set_modified(long_ago).unwrap();
        let hidden = dir.rename_away("hall").unwrap();
        dir.sweep();
        assert!(hidden.join("hall").exists());
    }

    /// A removal is killed after it has renamed the hall and before it closes the hall.
    #[test]
    fn a_hall_whose_removal_was_killed_is_closed_before_its_name_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        let removed = dir.open("hall", 1).unwrap();
        let pass = removed.acquire().unwrap();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| removed.acquire().map(drop));
            while removed.waiting() == 0 {
                thread::yield_now();
            }
            dir.rename_away("hall").unwrap();
            let successor = dir.open("hall", 1).unwrap();
            assert!(matches!(waiter.join().unwrap(), Err(Error::Closed)));
            assert_eq!(successor.acquire().unwrap().slot(), 0);
        });
        assert_eq!(pass.slot(), 0, "the holder stays");
        assert!(matches!(removed.acquire(), Err(Error::Closed)));
    }
}
