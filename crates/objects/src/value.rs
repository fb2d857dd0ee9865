//! Operations as closures.

use std::{any::Any, fmt, mem};

use crate::{error::BuildError, object::Object, resilient::Resilient};

/// A shared value whose operations are closures; otherwise a [`Resilient`].
///
/// A closure may be called more than once, by different threads, each time on another copy of the
/// value: it is `Fn`, owns what it uses, and should do the same each time. It may be kept for a while after
/// the call, and what it has captured with it. The rest is as for [`Object`].
pub struct ResilientCell<T: Clone + Send + Sync> {
    shared: Resilient<Value<T>>,
}

struct Value<T>(T);

impl<T: Clone> Clone for Value<T> {
    fn clone(&self) -> Self {
        Value(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}

type Update<T> = Box<dyn Fn(&mut T) -> Box<dyn Any + Send> + Send + Sync>;

impl<T: Clone> Object for Value<T> {
    type Op = Update<T>;
    type Ret = Box<dyn Any + Send>;

    fn apply(&mut self, update: &Update<T>) -> Box<dyn Any + Send> {
        update(&mut self.0)
    }
}

impl<T: Clone + Send + Sync> ResilientCell<T> {
    /// A value that at most `k` threads work on at once.
    ///
    /// # Panics
    /// If k is 0 or more than 64; see [`try_new`](Self::try_new).
    #[track_caller]
    pub fn new(k: usize, value: T) -> Self {
        ResilientCell { shared: Resilient::new(k, Value(value)) }
    }

    /// The same, with an error for a k that cannot be.
    pub fn try_new(k: usize, value: T) -> Result<Self, BuildError> {
        Ok(ResilientCell { shared: Resilient::try_new(k, Value(value))? })
    }

    /// Applies the closure to the value.
    pub fn update<R: Send + 'static>(
        &self,
        update: impl Fn(&mut T) -> R + Send + Sync + 'static,
    ) -> R {
        let ret = self.shared.apply(Box::new(move |value| Box::new(update(value))));
        *ret.downcast().expect("the closure returns this type")
    }

    /// Puts another value there. Returns what was there before.
    pub fn replace(&self, value: T) -> T
    where
        T: 'static,
    {
        self.update(move |old| mem::replace(old, value.clone()))
    }

    /// Looks at the value as it is at one moment of the call.
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        self.shared.read(|value| look(&value.0))
    }

    /// A copy of the value.
    pub fn snapshot(&self) -> T {
        self.read(T::clone)
    }

    /// The value, while nobody else can use it.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.shared.get_mut().0
    }

    /// The value, when nobody shares it any more.
    pub fn into_inner(self) -> T {
        self.shared.into_inner().0
    }

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.shared.k()
    }
}

impl<T: Clone + Send + Sync> fmt::Debug for ResilientCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResilientCell").field("k", &self.k()).finish_non_exhaustive()
    }
}
