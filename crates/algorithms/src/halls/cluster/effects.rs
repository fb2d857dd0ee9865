//! Changes to a hall besides the requests of lines: claims end, and waiters are woken. The model also has a request
//! that *hangs* in the network and arrives late: see [`Late`].

use super::{
    hall::{Hall, Knowledge, Late, MAX_PROCESSES, Slot},
    lines::Ask,
};
use crate::framework::memory::Pid;

impl Hall {
    /// Takes the slots away from `p`, whose lease has ended. Wakes the head of the queue if the state of a slot has
    /// changed. `dead` says whether `p` has also stopped using its slots.
    pub fn lose(&mut self, p: Pid, dead: bool) {
        if self.lose_slots(p, dead) {
            self.wake_head();
        }
    }

    /// Takes the slots away from `p`. Wakes `p`, but not the head of the queue. Returns whether the state of a slot has
    /// changed.
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

    /// Gives the smallest slot that is `reclaimable` to the head of the queue. Frees this slot if nobody waits, or
    /// if the head takes two slots.
    pub fn reap(&mut self, reclaimable: impl Fn(&Slot) -> bool) {
        let Some(slot) = self.slots[..self.size].iter().position(reclaimable) else { return };
        match self.queue.first() {
            Some(&head) if self.take(head) == 1 => self.assign(slot, head),
            Some(_) => self.free_stale(slot),
            None => {
                self.end_staleness(slot);
                self.slots[slot] = Slot::Free;
            }
        }
    }

    /// Removes all claims from the queue, and wakes all waiters. Makes the request that hangs ineffective.
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

    /// Removes the claim of `p` from the queue, if it is there, and wakes the waiter behind it.
    pub fn remove_claim(&mut self, p: Pid) {
        if let Some(behind) = self.remove_claim_silently(p) {
            self.wake(behind);
        }
    }

    /// Removes the claim of `p` from the queue, if it is there, and wakes no waiter. Returns the waiter that was behind
    /// it.
    pub fn remove_claim_silently(&mut self, p: Pid) -> Option<Pid> {
        let position = self.queue.iter().position(|&waiting| waiting == p)?;
        self.queue.remove(position);
        self.unbind_late_if(|ask| matches!(ask, Ask::Give { to, .. } if to == p));
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
