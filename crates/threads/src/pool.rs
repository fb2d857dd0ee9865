//! A pool of items behind a hall.
#![allow(unsafe_code)]

use std::{
    cell::UnsafeCell,
    fmt,
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    error::{AcquireError, TryAcquireError},
    hall::{Hall, MAX_SLOTS},
    lease::{Lease, OwnedLease},
    pass::Pass,
};

/// A pool of k items, such as connections, devices or buffers. Only one caller at a time uses an item.
///
/// A caller gets the item of its slot. The pool assigns slots as a [`Hall`] does: nobody overtakes a waiter, and the
/// smallest free slot is assigned first. So a few callers use only the first few items. There is no lock around the
/// items, because no two callers have the same slot.
///
/// A pool is not poisoned. If a caller panics while it has an item, the next caller gets the item as it is. A caller
/// that finds its item broken can [replace](Lease::replace) or [discard](Lease::discard) it.
///
/// ```
/// # use hallpass_threads as hallpass;
/// use hallpass::Pool;
/// let buffers = Pool::new([vec![1], vec![2]]);
/// let mut buffer = buffers.get()?;
/// buffer.push(7);
/// assert_eq!((buffer.slot(), &buffer[..]), (0, &[1, 7][..]));
/// drop(buffer); // the next caller gets it as it is
/// assert_eq!(*buffers.get()?, [1, 7]);
/// # Ok::<(), hallpass_threads::AcquireError>(())
/// ```
pub struct Pool<T> {
    pub(crate) hall: Hall,
    /// The item of each slot; `None` if the item was not made yet or was discarded. Only the holder of a slot accesses
    /// its item.
    pub(crate) items: Box<[UnsafeCell<Option<T>>]>,
    pub(crate) init: Option<Box<dyn Fn(usize) -> T + Send + Sync>>,
}

// SAFETY: only the holder of a slot accesses its item, and everything that a holder does happens before the next holder
// gets the slot. So only one thread at a time uses an item, as if each thread sent the item to the next.
unsafe impl<T: Send> Sync for Pool<T> {}

/// Making a pool.
impl<T> Pool<T> {
    /// Makes a pool of these items. The first item has slot 0.
    ///
    /// # Panics
    /// Panics if there are no items, or more than [`MAX_SLOTS`].
    pub fn new(items: impl IntoIterator<Item = T>) -> Self {
        // Taking one item too many is enough to detect the error, even if the iterator never ends.
        let items = items.into_iter().take(MAX_SLOTS + 1);
        let items: Box<[_]> = items.map(|item| UnsafeCell::new(Some(item))).collect();
        Pool { hall: Hall::new(items.len()), items, init: None }
    }

    /// Makes a pool of `k` items. `init` makes each item when it is first used; its argument is the slot.
    ///
    /// If `init` panics, the caller that wanted the item panics, and the next caller calls `init` again.
    ///
    /// # Panics
    /// Panics if `k` is 0 or more than [`MAX_SLOTS`].
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// let pool = Pool::with_init(1000, |slot| format!("worker {slot}"));
    /// assert_eq!(*pool.get()?, "worker 0"); // the only item that was made
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn with_init(k: usize, init: impl Fn(usize) -> T + Send + Sync + 'static) -> Self {
        let hall = Hall::new(k); // if `k` is too large, this panics before room for the items is made
        let items = (0..k).map(|_| UnsafeCell::new(None)).collect();
        Pool { hall, items, init: Some(Box::new(init)) }
    }
}

/// Getting an item.
impl<T> Pool<T> {
    /// Blocks until an item is free, and takes it.
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the pool is [closed](Pool::close).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// let pool = Pool::new(["a", "b"]);
    /// assert_eq!(*pool.get()?, "a");
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn get(&self) -> Result<Lease<'_, T>, AcquireError> {
        Ok(self.lease(self.hall.acquire()?))
    }

    /// Takes an item if one is free and nobody waits for it.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::NoPermits`] if no item is free or there are waiters, and [`TryAcquireError::Closed`]
    /// if the pool is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{Pool, TryAcquireError};
    /// let pool = Pool::new(["only"]);
    /// let lease = pool.try_get()?;
    /// assert_eq!(pool.try_get().err(), Some(TryAcquireError::NoPermits));
    /// # Ok::<(), TryAcquireError>(())
    /// ```
    pub fn try_get(&self) -> Result<Lease<'_, T>, TryAcquireError> {
        Ok(self.lease(self.hall.try_acquire()?))
    }

    /// Blocks until an item is free and takes it, or gives up after `timeout`.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::TimedOut`] after `timeout`, and [`TryAcquireError::Closed`] if the pool is
    /// closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// # use std::time::Duration;
    /// let pool = Pool::new(["only"]);
    /// let lease = pool.try_get_for(Duration::from_secs(1))?;
    /// assert!(pool.try_get_for(Duration::from_millis(1)).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_get_for(&self, timeout: Duration) -> Result<Lease<'_, T>, TryAcquireError> {
        Ok(self.lease(self.hall.try_acquire_for(timeout)?))
    }

    /// Blocks until an item is free and takes it, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns the errors of [`try_get_for`](Pool::try_get_for).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// # use std::time::{Duration, Instant};
    /// let (pool, deadline) = (Pool::new(["only"]), Instant::now() + Duration::from_millis(1));
    /// let lease = pool.try_get_until(deadline)?;
    /// assert!(pool.try_get_until(deadline).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_get_until(&self, deadline: Instant) -> Result<Lease<'_, T>, TryAcquireError> {
        Ok(self.lease(self.hall.try_acquire_until(deadline)?))
    }

    /// Waits in a task until an item is free, and takes it. The future behaves like that of
    /// [`Hall::acquire_async`].
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the pool is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// # pollster::block_on(async {
    /// let pool = Pool::new(["a", "b"]);
    /// let (first, second) = (pool.get_async().await?, pool.get_async().await?);
    /// assert_eq!((*first, *second), ("a", "b"));
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    pub async fn get_async(&self) -> Result<Lease<'_, T>, AcquireError> {
        Ok(self.lease(self.hall.acquire_async().await?))
    }

    /// Makes the item of the slot, if there is none, and lends it.
    fn lease<'a>(&'a self, pass: Pass<'a>) -> Lease<'a, T> {
        // SAFETY: the pass is for this slot of this pool.
        unsafe {
            self.fill(pass.slot());
            Lease::new(self, pass)
        }
    }

    /// Makes the item of a slot, if there is none.
    ///
    /// # Safety
    /// The caller holds the slot.
    unsafe fn fill(&self, slot: usize) {
        // SAFETY: the caller holds the slot, so no other reference to its item exists.
        let item = unsafe { &mut *self.items[slot].get() };
        if item.is_none() {
            let init = self.init.as_ref().expect("a pool without `init` is never empty");
            *item = Some(init(slot));
        }
    }
}

/// Getting an item with a lease that owns a reference to the pool.
impl<T> Pool<T> {
    /// Blocks until an item is free, and takes it. The lease owns a reference to the pool.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Pool::get).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// # use std::{sync::Arc, thread};
    /// let pool = Arc::new(Pool::new(["a", "b"]));
    /// let lease = pool.get_owned()?;
    /// thread::spawn(move || assert_eq!(*lease, "a")).join().unwrap();
    /// assert_eq!(pool.available(), 2);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn get_owned(self: &Arc<Self>) -> Result<OwnedLease<T>, AcquireError> {
        Ok(self.owned_lease(self.hall.acquire()?))
    }

    /// Takes an item if one is free and nobody waits for it. The lease owns a reference to the pool.
    ///
    /// # Errors
    /// Returns the errors of [`try_get`](Pool::try_get).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// # use std::sync::Arc;
    /// let pool = Arc::new(Pool::new(["only"]));
    /// let lease = pool.try_get_owned()?;
    /// assert!(pool.try_get_owned().is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_get_owned(self: &Arc<Self>) -> Result<OwnedLease<T>, TryAcquireError> {
        Ok(self.owned_lease(self.hall.try_acquire()?))
    }

    /// Blocks until an item is free and takes it, or gives up after `timeout`. The lease owns a reference to the pool.
    ///
    /// # Errors
    /// Returns the errors of [`try_get_for`](Pool::try_get_for).
    pub fn try_get_owned_for(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<OwnedLease<T>, TryAcquireError> {
        Ok(self.owned_lease(self.hall.try_acquire_for(timeout)?))
    }

    /// Blocks until an item is free and takes it, or gives up at `deadline`. The lease owns a reference to the pool.
    ///
    /// # Errors
    /// Returns the errors of [`try_get_for`](Pool::try_get_for).
    pub fn try_get_owned_until(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<OwnedLease<T>, TryAcquireError> {
        Ok(self.owned_lease(self.hall.try_acquire_until(deadline)?))
    }

    /// Waits in a task until an item is free, and takes it. The lease owns a reference to the pool.
    ///
    /// # Errors
    /// Returns the errors of [`get_async`](Pool::get_async).
    pub fn get_owned_async(
        self: &Arc<Self>,
    ) -> impl Future<Output = Result<OwnedLease<T>, AcquireError>> + use<T> {
        let pool = Arc::clone(self);
        async move { Ok(pool.owned_lease(pool.hall.acquire_async().await?)) }
    }

    fn owned_lease(self: &Arc<Self>, pass: Pass<'_>) -> OwnedLease<T> {
        let slot = pass.slot();
        // SAFETY: the pass is for this slot of this pool. It is forgotten after `fill`, which may panic.
        unsafe {
            self.fill(slot);
            pass.forget();
            OwnedLease::new(Arc::clone(self), slot)
        }
    }
}

/// Inspecting the pool and closing it.
impl<T> Pool<T> {
    /// Returns the number of items of the pool, including items that are not made yet.
    pub fn slots(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of free items: a snapshot that may already be stale.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// let pool = Pool::new(["a", "b"]);
    /// let lease = pool.get()?;
    /// assert_eq!((pool.slots(), pool.available(), pool.waiting()), (2, 1, 0));
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn available(&self) -> usize {
        self.hall.available()
    }

    /// Returns the number of waiters: a snapshot that may already be stale.
    pub fn waiting(&self) -> usize {
        self.hall.waiting()
    }

    /// Closes the pool permanently. Waiters and later callers get an error; leases stay valid.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// let pool = Pool::new(["only"]);
    /// let lease = pool.get()?;
    /// pool.close();
    /// assert!(pool.get().is_err() && pool.is_closed());
    /// assert_eq!(*lease, "only"); // still valid
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn close(&self) {
        self.hall.close();
    }

    /// Returns whether the pool is closed.
    pub fn is_closed(&self) -> bool {
        self.hall.is_closed()
    }

    /// Consumes the pool and returns its items in the order of their slots. Slots whose item was never made, or was
    /// discarded, are skipped.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Pool;
    /// let pool = Pool::with_init(3, |slot| slot * 10);
    /// drop(pool.get()?); // makes the item of slot 0
    /// assert_eq!(pool.into_items(), [0]);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn into_items(self) -> Vec<T> {
        self.items.into_iter().filter_map(UnsafeCell::into_inner).collect()
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("hall", &self.hall).finish_non_exhaustive()
    }
}
