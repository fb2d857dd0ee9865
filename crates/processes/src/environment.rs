//! The environment of the step machine on real memory. The variables are words of the hall's file. Named pipes
//! (lifelines) carry wake-ups and show which processes are alive.

use std::{
    mem,
    os::fd::OwnedFd,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use hallpass_algorithms::{
    Op, Word,
    halls::processes::{Environment, Life, Line},
};
use hallpass_common::Limit;

use crate::{
    lifelines::Owner,
    linger::{self, Crowded},
    patience::Patience,
    shared_state::SharedState,
    sys::{self, lifeline, nap},
};

/// A line of a passage, with the types of this environment.
pub(crate) type NativeLine = Line<i64, ()>;

/// The longest sleep of a waiter that cannot watch a process, for example because the waiter has no free descriptor.
/// After this time, the waiter looks again.
const MAX_SLEEP_BLIND: Duration = Duration::from_millis(100);

/// The longest sleep of a waiter that can watch all processes that it has to watch. The sleep is limited, because a
/// process that should have woken the waiter may have been unable to do so.
const MAX_SLEEP: Duration = Duration::from_secs(10);

/// In a hall with many records, the longest sleep is this time multiplied by the number of records. A waiter that looks
/// again reads the cards of all processes, and thousands of waiters would keep all cores busy with this.
const MAX_SLEEP_PER_RECORD: Duration = Duration::from_millis(20);

/// The lifelines that wake a sleeping waiter: its own, and those of the processes it watches.
pub(crate) struct WakeSources {
    pub id: i64,
    /// The reading end of its own lifeline.
    pub own: Arc<OwnedFd>,
    /// The process that was last found alive, if it is another process of the operating system.
    last_alive: Option<Watched>,
    watched: Vec<Watched>,
    /// The record and the identity of a watched process that is gone, until the step machine asks about the process.
    gone: Option<(usize, i64)>,
    /// Whether a process that should be watched could not be reached.
    blind: bool,
    /// Whether the waiter should look again even if no process has woken it.
    look_again: bool,
    crowded: Crowded,
}

struct Watched {
    record: usize,
    id: i64,
    lifeline: Arc<OwnedFd>,
    /// Whether the kernel has reported an event of the lifeline.
    reported: bool,
}

impl WakeSources {
    pub(crate) fn new(id: i64, own: Arc<OwnedFd>) -> Self {
        let (last_alive, watched, gone) = (None, Vec::new(), None);
        let crowded = Crowded::default();
        WakeSources { id, own, last_alive, watched, gone, blind: false, look_again: false, crowded }
    }

    /// Stops watching other processes.
    pub(crate) fn stop_watching(&mut self) {
        self.last_alive = None;
        self.watched.clear();
    }
}

/// The state of a hall, as one registration (a record of the hall's file that belongs to this process) sees it.
pub(crate) struct NativeEnvironment<'a> {
    pub hall: &'a SharedState,
    pub me: usize,
    pub wake: &'a mut WakeSources,
    pub patience: Patience<'a>,
    /// The number of slots that the passage wants.
    pub wants: usize,
    /// The number of slots of the hall when the passage gave up because the hall had too few.
    pub too_small: Option<usize>,
}

impl<'a> NativeEnvironment<'a> {
    /// Creates the environment of a passage that wants one slot.
    #[inline]
    pub(crate) fn new(
        hall: &'a SharedState,
        me: usize,
        wake: &'a mut WakeSources,
        patience: Patience<'a>,
    ) -> Self {
        NativeEnvironment { hall, me, wake, patience, wants: 1, too_small: None }
    }

    /// Waits for a short time before line W1, in case a slot is given soon.
    pub(crate) fn linger(&mut self) {
        if !matches!(self.patience.limit, Limit::Now) {
            linger::linger(self.hall, self.me, &mut self.wake.crowded, &self.patience);
        }
    }

    /// Sleeps until another process wakes this one, the kernel reports a watched process, or the time is over.
    pub(crate) fn sleep(&mut self) {
        if matches!(self.patience.limit, Limit::Now) {
            return;
        }
        let WakeSources { own, watched, blind, .. } = &*self.wake;
        let blind = *blind;
        let records = self.hall.records_used() as u32;
        let max = match blind {
            true => MAX_SLEEP_BLIND,
            false => MAX_SLEEP.max(MAX_SLEEP_PER_RECORD * records),
        };
        let time = self.patience.limit.remaining().map_or(max, |left| left.min(max));
        let woken = lifeline::sleep(own, watched.iter().map(|watched| &*watched.lifeline), time);
        self.wake.look_again = blind || woken.silent;
        for (watched, gone) in self.wake.watched.iter_mut().zip(woken.gone) {
            watched.reported = gone;
        }
    }
}

impl Environment for NativeEnvironment<'_> {
    type Identity = i64;
    /// Empty, because [`WakeSources`] contains the watched processes.
    type WatchSet = ();

    fn processes(&self) -> usize {
        self.hall.records_used()
    }

    #[inline]
    fn wants(&self, _: usize) -> usize {
        self.wants
    }

    fn slots(&self) -> usize {
        self.hall.file.slots_ready()
    }

    #[inline]
    fn size(&mut self, op: Op) -> Word {
        op.apply(self.hall.file.size())
    }

    #[inline]
    fn next(&mut self, op: Op) -> Word {
        op.apply(self.hall.file.next())
    }

    #[inline]
    fn quiet(&mut self, op: Op) -> Word {
        op.apply(self.hall.file.quiet())
    }

    #[inline]
    fn card(&mut self, process: usize, op: Op) -> Word {
        op.apply(self.hall.file.card(process))
    }

    #[inline]
    fn slot(&mut self, slot: usize, op: Op) -> Word {
        op.apply(self.hall.file.slot(slot))
    }

    fn head(&mut self, op: Op) -> Word {
        op.apply(self.hall.file.head())
    }

    fn link(&mut self, process: usize, op: Op) -> Word {
        // The file contains the number of the process plus one. So the zeros of a new file mean that no process is
        // followed.
        let op = match op {
            Op::Write(followed) => Op::Write(followed.wrapping_add(1)),
            op => op,
        };
        op.apply(self.hall.file.link(process)).wrapping_sub(1)
    }

    fn followed(&mut self, process: usize, op: Op) -> Word {
        op.apply(self.hall.file.followed(process))
    }

    fn ring(&mut self, process: usize) {
        let id = self.hall.file.owner(process).load(SeqCst);
        if id != lifeline::NOBODY {
            self.hall.lifelines.ring(self.hall.dir(), id);
        }
    }

    fn nudge(&mut self, process: usize) {
        nap::end(self.hall.file.nap(process));
    }

    fn rung(&mut self, _: usize) -> bool {
        lifeline::drain(&self.wake.own) | mem::take(&mut self.wake.look_again)
    }

    fn expired(&mut self, _: usize) -> bool {
        if self.patience.is_over() {
            return true;
        }
        // The hall may grow again before the passage has given up, so remember why it gave up.
        self.too_small = Some(self.hall.size()).filter(|&slots| slots < self.patience.min_slots);
        self.too_small.is_some()
    }

    fn life(&mut self, process: usize) -> Life<i64> {
        let owner = self.hall.file.owner(process);
        let mut id = owner.load(SeqCst);
        // A watched process that is gone stays gone, even if another process has its record by now.
        if self.wake.gone.take().is_some_and(|(gone, its)| gone == process && its != id) {
            return Life::Nobody;
        }
        loop {
            if id == lifeline::NOBODY {
                return Life::Nobody;
            }
            self.wake.last_alive = None;
            match self.hall.lifelines.owner(self.hall.dir(), id) {
                _ if id == self.wake.id => return Life::Alive,
                Owner::Us => return Life::Alive,
                Owner::Alive(lifeline) => {
                    let watched = Watched { record: process, id, lifeline, reported: false };
                    self.wake.last_alive = Some(watched);
                    return Life::Alive;
                }
                Owner::Unwatched => {
                    self.wake.blind = true;
                    return Life::Alive;
                }
                Owner::Dead => {
                    // The low half of the word is the PID.
                    sys::await_exit(self.hall.file.process(process).load(SeqCst) as i32);
                    return Life::Dead(id);
                }
                Owner::Unknown => {
                    // If the process was unregistered in the meantime, its lifeline was removed.
                    let now = owner.load(SeqCst);
                    if now == id {
                        self.wake.blind = true;
                        return Life::Alive;
                    }
                    id = now;
                }
            }
        }
    }

    fn register(&mut self, me: usize) -> bool {
        let register = Op::CompareAndSwap { old: lifeline::NOBODY, new: self.wake.id };
        register.apply(self.hall.file.owner(me)) == lifeline::NOBODY
    }

    fn unregister(&mut self, process: usize, dead: i64) {
        let unregister = Op::CompareAndSwap { old: dead, new: lifeline::NOBODY };
        if unregister.apply(self.hall.file.owner(process)) == dead {
            lifeline::remove(self.hall.dir(), dead);
        }
    }

    fn watch_nobody(&mut self) {
        self.wake.watched.clear();
        self.wake.blind = false;
    }

    /// Watches another process. Does not watch a registration that belongs to this process of the operating system,
    /// because all registrations of one process die together.
    fn watch(&mut self, (): (), process: usize) {
        let alive = self.wake.last_alive.take().filter(|alive| alive.record == process);
        self.wake.watched.extend(alive);
    }

    fn next_watched(&mut self, (): (), process: usize) -> Option<usize> {
        let watched = &mut self.wake.watched;
        let is_next = |watched: &Watched| watched.reported && watched.record >= process;
        let index = watched.iter().position(is_next)?;
        let gone = watched.swap_remove(index);
        self.wake.gone = Some((gone.record, gone.id));
        Some(gone.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HallDir, registration::Registration};

    /// Each access of an environment returns the value before the access, as the model of the step machine does.
    #[test]
    fn every_access_returns_the_value_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 2).unwrap();
        let hall = &hall.handle.state;
        let mut registration = Registration::new(hall).unwrap();
        let me = registration.record;
        let mut environment = registration.environment(hall, Patience::NONE);
        type Access = fn(&mut NativeEnvironment<'_>, usize, Op) -> Word;
        let accesses: [(&str, Access); 5] = [
            ("next", |environment, _, op| environment.next(op)),
            ("quiet", |environment, _, op| environment.quiet(op)),
            ("card", |environment, me, op| environment.card(me, op)),
            ("slot", |environment, _, op| environment.slot(1, op)),
            ("link", |environment, me, op| environment.link(me, op)),
        ];
        for (name, access) in accesses {
            let mut found = access(&mut environment, me, Op::Read);
            let before = found;
            for new in [7, 9, before] {
                assert_eq!(access(&mut environment, me, Op::Write(new)), found, "{name} := {new}");
                assert_eq!(access(&mut environment, me, Op::Read), new, "{name} after the write");
                found = new;
            }
        }
        registration.unregister(hall);
    }
}
