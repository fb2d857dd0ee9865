//! `Hall` of hallpass.

use hallpass_threads::{Hall, Pass};

use crate::common::Semaphore;

impl Semaphore for Hall {
    type Guard<'a> = Pass<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Pass<'_> {
        self.acquire().expect("nobody closes the hall")
    }

    #[inline]
    fn slot(pass: &Pass<'_>) -> Option<usize> {
        Some(pass.slot())
    }
}

/// The largest number of newcomers that may overtake a waiter in a hall of [`bypass`].
pub const BYPASS: u32 = 64;

/// Creates a hall with `k` slots in which at most [`BYPASS`] newcomers may overtake a waiter.
pub fn bypass(k: usize) -> Hall {
    Hall::builder(k).bypass(BYPASS).build().expect("a hall can have k slots")
}

/// Makes a barging hall with `k` slots.
pub fn barging(k: usize) -> Hall {
    Hall::builder(k).barging().build().expect("a hall can have k slots")
}
