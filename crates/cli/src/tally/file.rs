//! The file of a tally: a heading, and one number in each line. All numbers have the same width, so an update
//! overwrites the file in place.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use hallpass_processes::HallDir;
use rustix::fs::{FlockOperation, flock};

use super::{Event, LIMITS, Tally, Times};

/// The name of the file in the directory of a hall of processes.
const IN_HALL: &str = "tally";
/// The directory for the tallies of halls on clusters, below the directory for the halls of the user. No hall has this
/// name, because no name of a hall begins with a dot.
const OF_CLUSTERS: &str = ".tallies";
/// The environment variable that names another directory for the tallies of halls on clusters.
const VARIABLE: &str = "HALLPASS_TALLY_DIR";

/// The first line of a file.
const HEADING: &str = "hallpass tally 1\n";
/// How many numbers a file contains.
const NUMBERS: usize = 2 * (LIMITS.len() + 2) + 2;
/// The length of a line: the digits of the largest number, and a line feed.
const LINE: usize = 21;

/// The number of attempts to lock the file, with a pause of [`PAUSE`] between them. An update takes microseconds. But
/// another process may be suspended while it has the lock, and a run must not wait for it.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// The file of the tally of one hall.
pub struct TallyFile(PathBuf);

impl TallyFile {
    /// Returns the file of a hall of processes.
    pub fn in_hall(hall: &Path) -> Self {
        TallyFile(hall.join(IN_HALL))
    }

    /// Returns the file of the hall `name` on the cluster at `url`; `None` if this user has no directory for it.
    pub fn of_cluster(url: &str, name: &str) -> Option<Self> {
        Some(TallyFile(dir()?.join(prefix(url) + name)))
    }

    /// Returns the names of all halls on the cluster at `url` that have a file.
    pub fn names_on_cluster(url: &str) -> Vec<String> {
        let prefix = prefix(url);
        let entries = dir().and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> =
            names.filter_map(|name| Some(name.strip_prefix(&prefix)?.to_string())).collect();
        names.sort_unstable();
        names
    }

    /// Counts an event. If this fails, as on a full disk, the event is not counted: this is no failure of the run.
    pub fn count(&self, event: Event) {
        let _ = self.try_count(event);
    }

    fn try_count(&self, event: Event) -> io::Result<()> {
        let file = match open(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => self.create()?,
            opened => opened?,
        };
        if !locked(&file, FlockOperation::NonBlockingLockExclusive) {
            return Err(ErrorKind::WouldBlock.into());
        }
        // If another program has damaged the file, the tally starts again from 0, which Prometheus allows.
        let mut tally = read(&file)?.unwrap_or_default();
        tally.count(event);
        let text = written(&tally);
        file.write_all_at(text.as_bytes(), 0)?;
        if file.metadata()?.len() != text.len() as u64 {
            file.set_len(text.len() as u64)?;
        }
        Ok(())
    }

    /// Reads the tally. Returns an empty tally if nothing was counted yet.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be read.
    pub fn read(&self) -> io::Result<Tally> {
        let file = match open(&self.0) {
            Err(error) if is_absent(&error) => return Ok(Tally::default()),
            // A reader may lack the right to write.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                regular(options().read(true).open(&self.0)?)?
            }
            opened => opened?,
        };
        // Without the lock, the numbers may be from the middle of an update. This is better than none.
        locked(&file, FlockOperation::NonBlockingLockShared);
        Ok(read(&file)?.unwrap_or_default())
    }

    /// Creates the file, for the users who may write to its directory.
    fn create(&self) -> io::Result<File> {
        let dir = self.0.parent().unwrap_or(Path::new("/"));
        create_dir(dir)?;
        let mode = fs::metadata(dir)?.mode() & 0o666;
        let created = options().read(true).write(true).create_new(true).mode(mode).open(&self.0);
        match created {
            Ok(file) => {
                // The umask may have removed permissions.
                file.set_permissions(fs::Permissions::from_mode(mode))?;
                Ok(file)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open(&self.0),
            Err(error) => Err(error),
        }
    }
}

/// Creates the directory of a file, for the users who may use its parent directory. If the parent does not exist, it is
/// also created, and is private to this user.
fn create_dir(dir: &Path) -> io::Result<()> {
    let parent = dir.parent().unwrap_or(Path::new("/"));
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    match DirBuilder::new().mode(0o700).create(dir) {
        // The umask may have removed permissions.
        Ok(()) => fs::set_permissions(dir, fs::metadata(parent)?.permissions()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns `true` if the file does not exist. If [`VARIABLE`] names a file that is not a directory, such as /dev/null,
/// no tally exists.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns the directory for the tallies of halls on clusters.
fn dir() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(dir.into()),
        None => Some(HallDir::user().ok()?.path().join(OF_CLUSTERS)),
    }
}

/// Returns the beginning of the names of all files of the cluster at `url`: a hash (FNV-1a), because a URL contains
/// slashes.
fn prefix(url: &str) -> String {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}-", url.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Returns options that do not follow links and do not wait for the other end of a pipe. Other users of the hall may
/// have replaced the file with a link or a pipe.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

fn open(path: &Path) -> io::Result<File> {
    regular(options().read(true).write(true).open(path)?)
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("the tally is not a regular file")),
    }
}

/// Locks the file. Returns `false` if another process keeps the lock.
fn locked(file: &File, operation: FlockOperation) -> bool {
    for _ in 0..TRIES {
        if flock(file, operation).is_ok() {
            return true;
        }
        thread::sleep(PAUSE);
    }
    false
}

/// Reads a tally. Returns `None` if the file contains none.
fn read(file: &File) -> io::Result<Option<Tally>> {
    let mut text = vec![0; HEADING.len() + NUMBERS * LINE];
    match file.read_exact_at(&mut text, 0) {
        Ok(()) => Ok(parse(&text)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Parses the contents of a file. Returns `None` if they are not a tally.
pub(super) fn parse(text: &[u8]) -> Option<Tally> {
    let lines = std::str::from_utf8(text).ok()?.strip_prefix(HEADING)?.lines();
    let mut numbers = lines.map(|line| line.trim_start().parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    let mut times = || {
        let mut times = Times { sum: next()?, ..Times::default() };
        for bucket in &mut times.buckets {
            *bucket = next()?;
        }
        Some(times)
    };
    let (waits, holds) = (times()?, times()?);
    Some(Tally { waits, holds, no_slot: next()?, lost: next()? })
}

/// Returns the contents of a file.
pub(super) fn written(tally: &Tally) -> String {
    let times = |times: &Times| [times.sum].into_iter().chain(times.buckets);
    let others = [tally.no_slot, tally.lost];
    let numbers = times(&tally.waits).chain(times(&tally.holds)).chain(others);
    numbers.fold(HEADING.to_string(), |text, number| text + &format!("{number:20}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(millis: u64) -> Event {
        let time = Duration::from_millis(millis);
        Event::Passage { waited: time, held: 2 * time, lost: millis > 100 }
    }

    #[test]
    fn events_of_many_threads_are_all_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = TallyFile::in_hall(dir.path());
        assert_eq!(file.read().expect("no file"), Tally::default());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for millis in 1..=50 {
                        while file.try_count(passage(millis * 4)).is_err() {}
                    }
                });
            }
        });
        file.count(Event::NoSlot);
        let tally = file.read().expect("read");
        assert_eq!(tally.waits.cumulative().last(), Some(200));
        assert_eq!((tally.holds.seconds(), tally.no_slot, tally.lost), (40.8, 1, 100));
    }

    #[test]
    fn a_damaged_tally_starts_again_and_links_are_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(IN_HALL);
        let file = TallyFile::in_hall(dir.path());
        fs::write(&path, "x".repeat(10_000)).expect("written");
        assert_eq!(file.read().expect("read"), Tally::default());
        file.count(passage(1));
        assert_eq!(file.read().expect("read").waits.cumulative().last(), Some(1));
        let length = fs::metadata(&path).expect("a file").len();
        assert_eq!(length as usize, HEADING.len() + NUMBERS * LINE);
        fs::remove_file(&path).expect("removed");
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "").expect("written");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
        assert!(file.try_count(passage(1)).is_err() && file.read().is_err());
        assert_eq!(fs::read(&elsewhere).expect("read"), b"");
    }

    #[test]
    fn all_users_of_a_shared_directory_may_count() {
        let shared = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).expect("it exists").mode() & 0o1777;
        fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o1777)).expect("allowed");
        let dir = shared.path().join(OF_CLUSTERS);
        let file = TallyFile(dir.join("hall"));
        file.try_count(passage(1)).expect("counted");
        assert_eq!((mode(&dir), mode(&file.0)), (0o1777, 0o666));
    }

    #[test]
    fn the_largest_numbers_fit() {
        let times = Times { buckets: [u64::MAX; LIMITS.len() + 1], sum: u64::MAX };
        let tally = Tally { waits: times.clone(), holds: times, no_slot: u64::MAX, lost: u64::MAX };
        let text = written(&tally);
        assert_eq!(text.len(), HEADING.len() + NUMBERS * LINE);
        let mut again = parse(text.as_bytes()).expect("a tally");
        assert_eq!(again, tally);
        again.count(passage(1));
        assert_eq!(again, tally);
    }
}
