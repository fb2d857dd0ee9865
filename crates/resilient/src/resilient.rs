//! The construction behind a door that gives out names.

use std::{fmt, sync::Mutex};

use crate::{error::BuildError, object::Object};

/// A shared object for any number of threads. An operation completes as long as fewer than k others
/// have stopped inside theirs.
pub struct Resilient<O: Object> {
    object: Mutex<O>,
    k: usize,
}

impl<O> Resilient<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// The most that can be in at once.
    pub const MOST: usize = 64;

    /// An object that at most `k` threads work on at once, 1 to [`MOST`](Self::MOST).
    ///
    /// # Panics
    /// If k is 0 or too large; see [`try_new`](Self::try_new).
    pub fn new(k: usize, object: O) -> Self {
        Self::try_new(k, object).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, with an error for a k that cannot be.
    pub fn try_new(k: usize, object: O) -> Result<Self, BuildError> {
        Ok(Resilient { object: Mutex::new(object), k })
    }

    /// Applies the operation.
    pub fn apply(&self, op: O::Op) -> O::Ret {
        self.object.lock().unwrap().apply(&op)
    }

    /// Looks at the object as it is at one moment of the call. Others go on meanwhile (k > 1).
    pub fn read<R>(&self, look: impl FnOnce(&O) -> R) -> R {
        look(&self.object.lock().unwrap())
    }

    /// A copy of the object.
    pub fn snapshot(&self) -> O {
        self.read(O::clone)
    }

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The object, when nobody shares it any more.
    pub fn into_inner(self) -> O {
        self.object.into_inner().unwrap()
    }
}

impl<O: Object> fmt::Debug for Resilient<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resilient").field("k", &self.k).finish_non_exhaustive()
    }
}
