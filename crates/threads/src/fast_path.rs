//! The fast path, down to the atomics.
//!
//! If nobody waits, a pass costs two or three atomic read-modify-writes. (In a hall that can have more than 32 slots, a
//! pass with slot 16 or higher also needs accesses in `slot_bits`.) All of them are in this file:
//!
//! - [`Hall::acquire`] → `acquire_slot` → `take_one`: a compare-and-swap that guesses that the hall is empty (lines L1
//!   and L2 of the step machine), and a second one (line L2) if the guess is wrong;
//! - dropping the pass → `release_slot` → `put_back`: a fetch-and-add (line X1).
//!
//! If the fast path fails, or if there are waiters, the call continues in a `#[cold]` function of `contended`.

use std::sync::atomic::Ordering::Relaxed;

use hallpass_algorithms::{
    Op, Word,
    halls::threads::{
        BITS_OF_WIDE, Bits, Fair, FastEnvironment, OvertakeEnvironment, Policy, Pool, WideBits,
        fast::{self, Looked, Offer},
    },
};

use crate::{
    hall::Hall,
    mode::{Mode, by_mode},
    parking::Deadline,
    slot_bits::SlotBits,
};

/// The environment of the fast path: only `word`.
impl FastEnvironment for &Hall {
    #[inline(always)]
    fn word(&mut self, op: Op) -> Word {
        op.apply(&self.word)
    }
}

/// The environment of a newcomer that may overtake: `word` and `credit`.
impl OvertakeEnvironment for &Hall {
    #[inline(always)]
    fn credit(&mut self, op: Op) -> Word {
        op.apply(&self.credit)
    }
}

/// Taking and freeing slots without waiting.
impl Hall {
    /// Takes a slot. Returns `None` if the deadline passes first or the hall is closed.
    #[inline(always)]
    pub(crate) fn acquire_slot(&self, deadline: Deadline) -> Option<u32> {
        match self.mode {
            Mode::Fair => match self.take_one::<Bits, Fair>() {
                Some(take) => Some(take.trailing_zeros()),
                None => self.acquire_contended::<Bits, Fair>(1, deadline).map(Word::trailing_zeros),
            },
            Mode::FairWide => match self.take_one::<WideBits, Fair>() {
                Some(take) if WideBits::set(take) != 0 => Some(take.trailing_zeros()),
                taken => self.acquire_wide_slot(taken, deadline),
            },
            _ => self.acquire_slot_by_mode(deadline),
        }
    }

    /// Finishes [`acquire_slot`](Hall::acquire_slot) in a wide hall, if the caller has taken a slot that is not a bit
    /// of `word`, or no slot yet.
    #[inline(never)]
    fn acquire_wide_slot(&self, taken: Option<Word>, deadline: Deadline) -> Option<u32> {
        let take = taken.or_else(|| self.acquire_contended::<WideBits, Fair>(1, deadline))?;
        Some(self.wide_slot_of(take))
    }

    /// Does the work of [`acquire_slot`](Hall::acquire_slot) in the less common modes.
    #[inline(never)]
    fn acquire_slot_by_mode(&self, deadline: Deadline) -> Option<u32> {
        let take = self
            .take_any(1)
            .or_else(|| by_mode!(self.mode, self.acquire_contended(1, deadline)))?;
        Some(self.slot_of(take))
    }

    /// Takes a free slot, if nobody waits (lines L1 and L2). This is fastest if the hall is empty.
    #[inline(always)]
    fn take_one<P: Pool, M: Policy>(&self) -> Option<Word> {
        let guess = self.empty.load(Relaxed);
        match fast::look_or_take::<P, M, _>(&mut &*self, 1, guess) {
            Looked::Taken(take) => Some(take), // after one compare-and-swap
            Looked::Offer(offer) => self.take_offer(offer?),
        }
    }

    /// Takes `need` free slots, if nobody waits (lines L1 and L2).
    #[inline(always)]
    pub(crate) fn take_free<P: Pool, M: Policy>(&self, need: u32) -> Option<Word> {
        let offer = fast::look::<P, M, _>(&mut &*self, need)?; // a load
        self.take_offer(offer)
    }

    /// Takes the slots that L1 has chosen (line L2).
    #[inline(always)]
    fn take_offer(&self, offer: Offer) -> Option<Word> {
        fast::take(&mut &*self, offer).then_some(offer.take) // a compare-and-swap
    }

    /// Does the work of [`take_free`](Hall::take_free) in any mode.
    #[inline]
    pub(crate) fn take_any(&self, need: u32) -> Option<Word> {
        match self.mode {
            Mode::Fair => self.take_free::<Bits, Fair>(need),
            _ => self.take_by_mode(need),
        }
    }

    /// Does the work of [`take_any`](Hall::take_any) in the less common modes.
    #[inline(never)]
    fn take_by_mode(&self, need: u32) -> Option<Word> {
        by_mode!(self.mode, self.take_free(need))
    }

    /// Frees a slot.
    #[inline(always)]
    pub(crate) fn release_slot(&self, slot: u32) {
        match self.mode {
            Mode::Fair => self.put_back::<Bits, Fair>(1 << slot),
            Mode::FairWide if slot < BITS_OF_WIDE => self.put_back::<WideBits, Fair>(1 << slot),
            _ => self.release_slot_by_mode(slot),
        }
    }

    /// Does the work of [`release_slot`](Hall::release_slot) in the less common modes.
    #[inline(never)]
    fn release_slot_by_mode(&self, slot: u32) {
        let take = if !self.mode.is_wide() || slot < BITS_OF_WIDE {
            1 << slot
        } else {
            self.slot_bits().put(slot - BITS_OF_WIDE);
            WideBits::join(0, 1)
        };
        match self.mode {
            Mode::FairWide => self.put_back::<WideBits, Fair>(take),
            _ => self.put_back_any(take),
        }
    }

    /// Releases the taken slots (line X1), and serves the waiters if there are any.
    #[inline(always)]
    fn put_back<P: Pool, M: Policy>(&self, take: Word) {
        let others_wait = fast::put_back::<M, _>(&mut &*self, take); // a fetch-and-add
        if others_wait {
            self.release_contended::<P, M>();
        }
        if M::BYPASSES {
            self.rotation.passage_ends();
        }
    }

    /// Does the work of [`put_back`](Hall::put_back) in any mode. In a wide hall, the caller must first put the slot
    /// numbers back.
    #[inline]
    pub(crate) fn put_back_any(&self, take: Word) {
        match self.mode {
            Mode::Fair => self.put_back::<Bits, Fair>(take),
            _ => self.put_back_by_mode(take),
        }
    }

    /// Does the work of [`put_back_any`](Hall::put_back_any) in the less common modes.
    #[inline(never)]
    fn put_back_by_mode(&self, take: Word) {
        by_mode!(self.mode, self.put_back(take));
    }

    /// Sets the value that newcomers guess for `word`: that of an empty hall with the present number of slots.
    pub(crate) fn update_guess(&self) {
        let k = self.slots();
        let empty = if self.mode.is_wide() { WideBits::all(k) } else { Bits::all(k) };
        self.empty.store(empty, Relaxed);
    }

    /// Returns the slot of a grant of one slot. In a wide hall, this may take a number from the `slot_bits`, so it is
    /// called once for each grant.
    #[inline]
    pub(crate) fn slot_of(&self, take: Word) -> u32 {
        if self.mode.is_wide() { self.wide_slot_of(take) } else { take.trailing_zeros() }
    }

    /// Does the work of [`slot_of`](Hall::slot_of) in a wide hall.
    #[inline]
    fn wide_slot_of(&self, take: Word) -> u32 {
        match WideBits::set(take) {
            0 => BITS_OF_WIDE + self.slot_bits().take(),
            set => set.trailing_zeros(),
        }
    }

    /// Returns whether each slot is a bit of `word`.
    pub(crate) fn has_slots_in_word(&self) -> bool {
        !self.mode.is_wide()
    }

    #[inline]
    pub(crate) fn slot_bits(&self) -> &SlotBits {
        self.slot_bits.get_or_init(|| Box::new(SlotBits::new((self.max - BITS_OF_WIDE) as usize)))
    }
}
