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
//! - Watches. The word records which waiters are asleep ([`Knowledge::Asleep`]), but not what they watch. A
//!   transaction wakes exactly the waiters that watch a key that it changes.

use alloc::vec::Vec;

use super::{
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

/// The maximum number of processes that the word has room for.
pub const MAX_PROCESSES: usize = 4;
/// The maximum number of slots that the word has room for.
pub const MAX_SLOTS: usize = 3;

/// A slot, and the claim to which it is assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// Assigned to no claim.
    Free,
    /// Assigned to this process, which does not use the slot: it has not seen yet that it has the slot, or
    /// has left its critical section.
    Given(Pid),
    /// Assigned to this process, which uses the slot.
    Held(Pid),
    /// The claim is gone, but its owner, this process, still uses the slot.
    Stale(Pid),
    /// The claim is gone, and its owner no longer uses the slot.
    Left,
}

/// The knowledge that a process keeps from its last transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Knowledge {
    /// The process remembers nothing that matters.
    Nothing,
    /// The process sleeps, and nothing that it watches has changed since it fell asleep.
    Asleep,
    /// The process remembers the head of the queue, which has not changed since.
    Head,
}

/// A request that hangs in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Late {
    /// No request hangs.
    Nothing,
    /// The next request of this process that can hang will do so.
    Next(Pid),
    /// This request was sent and has not arrived. Its sender has sent it again, or has given up.
    Sent {
        /// The sender.
        from: Pid,
        /// The line that sent the request.
        line: Line<Pid>,
        /// Whether the claim for which the request was sent may still exist. A real request names the lease of this
        /// claim and the version of the slot. It has no effect if that lease or that version no longer exists.
        is_bound: bool,
    },
}

/// The records of a hall in the store, and the request on the way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Hall {
    pub queue: Vec<Pid>,
    pub slots: [Slot; MAX_SLOTS],
    pub known: [Knowledge; MAX_PROCESSES],
    pub size: usize,
    pub closed: bool,
    /// Whether waiters should give up.
    pub clock: bool,
    /// The process that will not get the answer to its next transaction.
    pub unheard: Option<Pid>,
    /// The request that hangs.
    pub late: Late,
}

/// Returns whether the request of this line may hang. In a real cluster, the requests of E3 and X2 may hang too. The
/// model leaves this out, because the word does not record which claim the sender of such a request had seen at the
/// head of the queue.
pub(super) fn can_hang(line: Line<Pid>) -> bool {
    matches!(line, E1 { .. } | T1 { .. } | E4 | X3 { .. })
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
        hall.late = Late::Sent { from: p, line, is_bound: true };
        return hall.pack();
    }
    let had_claim = hall.claims();
    if let X1 { slot } = line {
        hall.leave_critical_section(p, slot);
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
    if let Enter(X1 { slot }) = next {
        hall.slots[slot] = Slot::Held(p);
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
        }
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
        Picture {
            open: !self.closed,
            me,
            first: self.queue.first().copied(),
            free: self.smallest_free(),
            stale: (0..self.size).find(|&j| self.slots[j] == Slot::Left),
            beyond: matches!(me, ClaimState::Holding(slot) if self.closed || slot >= self.size),
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

    pub fn claim_state(&self, p: Pid) -> ClaimState {
        let is_mine = |slot: &Slot| [Slot::Given(p), Slot::Held(p)].contains(slot);
        match self.slots.iter().position(is_mine) {
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
        if self.queue.is_empty() && self.smallest_free() == Some(slot) {
            self.slots[slot] = Slot::Given(p);
        } else if wait {
            self.queue.push(p);
        }
    }

    fn give(&mut self, p: Pid, slot: usize, was: Was, to: Pid) {
        if self.still_is(p, slot, was) && self.still_waits(p, to) {
            self.assign(slot, to);
        }
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
        self.slots[slot] = Slot::Given(to);
        self.remove_claim(to);
        self.wake(to);
    }

    fn free(&mut self, p: Pid, slot: usize, anyway: bool) {
        if self.slots[slot] == Slot::Given(p) && (anyway || self.queue.is_empty()) {
            self.slots[slot] = Slot::Free;
            if anyway {
                self.wake_all();
            }
        }
    }

    /// Frees a slot whose claim has been gone for long enough, if nobody waits.
    fn reclaim(&mut self, slot: usize) {
        if self.queue.is_empty() && self.slots[slot] == Slot::Left {
            self.slots[slot] = Slot::Free;
        }
    }

    /// Takes the slots away from `p`, because its lease has ended, and wakes the head of the queue.
    pub fn lose(&mut self, p: Pid, dead: bool) {
        if self.lose_slots(p, dead) {
            self.wake_head();
        }
    }

    /// Takes the slots away from `p` without waking the head of the queue. Returns whether `p` had a
    /// slot.
    pub fn lose_slots(&mut self, p: Pid, dead: bool) -> bool {
        self.wake(p);
        let mut lost = false;
        for slot in &mut self.slots {
            *slot = match *slot {
                Slot::Held(owner) if owner == p && !dead => Slot::Stale(p),
                Slot::Held(owner) | Slot::Given(owner) if owner == p => Slot::Left,
                Slot::Stale(owner) if owner == p && dead => Slot::Left,
                _ => continue,
            };
            lost = true;
        }
        if dead {
            self.known[p] = Knowledge::Nothing;
            self.unheard = self.unheard.filter(|&other| other != p);
        }
        lost
    }

    /// Gives the smallest slot that is `reclaimable` to the head of the queue, or frees it if nobody waits.
    pub fn reap(&mut self, reclaimable: impl Fn(&Slot) -> bool) {
        let Some(slot) = self.slots[..self.size].iter().position(reclaimable) else { return };
        match self.queue.first() {
            Some(&head) => self.assign(slot, head),
            None => self.slots[slot] = Slot::Free,
        }
    }

    /// Removes all claims from the queue, and wakes all waiters.
    pub fn forget_claims(&mut self) {
        while let Some(&head) = self.queue.first() {
            self.remove_claim_silently(head);
        }
        if let Late::Sent { is_bound, .. } = &mut self.late {
            *is_bound = false;
        }
        self.wake_all();
    }

    /// Takes the slots away from all processes. A slot that its owner still uses becomes stale. A slot that is
    /// not free and that no process uses gets the state passed as `left`.
    pub fn lose_all(&mut self, left: Slot) {
        for slot in &mut self.slots {
            *slot = match *slot {
                Slot::Held(owner) | Slot::Stale(owner) => Slot::Stale(owner),
                Slot::Given(_) | Slot::Left => left,
                Slot::Free => Slot::Free,
            };
        }
    }

    /// Records that `p` has left its critical section.
    fn leave_critical_section(&mut self, p: Pid, slot: usize) {
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

    /// Removes the claim of `p` from the queue, if it is there, and wakes the waiter behind it.
    pub fn remove_claim(&mut self, p: Pid) {
        if let Some(behind) = self.remove_claim_silently(p) {
            self.wake(behind);
        }
    }

    /// Removes the claim of `p` from the queue, if it is there. Returns the waiter behind it.
    pub fn remove_claim_silently(&mut self, p: Pid) -> Option<Pid> {
        let position = self.queue.iter().position(|&waiting| waiting == p)?;
        self.queue.remove(position);
        if position == 0 {
            let head = |known: &&mut Knowledge| **known == Knowledge::Head;
            self.known.iter_mut().filter(head).for_each(|known| *known = Knowledge::Nothing);
        }
        self.queue.get(position).copied()
    }

    /// Wakes the head of the queue, which watches the claims of all holders.
    pub fn wake_head(&mut self) {
        if let Some(&head) = self.queue.first() {
            self.wake(head);
        }
    }

    pub fn wake(&mut self, p: Pid) {
        if self.known[p] == Knowledge::Asleep {
            self.known[p] = Knowledge::Nothing;
        }
    }

    pub fn wake_all(&mut self) {
        (0..MAX_PROCESSES).for_each(|p| self.wake(p));
    }
}
