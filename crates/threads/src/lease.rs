//! The leases of a pool.
#![allow(unsafe_code)]

use std::{
    fmt,
    marker::PhantomData,
    mem,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use crate::{pass::Pass, pool::Pool};

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
    /// The slot. Its pass was forgotten, so the drop of the lease must free the slot.
    slot: usize,
    /// A lease is like a mutable reference to its item.
    _item: PhantomData<*mut T>,
}

// SAFETY: a lease is like a mutable reference to its item, and the pool is `Sync` if items are `Send`.
unsafe impl<T: Send> Send for OwnedLease<T> {}
// SAFETY: a shared lease gives shared references to its item, and the pool is `Sync` if items are `Send`.
unsafe impl<T: Send + Sync> Sync for OwnedLease<T> {}

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
            /// Returns the lease if the pool was made by [`new`](Pool::new), because such a pool cannot make another
            /// item.
            ///
            /// ```
            /// # use hallpass_threads as hallpass;
            /// use hallpass::Pool;
            /// let pool = Pool::with_init(1, |slot| vec![slot]);
            /// pool.get()?.push(7);
            /// assert_eq!(pool.get()?.discard().unwrap(), [0, 7]);
            /// assert_eq!(*pool.get()?, [0]); // a new item
            /// # Ok::<(), hallpass_threads::AcquireError>(())
            /// ```
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

impl<'a, T> Lease<'a, T> {
    /// Lends the item of the slot of `pass`. The item must exist already.
    ///
    /// # Safety
    /// `pass` belongs to the hall of `pool`.
    pub(crate) unsafe fn new(pool: &'a Pool<T>, pass: Pass<'a>) -> Self {
        Lease { pool, pass, _item: PhantomData }
    }

    /// Returns the slot of the item: a number from 0 to k-1 that no other lease of the pool has.
    #[inline]
    pub fn slot(&self) -> usize {
        self.pass.slot()
    }
}

impl<T> OwnedLease<T> {
    /// Lends the item of `slot`. The item must exist already.
    ///
    /// # Safety
    /// The slot was taken from the hall of `pool`, and its pass was forgotten.
    pub(crate) unsafe fn new(pool: Arc<Pool<T>>, slot: usize) -> Self {
        OwnedLease { pool, slot, _item: PhantomData }
    }

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
