//! Passes.

use std::{
    ffi::{c_int, c_void},
    mem,
    os::fd::AsRawFd,
    sync::Arc,
};

use hallpass_processes::{Error, SharedHall, SharedPass};

use crate::result::{Failure, HallpassResult, border, borrow, value};

/// A slot that this process holds. `hallpass_release` frees it.
pub struct Pass {
    /// Declared before the hall it borrows, so that it is dropped first.
    pass: SharedPass<'static>,
    /// Keeps the hall that `pass` borrows.
    _hall: Arc<SharedHall>,
}

impl Pass {
    /// Acquires a pass that keeps its hall alive.
    pub(crate) fn acquire(
        hall: &Arc<SharedHall>,
        acquire: impl for<'a> FnOnce(&'a SharedHall) -> Result<SharedPass<'a>, Error>,
    ) -> Result<Box<Pass>, Failure> {
        let hall = hall.clone();
        let pass = acquire(&hall)?;
        // SAFETY: the pass borrows the value in the `Arc`, which does not move and lives at least as long as
        // the clone beside it. Fields are dropped in the order of their declaration, the pass first. The
        // pass is never moved out of this struct except to be dropped while the clone is alive.
        let pass = unsafe { mem::transmute::<SharedPass<'_>, SharedPass<'static>>(pass) };
        Ok(Box::new(Pass { pass, _hall: hall }))
    }
}

/// Returns the slot of a pass, a number below the number of slots that no other holder has. Returns
/// `SIZE_MAX` for `NULL`.
///
/// # Safety
/// `pass` is `NULL` or a pass that was not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_slot(pass: *const Pass) -> usize {
    // SAFETY: by the contract of this function.
    value(usize::MAX, || unsafe { pass.as_ref() }.map_or(usize::MAX, |pass| pass.pass.slot()))
}

/// Frees the slot, and the pass. Does nothing for `NULL`. In a forked child, the slot is the parent's and
/// stays taken.
///
/// # Safety
/// `pass` is `NULL` or a pass that was not released. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_release(pass: *mut Pass) {
    if !pass.is_null() {
        // SAFETY: the pointer comes from `Box::into_raw`, and the caller gives it up.
        value((), || drop(unsafe { Box::from_raw(pass) }));
    }
}

/// Writes a descriptor to `descriptor` that keeps the slot taken while any process has it open. It is closed
/// on exec and belongs to the pass. A child process gets it by `dup`, or if close-on-exec is cleared.
///
/// # Safety
/// `pass` is a pass that was not released, and `descriptor` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_lifeline(
    pass: *const Pass,
    descriptor: *mut c_int,
) -> HallpassResult {
    border(|| {
        // SAFETY: by the contract of this function.
        let pass = unsafe { borrow(pass, "pass") }?;
        // SAFETY: by the contract of this function.
        unsafe { put(descriptor, pass.pass.lifeline().as_raw_fd()) }
    })
}

/// Frees the pass and leaves its slot taken until no process has the lifeline open. This process has it open
/// until it exits or execs.
///
/// # Safety
/// `pass` is `NULL` or a pass that was not released. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_leave_to_lifeline(pass: *mut Pass) {
    if !pass.is_null() {
        value((), || {
            // SAFETY: the pointer comes from `Box::into_raw`, and the caller gives it up.
            let Pass { pass, _hall } = *unsafe { Box::from_raw(pass) };
            pass.leave_to_lifeline();
        });
    }
}

/// Writes a result through a pointer of the caller, or fails if it is null.
///
/// # Safety
/// The pointer is null or valid for a write.
pub(crate) unsafe fn put<T>(to: *mut T, what: T) -> Result<(), Failure> {
    if to.cast::<c_void>().is_null() {
        return Err(Failure::bad_argument("the pointer for the result must not be NULL"));
    }
    // SAFETY: by the contract of this function.
    unsafe { to.write(what) };
    Ok(())
}
