//! Passes: guards that hold a slot.

use std::{fmt, mem, os::fd::BorrowedFd};

use crate::{hall::SharedHall, handle::Held, registration::Registration};

/// Declares a pass. Both kinds have the same methods.
macro_rules! pass {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?, $hall:ty) => {
        $(#[$doc])*
        #[must_use = "dropping a pass frees its slot at once"]
        pub struct $name $(<$life>)? {
            hall: $hall,
            /// Taken out when the pass is dropped.
            registration: Option<Box<Registration>>,
            held: Held,
        }

        impl $(<$life>)? $name $(<$life>)? {
            #[inline]
            pub(crate) fn new(hall: $hall, registration: Box<Registration>, held: Held) -> Self {
                $name { hall, registration: Some(registration), held }
            }

            /// Returns the slot, a number below the number of slots that no other holder has.
            #[inline]
            pub fn slot(&self) -> usize {
                self.held.slot
            }

            /// Returns `true` if this process acquired the pass, and not the process it was forked from.
            #[allow(dead_code, reason = "not called for an owned pass")]
            pub(crate) fn is_ours(&self) -> bool {
                self.registration.as_ref().is_some_and(|registration| registration.is_ours())
            }

            /// Returns a descriptor that keeps the slot taken while any process has it open, even if this
            /// process dies.
            ///
            /// It is closed on exec. A child process gets it by `dup`, or if the close-on-exec flag is
            /// cleared. No process needs to read or write it.
            pub fn lifeline(&self) -> BorrowedFd<'_> {
                self.registration.as_ref().expect("taken out only on drop").lifeline()
            }

            /// Keeps the slot taken until no process has the [lifeline](Self::lifeline) open. This process
            /// has it open until it exits or execs.
            pub fn leave_to_lifeline(mut self) {
                mem::forget(self.registration.take());
            }
        }

        impl $(<$life>)? Drop for $name $(<$life>)? {
            #[inline(always)]
            fn drop(&mut self) {
                if let Some(registration) = self.registration.take() {
                    self.hall.handle.exit(registration, self.held);
                }
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("slot", &self.slot()).finish_non_exhaustive()
            }
        }
    };
}

pass! {
    /// Holds a slot of a [`SharedHall`]. Dropping it frees the slot.
    SharedPass<'a>, &'a SharedHall
}

pass! {
    /// Holds a slot of a [`SharedHall`] without borrowing it. Dropping it frees the slot.
    OwnedSharedPass, SharedHall
}
