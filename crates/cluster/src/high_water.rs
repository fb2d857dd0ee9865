//! The high-water mark of a hall: the largest token that processes of this machine have seen, in a file.
//!
//! A process that starts after a store lost history has seen nothing of the lost part. If the machine has used the hall
//! before, the mark shows the loss: it is larger than the token that the hall has reached. The process then behaves as
//! if it had noticed the loss itself. It assigns no slot for a while, and then raises the epoch of the hall. The epoch
//! is the upper part of every token, so later tokens are larger than the lost ones.
//!
//! The mark may be smaller than the largest token. If a write is lost or fails, or if the file is missing or damaged, a
//! newcomer may fail to notice a loss, but nothing else goes wrong. No write waits for the disk, because a mark need
//! not survive a crash of the machine.
//!
//! The file also records when a process of this machine first noticed a loss. The time without assignments counts from
//! then. Without this record, each process would count this time from its own start. So after a loss, a process that
//! does not wait for a slot, as with `hallpass run -n`, would never get one: it ends before the time is over.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use crate::{
    Clock,
    records::ExpiryRecord,
    view::{Revision, View, epoch, token_of},
};

/// A mark with this epoch or a larger one is damaged. Tokens have room for twice as many epochs.
const MAX_EPOCH: u64 = 1 << 15;

/// The time limit for getting the lock. The mark is not written if this takes longer.
const LOCKED_WITHIN: Duration = Duration::from_secs(1);

/// The high-water mark of one hall. Its methods block while they use the file.
pub(crate) struct HighWaterMark {
    file: PathBuf,
    /// The prefix of all keys of the hall.
    base: String,
    clock: Clock,
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct Mark {
    /// The prefix of all keys of the hall. The name of the file contains only its hash.
    base: String,
    token: u64,
    /// The loss that a process has noticed; `None` if no process has noticed one since the mark was last raised.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    loss: Option<LossRecord>,
}

/// When processes of this machine noticed that the hall is behind the mark.
#[derive(Serialize, Deserialize)]
struct LossRecord {
    /// The largest token that the hall has reached since then. If the hall falls behind this token, history was lost
    /// again.
    seen: u64,
    noticed: ExpiryRecord,
}

/// The state of a hall in an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub revision: Revision,
    /// The epoch of the hall; `None` if the hall does not exist.
    pub epoch: Option<u64>,
}

impl Seen {
    /// Returns the state of the hall in a view.
    pub(crate) fn in_view(view: &View) -> Seen {
        Seen { revision: view.revision, epoch: view.door.map(|seen| seen.door.epoch) }
    }

    /// Returns whether the hall is behind `mark`. If so, and if the mark was read before the hall, the store has lost
    /// history.
    pub(crate) fn is_behind(self, mark: u64) -> bool {
        self.token(mark) < mark
    }

    /// Returns the token that the hall has reached. If the hall does not exist, it was removed, which is no loss. Then
    /// only the revision counts, with the epoch of `mark`.
    fn token(self, mark: u64) -> u64 {
        token_of(self.epoch.unwrap_or(epoch(mark)), self.revision)
    }
}

impl HighWaterMark {
    /// Returns the mark of the hall with this prefix in this cluster. Does not use the file yet.
    pub(crate) fn new(dir: &Path, cluster: u64, base: &str, clock: Clock) -> HighWaterMark {
        let file = dir.join(format!("{cluster:016x}-{:016x}", hash(base.as_bytes())));
        HighWaterMark { file, base: base.into(), clock }
    }

    /// Returns the mark, if there is one.
    pub(crate) fn token(&self) -> Option<u64> {
        self.read().map(|mark| mark.token)
    }

    /// Notes that the hall is behind the mark. Returns how long ago a process of this machine first noticed this.
    pub(crate) fn note_loss(&self, seen: Seen) -> Duration {
        let lock = self.lock();
        let Some(mut mark) = self.read() else { return Duration::ZERO };
        let (now, token) = (self.clock.now(), seen.token(mark.token));
        let noticed = mark.loss.as_ref().filter(|loss| loss.seen <= token);
        let noticed = noticed.and_then(|loss| loss.noticed.by(&self.clock));
        let loss = match (noticed, mark.loss.take()) {
            (Some(_), Some(loss)) => LossRecord { seen: token, ..loss },
            _ => LossRecord { seen: token, noticed: ExpiryRecord::since(0, 0, &self.clock, now) },
        };
        mark.loss = Some(loss);
        // Without the record, the next process counts the time from its own start.
        if lock.is_ok() {
            let _ = self.write(&mark);
        }
        noticed.map_or(Duration::ZERO, |at| now.saturating_sub(at))
    }

    /// Raises the mark to this token. Does nothing if the mark is at least this large or the file cannot be written.
    pub(crate) fn raise(&self, token: u64) {
        let lock = self.lock();
        if lock.is_ok() && self.read().is_none_or(|mark| mark.token < token) {
            let _ = self.write(&Mark { base: self.base.clone(), token, loss: None });
        }
    }

    fn read(&self) -> Option<Mark> {
        let mark: Mark = serde_json::from_slice(&fs::read(&self.file).ok()?).ok()?;
        (mark.base == self.base && epoch(mark.token) < MAX_EPOCH).then_some(mark)
    }

    /// Creates the directory if it does not exist, and locks it, so that no other process replaces a file in it.
    /// Dropping the value unlocks it. Fails after [`LOCKED_WITHIN`], because the process that has the lock may be
    /// suspended.
    fn lock(&self) -> io::Result<File> {
        let dir = self.file.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let dir = File::open(dir)?;
        let start = Instant::now();
        while let Err(error) = flock(&dir, FlockOperation::NonBlockingLockExclusive) {
            if error != Errno::WOULDBLOCK || start.elapsed() > LOCKED_WITHIN {
                return Err(error.into());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(dir)
    }

    /// Replaces the file. The caller has the lock.
    fn write(&self, mark: &Mark) -> io::Result<()> {
        let new = self.file.with_extension(format!("{:016x}", fastrand::u64(..)));
        let written = fs::write(&new, serde_json::to_vec(mark)?);
        let written = written.and_then(|()| fs::rename(&new, &self.file));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }
}

/// Returns the directory for the marks of this user. `lookup` returns the value of an environment variable. Returns
/// `None` if no variable names a directory and the user is not root.
pub(crate) fn default_dir(lookup: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let variable = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let of_user = || {
        let state = absolute("XDG_STATE_HOME");
        let home = || Some(absolute("HOME")?.join(".local/state"));
        Some(state.or_else(home)?.join("hallpass"))
    };
    variable("HALLPASS_STATE_DIR").or_else(|| match rustix::process::geteuid().is_root() {
        true => Some("/var/lib/hallpass".into()),
        false => of_user(),
    })
}

/// FNV-1a. Unlike the hash of the standard library, it is the same in every version.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(dir: &Path) -> HighWaterMark {
        HighWaterMark::new(dir, 7, "/hallpass/gpu/", Clock::default())
    }

    fn at(epoch: u64, revision: Revision) -> Seen {
        Seen { revision, epoch: Some(epoch) }
    }

    #[test]
    fn a_hall_at_a_smaller_token_than_the_mark_is_behind_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let state = dir.path().join("new/state");
        let mark = mark(&state);
        assert_eq!(mark.token(), None, "nothing was seen yet");
        mark.raise(100);
        mark.raise(50);
        let is_behind = |seen: Seen| seen.is_behind(mark.token().expect("it was written"));
        let removed = |revision| Seen { revision, epoch: None };
        assert!(!is_behind(at(0, 100)) && !is_behind(removed(100)));
        assert!(!is_behind(at(1, 5)), "another process has raised the epoch");
        assert!(is_behind(at(0, 99)) && is_behind(removed(99)));
        mark.raise(token_of(1, 5));
        assert!(!is_behind(at(1, 5)));
        assert!(is_behind(at(0, 200)), "a backup from before the epoch was raised");
        let files = fs::read_dir(&state).expect("it exists").count();
        assert_eq!(files, 1, "no temporary file is left");
    }

    #[test]
    fn the_time_since_a_loss_counts_from_the_first_process_that_noticed_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let first = mark(dir.path());
        first.raise(100);
        assert_eq!(first.note_loss(at(0, 10)), Duration::ZERO);
        // `ExpiryRecord::by` returns a time that is `TOLERANCE` too late. So wait for longer than this.
        let wait = Duration::from_millis(1300);
        std::thread::sleep(wait);
        let later = first.note_loss(at(0, 12));
        assert!(later > Duration::ZERO, "{later:?}");
        // History was lost once more.
        assert_eq!(first.note_loss(at(0, 11)), Duration::ZERO);
        // A process with another clock cannot use the record.
        let clock = Clock::from_fn(|| Duration::from_secs(1));
        let other = HighWaterMark { clock, ..mark(dir.path()) };
        assert_eq!(other.note_loss(at(0, 11)), Duration::ZERO);
        assert_eq!(other.token(), Some(100), "the mark stays");
    }

    #[test]
    fn processes_that_raise_the_mark_at_the_same_time_do_not_lower_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let marks = [(); 4].map(|()| mark(dir.path()));
        thread::scope(|scope| {
            for (number, mark) in (0_u64..).zip(&marks) {
                scope.spawn(move || {
                    for token in (1..500).map(|step| 4 * step + number) {
                        mark.raise(token);
                        let now = mark.token();
                        assert!(now >= Some(token), "{now:?} after {token}");
                        mark.note_loss(at(0, 1));
                    }
                });
            }
        });
    }

    #[test]
    fn a_suspended_process_that_has_the_lock_does_not_block_others() {
        let dir = tempfile::tempdir().expect("a directory");
        let mark = mark(dir.path());
        mark.raise(5);
        let lock = mark.lock().expect("nobody has it");
        mark.raise(6);
        assert_eq!((mark.token(), mark.note_loss(at(0, 1))), (Some(5), Duration::ZERO));
        drop(lock);
        mark.raise(6);
        assert_eq!(mark.token(), Some(6));
    }

    #[test]
    fn a_damaged_or_unwritable_file_does_no_harm() {
        let dir = tempfile::tempdir().expect("a directory");
        let mark = mark(dir.path());
        let largest = format!(r#"{{"base":"/hallpass/gpu/","token":{}}}"#, u64::MAX);
        let other_hall = r#"{"base":"/hallpass/tpu/","token":100}"#;
        for text in ["", "{", r#"{"token":-1}"#, other_hall, &largest] {
            fs::write(&mark.file, text).expect("writable");
            assert_eq!(mark.token(), None, "{text}");
            mark.raise(5);
            assert_eq!(mark.token(), Some(5));
        }
        let nowhere = HighWaterMark::new(Path::new("/dev/null"), 7, "/gpu/", Clock::default());
        nowhere.raise(5);
        assert_eq!((nowhere.token(), nowhere.note_loss(at(0, 1))), (None, Duration::ZERO));
    }

    #[test]
    fn the_directory_depends_on_the_user_and_the_environment() {
        let given = |name: &str| (name == "HALLPASS_STATE_DIR").then(|| String::from("/state"));
        assert_eq!(default_dir(&given), Some("/state".into()));
        let state = |name: &str| (name == "XDG_STATE_HOME").then(|| String::from("/my/state"));
        let home = |name: &str| (name == "HOME").then(|| String::from("/home/joe"));
        let expected = |dir: &str| match rustix::process::geteuid().is_root() {
            true => Some("/var/lib/hallpass".into()),
            false => Some(PathBuf::from(dir)),
        };
        assert_eq!(default_dir(&state), expected("/my/state/hallpass"));
        assert_eq!(default_dir(&home), expected("/home/joe/.local/state/hallpass"));
    }
}
