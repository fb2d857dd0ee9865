//! [`WaitFree`]: the universal construction (see `construction`), for threads that own handles.
#![allow(unsafe_code)]

use std::{
    fmt, panic,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use hallpass_algorithms::objects::universal::MAX_PROCESSES;

use crate::{construction::Construction, error::BuildError, object::Object};

/// A shared object with at most k [`Handle`]s. Every operation completes after a bounded number of steps of its thread,
/// no matter what other threads do.
///
/// The bound grows with k, and so does the time that an operation takes. [`Resilient`](crate::Resilient)
/// serves any number of threads and needs only a small k.
///
/// ```
/// use hallpass_objects::{Object, WaitFree};
///
/// #[derive(Clone)]
/// struct Sum(u64);
/// impl Object for Sum {
///     type Op = u64;
///     type Ret = u64;
///     fn apply(&mut self, by: &u64) -> u64 {
///         self.0 += by;
///         self.0
///     }
/// }
///
/// let sum = WaitFree::new(2, Sum(0));
/// let (mut one, mut other) = (sum.handle().unwrap(), sum.handle().unwrap());
/// assert!(sum.handle().is_none());
/// assert_eq!(one.apply(2), 2);
/// assert_eq!(other.apply(3), 5);
/// ```
pub struct WaitFree<O: Object> {
    construction: Construction<O>,
    /// The process numbers in use, one bit each.
    used: AtomicU64,
}

/// Access to a [`WaitFree`] object for one thread at a time. After a handle is dropped, another can be
/// created.
pub struct Handle<'a, O: Object> {
    shared: &'a WaitFree<O>,
    process: usize,
    /// Whether an operation is under way. Stays set if the operation unwinds.
    in_operation: bool,
}

impl<O> WaitFree<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// The maximum k.
    pub const MAX_K: usize = MAX_PROCESSES;

    /// Creates a shared object with at most `k` handles.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and [`MAX_K`](Self::MAX_K); see [`try_new`](Self::try_new).
    #[track_caller]
    pub fn new(k: usize, object: O) -> Self {
        Self::try_new(k, object).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Creates a shared object, like [`new`](Self::new).
    ///
    /// # Errors
    /// Fails if `k` is not between 1 and [`MAX_K`](Self::MAX_K).
    pub fn try_new(k: usize, object: O) -> Result<Self, BuildError> {
        BuildError::check(k)?;
        Ok(WaitFree { construction: Construction::new(k, object), used: AtomicU64::new(0) })
    }

    /// Returns a handle, or `None` if k handles already exist.
    pub fn handle(&self) -> Option<Handle<'_, O>> {
        let first_free = |used: u64| (!used).trailing_zeros() as usize;
        let take = |used: u64| {
            let process = first_free(used);
            (process < self.construction.k()).then(|| used | 1 << process)
        };
        let used = self.used.fetch_update(SeqCst, SeqCst, take).ok()?;
        Some(Handle { shared: self, process: first_free(used), in_operation: false })
    }

    /// Returns k, the maximum number of handles.
    pub fn k(&self) -> usize {
        self.construction.k()
    }

    /// Returns a mutable reference to the object. The borrow is exclusive, so no handle exists in the meantime.
    pub fn get_mut(&mut self) -> &mut O {
        self.construction.get_mut()
    }

    /// Consumes the shared object and returns the plain object.
    pub fn into_inner(self) -> O {
        self.construction.into_inner()
    }
}

impl<O> Handle<'_, O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// Applies the operation and returns its result.
    ///
    /// # Panics
    /// Panics if the operation panics. The operation then has no effect. If cloning the object panics,
    /// the handle becomes unusable permanently: every later call on it panics, and dropping it does not
    /// make room for another handle.
    pub fn apply(&mut self, op: O::Op) -> O::Ret {
        self.enter();
        // SAFETY: the process number belongs to this handle, which is borrowed exclusively. `enter` has
        // checked that no earlier operation of this handle has unwound.
        let outcome = unsafe { self.shared.construction.apply(self.process, op) };
        self.in_operation = false;
        outcome.unwrap_or_else(|payload| panic::resume_unwind(payload))
    }

    /// Calls `read` with the object as it is at one moment of the call, and returns its result. Other operations
    /// continue in the meantime.
    ///
    /// # Panics
    /// Panics if `read` panics. If cloning the object panics, the handle becomes unusable, as in
    /// [`apply`](Self::apply).
    pub fn read<R>(&mut self, read: impl FnOnce(&O) -> R) -> R {
        self.enter();
        // SAFETY: the process number belongs to this handle, and no earlier operation of the handle has unwound (see
        // `apply`).
        let result = unsafe { self.shared.construction.read(self.process, read) };
        self.in_operation = false;
        result.unwrap_or_else(|payload| panic::resume_unwind(payload))
    }

    /// Returns a clone of the object.
    pub fn snapshot(&mut self) -> O {
        self.read(O::clone)
    }

    fn enter(&mut self) {
        assert!(
            !self.in_operation,
            "this handle is unusable, because cloning the object panicked in an earlier operation"
        );
        self.in_operation = true;
    }
}

impl<O: Object> Drop for Handle<'_, O> {
    fn drop(&mut self) {
        // The number of a process that stopped in the middle of an operation is never used again.
        if !self.in_operation {
            self.shared.used.fetch_and(!(1 << self.process), SeqCst);
        }
    }
}

impl<O: Object> fmt::Debug for WaitFree<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitFree").field("k", &self.construction.k()).finish_non_exhaustive()
    }
}

impl<O: Object> fmt::Debug for Handle<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("process", &self.process).finish_non_exhaustive()
    }
}
