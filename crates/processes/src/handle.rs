//! The handle through which a process uses a hall: its idle registrations, and the code that enters and leaves the
//! hall.
//!
//! A hall is *quiet* if its word `quiet` equals its word `next`, the next ticket. Then nobody waits. In a quiet hall, a
//! caller runs lines E1 to E5 of the [step machine](hallpass_algorithms::halls::processes) to enter, and X1, X4 and X5
//! to leave. This file calls them, in [`enter`](Handle::enter), [`try_enter`], [`exit`](Handle::exit) and
//! [`try_leave`]. Every other passage continues in [`NativeEnvironment::run`], through [`wait`](Handle::wait) and
//! [`serve`](Handle::serve).

use std::{
    iter,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::atomic::Ordering::{Relaxed, SeqCst},
    thread,
    time::{Duration, SystemTime},
};

use hallpass_algorithms::{
    Next,
    halls::processes::{Finally, Line, Number, Role, step},
};
use hallpass_common::{Limit, command_line};

use crate::{
    Error,
    driver::End,
    environment::{NativeEnvironment, NativeLine},
    fork_mutex::ForkMutex,
    hall_file::{HALL, RECORDS},
    patience::Patience,
    pool::Pool,
    registration::Registration,
    shared_state::SharedState,
    sys,
};

/// The time between two looks for a free record while all records for passages are taken.
const LOOK_FOR_ROOM: Duration = Duration::from_millis(50);

/// A hall that this process has open. Clones of a [`SharedHall`](crate::SharedHall) share it.
pub(crate) struct Handle {
    pub state: SharedState,
    idle: Pool,
    /// The command that `status` shows instead of the command line of this process.
    command: ForkMutex<Option<String>>,
}

/// The slot of a passage in its critical section.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub slot: usize,
    /// Whether the passage waited. If it waited, it leaves by line X2, otherwise by X1.
    pub queued: bool,
}

/// A passage in its critical section.
pub(crate) type Entered = (Box<Registration>, Held);

impl Handle {
    /// Opens the hall in this directory.
    pub(crate) fn open(name: &str, path: PathBuf, dir: OwnedFd) -> Result<Self, Error> {
        let state = SharedState::open(name, path, dir)?;
        // Both values are computed only once. If a child were forked while another thread computes them, the child
        // would wait for that thread forever. So compute them now.
        let _ = (sys::generation(), command_line());
        Ok(Handle { state, idle: Pool::new(), command: ForkMutex::new(None) })
    }

    /// Enters the hall: takes a free slot if the hall is quiet, otherwise waits in the queue.
    #[inline(always)]
    pub(crate) fn enter(&self, limit: Limit) -> Result<Entered, Error> {
        let mut registration = self.awaited_registration(limit.into())?;
        let number = registration.number;
        match try_enter(&mut registration.environment(&self.state, Patience::NONE), number) {
            Some(slot) => {
                // ORDERING: relaxed. The time is only displayed.
                self.state.file.since(registration.record).store(sys::coarse_now(), Relaxed);
                Ok((registration, Held { slot, queued: false }))
            }
            None => self.wait(registration, limit.into()),
        }
    }

    /// Enters the hall through the queue.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait(
        &self,
        registration: Box<Registration>,
        patience: Patience<'_>,
    ) -> Result<Entered, Error> {
        let (registration, slot) = self.wait_for(registration, 1, patience)?;
        Ok((registration, Held { slot, queued: true }))
    }

    /// Enters the hall through the queue, with `wants` slots. Returns the first of them.
    pub(crate) fn wait_for(
        &self,
        mut registration: Box<Registration>,
        wants: usize,
        patience: Patience<'_>,
    ) -> Result<(Box<Registration>, usize), Error> {
        let since = self.state.file.since(registration.record);
        since.store(now(), SeqCst);
        let queue = Line::E6 { x: registration.number };
        let mut environment = registration.environment(&self.state, patience);
        environment.wants = wants;
        let end = environment.run(queue);
        let too_small = environment.too_small;
        registration.settle(&self.state);
        match end {
            End::In(slot) | End::InMany(slot) => {
                since.store(now(), SeqCst);
                Ok((registration, slot))
            }
            End::Out => {
                self.give_back(registration);
                Err(match (self.state.size(), too_small) {
                    (0, _) => Error::Closed,
                    (_, Some(slots)) => Error::TooMany { asked: wants, slots },
                    _ => Error::NoPermits,
                })
            }
            End::Lost => {
                // Without its lifeline, the registration counts as dead, whatever its record says.
                registration.abandon(&self.state);
                let path = self.state.path.join(HALL);
                Err(Error::Damaged { path, why: "its content is inconsistent".into() })
            }
        }
    }

    /// Leaves the hall: frees the slot, and serves waiters if there may be any.
    #[inline(always)]
    pub(crate) fn exit(&self, mut registration: Box<Registration>, held: Held) {
        if !registration.is_ours() {
            return; // this process is a forked child, and the slot belongs to its parent
        }
        if held.queued {
            let number = self.state.card(registration.record).number;
            self.serve(&mut registration, Line::X2 { number, j: held.slot });
        } else if !try_leave(&mut registration.environment(&self.state, Patience::NONE), held.slot)
        {
            self.serve(&mut registration, Line::S1 { role: Role::Leaver(1, Finally::Leave) });
        }
        self.give_back(registration);
    }

    /// Leaves the hall with `count` slots, of which `first` is the first.
    pub(crate) fn exit_many(
        &self,
        mut registration: Box<Registration>,
        first: usize,
        count: usize,
    ) {
        if !registration.is_ours() {
            return; // this process is a forked child, and the slots belong to its parent
        }
        let mut environment = registration.environment(&self.state, Patience::NONE);
        environment.wants = count;
        let _ = environment.run(Line::X7 { j: first });
        registration.settle(&self.state);
        self.give_back(registration);
    }

    /// Runs a passage from `line` to its end. `line` must be a line from which the passage does not wait for a slot.
    #[inline(never)]
    pub(crate) fn serve(&self, registration: &mut Registration, line: NativeLine) {
        let _ = registration.environment(&self.state, Patience::NONE).run(line);
        registration.settle(&self.state);
    }

    /// Returns an idle registration, or a new one.
    #[inline(always)]
    pub(crate) fn registration(&self) -> Result<Box<Registration>, Error> {
        loop {
            match self.idle.take() {
                Some(registration) if registration.is_ours() => return Ok(registration),
                Some(inherited) => drop(inherited),
                None => return self.new_registration(),
            }
        }
    }

    /// Returns an idle registration, or a new one as soon as the hall has room for it.
    #[inline(always)]
    pub(crate) fn awaited_registration(
        &self,
        patience: Patience<'_>,
    ) -> Result<Box<Registration>, Error> {
        match self.registration() {
            Err(Error::Full { .. }) if !matches!(patience.limit, Limit::Now) => {
                self.await_registration(patience)
            }
            registration => registration,
        }
    }

    /// Returns a new registration as soon as the hall has room for it. Processes that wait for room get
    /// it in no particular order.
    #[cold]
    fn await_registration(&self, patience: Patience<'_>) -> Result<Box<Registration>, Error> {
        let mut rounds = 0;
        while !patience.is_over() {
            let left = patience.limit.remaining();
            thread::sleep(left.map_or(LOOK_FOR_ROOM, |left| left.min(LOOK_FOR_ROOM)));
            rounds += 1;
            if self.state.size() == 0 {
                return Err(Error::Closed);
            }
            // Searching for dead owners takes time, so most rounds only look for a free record.
            if rounds % 16 == 0 || self.state.has_free_record() {
                match self.registration() {
                    Err(Error::Full { .. }) => {}
                    registration => return registration,
                }
            }
        }
        Err(Error::NoPermits)
    }

    /// Returns a registration for something other than a passage, such as `resize`. Even a full hall has room for it:
    /// the last records are reserved for this.
    pub(crate) fn reserved_registration(&self) -> Result<Box<Registration>, Error> {
        match self.registration() {
            Err(Error::Full { .. }) => Ok(Box::new(Registration::within(&self.state, RECORDS)?)),
            registration => registration,
        }
    }

    #[cold]
    fn new_registration(&self) -> Result<Box<Registration>, Error> {
        let registration = Registration::new(&self.state)?;
        let command = self.command.lock().and_then(|command| command.clone());
        let command = command.as_deref().unwrap_or(command_line());
        self.state.file.set_command(registration.record, command);
        Ok(Box::new(registration))
    }

    /// Keeps a registration for the next passage, unless another process may have the registration's
    /// lifeline open, or the record is not for passages.
    #[inline(always)]
    pub(crate) fn give_back(&self, registration: Box<Registration>) {
        if registration.is_lent() || registration.is_reserved() {
            registration.unregister(&self.state);
        } else {
            self.idle.give(registration);
        }
    }

    /// Sets the command that `status` shows for idle and future registrations.
    pub(crate) fn describe_as(&self, command: &str) {
        if let Some(mut own) = self.command.lock() {
            *own = Some(command.into());
        }
        let idle: Vec<_> = iter::from_fn(|| self.idle.take()).collect();
        for registration in idle {
            if registration.is_ours() {
                self.state.file.set_command(registration.record, command);
                self.idle.give(registration);
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        for registration in self.idle.drain() {
            registration.unregister(&self.state);
        }
    }
}

/// Runs lines E1 to E5: returns a slot if the hall is quiet and a slot is free. Each line has a separate call of
/// `step`, so that the compiler keeps only the code of that line.
#[inline(always)]
fn try_enter(environment: &mut NativeEnvironment<'_>, x: Number) -> Option<usize> {
    let me = environment.me;
    let Next::Goto(look @ Line::E2 { .. }) = step(environment, me, Line::E1 { x }) else {
        return None;
    };
    let Next::Goto(Line::E3 { x }) = step(environment, me, look) else { return None };
    let Next::Goto(mut look) = step(environment, me, Line::E3 { x }) else { return None };
    while let Line::E4 { x, k, j } = look {
        match step(environment, me, Line::E4 { x, k, j }) {
            Next::Goto(Line::E5 { x, k, j }) => match step(environment, me, Line::E5 { x, k, j }) {
                Next::Enter(_) => return Some(j),
                Next::Goto(line) => look = line,
                _ => return None,
            },
            Next::Goto(line) => look = line,
            _ => return None,
        }
    }
    None
}

/// Runs lines X1, X4 and X5: frees the slot. Returns `true` if nobody waits, so that nothing else has to be done.
#[inline(always)]
fn try_leave(environment: &mut NativeEnvironment<'_>, slot: usize) -> bool {
    let me = environment.me;
    let _ = step(environment, me, Line::X1 { j: slot });
    let Next::Goto(Line::X5 { c }) = step(environment, me, Line::X4) else { return false };
    matches!(step(environment, me, Line::X5 { c }), Next::Leave)
}

/// Returns the nanoseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
