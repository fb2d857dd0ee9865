//! Passes.

use std::{
    ffi::{c_int, c_void},
    mem,
    os::fd::AsRawFd,
    sync::Arc,
};

use hallpass_processes::{Error, SharedHall, SharedPass};

use crate::result::{Failure, HallpassResult, borrow, catch_errors, value};

/// A slot that this process holds. `hallpass_release` frees it.
pub struct Pass {
    /// Borrows `_hall`. The pass is declared first, so it is dropped first.
    pass: SharedPass<'static>,
    /// Keeps the hall that `pass` borrows alive.
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
        // SAFETY: the pass borrows the value in the `Arc`. This value does not move, and it lives at least as long as
        // the clone of the `Arc` beside the pass. Fields are dropped in the order of their declaration, the pass
        // first. The pass leaves this struct only in `hallpass_leave_to_lifeline`, which consumes it while the clone is
        // alive.
        let pass = unsafe { mem::transmute::<SharedPass<'_>, SharedPass<'static>>(pass) };
        Ok(Box::new(Pass { pass, _hall: hall }))
    }
}

/// Returns the slot of a pass: a number from 0 to the number of slots minus 1 that no other holder has. Returns
/// `SIZE_MAX` for `NULL`.
///
/// # Safety
/// `pass` is `NULL` or a pass that was not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_slot(pass: *const Pass) -> usize {
    // SAFETY: by the contract of this function.
    value(usize::MAX, || unsafe { pass.as_ref() }.map_or(usize::MAX, |pass| pass.pass.slot()))
}

/// Frees the slot and the memory of the pass. Does nothing for `NULL`. In a forked child, it frees only the memory,
/// because the slot belongs to the parent.
///
/// # Safety
/// `pass` is `NULL` or a pass that was not released. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_release(pass: *mut Pass) {
    if !pass.is_null() {
        // SAFETY: the pointer comes from `Box::into_raw`, and the caller does not use it again.
        value((), || drop(unsafe { Box::from_raw(pass) }));
    }
}

/// Writes the *lifeline* of the pass to `descriptor`. The lifeline is a file descriptor. If this process dies, the slot
/// stays taken while any other process has the lifeline open. But `hallpass_release` frees the slot immediately. The
/// descriptor belongs to the pass and is closed on exec. To hand it to a child process, duplicate it with `dup`, or
/// clear its close-on-exec flag.
///
/// # Safety
/// `pass` is a pass that was not released, and `descriptor` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_lifeline(
    pass: *const Pass,
    descriptor: *mut c_int,
) -> HallpassResult {
    catch_errors(|| {
        // SAFETY: by the contract of this function.
        let pass = unsafe { borrow(pass, "pass") }?;
        // SAFETY: by the contract of this function.
        unsafe { put(descriptor, pass.pass.lifeline().as_raw_fd()) }
    })
}

/// Frees the memory of the pass, but leaves its slot taken until no process has the lifeline open. This process has
/// the lifeline open until it exits or execs.
///
/// # Safety
/// `pass` is `NULL` or a pass that was not released. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_leave_to_lifeline(pass: *mut Pass) {
    if !pass.is_null() {
        value((), || {
            // SAFETY: the pointer comes from `Box::into_raw`, and the caller does not use it again.
            let Pass { pass, _hall } = *unsafe { Box::from_raw(pass) };
            pass.leave_to_lifeline();
        });
    }
}

/// Writes a result through a pointer of the caller. Fails if the pointer is null.
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
