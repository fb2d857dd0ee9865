//! Registrations: records of the hall's file that belong to a process. Each has a *lifeline*, a named pipe that shows
//! whether the process is alive.

use std::{
    io::ErrorKind,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use hallpass_algorithms::{
    Word,
    halls::processes::{Environment, Life, Line, Then},
};

use crate::{
    Error,
    environment::{NativeEnvironment, WakeSources},
    hall_file::MAX_REGISTRATIONS,
    patience::Patience,
    shared_state::SharedState,
    sys::{self, lifeline},
};

/// A record of the hall's file that belongs to this process, for one passage at a time.
///
/// The step machine calls a registration a process. A process of the operating system that makes several
/// passages at the same time has several registrations.
pub(crate) struct Registration {
    /// The index of the record, which is the number of the process in the step machine.
    pub record: usize,
    /// A copy of the number on the *card*, the word of the record with the phase of the passage. The number changes
    /// while the registration waits and when it leaves the hall; [`settle`](Self::settle) then updates the copy.
    pub number: Word,
    wake: WakeSources,
    /// The process that made the registration. A forked child inherits a copy that belongs to its parent.
    generation: u64,
    /// Whether another process may have the lifeline open.
    lent: AtomicBool,
}

/// Returns `true` if a process that needs one more record than `used` must first search all records for dead owners. A
/// search opens the lifeline of each owner. So there is at most one search for each 16 records, and at most four
/// searches each time the number of records doubles.
fn is_time_to_search(used: usize) -> bool {
    used > 0 && used.is_multiple_of((used / 8).next_power_of_two().max(16))
}

impl Registration {
    /// Registers this process for passages.
    pub(crate) fn new(hall: &SharedState) -> Result<Self, Error> {
        Registration::within(hall, MAX_REGISTRATIONS)
    }

    /// Registers this process in one of the first `records` records.
    pub(crate) fn within(hall: &SharedState, records: usize) -> Result<Self, Error> {
        let (id, own) = create_lifeline(hall)?;
        let own = Arc::new(own);
        hall.lifelines.add_own(id, own.clone());
        let mut wake = WakeSources::new(id, own);
        let full = || Error::Full { name: hall.name.clone(), max: MAX_REGISTRATIONS };
        let found = find_record(hall, &mut wake, records).and_then(|found| found.ok_or_else(full));
        let (record, number) = found.inspect_err(|_| {
            hall.lifelines.remove_own(id);
            lifeline::remove(hall.dir(), id);
        })?;
        let uid = i64::from(rustix::process::getuid().as_raw());
        hall.file.process(record).store(uid << 32 | i64::from(std::process::id()), SeqCst);
        let lent = AtomicBool::new(false);
        Ok(Registration { record, number, wake, generation: sys::generation(), lent })
    }

    /// Returns `true` if this process made the registration. Returns `false` in a forked child that inherited it.
    #[inline]
    pub(crate) fn is_ours(&self) -> bool {
        self.generation == sys::generation()
    }

    /// Returns the lifeline, and marks the registration as lent. While any process has the lifeline open, the
    /// registration counts as alive.
    pub(crate) fn lifeline(&self) -> BorrowedFd<'_> {
        self.lent.store(true, SeqCst);
        self.wake.own.as_fd()
    }

    /// Returns `true` if the record is not for passages.
    #[inline]
    pub(crate) fn is_reserved(&self) -> bool {
        self.record >= MAX_REGISTRATIONS
    }

    /// Returns `true` if another process may have the lifeline open. Then the registration must not be used for
    /// the next passage, because the other process would keep the slot of the next passage taken.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        self.lent.load(SeqCst)
    }

    /// Returns the lifeline. Another thread can write to it to wake this registration.
    pub(crate) fn own_lifeline(&self) -> Arc<OwnedFd> {
        self.wake.own.clone()
    }

    /// Returns the environment of the step machine.
    #[inline]
    pub(crate) fn environment<'a>(
        &'a mut self,
        hall: &'a SharedState,
        patience: Patience<'a>,
    ) -> NativeEnvironment<'a> {
        NativeEnvironment::new(hall, self.record, &mut self.wake, patience)
    }

    /// Updates the registration after it has waited, left the hall, or given slots to waiters: copies the number on the
    /// card, and stops watching other processes.
    pub(crate) fn settle(&mut self, hall: &SharedState) {
        self.number = hall.card(self.record).number;
        self.wake.stop_watching();
    }

    /// Leaves the record as it is. Once the lifeline is closed, other processes treat its owner as dead.
    pub(crate) fn abandon(self, hall: &SharedState) {
        hall.lifelines.remove_own(self.wake.id);
    }

    /// Frees the record. The registration must neither hold a slot nor wait.
    pub(crate) fn unregister(mut self, hall: &SharedState) {
        if !self.is_ours() {
            return; // closes this process's copy of the lifeline
        }
        let id = self.wake.id;
        let (process, dead, then) = (self.record, Some(id), Then::Nothing);
        let card = hall.file.card(process).load(SeqCst);
        // The lines of a rescue free a record. Other processes rescue only dead processes, so this process, which is
        // alive, executes these lines on its own card.
        let leave = Line::R3 { process, then, card, dead };
        let _ = self.environment(hall, Patience::NONE).run(leave);
        hall.lifelines.remove_own(id);
    }
}

/// Takes a free record, or the record of a dead process, among the first `records`. Returns its index and the number on
/// its card, or `None` if every record has a living owner.
fn find_record(
    hall: &SharedState,
    wake: &mut WakeSources,
    records: usize,
) -> Result<Option<(usize, Word)>, Error> {
    let mut take = |record: usize| {
        let mut environment = NativeEnvironment::new(hall, record, wake, Patience::ENDLESS);
        let first = match environment.life(record) {
            Life::Nobody => Line::J1,
            Life::Dead(_) => Line::R1 { process: record, then: Then::Join },
            Life::Alive => return None,
        };
        Some((record, environment.join(first)?))
    };
    let is_free = |record: &usize| hall.file.owner(*record).load(SeqCst) == lifeline::NOBODY;
    // Each round adds one record.
    for _ in 0..=records {
        let raw = hall.file.records_used().load(SeqCst);
        let used = raw.clamp(0, records as i64) as usize;
        let mut found = (0..used).filter(is_free).find_map(&mut take);
        if found.is_none() && (used == records || is_time_to_search(used)) {
            found = (0..used).find_map(&mut take);
        }
        if found.is_some() || used == records {
            return Ok(found);
        }
        hall.prepare_records(used + 1)?;
        // If another process has added a record in the meantime, the next round finds that record.
        let _ = hall.file.records_used().compare_exchange(raw, used as i64 + 1, SeqCst, SeqCst);
    }
    Ok(None)
}

/// Creates a lifeline with a new identity.
fn create_lifeline(hall: &SharedState) -> Result<(i64, OwnedFd), Error> {
    let mut tries = 0;
    loop {
        let id = hall.file.last_id().fetch_add(1, SeqCst).wrapping_add(1);
        match lifeline::create(hall.dir(), id) {
            _ if id == lifeline::NOBODY => {}
            Ok(own) => return Ok((id, own)),
            // Another program has set the counter to a smaller number. Skip identities that may be in use.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < 1000 => {
                hall.file.last_id().fetch_add(skip(id), SeqCst);
            }
            // The directory of a removed hall takes no new files.
            Err(error) if error.kind() == ErrorKind::NotFound && hall.size() == 0 => {
                return Err(Error::Closed);
            }
            Err(error) => {
                return Err(Error::system("create a pipe in", &hall.path)(error));
            }
        }
        tries += 1;
    }
}

/// Returns a pseudo-random step below 2^24. With such steps, a counter that was set to a smaller number soon
/// passes all identities in use.
fn skip(id: i64) -> i64 {
    (id.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64) >> 40) & 0xFF_FFFF
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use tempfile::TempDir;

    use super::*;
    use crate::{HallDir, SharedHall};

    /// Returns a hall in which every record for passages has a living owner.
    fn full_hall() -> (TempDir, SharedHall) {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 1).unwrap();
        let state = &hall.handle.state;
        let living = Registration::new(state).unwrap();
        state.prepare_records(MAX_REGISTRATIONS).unwrap();
        state.file.records_used().store(MAX_REGISTRATIONS as i64, SeqCst);
        for record in 0..MAX_REGISTRATIONS {
            state.file.owner(record).store(living.wake.id, SeqCst);
        }
        (folder, hall)
    }

    #[test]
    fn a_caller_of_a_full_hall_waits_until_there_is_room() {
        let (_folder, hall) = full_hall();
        assert!(matches!(hall.try_acquire(), Err(Error::Full { .. })));
        let refused = hall.try_acquire_for(Duration::from_millis(1));
        assert!(matches!(refused, Err(Error::NoPermits)));
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            let hall = &hall;
            scope.spawn(move || sender.send(hall.acquire().unwrap().slot()).unwrap());
            assert!(receiver.recv_timeout(Duration::from_millis(100)).is_err());
            hall.handle.state.file.owner(7).store(lifeline::NOBODY, SeqCst);
            assert_eq!(receiver.recv(), Ok(0));
        });
    }

    #[test]
    fn a_caller_that_waits_for_room_notices_that_the_hall_is_closed() {
        let (_folder, hall) = full_hall();
        thread::scope(|scope| {
            let caller = scope.spawn(|| hall.acquire().map(drop));
            thread::sleep(Duration::from_millis(10));
            hall.close();
            assert!(matches!(caller.join().unwrap(), Err(Error::Closed)));
        });
    }

    #[test]
    fn a_full_hall_can_be_resized_reaped_and_removed() {
        let (folder, hall) = full_hall();
        hall.resize(2).unwrap();
        assert_eq!((hall.slots(), hall.reap().unwrap()), (2, 0));
        assert!(matches!(hall.try_acquire(), Err(Error::Full { .. })));
        HallDir::at(folder.path()).remove("hall", false).unwrap();
        assert!(hall.is_closed());
    }

    #[test]
    fn a_hall_that_is_removed_before_the_first_passage_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path());
        let hall = dir.open("hall", 1).unwrap();
        dir.remove("hall", false).unwrap();
        assert!(matches!(hall.acquire(), Err(Error::Closed)));
        assert!(matches!(hall.try_acquire(), Err(Error::Closed)));
        assert!(matches!(hall.resize(2), Err(Error::Closed)));
    }

    /// Each search opens the lifelines of all owners.
    #[test]
    fn searches_for_dead_owners_get_rarer() {
        let searches =
            |range: std::ops::Range<usize>| range.filter(|&used| is_time_to_search(used)).count();
        assert_eq!((searches(0..128), searches(128..MAX_REGISTRATIONS)), (7, 28));
    }
}
