//! The files of a log: the current one, and the one before it. Each entry is a line of JSON.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::fs::{FlockOperation, flock};

use super::Entry;

/// The current file, in the directory of the hall.
const CURRENT: &str = "log";
/// The file before the current one.
const OLD: &str = "log.old";
/// When the current file is longer than this, it becomes the old one. So a log takes at most about twice this space.
const FULL: u64 = 32 * 1024;

/// Appends an entry to the log of the hall in the directory `hall`.
///
/// # Errors
/// Returns an error if the entry cannot be written, as on a full disk.
pub fn append(hall: &Path, entry: &Entry) -> io::Result<()> {
    let path = hall.join(CURRENT);
    let file = match open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => create(hall, &path)?,
        opened => opened?,
    };
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    // One write, so that entries of several processes do not mix.
    (&file).write_all(&line)?;
    if file.metadata()?.len() > FULL {
        rotate(hall, &path, &file)?;
    }
    Ok(())
}

/// Opens a log for appending. Does not follow links, and does not wait for the other end of a pipe: other users of the
/// hall may have replaced the log with a link or a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    regular(OpenOptions::new().append(true).custom_flags(flags).open(path)?)
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("the log is not a regular file")),
    }
}

/// Creates the log, for the users who may use the hall.
fn create(hall: &Path, path: &Path) -> io::Result<File> {
    let mode = fs::metadata(hall)?.mode() & 0o666;
    match OpenOptions::new().append(true).create_new(true).mode(mode).open(path) {
        Ok(file) => {
            // The umask may have removed permissions.
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            Ok(file)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => open(path),
        Err(error) => Err(error),
    }
}

/// Makes the current file the old one, unless another process is already doing this.
fn rotate(hall: &Path, path: &Path, file: &File) -> io::Result<()> {
    if flock(file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    let (ours, current) = (file.metadata()?, fs::metadata(path)?);
    if (ours.dev(), ours.ino()) == (current.dev(), current.ino()) {
        fs::rename(path, hall.join(OLD))?;
    }
    Ok(())
}

/// Reads the log of a hall, the oldest entry first. Lines that are not entries are left out.
///
/// # Errors
/// Returns an error if a file exists and cannot be read.
pub fn read(hall: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for name in [OLD, CURRENT] {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(hall.join(name));
        let file = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => regular(opened?)?,
        };
        let mut text = Vec::new();
        // Another program may have made the file longer, so limit the read.
        file.take(16 * FULL).read_to_end(&mut text)?;
        entries.extend(parse(&text));
    }
    Ok(entries)
}

/// Returns the entries in the text of a log. Lines that are not entries are left out.
pub fn parse(text: &[u8]) -> impl Iterator<Item = Entry> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn entry(number: usize) -> Entry {
        let (waited, ran) = (Duration::from_millis(1500), Duration::from_secs(2));
        Entry::of_this_process(vec![0, 2], waited, ran, 7, &format!("run {number}"))
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let hall = tempfile::tempdir().expect("a folder");
        assert_eq!(read(hall.path()).expect("no log"), []);
        let entries = [entry(0), entry(1)];
        for entry in &entries {
            append(hall.path(), entry).expect("appended");
        }
        assert_eq!(read(hall.path()).expect("read"), entries);
        assert_eq!((entries[0].waited, entries[0].ran), (1.5, 2.0));
    }

    #[test]
    fn a_log_keeps_the_latest_entries_in_a_bounded_space() {
        let hall = tempfile::tempdir().expect("a folder");
        for number in 0..2000 {
            append(hall.path(), &entry(number)).expect("appended");
        }
        let files: Vec<_> = fs::read_dir(hall.path()).expect("read").flatten().collect();
        let size: u64 = files.iter().map(|file| file.metadata().expect("asked").len()).sum();
        assert!(files.len() == 2 && size < 2 * FULL + 1000, "{size} bytes in {files:?}");
        let entries = read(hall.path()).expect("read");
        assert!(entries.len() > 200, "{}", entries.len());
        assert_eq!(
            entries.last(),
            Some(&Entry { end: entries[entries.len() - 1].end.clone(), ..entry(1999) })
        );
        assert!(entries.is_sorted_by_key(|entry| entry.end.clone()));
    }

    #[test]
    fn links_are_not_followed_and_damaged_lines_are_left_out() {
        let hall = tempfile::tempdir().expect("a folder");
        let (log, elsewhere) = (hall.path().join(CURRENT), hall.path().join("elsewhere"));
        fs::write(&elsewhere, "").expect("written");
        std::os::unix::fs::symlink(&elsewhere, &log).expect("a link");
        assert!(append(hall.path(), &entry(0)).is_err());
        assert_eq!(fs::read(&elsewhere).expect("read"), b"");
        fs::remove_file(&log).expect("removed");
        fs::write(&log, "damage\n{}\n").expect("written");
        append(hall.path(), &entry(1)).expect("appended");
        assert_eq!(read(hall.path()).expect("read").len(), 1, "damaged lines are left out");
    }
}
