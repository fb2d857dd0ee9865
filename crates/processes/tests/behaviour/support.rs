//! Helpers that the tests share.

use std::{
    path::Path,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hallpass_processes::{Error, HallDir, OwnedSharedPass, SharedHall, SharedPass};
use tempfile::TempDir;

use crate::puppet::Puppet;

/// The name of the hall in tests that use only one hall.
pub const NAME: &str = "hall";

/// A hall in a temporary directory.
pub struct TestHall {
    pub folder: TempDir,
    pub hall: SharedHall,
}

impl TestHall {
    pub fn new(slots: usize) -> TestHall {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open(NAME, slots).unwrap();
        TestHall { folder, hall }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn dir(&self) -> HallDir {
        HallDir::at(self.path())
    }

    /// Starts a process that has the hall open.
    pub fn puppet(&self) -> Puppet {
        let mut puppet = Puppet::new();
        puppet.open(self.path(), NAME);
        puppet
    }

    /// Starts a process that holds a slot.
    pub fn holder(&self) -> (Puppet, usize) {
        let mut puppet = self.puppet();
        let slot = puppet.acquire().unwrap();
        (puppet, slot)
    }

    /// Starts a process that is last in the queue.
    pub fn waiter(&self) -> Puppet {
        let mut puppet = self.puppet();
        puppet.say("acquire");
        let last = || self.hall.status().waiters.last().map(|one| one.pid);
        wait_until("the puppet is last in the queue", || last() == Some(puppet.pid()));
        puppet
    }

    /// Starts a thread that is last in the queue.
    pub fn waiting_thread<T: Send + 'static>(
        &self,
        f: impl FnOnce(Result<OwnedSharedPass, Error>) -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let before = self.hall.status().waiters.len();
        let hall = self.hall.clone();
        let thread = thread::spawn(move || f(hall.acquire_owned()));
        wait_until("one more in the queue", || self.hall.status().waiters.len() == before + 1);
        thread
    }

    /// Checks that no slot was lost: after a while all slots are free, nobody waits, and each slot can be acquired.
    pub fn assert_all_slots_free(&self) {
        let hall = &self.hall;
        wait_until("all slots are free", || {
            hall.reap().unwrap();
            (hall.available(), hall.waiting()) == (hall.slots(), 0)
        });
        let all: Vec<_> = (0..hall.slots()).map(|_| hall.try_acquire().unwrap()).collect();
        assert!(all.iter().map(SharedPass::slot).eq(0..hall.slots()));
        assert!(is_full(hall));
        let status = hall.status();
        assert_eq!((status.holders.len(), status.waiters.len()), (hall.slots(), 0), "{status:#?}");
        drop(all);
        assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0));
    }
}

/// Returns `true` if `try_acquire` finds no free slot.
pub fn is_full(hall: &SharedHall) -> bool {
    match hall.try_acquire() {
        Ok(_) => false,
        Err(Error::NoPermits) => true,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until `f` holds, and fails if that takes too long.
pub fn wait_until(what: &str, mut f: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !f() {
        assert!(Instant::now() < end, "timed out while waiting until {what}");
        thread::sleep(Duration::from_micros(200));
    }
}

/// Sleeps long enough to check that nothing happens.
pub fn a_while() {
    thread::sleep(Duration::from_millis(60));
}
