//! The guards: whoever has one is in.

use std::{fmt, sync::Arc};

use hallpass_algorithms::Word;

use crate::hall::Hall;

/// One slot, taken from the hall behind `H`.
pub(crate) struct One<H: AsHall> {
    pub(crate) hall: H,
    pub(crate) slot: u32,
}

/// No slot to give back.
const FORGOTTEN: u32 = u32::MAX;

/// Several slots.
pub(crate) struct Several<H: AsHall> {
    pub(crate) hall: H,
    pub(crate) slots: Slots,
}

/// A hall, borrowed or shared.
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

/// Which slots.
pub(crate) enum Slots {
    /// Bits of a word.
    Mask(Word),
    /// Numbers, ascending.
    List(Box<[u32]>),
}

impl Slots {
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (mask, list) = match self {
            Slots::Mask(mask) => (*mask, &[][..]),
            Slots::List(list) => (0, &**list),
        };
        let bits = (0..u64::BITS as usize).filter(move |slot| mask >> slot & 1 != 0);
        bits.chain(list.iter().map(|&slot| slot as usize))
    }

    fn len(&self) -> usize {
        match self {
            Slots::Mask(mask) => mask.count_ones() as usize,
            Slots::List(list) => list.len(),
        }
    }
}

impl<H: AsHall> Drop for One<H> {
    #[inline]
    fn drop(&mut self) {
        if self.slot != FORGOTTEN {
            self.hall.hall().release(self.slot);
        }
    }
}

impl<H: AsHall> Drop for Several<H> {
    fn drop(&mut self) {
        self.hall.hall().release_many(&self.slots);
    }
}

/// Declares a guard of one slot.
macro_rules! one {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? of $hall:ty) => {
        $(#[$doc])*
        #[must_use = "who drops its pass is out again"]
        pub struct $name $(<$life>)? (pub(crate) One<$hall>);

        impl $(<$life>)? $name $(<$life>)? {
            /// Which slot it is: from 0 to one less than there are, and nobody else's.
            #[inline]
            pub fn slot(&self) -> usize {
                self.0.slot as usize
            }

            /// Takes the slot out of the hall for ever: it is not given back, and there is one pass
            /// less. To `Hall::resize` it is held for ever: a hall that is then made so small that the
            /// slot is none of its own waits for it for ever, and hands out all passes by its queue.
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
        #[must_use = "who drops its passes is out again"]
        pub struct $name $(<$life>)? (pub(crate) Several<$hall>);

        impl $(<$life>)? $name $(<$life>)? {
            /// Which slots these are, ascending.
            pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
                self.0.slots.iter()
            }

            /// How many.
            pub fn len(&self) -> usize {
                self.0.slots.len()
            }

            /// Whether it is none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Takes the slots out of the hall for ever. To `Hall::resize` they are held for ever.
            pub fn forget(mut self) {
                self.0.slots = Slots::Mask(0);
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
    /// A pass: whoever has it is in, with a slot of its own. Dropping it gives the slot back.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// let hall = Hall::new(2);
    /// let (first, second) = (hall.acquire()?, hall.acquire()?);
    /// assert_eq!((first.slot(), second.slot()), (0, 1));
    /// drop(first);
    /// assert_eq!(hall.acquire()?.slot(), 0); // the smallest that is free
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    Pass<'a> of &'a Hall
}

one! {
    /// A pass that shares its hall instead of borrowing it, to be kept or sent anywhere.
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
    /// Several passes that were given together.
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
    /// Several passes that share their hall.
    OwnedPasses of Arc<Hall>
}
