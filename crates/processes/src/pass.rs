//! Passes: the right to be in, and the slot that comes with it.

use std::{fmt, mem, os::fd::BorrowedFd};

use crate::{hall::SharedHall, inner::Held, member::Member};

/// What a pass of either kind can do.
macro_rules! pass {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?, $hall:ty) => {
        $(#[$doc])*
        #[must_use = "dropping a pass gives the slot back at once"]
        pub struct $name $(<$life>)? {
            hall: $hall,
            /// Taken out when it is dropped.
            member: Option<Box<Member>>,
            held: Held,
        }

        impl $(<$life>)? $name $(<$life>)? {
            #[inline]
            pub(crate) fn new(hall: $hall, member: Box<Member>, held: Held) -> Self {
                $name { hall, member: Some(member), held }
            }

            /// The slot: below the number of slots, and nobody else's meanwhile.
            #[inline]
            pub fn slot(&self) -> usize {
                self.held.slot
            }

            /// Whether it is this process's, and not that of the one that it was forked from.
            #[allow(dead_code, reason = "of an owned pass nobody asks it")]
            pub(crate) fn is_ours(&self) -> bool {
                self.member.as_ref().is_some_and(|member| member.is_ours())
            }

            /// While any process has this descriptor open, the slot stays taken even if this process
            /// dies. It closes on exec; a child gets it by `dup`, or where that flag is cleared.
            /// Nobody need read or write it.
            pub fn lifeline(&self) -> BorrowedFd<'_> {
                self.member.as_ref().expect("taken out only when it is dropped").lifeline()
            }

            /// Does not give the slot back: it stays taken until no process has the
            /// [lifeline](Self::lifeline) open, this one included, which keeps it until it exits or
            /// execs.
            pub fn leave_to_lifeline(mut self) {
                mem::forget(self.member.take());
            }
        }

        impl $(<$life>)? Drop for $name $(<$life>)? {
            #[inline(always)]
            fn drop(&mut self) {
                if let Some(member) = self.member.take() {
                    self.hall.inner.exit(member, self.held);
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
    /// A slot, held until this is dropped.
    SharedPass<'a>, &'a SharedHall
}

pass! {
    /// A slot, held until this is dropped, which does not borrow the hall.
    OwnedSharedPass, SharedHall
}
