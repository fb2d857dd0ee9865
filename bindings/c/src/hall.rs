//! Halls.

use std::{
    ffi::{CString, c_char},
    ptr,
    sync::Arc,
    time::Duration,
};

use hallpass_processes::{Error, HallDir, SharedHall, SharedPass};

use crate::{
    pass::{Pass, put},
    result::{Failure, HallpassResult, borrow, catch_errors, text, value},
};

/// A hall that this process has open. Threads may share it.
pub struct Hall {
    pub(crate) hall: Arc<SharedHall>,
    name: CString,
}

/// Returns the directory at a path. For a null pointer, returns the default directory of this user.
///
/// # Safety
/// `directory` is null or a NUL-terminated string.
unsafe fn dir(directory: *const c_char) -> Result<HallDir, Failure> {
    if directory.is_null() {
        return Ok(HallDir::user()?);
    }
    // SAFETY: by the contract of this function.
    let path = unsafe { text(directory, "directory") }?;
    if path.is_empty() {
        let why = "directory must not be empty: pass a path, or NULL for the default";
        return Err(Failure::bad_argument(why));
    }
    Ok(HallDir::at(path))
}

/// Opens a hall and hands it to the caller. Writes a null pointer first, so the caller has one after any failure, also
/// after a failure of `dir`.
///
/// # Safety
/// `name` is null or a NUL-terminated string; `hall` is null or valid for a write.
unsafe fn open(
    dir: impl FnOnce() -> Result<HallDir, Failure>,
    name: *const c_char,
    slots: usize,
    hall: *mut *mut Hall,
) -> Result<(), Failure> {
    // SAFETY: by the contract of this function.
    unsafe { put(hall, ptr::null_mut()) }?;
    let dir = dir()?;
    // SAFETY: by the contract of this function.
    let name = unsafe { text(name, "name") }?;
    let opened = if slots == 0 { dir.open_existing(name) } else { dir.open(name, slots) }?;
    let name = CString::new(name).unwrap_or_default();
    let opened = Box::new(Hall { hall: Arc::new(opened), name });
    // SAFETY: by the contract of this function.
    unsafe { put(hall, Box::into_raw(opened)) }
}

/// Opens the hall `name`, or creates it with `slots` slots. With 0 slots, the hall must exist.
///
/// `directory` is the directory that contains the hall. `NULL` stands for the default directory of this user.
/// `hallpass_free` closes the handle.
///
/// # Safety
/// `directory` is `NULL` or a NUL-terminated string. `name` is a NUL-terminated string. `hall` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_open(
    directory: *const c_char,
    name: *const c_char,
    slots: usize,
    hall: *mut *mut Hall,
) -> HallpassResult {
    // SAFETY: by the contract of this function.
    catch_errors(|| unsafe { open(|| dir(directory), name, slots, hall) })
}

/// Opens or creates a hall that all users share, in `/run/lock/hallpass`. See `hallpass_open`.
///
/// # Safety
/// `name` is a NUL-terminated string, and `hall` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_open_system(
    name: *const c_char,
    slots: usize,
    hall: *mut *mut Hall,
) -> HallpassResult {
    // SAFETY: by the contract of this function.
    catch_errors(|| unsafe { open(|| Ok(HallDir::system()), name, slots, hall) })
}

/// Closes a handle. The hall itself stays, and passes of the hall stay valid. Does nothing for `NULL`.
///
/// # Safety
/// `hall` is `NULL` or a handle that was not closed. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_free(hall: *mut Hall) {
    if !hall.is_null() {
        // SAFETY: the pointer comes from `Box::into_raw`, and the caller does not use it again.
        value((), || drop(unsafe { Box::from_raw(hall) }));
    }
}

/// Removes the hall `name`. With `force`, it also removes a hall that is in use or damaged.
///
/// # Safety
/// `directory` is `NULL` or a NUL-terminated string. `name` is a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_remove(
    directory: *const c_char,
    name: *const c_char,
    force: bool,
) -> HallpassResult {
    catch_errors(|| {
        // SAFETY: by the contract of this function.
        let (dir, name) = unsafe { (dir(directory)?, text(name, "name")?) };
        Ok(dir.remove(name, force)?)
    })
}

/// Acquires a pass and hands it to the caller.
///
/// # Safety
/// `hall` is null or a handle; `pass` is null or valid for a write.
unsafe fn enter(
    hall: *const Hall,
    pass: *mut *mut Pass,
    acquire: impl for<'a> FnOnce(&'a SharedHall) -> Result<SharedPass<'a>, Error>,
) -> HallpassResult {
    catch_errors(|| {
        // SAFETY: by the contract of this function.
        unsafe { put(pass, ptr::null_mut()) }?;
        // SAFETY: by the contract of this function.
        let hall = unsafe { borrow(hall, "hall") }?;
        let acquired = Pass::acquire(&hall.hall, acquire)?;
        // SAFETY: by the contract of this function.
        unsafe { put(pass, Box::into_raw(acquired)) }
    })
}

/// Waits until a slot is free and takes it. Waiters are served in the order of their arrival.
///
/// # Safety
/// `hall` is a handle, and `pass` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_acquire(
    hall: *const Hall,
    pass: *mut *mut Pass,
) -> HallpassResult {
    // SAFETY: by the contract of this function.
    unsafe { enter(hall, pass, |hall| hall.acquire()) }
}

/// Takes a slot if one is free and nobody waits. Returns `HALLPASS_NO_SLOT` otherwise.
///
/// # Safety
/// `hall` is a handle, and `pass` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_try_acquire(
    hall: *const Hall,
    pass: *mut *mut Pass,
) -> HallpassResult {
    // SAFETY: by the contract of this function.
    unsafe { enter(hall, pass, |hall| hall.try_acquire()) }
}

/// Waits until a slot is free and takes it. Returns `HALLPASS_NO_SLOT` if no slot is free within `milliseconds`.
///
/// # Safety
/// `hall` is a handle, and `pass` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_acquire_for(
    hall: *const Hall,
    milliseconds: u64,
    pass: *mut *mut Pass,
) -> HallpassResult {
    let time = Duration::from_millis(milliseconds);
    // SAFETY: by the contract of this function.
    unsafe { enter(hall, pass, |hall| hall.try_acquire_for(time)) }
}

/// Closes the lifelines (see `hallpass_lifeline`) that a forked child has inherited, so that the slots of its parent
/// become free when the parent dies. Call it in the child, before the child uses the hall. Without this call, the child
/// has the lifelines open until it execs or exits. Does nothing for `NULL`, and in a process that opened the hall
/// itself.
///
/// # Safety
/// `hall` is `NULL` or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_close_inherited_lifelines(hall: *const Hall) {
    // SAFETY: by the contract of this function.
    value((), || unsafe { hall.as_ref() }.map_or((), |hall| hall.hall.close_inherited_lifelines()));
}

/// Returns the name of the hall. The string is valid until the handle is closed. Returns `NULL` for `NULL`.
///
/// # Safety
/// `hall` is `NULL` or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_name(hall: *const Hall) -> *const c_char {
    // SAFETY: by the contract of this function.
    unsafe { hall.as_ref() }.map_or(ptr::null(), |hall| hall.name.as_ptr())
}

/// Returns the number of slots. Returns 0 for a closed hall and for `NULL`.
///
/// # Safety
/// `hall` is `NULL` or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_slots(hall: *const Hall) -> usize {
    // SAFETY: by the contract of this function.
    value(0, || unsafe { hall.as_ref() }.map_or(0, |hall| hall.hall.slots()))
}

/// Returns the number of free slots: a snapshot that may already be stale. Returns 0 for `NULL`.
///
/// # Safety
/// `hall` is `NULL` or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_available(hall: *const Hall) -> usize {
    // SAFETY: by the contract of this function.
    value(0, || unsafe { hall.as_ref() }.map_or(0, |hall| hall.hall.available()))
}

/// Returns the number of waiters: a snapshot that may already be stale. Returns 0 for `NULL`.
///
/// # Safety
/// `hall` is `NULL` or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_waiting(hall: *const Hall) -> usize {
    // SAFETY: by the contract of this function.
    value(0, || unsafe { hall.as_ref() }.map_or(0, |hall| hall.hall.waiting()))
}

/// Changes the number of slots while the hall is in use. Holders of removed slots keep them until they leave.
///
/// # Safety
/// `hall` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_resize(hall: *const Hall, slots: usize) -> HallpassResult {
    // SAFETY: by the contract of this function.
    catch_errors(|| Ok(unsafe { borrow(hall, "hall") }?.hall.resize(slots)?))
}

/// Closes the hall permanently. Waiters and newcomers get `HALLPASS_CLOSED`; holders keep their slots until they
/// leave.
///
/// # Safety
/// `hall` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_close(hall: *const Hall) -> HallpassResult {
    catch_errors(|| {
        // SAFETY: by the contract of this function.
        unsafe { borrow(hall, "hall") }?.hall.close();
        Ok(())
    })
}

/// Frees the slots of dead processes. Waiters do this by themselves. The function writes to `dead` how many records of
/// dead processes it removed, unless `dead` is `NULL`.
///
/// # Safety
/// `hall` is a handle; `dead` is `NULL` or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_reap(hall: *const Hall, dead: *mut usize) -> HallpassResult {
    catch_errors(|| {
        // SAFETY: by the contract of this function.
        let found = unsafe { borrow(hall, "hall") }?.hall.reap()?;
        // SAFETY: by the contract of this function.
        if dead.is_null() { Ok(()) } else { unsafe { put(dead, found) } }
    })
}

/// Sets the command that `hallpass status` shows for this process. At most 176 bytes of the command are kept.
///
/// # Safety
/// `hall` is a handle, and `command` is a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_describe_as(
    hall: *const Hall,
    command: *const c_char,
) -> HallpassResult {
    catch_errors(|| {
        // SAFETY: by the contract of this function.
        let (hall, command) = unsafe { (borrow(hall, "hall")?, text(command, "command")?) };
        hall.hall.describe_as(command);
        Ok(())
    })
}
