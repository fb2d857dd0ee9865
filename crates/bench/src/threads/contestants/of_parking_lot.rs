//! A count under parking_lot's `Mutex` and `Condvar`. The code is the same as in `of_std`.

use parking_lot::{Condvar, Mutex};

use crate::common::Semaphore;

/// A semaphore made of parking_lot's types.
pub struct ParkingLot {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A guard; dropping it frees the slot.
pub struct Guard<'a>(&'a ParkingLot);

impl ParkingLot {
    /// Makes a semaphore with `k` slots.
    pub fn new(k: usize) -> Self {
        ParkingLot { free: Mutex::new(k), freed: Condvar::new() }
    }
}

impl Semaphore for ParkingLot {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}
