//! Passes for several slots of one request.

use std::{fmt, mem, os::fd::BorrowedFd};

use crate::{hall::SharedHall, many::HeldSlots};

/// Declares passes for several slots. Both kinds have the same methods.
macro_rules! passes {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?, $hall:ty) => {
        $(#[$doc])*
        #[must_use = "dropping the passes frees their slots immediately"]
        pub struct $name $(<$life>)? {
            hall: $hall,
            held: HeldSlots,
        }

        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) fn new(hall: $hall, held: HeldSlots) -> Self {
                $name { hall, held }
            }

            /// Returns the slots, in ascending order.
            pub fn slots(&self) -> &[usize] {
                &self.held.slots
            }

            /// Returns the number of slots.
            pub fn len(&self) -> usize {
                self.held.slots.len()
            }

            /// Returns `true` if the request was for 0 slots.
            pub fn is_empty(&self) -> bool {
                self.held.slots.is_empty()
            }

            /// Returns the descriptor of the *lifeline*, the pipe by which other processes notice that this process
            /// has died. Returns `None` if there are no slots. If this process dies, the slots stay taken while any
            /// other process has the descriptor open. Dropping the passes frees the slots anyway.
            ///
            /// The descriptor is closed on exec. To hand it to a child process, duplicate it with `dup`, or clear its
            /// close-on-exec flag. No process has to read from the descriptor or write to it.
            pub fn lifeline(&self) -> Option<BorrowedFd<'_>> {
                self.held.registration.as_ref().map(|registration| registration.lifeline())
            }

            /// Keeps the slots taken until no process has the [lifeline](Self::lifeline) open. This process
            /// has the lifeline open until it exits or execs.
            pub fn leave_to_lifeline(mut self) {
                mem::forget(self.held.registration.take());
            }
        }

        impl $(<$life>)? Drop for $name $(<$life>)? {
            fn drop(&mut self) {
                self.held.release(&self.hall.handle);
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                shown.field("slots", &self.slots()).finish_non_exhaustive()
            }
        }
    };
}

passes! {
    /// A guard that holds several slots of a [`SharedHall`]. Dropping it frees all of them.
    ///
    /// If its process is killed, all of them become free.
    SharedPasses<'a>, &'a SharedHall
}

passes! {
    /// A guard that holds several slots of a [`SharedHall`] and does not borrow the hall. Dropping it frees all of
    /// them.
    ///
    /// If its process is killed, all of them become free.
    OwnedSharedPasses, SharedHall
}
