//! The changes to the store that no line of the protocol makes: the effects of mishaps, and the changes by the manager
//! (see [`Casts`](super::Casts)).

use super::hall::{Backup, Hall, Late, Slot};
use crate::framework::memory::{Pid, Word};

/// Updates `word` when process `p` dies and its lease ends.
pub(super) fn dies(word: Word, p: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.remove_claim(p as Pid);
    hall.lose(p as Pid, true);
    hall.pack()
}

/// Updates `word` when the lease of process `p` ends while the process is alive.
pub(super) fn expires(word: Word, p: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.remove_claim(p as Pid);
    hall.lose(p as Pid, false);
    hall.pack()
}

/// Marks `p`: the answer to its next transaction gets lost. Does nothing if a process has this mark already.
pub(super) fn breaks(word: Word, p: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.unheard = hall.unheard.or(Some(p as Pid));
    hall.pack()
}

/// Marks `p`: the next of its requests for which `can_hang` returns `true` hangs in the network. Does nothing if a
/// request hangs already, or if a process has this mark already.
pub(super) fn delays(word: Word, p: Word) -> Word {
    let mut hall = Hall::unpack(word);
    if hall.late == Late::Nothing {
        hall.late = Late::Next(p as Pid);
    }
    hall.pack()
}

/// Delivers the request that hangs. It has no effect if a record on which it depends is gone.
pub(super) fn deliver(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    if let Late::Sent { from, line, is_bound } = hall.late {
        hall.late = Late::Nothing;
        if is_bound {
            hall.request_late(from, line);
        }
    }
    hall.pack()
}

/// Toggles the clock. While it is set, waiters give up.
pub(super) fn turn_clock(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.clock = !hall.clock;
    hall.pack()
}

/// Makes the hall small if it is large, and large if it is small.
pub(super) fn resize(word: Word, sizes: Word) -> Word {
    let mut hall = Hall::unpack(word);
    let (small, large) = (sizes as usize % 8, sizes as usize / 8);
    hall.size = if hall.size == large { small } else { large };
    hall.wake_all();
    hall.pack()
}

/// Gives a free slot to the head of the queue, as `ClusterHall::resize` does after it has made the hall larger. The
/// event [`resize`] of the model hands over no slot.
pub(super) fn hand_over(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    if let (Some(slot), Some(&head)) = (hall.smallest_free(), hall.queue.first())
        && !hall.closed
        && hall.take(head) == 1
    {
        hall.assign(slot, head);
    }
    hall.pack()
}

/// Gives the head of the queue a slot whose claim has been gone for long enough. Frees that slot if nobody waits, or if
/// the head takes two slots.
pub(super) fn reap(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.reap(|slot| *slot == Slot::Left);
    hall.pack()
}

/// Removes the hall by force and creates it again. All claims are gone, but the records of slots stay, so that no slot
/// is assigned as long as its old holder may still use it.
pub(super) fn remake(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.forget_claims();
    hall.lose_all(Slot::Left);
    hall.pack()
}

/// Wipes the store: it loses its history, and with it all claims and slots. Processes notice this, and assign no slot
/// as long as a holder that the store no longer shows may still use it.
pub(super) fn wipe(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.forget_claims();
    hall.lose_all(Slot::Free);
    hall.pack()
}

/// Makes every holder whose lease has ended create its claim again. Such a holder still has its slot.
pub(super) fn attach(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    for slot in &mut hall.slots {
        if let Slot::Stale(owner) = *slot {
            *slot = Slot::Held(owner);
        }
    }
    hall.pack()
}

/// Closes the hall.
pub(super) fn close(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    hall.closed = true;
    hall.wake_all();
    hall.pack()
}

/// Makes a backup of the store.
pub(super) fn back_up(word: Word, _: Word) -> Word {
    let mut hall = Hall::unpack(word);
    let taken = hall.slots.map(|slot| slot != Slot::Free);
    hall.backup = Some(Backup { taken, waits: !hall.queue.is_empty() });
    hall.pack()
}

/// Restores the store from the backup. `ghost` stands for the owners of all claims in the backup: their processes
/// notice that history was lost, and do not use these claims. No slot is assigned as long as a holder may still use it,
/// even if the restored store shows no holder.
pub(super) fn restore(word: Word, ghost: Word) -> Word {
    restore_by(word, ghost, |slot| match slot {
        Slot::Held(owner) | Slot::Stale(owner) => Some(Slot::Stale(owner)),
        _ => None,
    })
}

/// Restores the store from the backup. `keep` gets the state of a slot before the restore. If `keep` returns a state,
/// the slot gets this state, and otherwise the one in the backup.
pub(super) fn restore_by(word: Word, ghost: Word, keep: fn(Slot) -> Option<Slot>) -> Word {
    let mut hall = Hall::unpack(word);
    let Some(Backup { taken, waits }) = hall.backup.take() else { return word };
    hall.forget_claims();
    hall.queue.extend(waits.then_some(ghost as Pid));
    for (slot, taken) in hall.slots.iter_mut().zip(taken) {
        let restored = if taken { Slot::Given(ghost as Pid) } else { Slot::Free };
        *slot = keep(*slot).unwrap_or(restored);
    }
    hall.pack()
}
