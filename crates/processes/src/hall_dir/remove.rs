//! Removing halls.

use std::{
    ffi::OsStr,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::atomic::Ordering::SeqCst,
};

use hallpass_algorithms::halls::processes::{FREE, Finally, Line, Role, Tag};
use rustix::io::Errno;

use super::HallDir;
use crate::{
    Error,
    hall::SharedHall,
    hall_file::HALL,
    registration::Registration,
    shared_state::{SEALED, is_sealed},
    sys::lifeline,
    value_file::VALUE,
};

impl HallDir {
    /// Removes a hall.
    ///
    /// With `force`, this also removes a hall that is in use or damaged. Waiters then get [`Error::Closed`]; holders
    /// keep their slots of the removed hall until they leave. A damaged hall is removed only if it is a directory that
    /// contains nothing but files of a hall.
    ///
    /// If there is an error, the hall stays as it was.
    ///
    /// # Errors
    /// - [`Error::InUse`] if the hall has holders or waiters and `force` is `false`.
    /// - [`Error::Missing`] if there is no hall of this name.
    /// - [`Error::NotAHall`] if there is something else of this name.
    /// - [`Error::System`] if a call to the operating system fails.
    /// - Without `force`, the errors of [`open_existing`](HallDir::open_existing).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let hall = dir.open("gpu", 4)?;
    /// let pass = hall.acquire()?;
    /// assert!(dir.remove("gpu", false).is_err()); // it is in use
    /// drop(pass);
    /// dir.remove("gpu", false)?;
    /// assert!(dir.names()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        let hall = match self.open_existing(name) {
            Ok(hall) => Some(hall),
            Err(error) if force && is_damage(&error) => {
                check_files(&self.path.join(name))?;
                None
            }
            Err(error) => return Err(error),
        };
        let seized = match &hall {
            Some(hall) if !force => Some(SeizedHall::new(hall)?),
            _ => None,
        };
        // Rename the hall first. So no process finds half a hall, and if the rename fails, the hall stays as it was.
        let hidden = self.rename_away(name)?;
        if let Some(hall) = &hall {
            hall.close();
        }
        match (&hall, seized) {
            (_, Some(mut seized)) => {
                seized.take_added();
                seized.keep_slots();
            }
            (Some(hall), None) => hall.handle.state.seal_free_slots(),
            (None, None) => {}
        }
        // The hall is removed. A later sweep, perhaps by another process, deletes files that cannot be deleted now.
        let _ = fs::remove_dir_all(&hidden);
        self.sweep();
        Ok(())
    }

    /// Renames a hall, so that its name is free and no process finds it. Returns the new path.
    pub(super) fn rename_away(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        let hidden = self.hidden("old");
        match fs::rename(&path, &hidden) {
            Ok(()) => Ok(hidden),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.missing(name)),
            Err(error) => Err(Error::system("remove", &path)(error)),
        }
    }
}

/// Returns whether this error, which opening a hall returned, means that the hall is damaged.
fn is_damage(error: &Error) -> bool {
    match error {
        Error::Damaged { .. } | Error::Version { .. } => true,
        // A lack of descriptors or memory does not mean that the hall is damaged. Such a hall must be closed
        // before it is removed, so that its waiters get an error.
        Error::System { source, .. } => !Errno::from_io_error(source)
            .is_some_and(|error| [Errno::MFILE, Errno::NFILE, Errno::NOMEM].contains(&error)),
        _ => false,
    }
}

/// Fails unless `path` is a directory that contains only files of a hall. So a typing error in the name of a damaged
/// hall cannot delete other data.
fn check_files(path: &Path) -> Result<(), Error> {
    let not_a_hall = |why: String| Err(Error::NotAHall { path: path.into(), why });
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return not_a_hall("it is not a directory".into()),
        Err(error) => return Err(Error::system("inspect", path)(error)),
    }
    for entry in fs::read_dir(path).map_err(Error::system("read", path))? {
        let entry = entry.map_err(Error::system("read", path))?;
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_dir || !is_file_of_hall(&entry.file_name()) {
            return not_a_hall(format!("it contains `{}`", entry.file_name().display()));
        }
    }
    Ok(())
}

/// Returns whether a hall can contain a file of this name. `hallpass run` adds its log and its tally (the numbers that
/// `hallpass metrics` shows).
fn is_file_of_hall(name: &OsStr) -> bool {
    let files = [HALL, VALUE, "log", "log.old", "tally"];
    files.iter().any(|file| name == *file) || lifeline::id_of(name).is_some()
}

/// A hall of which this process holds all slots, so that no other process can enter. Dropping this value frees the
/// slots. If this process dies, the slots become free as after the death of any holder.
///
/// A newcomer reads the size of the hall and then takes a slot. Between these two steps it does not notice
/// that the hall was closed, so closing alone does not keep it out.
struct SeizedHall<'a> {
    hall: &'a SharedHall,
    registration: Option<Box<Registration>>,
    /// Each of the first `seized` slots has the tag of this process, or is sealed; [`take_next`](Self::take_next)
    /// explains both words.
    seized: usize,
}

impl<'a> SeizedHall<'a> {
    /// Takes all slots. Fails if the hall has holders or waiters.
    fn new(hall: &'a SharedHall) -> Result<Self, Error> {
        hall.reap()?;
        let in_use = || {
            let status = hall.status();
            let (holders, waiting) = (status.holders.len(), status.waiters.len());
            Error::InUse { name: hall.name().into(), holders, waiting }
        };
        let status = hall.status();
        if status.holders.len() + status.waiters.len() > 0 {
            return Err(in_use());
        }
        let registration = Some(hall.handle.reserved_registration()?);
        let mut seized = SeizedHall { hall, registration, seized: 0 };
        // Also take the slots beyond the size. The hall may have been larger when a newcomer read its size.
        while seized.seized < hall.handle.state.file.slots_ready() {
            if !seized.take_next() {
                drop(seized);
                return Err(in_use());
            }
        }
        // From now on, newcomers wait. If a newcomer already waits, the removal fails.
        let waiting = hall.waiting();
        if waiting > 0 {
            drop(seized);
            return Err(Error::InUse { name: hall.name().into(), holders: 0, waiting });
        }
        Ok(seized)
    }

    fn tag(&self) -> i64 {
        let registration = self.registration.as_ref().expect("taken out only at the end");
        Tag { process: registration.record, number: registration.number }.pack()
    }

    /// Takes one more slot, as line E5 does. Returns `false` if another process holds this slot.
    ///
    /// The word of a held slot is the *tag* of its holder. After the death of the holder, the tag becomes *void*. A
    /// closed hall keeps the void tags of its dead holders, and this function replaces a void tag. A slot that is
    /// *sealed*, because the hall has shrunk, stays as it is: nobody can take it.
    fn take_next(&mut self) -> bool {
        let state = &self.hall.handle.state;
        let slot = state.file.slot(self.seized);
        let word = slot.load(SeqCst);
        let is_free = state.is_free(self.seized, word);
        let is_taken = is_sealed(word)
            || is_free && slot.compare_exchange(word, self.tag(), SeqCst, SeqCst).is_ok();
        self.seized += usize::from(is_taken);
        is_taken
    }

    /// Takes the free slots that a resize has added since this process took all slots. The hall is closed by now, but a
    /// newcomer may have read its size before it was closed.
    fn take_added(&mut self) {
        let file = &self.hall.handle.state.file;
        for slot in self.seized..file.slots_ready() {
            let _ = file.slot(slot).compare_exchange(FREE, self.tag(), SeqCst, SeqCst);
        }
    }

    /// Ends without freeing the slots, because the hall is closed.
    ///
    /// When this process is unregistered, its tags become void. A newcomer that has read the size of the hall before
    /// it was closed would free a slot with a void tag and take it. So this process first replaces its tags with a tag
    /// that is never void.
    fn keep_slots(mut self) {
        let (file, tag) = (&self.hall.handle.state.file, self.tag());
        for slot in (0..file.slots_ready()).map(|slot| file.slot(slot)) {
            let word = slot.load(SeqCst);
            // Also replace older seals: a process that has read the size after the hall grew could remove them.
            if word == tag || is_sealed(word) {
                let _ = slot.compare_exchange(word, SEALED.pack(), SeqCst, SeqCst);
            }
        }
        if let Some(registration) = self.registration.take() {
            registration.unregister(&self.hall.handle.state);
        }
    }
}

impl Drop for SeizedHall<'_> {
    fn drop(&mut self) {
        if self.registration.is_none() {
            return;
        }
        let tag = self.tag();
        let (handle, mut registration) = (&self.hall.handle, self.registration.take());
        for slot in 0..self.seized {
            let _ = handle.state.file.slot(slot).compare_exchange(tag, FREE, SeqCst, SeqCst);
        }
        if let Some(mut registration) = registration.take() {
            // Processes may wait by now.
            handle.serve(
                &mut registration,
                Line::S1 { role: Role::Leaver(self.seized, Finally::Leave) },
            );
            handle.give_back(registration);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use hallpass_algorithms::{Next, halls::processes::step};

    use super::*;
    use crate::patience::Patience;

    /// A newcomer is delayed between reading the size of the hall and taking a slot.
    #[test]
    fn a_removed_hall_admits_no_newcomer_that_read_its_size_before() {
        [false, true].into_iter().for_each(remove_before_a_newcomer_takes_a_slot);
    }

    fn remove_before_a_newcomer_takes_a_slot(force: bool) {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        let hall = dir.open("hall", 2).unwrap();
        let state = &hall.handle.state;
        let mut registration = Registration::new(state).unwrap();
        let (me, x) = (registration.record, registration.number);
        // Registering draws a ticket. A whole passage makes the hall quiet again, as the fast path requires.
        drop(hall.acquire().unwrap());
        let mut newcomer = registration.environment(state, Patience::NONE);
        let mut at = Line::E1 { x };
        while !matches!(at, Line::E4 { .. }) {
            let Next::Goto(line) = step(&mut newcomer, me, at) else { panic!("it entered early") };
            at = line;
        }
        dir.remove("hall", force).unwrap();
        let successor = dir.open("hall", 2).unwrap();
        let _pass = successor.acquire().unwrap();
        while !matches!(at, Line::E6 { .. }) {
            match step(&mut newcomer, me, at) {
                Next::Goto(line) => at = line,
                _ => panic!("the newcomer holds slot 0 of the removed hall"),
            }
        }
        registration.unregister(state);
    }

    /// A newcomer joins the queue after the removal has checked that nobody waits. It reads the tag of the removing
    /// process, and is then delayed until the removal is over.
    #[test]
    fn a_removed_hall_admits_no_newcomer_that_read_the_tag_of_its_remover() {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 1).unwrap();
        let state = &hall.handle.state;
        let mut registration = Registration::new(state).unwrap();
        let (me, x) = (registration.record, registration.number);
        let mut seized = SeizedHall::new(&hall).unwrap();
        let mut newcomer = registration.environment(state, Patience::NONE);
        let mut at = Line::E1 { x };
        while !matches!(at, Line::S7 { .. }) {
            let Next::Goto(line) = step(&mut newcomer, me, at) else { panic!("it entered early") };
            at = line;
        }
        hall.close();
        seized.take_added();
        seized.keep_slots();
        loop {
            match step(&mut newcomer, me, at) {
                Next::Goto(line) => at = line,
                Next::Leave => break,
                _ => panic!("the newcomer holds slot 0 of the removed hall"),
            }
        }
        registration.unregister(state);
    }

    /// A call of `reap` has checked that the hall is open, and is then delayed until the removal is over.
    #[test]
    fn a_removed_hall_keeps_its_slots_when_a_late_reaper_removes_void_tags() {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        let hall = dir.open("hall", 2).unwrap();
        let _pass = hall.acquire().unwrap();
        dir.remove("hall", true).unwrap();
        hall.handle.state.remove_void_tags();
        assert_eq!(hall.handle.state.file.slot(1).load(SeqCst), SEALED.pack());
    }

    /// The hall gets more slots after the removal has taken all slots and before it closes the hall.
    #[test]
    fn a_hall_that_grows_while_it_is_removed_admits_no_newcomer() {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 2).unwrap();
        let state = &hall.handle.state;
        let mut registration = Registration::new(state).unwrap();
        let (me, x) = (registration.record, registration.number);
        let mut seized = SeizedHall::new(&hall).unwrap();
        let before = state.file.slots_ready();
        hall.resize(before + 1).unwrap();
        let mut newcomer = registration.environment(state, Patience::NONE);
        let Next::Goto(mut at) = step(&mut newcomer, me, Line::E3 { x }) else {
            panic!("it entered")
        };
        hall.close();
        seized.take_added();
        while !matches!(at, Line::E6 { .. }) {
            match step(&mut newcomer, me, at) {
                Next::Goto(line) => at = line,
                _ => panic!("the newcomer holds slot {before} of the closed hall"),
            }
        }
        seized.keep_slots();
        registration.unregister(state);
    }

    #[test]
    fn a_hall_that_has_not_changed_for_hours_is_removed_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        let hall = dir.open("hall", 1).unwrap();
        let _pass = hall.acquire().unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(10_000);
        fs::File::open(folder.path().join("hall")).unwrap().set_modified(long_ago).unwrap();
        dir.remove("hall", true).unwrap();
        assert!(matches!(dir.open_existing("hall"), Err(Error::Missing { .. })));
    }

    #[test]
    fn a_lack_of_descriptors_does_not_count_as_damage() {
        let error = |errno: Errno| Error::system("open", "hall")(errno);
        assert!(!is_damage(&error(Errno::MFILE)) && !is_damage(&error(Errno::NOMEM)));
        assert!(is_damage(&error(Errno::IO)));
    }

    #[test]
    fn a_failed_seizure_frees_the_slots_again() {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        let hall = dir.open("hall", 3).unwrap();
        let passes: Vec<_> = (0..2).map(|_| hall.acquire().unwrap()).collect();
        assert!(matches!(dir.remove("hall", false), Err(Error::InUse { holders: 2, .. })));
        assert_eq!(hall.available(), 1);
        drop(passes);
        drop(SeizedHall::new(&hall).unwrap());
        assert_eq!((hall.available(), hall.acquire().unwrap().slot()), (3, 0));
    }
}
