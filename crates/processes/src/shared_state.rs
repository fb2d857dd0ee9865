//! The shared state of a hall: a directory with the mapped file, and one named pipe (a *lifeline*) per
//! registration.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::atomic::Ordering::SeqCst,
    time::Duration,
};

use hallpass_algorithms::halls::processes::{Card, FREE, Meaning, Phase, Size, Tag};
use rustix::io::Errno;

use crate::{
    Error,
    hall_file::{HALL, HallFile, MAX_REGISTRATIONS, RECORDS},
    lifelines::Lifelines,
    sys::{
        self,
        lifeline::{self, Reached},
    },
};

/// The tag (the word) of the slots of a removed hall: a *seal*, which keeps processes from taking the slot, with the
/// largest number. A process removes a seal only if the hall was resized more often than the number in the seal says.
/// No hall is resized so often that a process removes this seal.
pub(crate) const SEALED: Tag = Tag::seal((1 << 48) - 1);

/// The directory of a hall, which this process has open.
pub(crate) struct SharedState {
    pub name: String,
    pub path: PathBuf,
    dir: OwnedFd,
    pub file: HallFile,
    pub lifelines: Lifelines,
}

impl SharedState {
    /// Opens the hall in this directory.
    pub(crate) fn open(name: &str, path: PathBuf, dir: OwnedFd) -> Result<Self, Error> {
        let file_path = path.join(HALL);
        let file: File = match sys::open_in(dir.as_fd(), HALL) {
            Ok(file) => file.into(),
            Err(Errno::NOENT) => {
                let why = format!("it has no file `{HALL}`");
                return Err(Error::Damaged { path, why });
            }
            Err(error) => return Err(Error::system("open", file_path)(error)),
        };
        let mapped = HallFile::open(&file, &file_path)?;
        let lifelines = Lifelines::new(dir.try_clone().ok());
        Ok(SharedState { name: name.into(), path, dir, file: mapped, lifelines })
    }

    #[inline]
    pub(crate) fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// Returns the number of slots; 0 if the hall is closed.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        Size::unpack(self.file.size().load(SeqCst)).k
    }

    /// Returns the number of records that have ever been used.
    pub(crate) fn records_used(&self) -> usize {
        usize::try_from(self.file.records_used().load(SeqCst))
            .map_or(0, |records| records.min(RECORDS))
    }

    /// Returns `true` if a record for passages has no owner.
    pub(crate) fn has_free_record(&self) -> bool {
        let used = self.records_used().min(MAX_REGISTRATIONS);
        let is_free = |record| self.file.owner(record).load(SeqCst) == lifeline::NOBODY;
        used < MAX_REGISTRATIONS || (0..used).any(is_free)
    }

    /// Makes room for the first `count` records.
    pub(crate) fn prepare_records(&self, count: usize) -> Result<(), Error> {
        let prepared = self.file.prepare_records(count, || self.open_file());
        prepared.map_err(Error::system("allocate", self.path.join(HALL)))
    }

    /// Makes room for the first `count` slots.
    pub(crate) fn prepare_slots(&self, count: usize) -> Result<(), Error> {
        let prepared = self.file.prepare_slots(count, || self.open_file());
        prepared.map_err(Error::system("allocate", self.path.join(HALL)))
    }

    fn open_file(&self) -> io::Result<File> {
        Ok(sys::open_in(self.dir(), HALL)?.into())
    }

    pub(crate) fn card(&self, record: usize) -> Card {
        Card::unpack(self.file.card(record).load(SeqCst))
    }

    /// Returns the record that has this slot, or to which the slot is offered. A slot that is set aside for a waiter
    /// has no holder yet.
    pub(crate) fn holder(&self, slot: usize) -> Option<usize> {
        let tag = Tag::unpack(self.file.slot(slot).load(SeqCst))?;
        matches!(self.meaning(slot, tag), Meaning::Held | Meaning::Offered).then_some(tag.process)
    }

    /// Returns `true` if no process holds a slot whose word is `word`, and the slot is not sealed.
    pub(crate) fn is_free(&self, slot: usize, word: i64) -> bool {
        Tag::unpack(word)
            .is_none_or(|tag| !tag.is_seal() && self.meaning(slot, tag) == Meaning::Void)
    }

    fn meaning(&self, slot: usize, tag: Tag) -> Meaning {
        match tag.process < self.records_used() {
            true => tag.means(slot, self.card(tag.process)),
            false => Meaning::Void,
        }
    }

    /// Removes *void* tags, which are left on free slots, so that newcomers find the slots free again. A void tag stays
    /// void (I1 in [`hallpass_algorithms::halls::processes`]), so any process may remove it at any time.
    pub(crate) fn remove_void_tags(&self) {
        for slot in 0..self.file.slots_ready() {
            let word = self.file.slot(slot).load(SeqCst);
            if word != FREE && self.is_free(slot, word) {
                let _ = self.file.slot(slot).compare_exchange(word, FREE, SeqCst, SeqCst);
            }
        }
    }

    /// Seals the free slots of a removed hall permanently. The hall is closed, but a newcomer may have read its size
    /// before it was closed.
    pub(crate) fn seal_free_slots(&self) {
        for slot in 0..self.file.slots_ready() {
            let word = self.file.slot(slot).load(SeqCst);
            if is_sealed(word) || self.is_free(slot, word) {
                let _ = self.file.slot(slot).compare_exchange(word, SEALED.pack(), SeqCst, SeqCst);
            }
        }
    }

    /// Wakes all sleeping waiters. The other waiters look at the hall again before they sleep.
    pub(crate) fn ring_all(&self) {
        for record in
            (0..self.records_used()).filter(|&i| matches!(self.card(i).phase, Phase::Asleep(_)))
        {
            let id = self.file.owner(record).load(SeqCst);
            if id != lifeline::NOBODY {
                self.lifelines.ring(self.dir(), id);
            }
        }
    }

    /// Removes the lifelines of processes that died before they registered. Such a lifeline has no live owner, and
    /// no record names it. A new lifeline may belong to a process that is about to register, so this removes only
    /// old lifelines.
    pub(crate) fn remove_stale_lifelines(&self) {
        const OLD: Duration = Duration::from_secs(60);
        let Ok(entries) = std::fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let Some(id) = lifeline::id_of(&entry.file_name()) else { continue };
            let is_named = (0..self.records_used()).any(|i| self.file.owner(i).load(SeqCst) == id);
            let age = entry.metadata().ok().and_then(|m| m.modified().ok()?.elapsed().ok());
            let is_old = age.is_some_and(|age| age > OLD);
            if !is_named && is_old && matches!(lifeline::reach(self.dir(), id), Reached::Dead) {
                lifeline::remove(self.dir(), id);
            }
        }
    }
}

/// Returns `true` if a slot with this word is sealed.
pub(crate) fn is_sealed(word: i64) -> bool {
    Tag::unpack(word).is_some_and(Tag::is_seal)
}
