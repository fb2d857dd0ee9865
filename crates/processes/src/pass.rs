//! Passes: guards that hold a slot.

use std::{fmt, mem, os::fd::BorrowedFd};

use crate::{hall::SharedHall, handle::Held, registration::Registration};

/// Declares a pass. Both kinds have the same methods.
macro_rules! pass {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?, $hall:ty) => {
        $(#[$doc])*
        #[must_use = "dropping a pass frees its slot immediately"]
        pub struct $name $(<$life>)? {
            hall: $hall,
            /// `Some` until the pass is dropped.
            registration: Option<Box<Registration>>,
            held: Held,
        }

        impl $(<$life>)? $name $(<$life>)? {
            #[inline]
            pub(crate) fn new(hall: $hall, registration: Box<Registration>, held: Held) -> Self {
                $name { hall, registration: Some(registration), held }
            }

            /// Returns the slot: a number from 0 to k-1 that no other holder has.
            #[inline]
            pub fn slot(&self) -> usize {
                self.held.slot
            }

            /// Returns `true` if this process acquired the pass. Returns `false` in a forked child that inherited it.
            #[allow(dead_code, reason = "not called for an owned pass")]
            pub(crate) fn is_ours(&self) -> bool {
                self.registration.as_ref().is_some_and(|registration| registration.is_ours())
            }

            /// Returns the descriptor of the *lifeline*: the pipe by which other processes notice that this process
            /// has died. If this process dies, the slot stays taken while any other process has the descriptor open.
            /// Dropping the pass frees the slot anyway.
            ///
            /// The descriptor is closed on exec. To hand it to a child process, duplicate it with `dup`, or clear its
            /// close-on-exec flag. No process has to read from it or write to it.
            ///
            /// # Examples
            /// ```
            /// use std::process::{Command, Stdio};
            ///
            /// # let temp = tempfile::tempdir()?;
            /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
            /// let pass = hall.acquire()?;
            /// let lifeline = pass.lifeline().try_clone_to_owned()?;
            /// // The lifeline is the standard input of `true`: if this process dies, `true` keeps the slot.
            /// Command::new("true").stdin(Stdio::from(lifeline)).status()?;
            /// drop(pass);
            /// assert_eq!(hall.available(), 1);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn lifeline(&self) -> BorrowedFd<'_> {
                self.registration.as_ref().expect("taken out only on drop").lifeline()
            }

            /// Keeps the slot taken until no process has the [lifeline](Self::lifeline) open. This process
            /// has the lifeline open until it exits or execs.
            ///
            /// # Examples
            /// ```
            /// # let temp = tempfile::tempdir()?;
            /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 2)?;
            /// let pass = hall.acquire()?;
            /// pass.leave_to_lifeline();
            /// assert_eq!(hall.available(), 1); // this process still has the lifeline open
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
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
    /// A guard that holds a slot of a [`SharedHall`]. Dropping it frees the slot.
    SharedPass<'a>, &'a SharedHall
}

pass! {
    /// A guard that holds a slot of a [`SharedHall`] and does not borrow the hall. Dropping it frees the slot.
    OwnedSharedPass, SharedHall
}
