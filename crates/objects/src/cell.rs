//! A shared value whose operations are closures.

use std::{any::Any, fmt, mem};

use crate::{error::BuildError, object::Object, resilient::Resilient};

/// A shared value whose operations are closures. In all other respects, it is like [`Resilient`].
///
/// A closure may be called more than once, by different threads, each time on a different copy of the value.
/// So it is `Fn`, owns everything that it uses, and must do the same each time. The cell may keep the
/// closure, with its captured values, for a while after the call. The rules of [`Object`] apply.
///
/// ```
/// use hallpass_objects::ResilientCell;
///
/// let names = ResilientCell::new(2, vec!["Ada"]);
/// let count = names.update(|names| {
///     names.push("Alan");
///     names.len()
/// });
/// assert_eq!(count, 2);
/// assert_eq!(names.read(|names| names[1]), "Alan");
/// assert_eq!(names.replace(Vec::new()), ["Ada", "Alan"]);
/// ```
pub struct ResilientCell<T: Clone + Send + Sync> {
    shared: Resilient<CellObject<T>>,
}

struct CellObject<T>(T);

impl<T: Clone> Clone for CellObject<T> {
    fn clone(&self) -> Self {
        CellObject(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}

type Update<T> = Box<dyn Fn(&mut T) -> Box<dyn Any + Send> + Send + Sync>;

impl<T: Clone> Object for CellObject<T> {
    type Op = Update<T>;
    type Ret = Box<dyn Any + Send>;

    fn apply(&mut self, update: &Update<T>) -> Box<dyn Any + Send> {
        update(&mut self.0)
    }
}

impl<T: Clone + Send + Sync> ResilientCell<T> {
    /// Creates a shared value. At most `k` threads run operations at once.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64; see [`try_new`](Self::try_new).
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let total = ResilientCell::new(2, 0);
    /// assert_eq!(total.k(), 2);
    /// ```
    #[track_caller]
    pub fn new(k: usize, value: T) -> Self {
        ResilientCell { shared: Resilient::new(k, CellObject(value)) }
    }

    /// Creates a shared value, like [`new`](Self::new).
    ///
    /// # Errors
    /// Fails if `k` is not between 1 and 64.
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// assert!(ResilientCell::try_new(2, "value").is_ok());
    /// assert!(ResilientCell::try_new(65, "value").is_err());
    /// ```
    pub fn try_new(k: usize, value: T) -> Result<Self, BuildError> {
        Ok(ResilientCell { shared: Resilient::try_new(k, CellObject(value))? })
    }

    /// Applies the closure to the value and returns its result.
    ///
    /// # Panics
    /// Panics in the same cases as [`Resilient::apply`].
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let total = ResilientCell::new(2, 40);
    /// assert_eq!(total.update(|total| { *total += 2; *total }), 42);
    /// ```
    pub fn update<R: Send + 'static>(
        &self,
        update: impl Fn(&mut T) -> R + Send + Sync + 'static,
    ) -> R {
        let ret = self.shared.apply(Box::new(move |value| Box::new(update(value))));
        *ret.downcast().expect("the closure returns this type")
    }

    /// Replaces the value and returns the old value.
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let name = ResilientCell::new(2, "old");
    /// assert_eq!(name.replace("new"), "old");
    /// ```
    pub fn replace(&self, value: T) -> T
    where
        T: 'static,
    {
        self.update(move |old| mem::replace(old, value.clone()))
    }

    /// Calls `read` with the value as it is at one moment of the call, and returns its result.
    ///
    /// # Panics
    /// Panics in the same cases as [`Resilient::read`].
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let names = ResilientCell::new(2, vec!["Ada", "Alan"]);
    /// assert_eq!(names.read(|names| names.len()), 2);
    /// ```
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.shared.read(|value| read(&value.0))
    }

    /// Returns a clone of the value.
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let names = ResilientCell::new(2, vec!["Ada"]);
    /// assert_eq!(names.snapshot(), ["Ada"]);
    /// ```
    pub fn snapshot(&self) -> T {
        self.read(T::clone)
    }

    /// Returns a mutable reference to the value. The borrow is exclusive, so no other thread can access the value in
    /// the meantime.
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let mut total = ResilientCell::new(2, 0);
    /// *total.get_mut() = 7;
    /// assert_eq!(total.snapshot(), 7);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.shared.get_mut().0
    }

    /// Consumes the cell and returns the value.
    ///
    /// ```
    /// # use hallpass_objects::ResilientCell;
    /// let names = ResilientCell::new(2, vec!["Ada"]);
    /// assert_eq!(names.into_inner(), ["Ada"]);
    /// ```
    pub fn into_inner(self) -> T {
        self.shared.into_inner().0
    }

    /// Returns k: the cell tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.shared.k()
    }
}

impl<T: Clone + Send + Sync> fmt::Debug for ResilientCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResilientCell").field("k", &self.k()).finish_non_exhaustive()
    }
}
