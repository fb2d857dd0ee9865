//! Managing a hall: resizing, closing, reaping, and its status.

use std::sync::atomic::Ordering::SeqCst;

use hallpass_algorithms::halls::processes::{Environment, Finally, Life, Line, Role, Size, Then};
use hallpass_common::{MAX_SLOTS, Status, check_slots};

#[cfg(doc)]
use crate::HallDir;
use crate::{Error, hall::SharedHall, patience::Patience, status};

/// Managing the hall.
impl SharedHall {
    /// Changes the number of slots while the hall is in use.
    ///
    /// New slots go to waiters immediately. After the hall has shrunk, holders keep their slots until they leave, and
    /// no other caller gets a slot until fewer than `k` slots are held. There is one exception: a process that is in
    /// the middle of entering or leaving during the call may still take one slot, or give slots to one waiter.
    ///
    /// # Errors
    /// - [`Error::BadSlots`] if `k` is 0 or more than [`MAX_SLOTS`](crate::MAX_SLOTS).
    /// - [`Error::Closed`] if the hall is closed.
    /// - [`Error::System`] if the file of the hall cannot get room for the new slots, for example because the disk is
    ///   full.
    /// - [`Error::Full`] or [`Error::System`] if this process cannot register; see [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// let first = hall.acquire()?;
    /// hall.resize(2)?;
    /// assert_eq!(hall.try_acquire()?.slot(), 1);
    /// # drop(first);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resize(&self, k: usize) -> Result<(), Error> {
        check_slots(k)?;
        self.handle.state.prepare_slots(k)?;
        // Register first. Once the size is changed, this process must be able to serve waiters.
        let mut registration = self.handle.reserved_registration()?;
        let size = self.handle.state.file.size();
        let change = |old: i64| (old != 0).then(|| Size::unpack(old).resized(k).pack());
        let old = size.fetch_update(SeqCst, SeqCst, change).map(Size::unpack);
        if let Ok(old) = old {
            self.handle
                .serve(&mut registration, Line::S1 { role: Role::Leaver(k, Finally::Leave) });
            if k < old.k {
                // A waiter that wants more slots than the hall has now may want to give up.
                self.handle.state.ring_all();
            }
        }
        let closed = old.is_err();
        self.handle.give_back(registration);
        if closed { Err(Error::Closed) } else { Ok(()) }
    }

    /// Closes the hall permanently. Waiters and later callers get [`Error::Closed`]; holders keep their slots
    /// until they leave.
    ///
    /// To use the name again, [remove](HallDir::remove) the hall.
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::Error;
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    ///
    /// hall.close();
    /// assert!(hall.is_closed());
    /// assert!(matches!(hall.acquire(), Err(Error::Closed)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.handle.state.file.size().store(0, SeqCst);
        self.handle.state.ring_all();
    }

    /// Returns `true` if the hall is closed.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// assert!(!hall.is_closed());
    /// hall.close();
    /// assert!(hall.is_closed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_closed(&self) -> bool {
        self.slots() == 0
    }

    /// Returns the holders and the waiters: a snapshot that may already be stale.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// let pass = hall.acquire()?;
    /// let status = hall.status();
    /// assert_eq!(status.holders[0].pid, std::process::id());
    /// assert!(status.waiters.is_empty());
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn status(&self) -> Status {
        status::of(&self.handle.state)
    }

    /// Frees the slots of dead processes, and returns how many registrations of dead processes it found.
    ///
    /// Waiters do not depend on this: they free such slots themselves. While nobody waits, call this before
    /// [`available`](SharedHall::available) or [`status`](SharedHall::status) to get exact figures.
    ///
    /// # Errors
    /// Returns [`Error::Full`] or [`Error::System`] if this process cannot register; see
    /// [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// let pass = hall.acquire()?;
    /// assert_eq!(hall.reap()?, 0); // its holder is alive
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reap(&self) -> Result<usize, Error> {
        let state = &self.handle.state;
        let mut registration = self.handle.reserved_registration()?;
        let mut environment = registration.environment(state, Patience::NONE);
        let mut dead = 0;
        for process in 0..environment.processes() {
            if let Life::Dead(_) = environment.life(process) {
                let then = Then::Serve(Role::Leaver(MAX_SLOTS, Finally::Leave));
                let _ = environment.run(Line::R1 { process, then });
                dead += 1;
            }
        }
        self.handle.give_back(registration);
        // A closed hall keeps its tags. A newcomer may have read its size before it was closed, and must not find
        // a free slot.
        if !self.is_closed() {
            state.remove_void_tags();
        }
        state.remove_stale_lifelines();
        Ok(dead)
    }

    /// Sets the command that [`status`](SharedHall::status) shows for this process, from its next passage
    /// on. The default is the command line of the process. At most 176 bytes of the
    /// command are kept.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// hall.describe_as("nightly backup");
    /// let pass = hall.acquire()?;
    /// assert_eq!(hall.status().holders[0].command, "nightly backup");
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe_as(&self, command: &str) {
        self.handle.describe_as(command);
    }
}

#[cfg(test)]
mod tests {
    use hallpass_algorithms::{Next, halls::processes::step};

    use super::*;
    use crate::{HallDir, registration::Registration};

    #[test]
    fn a_newcomer_that_read_the_size_before_the_hall_shrank_gets_no_slot_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 2).unwrap();
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
        hall.resize(1).unwrap();
        let pass = hall.acquire().unwrap();
        while !matches!(at, Line::E6 { .. }) {
            match step(&mut newcomer, me, at) {
                Next::Goto(line) => at = line,
                _ => panic!("the newcomer holds a second slot of a hall with one slot"),
            }
        }
        registration.unregister(state);
        assert_eq!(hall.reap().unwrap(), 0);
        assert!(hall.try_acquire().is_err(), "reaping must not remove the seal");
        hall.resize(2).unwrap();
        assert_eq!(hall.try_acquire().unwrap().slot(), 1);
        drop(pass);
        assert_eq!(hall.acquire_many(2).unwrap().slots(), [0, 1]);
    }
}
