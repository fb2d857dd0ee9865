//! The store as the lab sees it: the whole hall is one word, and a transaction is one access.
//!
//! The word leaves out some things that a real store has. Leaving them out does not change any result:
//!
//! - Revisions. The protocol compares the revisions of claims only to find the oldest claim, and the
//!   queue in the word is in that order. No process in the hall compares tokens.
//! - Ids of claims. A process has one claim at a time, so the process identifies its claim. However, its
//!   next claim must not be mistaken for the previous one. A process remembers the claim of another
//!   process only while it is about to give a slot to that claim. Such a claim is the head of the queue,
//!   and it stays the head as long as it is in the queue. So it is enough to record which processes have
//!   seen the current head ([`Knowledge::Head`]).
//! - Time. A slot whose claim is gone is [`Slot::Stale`] while its holder still uses it, and
//!   [`Slot::Left`] from then on. Real processes wait out the longest time that a holder may go on using
//!   a stale slot. In the lab, the schedule decides when the holder stops.
//! - Watches. The word records which waiters are asleep ([`Knowledge::Asleep`]), but not what they watch. A transaction
//!   wakes exactly the waiters that watch a record that it changes.

use alloc::vec::Vec;

use super::{
    hall::{Hall, Knowledge, Late, MAX_PROCESSES, MAX_SLOTS, Slot},
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

/// Returns whether the request of this line may hang. The other lines only read the hall.
pub(super) fn can_hang(line: Line<Pid>) -> bool {
    !matches!(line, E2 | X1 { .. })
}

/// The transaction of a line, as an update of the word. The argument encodes the line and the process.
pub(super) type Transact = fn(Word, Word) -> Word;

/// Returns where a process continues after a line, given the hall after the transaction of this line.
pub(super) type Answer = fn(&Hall, Pid, Line<Pid>) -> Next<Line<Pid>>;

/// Applies one line of the protocol to `word`.
pub(super) fn transact(word: Word, argument: Word) -> Word {
    transact_by(word, argument, Hall::request, Hall::answer)
}

/// Applies one line to `word`: carries out the line's request, and records what the process remembers from
/// the answer.
pub(super) fn transact_by(
    word: Word,
    argument: Word,
    request: fn(&mut Hall, Pid, Line<Pid>),
    answer: Answer,
) -> Word {
    let (p, line) = unpack_line(argument);
    let mut hall = Hall::unpack(word);
    if hall.sleeps(p, line) {
        return hall.pack();
    }
    if hall.delayed(p, line) {
        let is_bound = hall.may_take_effect(p, line);
        hall.late = Late::Sent { from: p, line, is_bound };
        return hall.pack();
    }
    let had_claim = hall.claims();
    if let X1 { .. } = line {
        hall.leave_critical_section(p);
    }
    request(&mut hall, p, line);
    if hall.unheard == Some(p) {
        hall.unheard = None;
        return hall.pack();
    }
    let next = answer(&hall, p, line);
    hall.known[p] = match next {
        Goto(E3 { .. } | X2 { .. }) => Knowledge::Head,
        Goto(E2) | Spin(E2) => Knowledge::Asleep,
        _ => Knowledge::Nothing,
    };
    if let Enter(X1 { .. }) = next {
        let mine = hall.slots.iter_mut().filter(|slot| **slot == Slot::Given(p));
        mine.for_each(|slot| *slot = Slot::Held(p));
    }
    hall.unbind_late(|from| from == p && next == Leave || had_claim[from]);
    hall.pack()
}

impl Hall {
    pub fn new(size: usize) -> Self {
        Hall {
            queue: Vec::new(),
            slots: [Slot::Free; MAX_SLOTS],
            known: [Knowledge::Nothing; MAX_PROCESSES],
            size,
            closed: false,
            clock: false,
            unheard: None,
            late: Late::Nothing,
            backup: None,
            pairs: false,
        }
    }

    /// Returns the number of slots that `p` takes together.
    pub fn take(&self, p: Pid) -> usize {
        if self.pairs && p < 2 { 2 } else { 1 }
    }

    /// Returns the number of free slots.
    fn free_slots(&self) -> usize {
        self.slots[..self.size].iter().filter(|slot| **slot == Slot::Free).count()
    }

    /// Returns whether enough slots are free for `p`.
    pub fn has_room_for(&self, p: Pid) -> bool {
        self.free_slots() >= self.take(p)
    }

    /// Returns whether a request that `p` sends at this line may take effect, now or later. A request to give a slot
    /// to a claim that has left the queue, or to free a slot that is no longer stale, never takes effect.
    fn may_take_effect(&self, p: Pid, line: Line<Pid>) -> bool {
        match line.ask() {
            Ask::Give { slot, was, to } => {
                self.still_waits(p, to) && (was != Was::Stale || self.still_is(p, slot, was))
            }
            Ask::Reclaim { slot } => self.slots[slot] == Slot::Left,
            _ => true,
        }
    }

    /// Carries out a request that arrives late, and that may still take effect.
    pub fn request_late(&mut self, from: Pid, line: Line<Pid>) {
        match line.ask() {
            // The receiver has been in the queue since the request was sent.
            Ask::Give { slot, was, to } if self.still_is(from, slot, was) => {
                self.give_slots(slot, was, to);
            }
            Ask::Give { .. } => {}
            _ => self.request(from, line),
        }
    }

    /// Makes the request that hangs ineffective, if `depends` returns `true` for it.
    pub fn unbind_late_if(&mut self, depends: impl Fn(Ask<Pid>) -> bool) {
        if let Late::Sent { line, is_bound, .. } = &mut self.late
            && depends(line.ask())
        {
            *is_bound = false;
        }
    }

    /// Makes the request that hangs ineffective, if it depends on this slot being stale.
    pub fn end_staleness(&mut self, stale: usize) {
        self.unbind_late_if(|ask| match ask {
            Ask::Give { slot, was: Was::Stale, .. } | Ask::Reclaim { slot } => slot == stale,
            _ => false,
        });
    }

    /// Returns whether the request of `p` at this line will hang in the network.
    pub fn delayed(&self, p: Pid, line: Line<Pid>) -> bool {
        self.late == Late::Next(p) && can_hang(line)
    }

    /// Returns which processes have a claim.
    fn claims(&self) -> [bool; MAX_PROCESSES] {
        core::array::from_fn(|p| self.claim_state(p) != ClaimState::Absent)
    }

    /// Makes the request that hangs ineffective, if `has_lost` returns `true` for its sender and the sender has no
    /// claim.
    fn unbind_late(&mut self, has_lost: impl Fn(Pid) -> bool) {
        let claims = self.claims();
        if let Late::Sent { from, is_bound, .. } = &mut self.late
            && has_lost(*from)
            && !claims[*from]
        {
            *is_bound = false;
        }
    }

    /// Returns whether `p` keeps sleeping at this line.
    pub fn sleeps(&self, p: Pid, line: Line<Pid>) -> bool {
        line == E2 && self.known[p] == Knowledge::Asleep && !self.clock
    }

    /// Returns the part of the hall that `p` sees.
    pub fn picture(&self, p: Pid) -> Picture<Pid> {
        let me = self.claim_state(p);
        let first = self.queue.first().copied();
        let next = first.unwrap_or(p);
        Picture {
            open: !self.closed,
            me,
            first,
            free: self.smallest_free().filter(|_| self.has_room_for(next)),
            stale: (0..self.size).find(|&j| self.slots[j] == Slot::Left),
            beyond: matches!(me, ClaimState::Holding(_))
                && (self.closed || (self.size..MAX_SLOTS).any(|slot| self.is_of(slot, p))),
            hands_over: self.take(p) == 1 && self.take(next) == 1,
        }
    }

    pub fn smallest_free(&self) -> Option<usize> {
        (0..self.size).find(|&j| self.slots[j] == Slot::Free)
    }

    /// Returns where `p` continues after `line`, given this hall after the transaction.
    pub fn answer(&self, p: Pid, line: Line<Pid>) -> Next<Line<Pid>> {
        self.answer_to(line, self.picture(p))
    }

    /// Returns where a process continues after `line` if it sees this picture.
    pub fn answer_to(&self, line: Line<Pid>, picture: Picture<Pid>) -> Next<Line<Pid>> {
        match (line, line.answer(picture)) {
            (E2, Spin(_)) if self.clock => Goto(E4),
            (_, next) => next,
        }
    }

    /// Returns whether the slot is assigned to the claim of `p`.
    fn is_of(&self, slot: usize, p: Pid) -> bool {
        [Slot::Given(p), Slot::Held(p)].contains(&self.slots[slot])
    }

    pub fn claim_state(&self, p: Pid) -> ClaimState {
        match (0..MAX_SLOTS).find(|&slot| self.is_of(slot, p)) {
            Some(slot) => ClaimState::Holding(slot),
            None if self.queue.contains(&p) => ClaimState::Waiting,
            None => ClaimState::Absent,
        }
    }

    /// Carries out the request of the line.
    pub fn request(&mut self, p: Pid, line: Line<Pid>) {
        match line.ask() {
            Ask::Look | Ask::Watch => {}
            Ask::Claim { slot, wait } => self.claim(p, slot, wait),
            Ask::Give { slot, was, to } => self.give(p, slot, was, to),
            Ask::Free { slot, anyway } => self.free(p, slot, anyway),
            Ask::Withdraw => self.remove_claim(p),
            Ask::Reclaim { slot } => self.reclaim(slot),
        }
    }

    fn claim(&mut self, p: Pid, slot: usize, wait: bool) {
        if self.closed || self.claim_state(p) != ClaimState::Absent {
            return;
        }
        if self.queue.is_empty() && self.smallest_free() == Some(slot) && self.has_room_for(p) {
            self.assign_free(slot, p);
        } else if wait {
            self.queue.push(p);
        }
    }

    fn give(&mut self, p: Pid, slot: usize, was: Was, to: Pid) {
        if self.still_is(p, slot, was) && self.still_waits(p, to) {
            self.give_slots(slot, was, to);
        }
    }

    /// Gives slots to the claim `to` in the queue. A claim for two slots gets them together. For such a claim, a stale
    /// slot is only freed.
    fn give_slots(&mut self, slot: usize, was: Was, to: Pid) {
        match (self.take(to), was) {
            (1, _) => self.assign(slot, to),
            (_, Was::Free) if self.has_room_for(to) => {
                self.assign(slot, to);
                self.assign_free(slot, to);
            }
            (_, Was::Stale) => self.free_stale(slot),
            _ => {}
        }
    }

    /// Assigns a slot to `p` and, if `p` takes two, also the smallest other free slot.
    fn assign_free(&mut self, slot: usize, p: Pid) {
        self.slots[slot] = Slot::Given(p);
        if let (2, Some(other)) = (self.take(p), self.smallest_free()) {
            self.slots[other] = Slot::Given(p);
        }
    }

    /// Frees a stale slot although claims wait, and wakes all waiters.
    pub fn free_stale(&mut self, slot: usize) {
        self.end_staleness(slot);
        self.slots[slot] = Slot::Free;
        self.wake_all();
    }

    /// Returns whether the slot still has the state that `p` saw.
    pub fn still_is(&self, p: Pid, slot: usize, was: Was) -> bool {
        self.slots[slot]
            == match was {
                Was::Free => Slot::Free,
                Was::Mine => Slot::Given(p),
                Was::Stale => Slot::Left,
            }
    }

    /// Returns whether the claim that `p` wants to give a slot to is still in the queue.
    pub fn still_waits(&self, p: Pid, to: Pid) -> bool {
        self.known[p] == Knowledge::Head && self.queue.first() == Some(&to)
    }

    /// Gives a slot to a waiter.
    pub fn assign(&mut self, slot: usize, to: Pid) {
        self.end_staleness(slot);
        self.slots[slot] = Slot::Given(to);
        self.remove_claim(to);
        self.wake(to);
    }

    fn free(&mut self, p: Pid, slot: usize, anyway: bool) {
        if self.slots[slot] == Slot::Given(p) && (anyway || self.queue.is_empty()) {
            let mine = self.slots.iter_mut().filter(|slot| **slot == Slot::Given(p));
            mine.for_each(|slot| *slot = Slot::Free);
            if anyway {
                self.wake_all();
            }
        }
    }

    /// Frees a slot whose claim has been gone for long enough, if nobody waits.
    fn reclaim(&mut self, slot: usize) {
        if self.queue.is_empty() && self.slots[slot] == Slot::Left {
            self.end_staleness(slot);
            self.slots[slot] = Slot::Free;
        }
    }

    /// Records that `p` has left its critical section.
    fn leave_critical_section(&mut self, p: Pid) {
        for slot in 0..MAX_SLOTS {
            match self.slots[slot] {
                Slot::Held(owner) if owner == p => self.slots[slot] = Slot::Given(p),
                Slot::Stale(owner) if owner == p => {
                    self.slots[slot] = Slot::Left;
                    // The head of the queue need not wait any longer for this slot.
                    self.wake_head();
                }
                _ => {}
            }
        }
    }
}
