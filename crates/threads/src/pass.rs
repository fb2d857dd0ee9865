//! The guards. A holder owns a guard; dropping it frees the slot.

use std::{fmt, mem, ptr, sync::Arc, vec};

use hallpass_algorithms::Word;

use crate::hall::Hall;

/// One slot, taken from the hall behind `H`.
pub(crate) struct One<H: AsHall> {
    pub(crate) hall: H,
    pub(crate) slot: u32,
}

/// The value of `slot` in a pass that was forgotten. Such a pass frees no slot.
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

    /// Takes all slots out.
    fn take(&mut self) -> Self {
        mem::replace(self, HeldSlots::Bits(0))
    }

    /// Takes the `count` largest slots out. There are at least `count` slots.
    fn split_off(&mut self, count: usize) -> Self {
        let kept = self.len() - count;
        match self {
            HeldSlots::Bits(bits) => {
                let off = (0..kept).fold(*bits, |rest, _| rest & (rest - 1));
                *bits -= off;
                HeldSlots::Bits(off)
            }
            HeldSlots::List(list) => {
                let mut all = mem::take(list).into_vec();
                let off = all.split_off(kept);
                *list = all.into_boxed_slice();
                HeldSlots::List(off.into_boxed_slice())
            }
        }
    }

    /// Adds the slots of another request to the same hall.
    fn merge(&mut self, other: Self) {
        *self = match (self.take(), other) {
            (HeldSlots::Bits(one), HeldSlots::Bits(other)) => HeldSlots::Bits(one | other),
            // A request for no slots returns `Bits` in every hall, so this `Bits` is empty.
            (HeldSlots::Bits(_), list) | (list, HeldSlots::Bits(_)) => list,
            (HeldSlots::List(one), HeldSlots::List(other)) => {
                let in_order = one.last() < other.first();
                let mut all = one.into_vec();
                all.extend(other);
                if !in_order {
                    all.sort_unstable();
                }
                HeldSlots::List(all.into_boxed_slice())
            }
        };
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

            /// Drops the pass without freeing its slot. From then on, the hall has one usable slot fewer.
            ///
            /// [`Hall::resize`] treats the slot as held. If the hall shrinks so much that it no longer has this
            /// slot, it still counts the slot as held. Until the hall is large enough for the slot again, callers
            /// may have to go through the queue instead of the fast path.
            ///
            /// ```
            /// # use hallpass_threads as hallpass;
            /// use hallpass::Hall;
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
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? of $hall:ty, each $one:ident) => {
        $(#[$doc])*
        #[must_use = "dropping passes frees their slots"]
        pub struct $name $(<$life>)? (pub(crate) Several<$hall>);

        impl $(<$life>)? $name $(<$life>)? {
            /// Returns the slots of these passes, in ascending order.
            pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
                self.0.slots.iter()
            }

            /// Returns the number of slots that are held.
            pub fn len(&self) -> usize {
                self.0.slots.len()
            }

            /// Returns `true` if no slots are held.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Takes the `count` largest slots out of these passes, and returns them. Returns `None` if these passes
            /// hold fewer than `count` slots.
            ///
            /// ```
            /// # use hallpass_threads as hallpass;
            /// use hallpass::Hall;
            /// let hall = Hall::new(4);
            /// let mut passes = hall.acquire_many(3)?;
            /// let one = passes.split_off(1).expect("three are held");
            /// assert!(one.slots().eq([2]) && passes.slots().eq([0, 1]));
            /// passes.merge(one);
            /// assert_eq!(passes.len(), 3);
            /// # Ok::<(), hallpass_threads::AcquireError>(())
            /// ```
            pub fn split_off(&mut self, count: usize) -> Option<Self> {
                if count > self.len() {
                    return None;
                }
                let slots = self.0.slots.split_off(count);
                Some($name(Several { hall: Clone::clone(&self.0.hall), slots }))
            }

            /// Adds the slots of `other` to these passes.
            ///
            /// # Panics
            /// Panics if `other` belongs to a different hall.
            pub fn merge(&mut self, mut other: Self) {
                let same = ptr::eq(self.0.hall.hall(), other.0.hall.hall());
                assert!(same, "passes of different halls cannot be merged");
                self.0.slots.merge(other.0.slots.take());
            }

            /// Drops the passes without freeing their slots; see [`Pass::forget`].
            pub fn forget(mut self) {
                self.0.slots = HeldSlots::Bits(0);
            }
        }

        /// Makes a separate pass for each slot, in ascending order.
        impl $(<$life>)? IntoIterator for $name $(<$life>)? {
            type Item = $one $(<$life>)?;
            type IntoIter = vec::IntoIter<Self::Item>;

            fn into_iter(mut self) -> Self::IntoIter {
                let slots = self.0.slots.take();
                let pass = |slot| $one(One { hall: Clone::clone(&self.0.hall), slot: slot as u32 });
                slots.iter().map(pass).collect::<Vec<_>>().into_iter()
            }
        }

        impl $(<$life>)? From<$one $(<$life>)?> for $name $(<$life>)? {
            fn from(pass: $one $(<$life>)?) -> Self {
                let (hall, slot) = (Clone::clone(&pass.0.hall), pass.0.slot);
                pass.forget();
                let slots = match hall.hall().has_slots_in_word() {
                    true => HeldSlots::Bits(1 << slot),
                    false => HeldSlots::List(Box::new([slot])),
                };
                $name(Several { hall, slots })
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
    /// A pass is not bound to a thread: it can be sent to another thread and dropped there.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
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
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
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
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(4);
    /// let passes = hall.acquire_many(3)?;
    /// assert_eq!(passes.slots().collect::<Vec<_>>(), [0, 1, 2]);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    Passes<'a> of &'a Hall, each Pass
}

several! {
    /// [`Passes`] that own a reference to their hall.
    OwnedPasses of Arc<Hall>, each OwnedPass
}

/// Declares the method that returns the hall of a guard.
macro_rules! hall {
    ($name:ident $(<$life:lifetime>)? => $hall:ty, |$guard:ident| $expression:expr) => {
        impl $(<$life>)? $name $(<$life>)? {
            /// Returns the hall whose slots are held.
            #[inline]
            pub fn hall(&self) -> $hall {
                let $guard = &self.0;
                $expression
            }
        }
    };
}

hall!(Pass<'a> => &'a Hall, |one| one.hall);
hall!(OwnedPass => &Arc<Hall>, |one| &one.hall);
hall!(Passes<'a> => &'a Hall, |several| several.hall);
hall!(OwnedPasses => &Arc<Hall>, |several| &several.hall);
