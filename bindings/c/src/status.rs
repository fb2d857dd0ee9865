//! Holders and waiters.

use std::{ffi::c_char, time::SystemTime};

use hallpass_processes as processes;

use crate::{hall::Hall, result::value};

/// The size of `hallpass_participant.command`, including the zero byte at the end.
pub const HALLPASS_COMMAND_SIZE: usize = 184;

/// A holder or waiter of a hall.
#[repr(C)]
pub struct Participant {
    /// The slot of a holder; `SIZE_MAX` for a waiter.
    pub slot: usize,
    /// The PID of the process in its own PID namespace.
    pub pid: u32,
    /// The ID of the user who runs the process.
    pub uid: u32,
    /// The time at which a holder got its slot or a waiter joined the queue, in nanoseconds since 1970.
    pub since: i64,
    /// Whether the process still runs.
    pub alive: bool,
    /// The command that the process runs, truncated to fit. The text ends with a zero byte.
    pub command: [c_char; HALLPASS_COMMAND_SIZE],
}

/// Writes at most `room` holders of a hall to the array `holders`, ordered by slot. Returns the number of all holders,
/// which may be larger than `room`. `holders` may be `NULL` if `room` is 0.
///
/// # Safety
/// `hall` is `NULL` or a handle; `holders` is valid for `room` writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_holders(
    hall: *const Hall,
    holders: *mut Participant,
    room: usize,
) -> usize {
    // SAFETY: by the contract of this function.
    value(0, || unsafe { list(hall, holders, room, |status| status.holders) })
}

/// Writes at most `room` waiters of a hall to the array `waiters`, in the order in which they get a slot. Returns the
/// number of all waiters, which may be larger than `room`. `waiters` may be `NULL` if `room` is 0.
///
/// # Safety
/// `hall` is `NULL` or a handle; `waiters` is valid for `room` writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hallpass_waiters(
    hall: *const Hall,
    waiters: *mut Participant,
    room: usize,
) -> usize {
    // SAFETY: by the contract of this function.
    value(0, || unsafe { list(hall, waiters, room, |status| status.waiters) })
}

/// Writes participants to an array of the caller.
///
/// # Safety
/// `hall` is null or a handle; `to` is null or valid for `room` writes.
unsafe fn list(
    hall: *const Hall,
    to: *mut Participant,
    room: usize,
    which: fn(processes::Status) -> Vec<processes::Participant>,
) -> usize {
    // SAFETY: by the contract of this function.
    let Some(hall) = (unsafe { hall.as_ref() }) else { return 0 };
    let found = which(hall.hall.status());
    for (index, one) in found.iter().take(if to.is_null() { 0 } else { room }).enumerate() {
        // SAFETY: `index` is below `room`, and the caller guarantees `room` valid writes.
        unsafe { to.add(index).write(participant(one)) };
    }
    found.len()
}

fn participant(one: &processes::Participant) -> Participant {
    let since = one.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut command = [0; HALLPASS_COMMAND_SIZE];
    // The last byte stays zero.
    let text = one.command.as_bytes().iter().take_while(|byte| **byte != 0);
    for (to, byte) in command[..HALLPASS_COMMAND_SIZE - 1].iter_mut().zip(text) {
        *to = *byte as c_char;
    }
    Participant {
        slot: one.slot.unwrap_or(usize::MAX),
        pid: one.pid,
        uid: one.uid.unwrap_or(u32::MAX),
        since: i64::try_from(since).unwrap_or(i64::MAX),
        alive: one.alive,
        command,
    }
}
