//! [`Resilient`]: the universal construction (see `construction`), behind a turnstile that assigns slots.
#![allow(unsafe_code)]

use std::{
    cell::UnsafeCell,
    fmt,
    panic::{self, RefUnwindSafe, UnwindSafe},
};

use hallpass_algorithms::objects::universal::MAX_PROCESSES;

use crate::{
    construction::Construction,
    error::BuildError,
    object::Object,
    turnstile::{Admission, Turnstile},
};

/// A shared object for any number of threads. An operation completes as long as fewer than k other
/// threads have stopped in the middle of an operation.
///
/// With k = 1, the object is a lock: there is one copy, and no operation is applied twice. A thread that
/// stops in the middle of an operation blocks all others. If an operation panics and k = 1, the changes that it
/// has made stay.
///
/// ```
/// use hallpass_objects::{Object, Resilient};
///
/// /// The highest bid so far, and the bidder.
/// #[derive(Clone, Default)]
/// struct Auction(Option<(u64, String)>);
///
/// impl Object for Auction {
///     type Op = (u64, String);
///     type Ret = bool;
///     fn apply(&mut self, (bid, bidder): &(u64, String)) -> bool {
///         let wins = self.0.as_ref().is_none_or(|(highest, _)| bid > highest);
///         if wins {
///             self.0 = Some((*bid, bidder.clone()));
///         }
///         wins
///     }
/// }
///
/// let auction = Resilient::new(2, Auction::default());
/// std::thread::scope(|scope| {
///     scope.spawn(|| auction.apply((10, "Ann".into())));
///     scope.spawn(|| auction.apply((12, "Bob".into())));
/// });
/// assert_eq!(auction.read(|auction| auction.0.clone()), Some((12, "Bob".into())));
/// ```
pub struct Resilient<O: Object> {
    turnstile: Turnstile,
    inner: Inner<O>,
}

enum Inner<O: Object> {
    /// The object for k = 1. One thread at a time accesses it.
    Single(UnsafeCell<O>),
    Shared(Box<Construction<O>>),
}

// SAFETY: with k = 1, the turnstile admits one thread at a time, and only this thread accesses the
// object. For k > 1, see `Construction`.
unsafe impl<O> Sync for Resilient<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
}

// With k = 1, other threads can see the partial effect of an operation that panicked, as the documentation of
// `Resilient` states.
impl<O: Object> UnwindSafe for Resilient<O> {}
impl<O: Object> RefUnwindSafe for Resilient<O> {}

impl<O> Resilient<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// The maximum k.
    pub const MAX_K: usize = MAX_PROCESSES;

    /// Creates a shared object. At most `k` threads run operations at once. A thread that stops in the
    /// middle of an operation keeps one of the k slots.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and [`MAX_K`](Self::MAX_K); see [`try_new`](Self::try_new).
    ///
    /// ```
    /// # use hallpass_objects::{Object, Resilient};
    /// # #[derive(Clone)]
    /// # struct Sum(u64);
    /// # impl Object for Sum {
    /// #     type Op = u64;
    /// #     type Ret = u64;
    /// #     fn apply(&mut self, by: &u64) -> u64 { self.0 += by; self.0 }
    /// # }
    /// let sum = Resilient::new(2, Sum(0)); // tolerates one stopped thread
    /// assert_eq!(sum.k(), 2);
    /// ```
    #[track_caller]
    pub fn new(k: usize, object: O) -> Self {
        Self::try_new(k, object).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Creates a shared object, like [`new`](Self::new).
    ///
    /// # Errors
    /// Fails if `k` is not between 1 and [`MAX_K`](Self::MAX_K).
    ///
    /// ```
    /// use hallpass_objects::ResilientCell;
    ///
    /// let error = ResilientCell::try_new(0, "value").unwrap_err();
    /// assert!(error.to_string().starts_with("k must be between 1 and 64, got 0"));
    /// ```
    pub fn try_new(k: usize, object: O) -> Result<Self, BuildError> {
        BuildError::check(k)?;
        let inner = match k {
            1 => Inner::Single(UnsafeCell::new(object)),
            _ => Inner::Shared(Box::new(Construction::new(k, object))),
        };
        Ok(Resilient { turnstile: Turnstile::new(k), inner })
    }

    /// Applies the operation and returns its result.
    ///
    /// # Panics
    /// Panics if the operation panics. With k > 1, the operation then has no effect. If cloning the
    /// object panics, the operation may or may not have taken effect, and the thread counts as stopped
    /// in the middle of an operation. After k such panics, no operation completes.
    ///
    /// ```
    /// # use hallpass_objects::{Object, Resilient};
    /// # #[derive(Clone)]
    /// # struct Sum(u64);
    /// # impl Object for Sum {
    /// #     type Op = u64;
    /// #     type Ret = u64;
    /// #     fn apply(&mut self, by: &u64) -> u64 { self.0 += by; self.0 }
    /// # }
    /// let sum = Resilient::new(2, Sum(0));
    /// assert_eq!([sum.apply(2), sum.apply(3)], [2, 5]);
    /// ```
    pub fn apply(&self, op: O::Op) -> O::Ret {
        match &self.inner {
            // SAFETY: k = 1, so one thread at a time runs this closure.
            Inner::Single(object) => self.exclusively(|| unsafe { &mut *object.get() }.apply(&op)),
            Inner::Shared(construction) => {
                // SAFETY: no other thread that the turnstile has admitted has this slot.
                let outcome = self.with_slot(|slot| unsafe { construction.apply(slot, op) });
                outcome.unwrap_or_else(|payload| panic::resume_unwind(payload))
            }
        }
    }

    /// Calls `read` with the object as it is at one moment of the call, and returns its result. With k > 1, other
    /// operations continue in the meantime, and the object is copied only if two operations of other threads change it
    /// before this call has protected the current copy.
    ///
    /// # Panics
    /// Panics if `read` panics. If cloning the object panics, the thread counts as stopped in the middle of an
    /// operation, as in [`apply`](Self::apply).
    ///
    /// ```
    /// # use hallpass_objects::{Object, Resilient};
    /// # #[derive(Clone)]
    /// # struct Sum(u64);
    /// # impl Object for Sum {
    /// #     type Op = u64;
    /// #     type Ret = u64;
    /// #     fn apply(&mut self, by: &u64) -> u64 { self.0 += by; self.0 }
    /// # }
    /// let sum = Resilient::new(2, Sum(7));
    /// assert_eq!(sum.read(|sum| sum.0), 7);
    /// ```
    pub fn read<R>(&self, read: impl FnOnce(&O) -> R) -> R {
        match &self.inner {
            // SAFETY: k = 1, so one thread at a time runs this closure.
            Inner::Single(object) => self.exclusively(|| read(unsafe { &*object.get() })),
            Inner::Shared(construction) => {
                // SAFETY: no other thread that the turnstile has admitted has this slot.
                let result = self.with_slot(|slot| unsafe { construction.read(slot, read) });
                result.unwrap_or_else(|payload| panic::resume_unwind(payload))
            }
        }
    }

    /// Returns a clone of the object.
    ///
    /// ```
    /// # use hallpass_objects::{Object, Resilient};
    /// # #[derive(Clone)]
    /// # struct Sum(u64);
    /// # impl Object for Sum {
    /// #     type Op = u64;
    /// #     type Ret = u64;
    /// #     fn apply(&mut self, by: &u64) -> u64 { self.0 += by; self.0 }
    /// # }
    /// let sum = Resilient::new(2, Sum(7));
    /// assert_eq!(sum.snapshot().0, 7);
    /// ```
    pub fn snapshot(&self) -> O {
        self.read(O::clone)
    }

    /// Returns k: the object tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.turnstile.k()
    }

    /// Returns a mutable reference to the object. The borrow is exclusive, so no other thread can access the object in
    /// the meantime.
    ///
    /// ```
    /// # use hallpass_objects::{Object, Resilient};
    /// # #[derive(Clone)]
    /// # struct Sum(u64);
    /// # impl Object for Sum {
    /// #     type Op = u64;
    /// #     type Ret = u64;
    /// #     fn apply(&mut self, by: &u64) -> u64 { self.0 += by; self.0 }
    /// # }
    /// let mut sum = Resilient::new(2, Sum(7));
    /// sum.get_mut().0 = 0;
    /// assert_eq!(sum.apply(1), 1);
    /// ```
    pub fn get_mut(&mut self) -> &mut O {
        match &mut self.inner {
            Inner::Single(object) => object.get_mut(),
            Inner::Shared(construction) => construction.get_mut(),
        }
    }

    /// Consumes the shared object and returns the plain object.
    ///
    /// ```
    /// # use hallpass_objects::{Object, Resilient};
    /// # #[derive(Clone)]
    /// # struct Sum(u64);
    /// # impl Object for Sum {
    /// #     type Op = u64;
    /// #     type Ret = u64;
    /// #     fn apply(&mut self, by: &u64) -> u64 { self.0 += by; self.0 }
    /// # }
    /// let sum = Resilient::new(2, Sum(7));
    /// sum.apply(1);
    /// assert_eq!(sum.into_inner().0, 8);
    /// ```
    pub fn into_inner(self) -> O {
        match self.inner {
            Inner::Single(object) => object.into_inner(),
            Inner::Shared(construction) => construction.into_inner(),
        }
    }

    /// Runs `f` after the turnstile has admitted this thread. A thread that unwinds leaves the
    /// turnstile.
    fn exclusively<R>(&self, f: impl FnOnce() -> R) -> R {
        let _leave = Leave { turnstile: &self.turnstile, admission: self.turnstile.enter() };
        f()
    }

    /// Runs `f` with the slot that the turnstile gives to this thread. A thread that unwinds keeps its
    /// slot, because it was in the middle of an operation.
    fn with_slot<R>(&self, f: impl FnOnce(usize) -> R) -> R {
        let admission = self.turnstile.enter();
        let result = f(admission.slot);
        self.turnstile.leave(admission);
        result
    }
}

/// Leaves the turnstile when dropped.
struct Leave<'a> {
    turnstile: &'a Turnstile,
    admission: Admission,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.turnstile.leave(self.admission);
    }
}

impl<O: Object> fmt::Debug for Resilient<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resilient").field("k", &self.turnstile.k()).finish_non_exhaustive()
    }
}
