//! The store as the lab sees it: all that it has of a hall is one word, and a transaction one access.
//!
//! What of a store is not there, and why nothing is lost:
//!
//! - Revisions. A claim's revision is compared with others' only to find the oldest, so the queue in order
//!   says as much. Tokens are compared by nobody in the hall.
//! - Names of claims. A process has one claim at a time, and goes by its own name; but the next one it
//!   makes must not be taken for the last. Only who is about to give a slot away has somebody else's claim
//!   in mind, always the first in line; if that is still there, it is still the first. So it is enough to
//!   know who has the present first in mind ([`Mind::First`]).
//! - Time. A slot whose claim is gone is [`Slot::Stale`] while its holder is in, and [`Slot::Left`] from
//!   then on: that is all that waiting longer than a holder can stay is good for. How long it takes is up
//!   to the schedule.
//! - Watches. Who waits sleeps until one of the keys changes that it watches ([`Mind::Asleep`]), and hears
//!   of nothing else.

use alloc::vec::Vec;

use super::{
    broken::Rules,
    lines::{
        Ask, ClaimState,
        Line::{self, *},
        Picture, Was,
    },
    words::unpack_line,
};
use crate::framework::{
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Pid, Word},
};

/// The most processes there is room for.
pub const MAX_PROCESSES: usize = 4;
/// The most slots there is room for.
pub const MAX_SLOTS: usize = 3;

/// A slot, and the claim inside that goes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// Nobody's.
    Free,
    /// Of this claim, whose owner is not in: it has not heard yet, or has come out.
    Given(Pid),
    /// Of this claim, whose owner is in.
    Held(Pid),
    /// Of a claim that is gone, though this owner of it is in.
    Stale(Pid),
    /// Of a claim that is gone, and so is its owner.
    Left,
}

/// What a process remembers of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mind {
    /// Nothing.
    Nothing,
    /// That nothing has changed of what it watches.
    Asleep,
    /// Who is the first in line.
    First,
}

/// What the store has of a hall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Hall {
    pub queue: Vec<Pid>,
    pub slots: [Slot; MAX_SLOTS],
    pub minds: [Mind; MAX_PROCESSES],
    pub size: usize,
    pub closed: bool,
    /// It is time to give up.
    pub clock: bool,
    /// This one will not hear what comes of its next transaction.
    pub unheard: Option<Pid>,
}

/// A transaction of `line`, by a process that the argument names too.
pub(super) fn transact<R: Rules>(word: Word, argument: Word) -> Word {
    let (p, line) = unpack_line(argument);
    let mut hall = Hall::unpack(word);
    hall.perform::<R>(p, line);
    hall.pack()
}

/// The owner of a claim dies, and its lease ends.
pub(super) fn dies<R: Rules>(word: Word, p: Word) -> Word {
    Hall::unpack(word).losing::<R>(p as Pid, true).pack()
}

/// A lease ends, whatever its owner does.
pub(super) fn expires<R: Rules>(word: Word, p: Word) -> Word {
    Hall::unpack(word).losing::<R>(p as Pid, false).pack()
}

/// The connection of `p` will break, if nobody else's does.
pub(super) fn breaks(word: Word, p: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.unheard = hall.unheard.or(Some(p as Pid));
    hall.pack()
}

/// It is time to give up, or no longer.
pub(super) fn turn_clock(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.clock = !hall.clock;
    hall.pack()
}

/// The hall has that many slots now, or the most that it had if it has these already.
pub(super) fn resize(word: Word, sizes: Word) -> Word {
    let mut hall = Hall::unpack(word);
    let (small, large) = (sizes as usize % 8, sizes as usize / 8);
    hall.size = if hall.size == large { small } else { large };
    hall.wake_all();
    hall.pack()
}

/// The hall is closed.
pub(super) fn close(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.closed = true;
    hall.wake_all();
    hall.pack()
}

impl Hall {
    pub fn new(size: usize) -> Self {
        Hall {
            queue: Vec::new(),
            slots: [Slot::Free; MAX_SLOTS],
            minds: [Mind::Nothing; MAX_PROCESSES],
            size,
            closed: false,
            clock: false,
            unheard: None,
        }
    }

    /// Whether `p` would go on sleeping at this line.
    pub fn sleeps(&self, p: Pid, line: Line<Pid>) -> bool {
        line == E2 && self.minds[p] == Mind::Asleep && !self.clock
    }

    /// How things are for `p`.
    pub fn picture<R: Rules>(&self, p: Pid) -> Picture<Pid> {
        let smallest = |is: &dyn Fn(Slot) -> bool| (0..self.size).find(|&j| is(self.slots[j]));
        let is_stale = |slot| match slot {
            Slot::Left => true,
            Slot::Stale(_) => !R::WAITS,
            _ => false,
        };
        let me = self.standing(p);
        Picture {
            open: !self.closed,
            me,
            first: self.queue.first().copied(),
            free: smallest(&|slot| slot == Slot::Free),
            stale: smallest(&is_stale),
            beyond: matches!(me, ClaimState::Inside(slot) if self.closed || slot >= self.size),
        }
    }

    /// Where `p` goes from `line`, if this is what came of it.
    pub fn next<R: Rules>(&self, p: Pid, line: Line<Pid>) -> Next<Line<Pid>> {
        match (line, line.answer(self.picture::<R>(p))) {
            (E2, Spin(_)) if self.clock => Goto(E4),
            (E4, _) if !R::LOOKS_BACK => Leave,
            (X1 { .. }, Goto(X2 { slot, .. })) if !R::HANDS_OVER => Goto(X3 { slot, anyway: true }),
            (_, next) => next,
        }
    }

    pub fn standing(&self, p: Pid) -> ClaimState {
        let is_mine = |slot: &Slot| [Slot::Given(p), Slot::Held(p)].contains(slot);
        match self.slots.iter().position(is_mine) {
            Some(slot) => ClaimState::Inside(slot),
            None if self.queue.contains(&p) => ClaimState::Waiting,
            None => ClaimState::Outside,
        }
    }

    fn perform<R: Rules>(&mut self, p: Pid, line: Line<Pid>) {
        if self.sleeps(p, line) {
            return;
        }
        if let X1 { slot } = line {
            self.come_out::<R>(p, slot);
        }
        match line.ask() {
            Ask::Look | Ask::Watch => {}
            Ask::Claim { slot, wait } => self.claim::<R>(p, slot, wait),
            Ask::Give { slot, was, to } => self.give::<R>(p, slot, was, to),
            Ask::Free { slot, anyway } => self.free::<R>(p, slot, anyway),
            Ask::Withdraw => self.strike::<R>(p),
        }
        if self.unheard == Some(p) {
            self.unheard = None;
            return;
        }
        let next = self.next::<R>(p, line);
        self.minds[p] = match next {
            Goto(E3 { .. } | X2 { .. }) => Mind::First,
            Goto(E2) | Spin(E2) => Mind::Asleep,
            _ => Mind::Nothing,
        };
        if let Enter(X1 { slot }) = next {
            self.slots[slot] = Slot::Held(p);
        }
    }

    fn claim<R: Rules>(&mut self, p: Pid, slot: usize, wait: bool) {
        if self.closed || R::CLAIMS_ONCE && self.standing(p) != ClaimState::Outside {
            return;
        }
        let smallest = (0..self.size).find(|&j| self.slots[j] == Slot::Free);
        if (self.queue.is_empty() || !R::QUEUES) && smallest == Some(slot) {
            self.slots[slot] = Slot::Given(p);
        } else if wait && !self.queue.contains(&p) {
            self.queue.push(p);
        }
    }

    fn give<R: Rules>(&mut self, p: Pid, slot: usize, was: Was, to: Pid) {
        let is_so = match (was, self.slots[slot]) {
            (Was::Free, slot) => slot == Slot::Free,
            (Was::Mine, slot) => !R::OWNS || slot == Slot::Given(p),
            (Was::Stale, Slot::Stale(_)) => !R::WAITS,
            (Was::Stale, slot) => slot == Slot::Left,
        };
        let waits = self.minds[p] == Mind::First && self.queue.first() == Some(&to);
        if is_so && (waits || !R::ASKS_RECEIVER) {
            self.slots[slot] = Slot::Given(to);
            self.strike::<R>(to);
            self.wake(to);
        }
    }

    fn free<R: Rules>(&mut self, p: Pid, slot: usize, anyway: bool) {
        let mine = !R::OWNS || self.slots[slot] == Slot::Given(p);
        if mine && (anyway || self.queue.is_empty()) {
            self.slots[slot] = Slot::Free;
            self.one_is_gone::<R>();
            if R::TELLS_ALL && R::HANDS_OVER && anyway {
                self.wake_all();
            }
        }
    }

    /// The claim of `p` is gone, with its lease.
    fn losing<R: Rules>(mut self, p: Pid, dead: bool) -> Self {
        self.strike::<R>(p);
        self.wake(p);
        for j in 0..MAX_SLOTS {
            let lost = match self.slots[j] {
                Slot::Held(owner) if owner == p && !dead => Slot::Stale(p),
                Slot::Held(owner) | Slot::Given(owner) if owner == p => Slot::Left,
                Slot::Stale(owner) if owner == p && dead => Slot::Left,
                _ => continue,
            };
            self.slots[j] = lost;
            self.one_is_gone::<R>();
        }
        if dead {
            self.minds[p] = Mind::Nothing;
            self.unheard = self.unheard.filter(|&other| other != p);
        }
        self
    }

    /// `p` has left its critical section.
    fn come_out<R: Rules>(&mut self, p: Pid, slot: usize) {
        match self.slots[slot] {
            Slot::Held(owner) if owner == p => self.slots[slot] = Slot::Given(p),
            Slot::Stale(owner) if owner == p => {
                self.slots[slot] = Slot::Left;
                // For the first in line, the time to wait is over.
                self.one_is_gone::<R>();
            }
            _ => {}
        }
    }

    /// The claim of `p` that waits is gone, if there is one.
    fn strike<R: Rules>(&mut self, p: Pid) {
        let Some(place) = self.queue.iter().position(|&waiting| waiting == p) else { return };
        self.queue.remove(place);
        if place == 0 {
            self.minds.iter_mut().filter(|mind| **mind == Mind::First).for_each(forget);
        }
        if let (true, Some(&behind)) = (R::WATCHES_BEFORE, self.queue.get(place)) {
            self.wake(behind);
        }
    }

    /// A claim inside is gone, or has been for long enough.
    fn one_is_gone<R: Rules>(&mut self) {
        if let (true, Some(&first)) = (R::WATCHES_INSIDE, self.queue.first()) {
            self.wake(first);
        }
    }

    fn wake(&mut self, p: Pid) {
        if self.minds[p] == Mind::Asleep {
            forget(&mut self.minds[p]);
        }
    }

    fn wake_all(&mut self) {
        (0..MAX_PROCESSES).for_each(|p| self.wake(p));
    }
}

fn forget(mind: &mut Mind) {
    *mind = Mind::Nothing;
}
