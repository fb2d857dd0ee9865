//! The guards. A holder owns a guard; dropping it frees the slot.

use std::{fmt, sync::Arc};

use hallpass_algorithms::Word;

use crate::hall::Hall;

/// One slot, taken from the hall behind `H`.
pub(crate) struct One<H: AsHall> {
    pub(crate) hall: H,
    pub(crate) slot: u32,
}

/// The slot of a pass that was forgotten: there is nothing to give back.
const FORGOTTEN: u32 = u32::MAX;

/// Several slots, taken together from the hall behind `H`.
pub(crate) struct Several<H: AsHall> {
    pub(crate) hall: H,
    pub(crate) slots: HeldSlots,
}

/// A reference to a hall, borrowed or owned.
pub(crate) trait AsHall {
    fn hall(&self) -> &Hall;
}

impl AsHall for &Hall {
    #[inline]
    fn hall(&self) -> &Hall {
        self
    }
}

impl AsHall for Arc<Hall> {
    #[inline]
    fn hall(&self) -> &Hall {
        self
    }
}

/// The slots of a holder.
pub(crate) enum HeldSlots {
    /// One bit for each slot.
    Bits(Word),
    /// The slot numbers, in ascending order.
    List(Box<[u32]>),
}

impl HeldSlots {
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (bits, list) = match self {
            HeldSlots::Bits(bits) => (*bits, &[][..]),
            HeldSlots::List(list) => (0, &**list),
        };
        let set = (0..u64::BITS as usize).filter(move |slot| bits >> slot & 1 != 0);
        set.chain(list.iter().map(|&slot| slot as usize))
    }

    fn len(&self) -> usize {
        match self {
            HeldSlots::Bits(bits) => bits.count_ones() as usize,
            HeldSlots::List(list) => list.len(),
        }
    }
}

impl<H: AsHall> Drop for One<H> {
    #[inline]
    fn drop(&mut self) {
        if self.slot != FORGOTTEN {
            self.hall.hall().release_slot(self.slot);
        }
    }
}

impl<H: AsHall> Drop for Several<H> {
    #[inline]
    fn drop(&mut self) {
        self.hall.hall().release_slots(&self.slots);
    }
}

/// Declares a guard of one slot.
macro_rules! one {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? of $hall:ty) => {
        $(#[$doc])*
        #[must_use = "dropping a pass frees its slot"]
        pub struct $name $(<$life>)? (pub(crate) One<$hall>);

        impl $(<$life>)? $name $(<$life>)? {
            /// Returns the slot of this pass: a number from 0 to k-1 that no other pass of the hall has.
            #[inline]
            pub fn slot(&self) -> usize {
                self.0.slot as usize
            }

            /// Drops the pass without freeing its slot. The hall has one usable slot less, permanently.
            ///
            /// [`Hall::resize`] treats the slot as held. If the hall shrinks so much that it no longer has this
            /// slot, it waits for the slot forever: from then on all passes go through the queue instead of the
            /// fast path.
            ///
            /// ```
            /// # use hallpass_threads::Hall;
            /// let hall = Hall::new(2);
            /// hall.acquire()?.forget(); // slot 0 is out of use, say because its device is broken
            /// assert_eq!((hall.slots(), hall.available()), (2, 1));
            /// assert_eq!(hall.acquire()?.slot(), 1);
            /// # Ok::<(), hallpass_threads::AcquireError>(())
            /// ```
            pub fn forget(mut self) {
                self.0.slot = FORGOTTEN;
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("slot", &self.slot()).finish()
            }
        }
    };
}

/// Declares a guard of several slots.
macro_rules! several {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? of $hall:ty) => {
        $(#[$doc])*
        #[must_use = "dropping passes frees their slots"]
        pub struct $name $(<$life>)? (pub(crate) Several<$hall>);

        impl $(<$life>)? $name $(<$life>)? {
            /// Returns the slots of these passes, in ascending order.
            pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
                self.0.slots.iter()
            }

            /// Returns how many slots are held.
            pub fn len(&self) -> usize {
                self.0.slots.len()
            }

            /// Returns `true` if no slots are held.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Drops the passes without freeing their slots; see [`Pass::forget`].
            pub fn forget(mut self) {
                self.0.slots = HeldSlots::Bits(0);
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let slots: Vec<usize> = self.slots().collect();
                f.debug_struct(stringify!($name)).field("slots", &slots).finish()
            }
        }
    };
}

one! {
    /// The guard that a holder owns: it holds one slot of a [`Hall`]. Dropping it frees the slot.
    ///
    /// A pass is not bound to a thread: it can be sent to another one and dropped there.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// let hall = Hall::new(2);
    /// let (first, second) = (hall.acquire()?, hall.acquire()?);
    /// assert_eq!((first.slot(), second.slot()), (0, 1));
    /// drop(first);
    /// assert_eq!(hall.acquire()?.slot(), 0); // the smallest free slot
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    Pass<'a> of &'a Hall
}

one! {
    /// A [`Pass`] that owns a reference to its hall, so that it can be stored or sent anywhere.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// # use std::{sync::Arc, thread};
    /// let hall = Arc::new(Hall::new(1));
    /// let pass = hall.acquire_owned()?;
    /// thread::spawn(move || assert_eq!(pass.slot(), 0)).join().unwrap();
    /// assert_eq!(hall.available(), 1);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    OwnedPass of Arc<Hall>
}

several! {
    /// Guards of several slots that were taken together. Dropping them frees all of the slots.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// let hall = Hall::new(4);
    /// let passes = hall.acquire_many(3)?;
    /// assert_eq!(passes.slots().collect::<Vec<_>>(), [0, 1, 2]);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    Passes<'a> of &'a Hall
}

several! {
    /// [`Passes`] that own a reference to their hall.
    OwnedPasses of Arc<Hall>
}
