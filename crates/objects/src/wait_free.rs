//! The construction for those who have names.
#![allow(unsafe_code)]

use std::{
    fmt, panic,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use hallpass_algorithms::objects::universal::MOST;

use crate::{construction::Construction, error::BuildError, object::Object};

/// A shared object for at most k participants, each with a [`Handle`]: every operation completes in
/// a bounded number of its own steps, whatever the others do.
///
/// That bound grows with k, and so does the time an operation takes. [`Resilient`](crate::Resilient) has
/// any number of threads for the price of few.
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
    /// The names that are in use, as bits.
    names: AtomicU64,
}

/// A participant of a [`WaitFree`] object. Dropping it lets another take its place.
pub struct Handle<'a, O: Object> {
    shared: &'a WaitFree<O>,
    name: usize,
    /// Whether it is in the middle of an operation; after it has unwound, for ever.
    inside: bool,
}

impl<O> WaitFree<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// The most participants there can be.
    pub const MOST: usize = MOST;

    /// For `k` participants, 1 to [`MOST`](Self::MOST).
    ///
    /// # Panics
    /// If k is 0 or too large; see [`try_new`](Self::try_new).
    #[track_caller]
    pub fn new(k: usize, object: O) -> Self {
        Self::try_new(k, object).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, with an error for a k that cannot be.
    pub fn try_new(k: usize, object: O) -> Result<Self, BuildError> {
        BuildError::unless_possible(k)?;
        Ok(WaitFree { construction: Construction::new(k, object), names: AtomicU64::new(0) })
    }

    /// A place among the participants, if there is one left.
    pub fn handle(&self) -> Option<Handle<'_, O>> {
        let free = |names: u64| {
            let name = (!names).trailing_zeros() as usize;
            (name < self.construction.names()).then(|| names | 1 << name)
        };
        let names = self.names.fetch_update(SeqCst, SeqCst, free).ok()?;
        let name = (!names).trailing_zeros() as usize;
        Some(Handle { shared: self, name, inside: false })
    }

    /// How many participants there can be.
    pub fn k(&self) -> usize {
        self.construction.names()
    }

    /// The object, while nobody has a handle.
    pub fn get_mut(&mut self) -> &mut O {
        self.construction.get_mut()
    }

    /// The object, when nobody shares it any more.
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
    /// Applies the operation.
    ///
    /// # Panics
    /// If the operation does; then it has not happened. If copying the object does, the handle is lost, and
    /// its place with it.
    pub fn apply(&mut self, op: O::Op) -> O::Ret {
        self.enter();
        // SAFETY: the name is this handle's, which is borrowed exclusively, and `enter` has seen that it
        // was not left in the middle of an operation.
        let outcome = unsafe { self.shared.construction.operate(self.name, op) };
        self.inside = false;
        outcome.unwrap_or_else(|why| panic::resume_unwind(why))
    }

    /// Looks at the object as it is at one moment of the call, while others go on.
    ///
    /// # Panics
    /// If `look` does.
    pub fn read<R>(&mut self, look: impl FnOnce(&O) -> R) -> R {
        self.enter();
        // SAFETY: as in `apply`.
        let seen = unsafe { self.shared.construction.look(self.name, look) };
        self.inside = false;
        seen.unwrap_or_else(|why| panic::resume_unwind(why))
    }

    /// A copy of the object.
    pub fn snapshot(&mut self) -> O {
        self.read(O::clone)
    }

    fn enter(&mut self) {
        assert!(
            !self.inside,
            "this handle was lost when copying the object panicked; others go on, with one place less"
        );
        self.inside = true;
    }
}

impl<O: Object> Drop for Handle<'_, O> {
    fn drop(&mut self) {
        // Who was stopped in the middle of an operation keeps its name.
        if !self.inside {
            self.shared.names.fetch_and(!(1 << self.name), SeqCst);
        }
    }
}

impl<O: Object> fmt::Debug for WaitFree<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitFree").field("k", &self.construction.names()).finish_non_exhaustive()
    }
}

impl<O: Object> fmt::Debug for Handle<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("name", &self.name).finish_non_exhaustive()
    }
}
