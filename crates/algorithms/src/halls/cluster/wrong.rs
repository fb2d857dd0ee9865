//! Deliberately wrong variants. The checker must reject each of them and name the violation. The [parent module](super)
//! explains the lines.
//!
//! Most variants change lines of the protocol: such a line sends a different request, or draws a different conclusion
//! from the answer. Some variants change what the manager does to the store (`ClusterModel::with_management`).
//!
//! The processes of [`idle`] and [`dreaming`] watch too few claims. In the model, the death of a process wakes the
//! processes that watch its claim. So these two variants replace the effect of a death (`ClusterModel::with_mishap`) by
//! one that wakes fewer processes.

use super::{
    events,
    hall::{Hall, Late, Slot},
    halls::halls_with_any_claims,
    lines::{
        ClaimState,
        Line::{self, *},
        Was,
    },
    model::{Cast, Casts, ClusterModel, State},
    register::{Answer, Transact, transact_by},
};
use crate::{
    changed_lines,
    framework::{
        changed::Changed,
        machine::Next::{self, Goto, Leave},
        memory::{Pid, Word},
    },
};
use State::At;

/// A model with changed lines.
pub type Wrong<C> = Changed<ClusterModel, C>;

/// Creates a model with changed lines, for the states of the hall in which no process has more than one claim. The
/// sound protocol reaches no other states.
pub fn wrong<C>(casts: impl Into<Casts>, n: usize, k: usize) -> Wrong<C> {
    Changed::new(ClusterModel::new(casts, n, k))
}

/// Creates a model with changed lines, for all states of the hall, including those in which a process has more than one
/// claim.
pub fn wrong_with_any_claims<C>(casts: impl Into<Casts>, n: usize, k: usize) -> Wrong<C> {
    let casts = casts.into();
    let halls = halls_with_any_claims(casts, casts.competitors(n), k);
    Changed::new(ClusterModel::with_halls(casts, n, k, halls))
}

/// Models processes that, at the head of the queue, do not watch the claims of holders. The end of such
/// a claim does not wake them.
pub fn idle(n: usize, k: usize) -> ClusterModel {
    ClusterModel::new(Cast::Mortal, n, k).with_mishap(|word, p| {
        let mut hall = Hall::unpack(word);
        hall.remove_claim(p as Pid);
        hall.lose_slots(p as Pid, true);
        hall.pack()
    })
}

/// Models waiters that do not watch the claim before them. They are not woken when that claim leaves the
/// queue.
pub fn dreaming(n: usize, k: usize) -> Wrong<Dreaming> {
    Changed::new(ClusterModel::new(Cast::Mortal, n, k).with_mishap(|word, p| {
        let mut hall = Hall::unpack(word);
        hall.remove_claim_silently(p as Pid);
        if hall.lose_slots(p as Pid, true) {
            hall.wake_head();
        }
        hall.pack()
    }))
}

/// Models a removal by force that also removes the records of the slots, so a new hall assigns slots that are still
/// held.
pub fn thorough(n: usize, k: usize) -> ClusterModel {
    ClusterModel::new(Cast::Remake, n, k).with_management(Cast::Remake, |word, _| {
        let mut hall = Hall::unpack(word);
        hall.forget_claims();
        hall.slots.fill(Slot::Free);
        hall.pack()
    })
}

/// Models processes that assign slots immediately after the store has lost its history, even if an old holder still
/// uses one.
pub fn hasty(n: usize, k: usize) -> ClusterModel {
    ClusterModel::new(Cast::Wipe, n, k).with_management(Cast::Wipe, |word, _| {
        let mut hall = Hall::unpack(word);
        hall.forget_claims();
        hall.slots.fill(Slot::Free);
        hall.pack()
    })
}

/// Models processes that drop the answers of a restored store as if the answers were late, because these answers have
/// smaller revisions. So no process notices that history was lost, and slots are assigned although a holder that the
/// backup does not show still uses them.
pub fn deaf(n: usize, k: usize) -> ClusterModel {
    let casts = Cast::BackUp | Cast::Restore | Cast::OldLeases;
    let model = ClusterModel::new(casts, n, k);
    model.with_management(Cast::Restore, |word, ghost| events::restore_by(word, ghost, |_| None))
}

/// Models a request that was sent to a hall before its removal, and joins the queue of the new hall with the same name.
/// A holder of the old hall sees that its claim waits. From this, it wrongly concludes that it still has its slot, and
/// it continues after its deadline.
pub fn deluded(n: usize, k: usize) -> ClusterModel {
    let casts = Cast::Late | Cast::Remake;
    let halls = halls_with_any_claims(casts, casts.competitors(n), k);
    ClusterModel::with_halls(casts, n, k, halls).with_management(Cast::Late, |word, _| {
        let mut hall = Hall::unpack(word);
        if let Late::Sent { from, line: E1 { .. }, is_bound: false } = hall.late
            && let Some(slot) = hall.slots.iter().position(|slot| *slot == Slot::Stale(from))
            && !hall.queue.contains(&from)
        {
            hall.late = Late::Nothing;
            hall.queue.push(from);
            // For the other processes, the deadline of the old holder is over.
            hall.slots[slot] = Slot::Left;
            return hall.pack();
        }
        events::deliver(word, 0)
    })
}

/// Models a `reap` that releases a slot as soon as its claim is gone. A real hall would do this if, for example, it
/// trusted another machine's record that the claim has been gone for long enough.
pub fn eager(n: usize, k: usize) -> ClusterModel {
    ClusterModel::new(Cast::Expiry | Cast::Reap, n, k).with_management(Cast::Reap, |word, _| {
        let mut hall = Hall::unpack(word);
        hall.reap(|slot| matches!(slot, Slot::Left | Slot::Stale(_)));
        hall.pack()
    })
}

/// Models requests that hang in the network, and take effect even if the claim for which they were sent is gone.
/// Such a request frees a slot that its sender has got again, or creates a claim for a sender that has left.
pub fn unbound(n: usize, k: usize) -> ClusterModel {
    let casts = Casts::from(Cast::Late);
    let halls = halls_with_any_claims(casts, casts.competitors(n), k);
    ClusterModel::with_halls(casts, n, k, halls).with_management(Cast::Late, |word, _| {
        let mut hall = Hall::unpack(word);
        if let Late::Sent { from, line, .. } = hall.late {
            hall.late = Late::Nothing;
            if let X3 { slot, .. } = line
                && hall.slots[slot] == Slot::Held(from)
            {
                // The store has the same record for `Held` and `Given`, so the request also frees a slot in use.
                hall.slots[slot] = Slot::Given(from);
            }
            hall.request(from, line);
        }
        hall.pack()
    })
}

/// Pairs a changed transaction with the protocol's own function for the answer.
const fn by(transact: Transact) -> (Transact, Answer) {
    (transact, Hall::answer)
}

changed_lines! {
    ClusterModel, State => Next<State>;
    /// E1 takes a free slot even if others wait.
    Barging: |model, m, p| {
        At(line @ E1 { .. }) => model.line(m, p, line, by(claim_ahead_of_the_queue)),
    }

    /// E1 takes one slot for a process that takes two.
    Partial: |model, m, p| {
        At(line @ E1 { .. }) => model.line(m, p, line, by(claim_a_part)),
    }

    /// E1 claims again after an answer was lost.
    Twice: |model, m, p| {
        At(line @ E1 { .. }) => model.line(m, p, line, by(claim_again)),
    }

    /// E3 and X2 give a slot to a claim that may have left the queue.
    Blind: |model, m, p| {
        At(line @ (E3 { .. } | X2 { .. })) => model.line(m, p, line, by(give_blindly)),
    }

    /// E4 does not check whether the process was given a slot.
    Careless: |model, m, p| {
        At(line @ E4) => model.line(m, p, line, (withdraw_and_leave, |_, _, _| Leave)),
    }

    /// X1 never hands the slot over. So X3 frees the slot even if others wait, and wakes only the head of the queue.
    Selfish: |model, m, p| {
        At(line @ X1 { .. }) => model.line(m, p, line, (look_without_handing_over, never_hand_over)),
        At(line @ X3 { .. }) => model.line(m, p, line, by(free_quietly)),
    }

    /// X3 frees a slot that others wait for, and wakes only the head of the queue.
    Quiet: |model, m, p| {
        At(line @ X3 { .. }) => model.line(m, p, line, by(free_quietly)),
    }

    /// X2 gives away a slot that the process may have lost, and X3 frees such a slot.
    Generous: |model, m, p| {
        At(line @ X2 { .. }) => model.line(m, p, line, by(give_what_was_mine)),
        At(line @ X3 { .. }) => model.line(m, p, line, by(free_what_was_mine)),
    }

    /// E1, E2 and E3 treat a slot as reclaimable as soon as its claim is gone.
    Trusting: |model, m, p| {
        At(line @ (E1 { .. } | E2 | E3 { .. })) => model.line(m, p, line, (trust_leases, trusting)),
    }

    /// E3, E4 and X2 remove a claim from the queue without waking the waiter behind it.
    Dreaming: |model, m, p| {
        At(line @ (E3 { .. } | E4 | X2 { .. })) => model.line(m, p, line, by(remove_claim_unnoticed)),
    }
}

fn claim_ahead_of_the_queue(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| match line {
        E1 { slot }
            if !hall.closed
                && hall.claim_state(p) == ClaimState::Absent
                && hall.take(p) == 1
                && hall.smallest_free() == Some(slot) =>
        {
            hall.slots[slot] = Slot::Given(p);
        }
        line => hall.request(p, line),
    };
    transact_by(word, argument, request, Hall::answer)
}

fn claim_a_part(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| match line {
        E1 { slot }
            if hall.queue.is_empty()
                && hall.claim_state(p) == ClaimState::Absent
                && hall.smallest_free() == Some(slot) =>
        {
            hall.slots[slot] = Slot::Given(p);
        }
        line => hall.request(p, line),
    };
    transact_by(word, argument, request, Hall::answer)
}

fn claim_again(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| match line {
        E1 { slot } if !hall.closed => {
            if hall.queue.is_empty() && hall.smallest_free() == Some(slot) {
                hall.slots[slot] = Slot::Given(p);
            } else if !hall.queue.contains(&p) {
                hall.queue.push(p);
            }
        }
        line => hall.request(p, line),
    };
    transact_by(word, argument, request, Hall::answer)
}

fn give_blindly(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| {
        if let Some((slot, was, to)) = gift(line)
            && hall.still_is(p, slot, was)
        {
            hall.assign(slot, to);
        }
    };
    transact_by(word, argument, request, Hall::answer)
}

fn withdraw_and_leave(word: Word, argument: Word) -> Word {
    transact_by(word, argument, Hall::request, |_, _, _| Leave)
}

fn look_without_handing_over(word: Word, argument: Word) -> Word {
    transact_by(word, argument, Hall::request, never_hand_over)
}

fn never_hand_over(hall: &Hall, p: Pid, line: Line<Pid>) -> Next<Line<Pid>> {
    match hall.answer(p, line) {
        Goto(X2 { slot, .. }) => Goto(X3 { slot, anyway: true }),
        next => next,
    }
}

fn free_quietly(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| {
        if let X3 { slot, anyway } = line
            && hall.slots[slot] == Slot::Given(p)
            && (anyway || hall.queue.is_empty())
        {
            hall.slots[slot] = Slot::Free;
            hall.wake_head();
        }
    };
    transact_by(word, argument, request, Hall::answer)
}

fn give_what_was_mine(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| {
        if let X2 { slot, to } = line
            && hall.still_waits(p, to)
        {
            hall.assign(slot, to);
        }
    };
    transact_by(word, argument, request, Hall::answer)
}

fn free_what_was_mine(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| {
        if let X3 { slot, .. } = line {
            // Frees the slot as if it were assigned to `p`, whatever its state is. If the request does not free it,
            // because others wait, the slot gets its old state back.
            let was = core::mem::replace(&mut hall.slots[slot], Slot::Given(p));
            hall.request(p, line);
            if hall.slots[slot] != Slot::Free {
                hall.slots[slot] = was;
            }
        }
    };
    transact_by(word, argument, request, Hall::answer)
}

fn trust_leases(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| match line {
        E3 { slot, was: Was::Stale, to }
            if matches!(hall.slots[slot], Slot::Stale(_)) && hall.still_waits(p, to) =>
        {
            hall.assign(slot, to);
        }
        line => hall.request(p, line),
    };
    transact_by(word, argument, request, trusting)
}

fn trusting(hall: &Hall, p: Pid, line: Line<Pid>) -> Next<Line<Pid>> {
    let mut picture = hall.picture(p);
    let is_stale = |slot: &Slot| matches!(slot, Slot::Left | Slot::Stale(_));
    picture.stale = hall.slots[..hall.size].iter().position(is_stale);
    hall.answer_to(line, picture)
}

fn remove_claim_unnoticed(word: Word, argument: Word) -> Word {
    let request = |hall: &mut Hall, p: Pid, line: Line<Pid>| match gift(line) {
        Some((slot, was, to)) => {
            if hall.still_is(p, slot, was) && hall.still_waits(p, to) {
                hall.slots[slot] = Slot::Given(to);
                hall.remove_claim_silently(to);
                hall.wake(to);
            }
        }
        None => drop(hall.remove_claim_silently(p)),
    };
    transact_by(word, argument, request, Hall::answer)
}

/// Returns the slot that E3 or X2 gives away, its state before, and the receiver.
fn gift(line: Line<Pid>) -> Option<(usize, Was, Pid)> {
    match line {
        E3 { slot, was, to } => Some((slot, was, to)),
        X2 { slot, to } => Some((slot, Was::Mine, to)),
        _ => None,
    }
}
