//! A pool of items behind a hall.
#![allow(unsafe_code)]

use std::{
    cell::UnsafeCell,
    fmt,
    future::Future,
    marker::PhantomData,
    mem,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    error::{AcquireError, TryAcquireError},
    hall::{Hall, MAX_SLOTS},
    pass::Pass,
};

/// A pool of k items, such as connections, devices or buffers. Only one caller at a time uses an item.
///
/// A caller gets the item of its slot. The pool assigns slots as a [`Hall`] does: nobody overtakes a waiter, and the
/// smallest free slot is assigned first. So a few callers use only the first few items. There is no lock around the
/// items, because no two callers have the same slot.
///
/// A pool is not poisoned. If a caller panics while it has an item, the next caller gets the item as it is. A caller that
/// finds its item broken can [replace](Lease::replace) or [discard](Lease::discard) it.
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
    hall: Hall,
    items: Box<[UnsafeCell<Option<T>>]>,
    init: Option<Box<dyn Fn(usize) -> T + Send + Sync>>,
}

// SAFETY: only the holder of a slot accesses its item, and everything that a holder does happens before the next holder
// gets the slot. So only one thread at a time uses an item, as if each thread sent the item to the next.
unsafe impl<T: Send> Sync for Pool<T> {}

/// The item of a slot, on loan from a [`Pool`]. Dropping it gives the item back.
#[must_use = "dropping a lease gives its item back"]
pub struct Lease<'a, T> {
    pool: &'a Pool<T>,
    pass: Pass<'a>,
    /// A lease is like a mutable reference to its item.
    _item: PhantomData<&'a mut T>,
}

/// A [`Lease`] that owns a reference to its pool, so that it can be stored or sent anywhere.
#[must_use = "dropping a lease gives its item back"]
pub struct OwnedLease<T> {
    pool: Arc<Pool<T>>,
    /// The slot, whose pass was forgotten.
    slot: usize,
    /// A lease is like a mutable reference to its item.
    _item: PhantomData<*mut T>,
}

// SAFETY: a lease is like a mutable reference to its item, and the pool is `Sync` if items are `Send`.
unsafe impl<T: Send> Send for OwnedLease<T> {}
// SAFETY: as above; a shared lease gives shared references to its item.
unsafe impl<T: Send + Sync> Sync for OwnedLease<T> {}

/// Making a pool.
impl<T> Pool<T> {
    /// Makes a pool of these items. The first item has slot 0.
    ///
    /// # Panics
    /// Panics if there are no items, or more than [`MAX_SLOTS`].
    pub fn new(items: impl IntoIterator<Item = T>) -> Self {
        // One item too many suffices to panic, even if the iterator never ends.
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
        let hall = Hall::new(k); // panics before it makes room for too many items
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
    pub fn get(&self) -> Result<Lease<'_, T>, AcquireError> {
        Ok(self.lease(self.hall.acquire()?))
    }

    /// Takes an item if one is free and nobody waits for it.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::NoPermits`] if no item is free or others wait, and
    /// [`TryAcquireError::Closed`] if the pool is closed.
    ///
    /// ```
    /// # use hallpass_threads::{Pool, TryAcquireError};
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
    pub fn try_get_for(&self, timeout: Duration) -> Result<Lease<'_, T>, TryAcquireError> {
        Ok(self.lease(self.hall.try_acquire_for(timeout)?))
    }

    /// Blocks until an item is free and takes it, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns the errors of [`try_get_for`](Pool::try_get_for).
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
    /// # use hallpass_threads::Pool;
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
        // SAFETY: the pass is for this slot, and the reference ends here.
        unsafe { self.fill(pass.slot()) };
        Lease { pool: self, pass, _item: PhantomData }
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
    /// Blocks until an item is free, and takes it.
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

    /// Takes an item if one is free and nobody waits for it.
    ///
    /// # Errors
    /// Returns the errors of [`try_get`](Pool::try_get).
    pub fn try_get_owned(self: &Arc<Self>) -> Result<OwnedLease<T>, TryAcquireError> {
        Ok(self.owned_lease(self.hall.try_acquire()?))
    }

    /// Blocks until an item is free and takes it, or gives up after `timeout`.
    ///
    /// # Errors
    /// Returns the errors of [`try_get_for`](Pool::try_get_for).
    pub fn try_get_owned_for(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<OwnedLease<T>, TryAcquireError> {
        Ok(self.owned_lease(self.hall.try_acquire_for(timeout)?))
    }

    /// Blocks until an item is free and takes it, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns the errors of [`try_get_for`](Pool::try_get_for).
    pub fn try_get_owned_until(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<OwnedLease<T>, TryAcquireError> {
        Ok(self.owned_lease(self.hall.try_acquire_until(deadline)?))
    }

    /// Waits in a task until an item is free, and takes it.
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
        // SAFETY: the pass is for this slot, and the reference ends here.
        unsafe { self.fill(pass.slot()) };
        let slot = pass.slot();
        pass.forget(); // dropping the lease frees the slot
        OwnedLease { pool: Arc::clone(self), slot, _item: PhantomData }
    }
}

/// Inspecting the pool and closing it.
impl<T> Pool<T> {
    /// Returns the number of items of the pool, including items that are not made yet.
    pub fn slots(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of free items: a snapshot that may already be stale.
    pub fn available(&self) -> usize {
        self.hall.available()
    }

    /// Returns the number of waiters: a snapshot that may already be stale.
    pub fn waiting(&self) -> usize {
        self.hall.waiting()
    }

    /// Closes the pool permanently. Waiters and later callers get an error; leases stay valid.
    pub fn close(&self) {
        self.hall.close();
    }

    /// Returns whether the pool is closed.
    pub fn is_closed(&self) -> bool {
        self.hall.is_closed()
    }

    /// Consumes the pool and returns the items in the order of their slots. Items that were never made, or were
    /// discarded, are missing.
    ///
    /// ```
    /// # use hallpass_threads::Pool;
    /// let pool = Pool::with_init(3, |slot| slot * 10);
    /// drop(pool.get()?); // makes the item of slot 0
    /// assert_eq!(pool.into_items(), [0]);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn into_items(self) -> Vec<T> {
        self.items.into_iter().filter_map(UnsafeCell::into_inner).collect()
    }
}

/// Defines the methods of a lease.
macro_rules! lease {
    ($name:ident $(<$life:lifetime>)?) => {
        impl<$($life,)? T> $name<$($life,)? T> {
            /// Replaces the item, for example because it is broken, and returns the old one.
            ///
            /// ```
            /// # use hallpass_threads as hallpass;
            /// use hallpass::Pool;
            /// let pool = Pool::new(["broken"]);
            /// assert_eq!(pool.get()?.replace("new"), "broken");
            /// assert_eq!(*pool.get()?, "new");
            /// # Ok::<(), hallpass_threads::AcquireError>(())
            /// ```
            pub fn replace(&mut self, item: T) -> T {
                mem::replace(&mut **self, item)
            }

            /// Removes the item from the pool, frees the slot, and returns the item. The next holder of the slot
            /// makes a new item.
            ///
            /// # Errors
            /// Returns the lease if the pool was not made by [`with_init`](Pool::with_init). Such a pool cannot make
            /// another item.
            pub fn discard(self) -> Result<T, Self> {
                if self.pool.init.is_none() {
                    return Err(self);
                }
                // SAFETY: the lease has the slot, and the reference ends here.
                let item = unsafe { &mut *self.pool.items[self.slot()].get() }.take();
                Ok(item.expect("a lease has an item"))
            }
        }

        impl<$($life,)? T> Deref for $name<$($life,)? T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: the lease has the slot, and is borrowed as long as the item.
                let item = unsafe { &*self.pool.items[self.slot()].get() };
                item.as_ref().expect("a lease has an item")
            }
        }

        impl<$($life,)? T> DerefMut for $name<$($life,)? T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the lease has the slot, and is borrowed exclusively as long as the item.
                let item = unsafe { &mut *self.pool.items[self.slot()].get() };
                item.as_mut().expect("a lease has an item")
            }
        }

        impl<$($life,)? T: fmt::Debug> fmt::Debug for $name<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = stringify!($name);
                f.debug_struct(name).field("slot", &self.slot()).field("item", &**self).finish()
            }
        }
    };
}

lease!(Lease<'a>);
lease!(OwnedLease);

impl<T> Lease<'_, T> {
    /// Returns the slot of the item: a number from 0 to k-1 that no other lease of the pool has.
    #[inline]
    pub fn slot(&self) -> usize {
        self.pass.slot()
    }
}

impl<T> OwnedLease<T> {
    /// Returns the slot of the item: a number from 0 to k-1 that no other lease of the pool has.
    #[inline]
    pub fn slot(&self) -> usize {
        self.slot
    }
}

impl<T> Drop for OwnedLease<T> {
    fn drop(&mut self) {
        self.pool.hall.release_slot(self.slot as u32);
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("hall", &self.hall).finish_non_exhaustive()
    }
}
