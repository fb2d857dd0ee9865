//! Results, and the texts of errors.

use std::{
    cell::RefCell,
    ffi::{CStr, c_char, c_int},
    panic::{self, AssertUnwindSafe},
};

use hallpass_processes::Error;

/// Result of a function that can fail. 0 is success.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HallpassResult {
    /// Success.
    HallpassOk = 0,
    /// No slot is free or others wait for one. With a time limit: no slot was free in time.
    HallpassNoSlot = 1,
    /// The hall is closed, or was removed.
    HallpassClosed = 2,
    /// There is no hall of this name.
    HallpassMissing = 3,
    /// The hall has a different number of slots.
    HallpassSlotsMismatch = 4,
    /// An argument is not allowed: a null pointer, a name or number that no hall can have, or a string that is not
    /// UTF-8.
    HallpassBadArgument = 5,
    /// The hall has holders or waiters, so it was not removed.
    HallpassInUse = 6,
    /// The hall has no room for another holder or waiter.
    HallpassFull = 7,
    /// The file is not a hall, is damaged, or has another version.
    HallpassDamaged = 8,
    /// A call to the operating system failed. `hallpass_last_errno` returns the reason.
    HallpassSystem = 9,
    /// The library itself has a bug.
    HallpassInternal = 10,
}

use HallpassResult::*;

/// An error on its way to the caller.
pub(crate) struct Failure {
    result: HallpassResult,
    text: String,
    errno: c_int,
}

impl Failure {
    pub(crate) fn bad_argument(text: impl Into<String>) -> Self {
        Failure { result: HallpassBadArgument, text: text.into(), errno: 0 }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut errno = 0;
        let result = match &error {
            Error::NoPermits => HallpassNoSlot,
            Error::Closed => HallpassClosed,
            Error::Missing { .. } => HallpassMissing,
            Error::Slots { .. } => HallpassSlotsMismatch,
            Error::BadName { .. } | Error::BadSlots { .. } => HallpassBadArgument,
            Error::InUse { .. } => HallpassInUse,
            Error::Full { .. } => HallpassFull,
            Error::System { source, .. } => {
                errno = source.raw_os_error().unwrap_or(0);
                HallpassSystem
            }
            // Of the remaining errors, this library meets only `Damaged`, `Version` and `NotAHall`. The others are
            // about cells and requests for several slots.
            _ => HallpassDamaged,
        };
        Failure { result, text: error.to_string(), errno }
    }
}

/// The size of the buffer for the message of an error, including the zero byte at the end.
const MESSAGE_SIZE: usize = 1024;

/// The message and the `errno` of an error.
struct LastError {
    /// The buffer does not move and is not freed while its thread runs, so a caller may keep a pointer to it.
    message: [u8; MESSAGE_SIZE],
    errno: c_int,
}

impl LastError {
    /// Replaces the message, truncated to fit, and the `errno`.
    fn set(&mut self, text: &str, errno: c_int) {
        let end =
            (0..text.len().min(MESSAGE_SIZE - 1) + 1).rfind(|&end| text.is_char_boundary(end));
        self.message.fill(0);
        for (to, byte) in self.message.iter_mut().zip(text.bytes().take(end.unwrap_or(0))) {
            *to = if byte == 0 { b' ' } else { byte };
        }
        self.errno = errno;
    }
}

thread_local! {
    /// The last error of this thread.
    static LAST: RefCell<LastError> = const { RefCell::new(LastError { message: [0; MESSAGE_SIZE], errno: 0 }) };
}

/// Runs the body of an exported function. Panics and errors become results.
pub(crate) fn catch_errors(body: impl FnOnce() -> Result<(), Failure>) -> HallpassResult {
    let outcome = panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Failure {
            result: HallpassInternal,
            text: format!("bug in hallpass: {text}"),
            errno: 0,
        })
    });
    match outcome {
        Ok(()) => HallpassOk,
        Err(Failure { result, text, errno }) => {
            // This fails only in a thread that is ending, whose thread-local variables are gone.
            let _ = LAST.try_with(|last| last.borrow_mut().set(&text, errno));
            result
        }
    }
}

/// Runs the body of an exported function that returns a value. A panic becomes `otherwise`.
pub(crate) fn value<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Borrows the value behind a pointer of the caller. Fails if the pointer is null.
///
/// # Safety
/// The pointer is null or valid for `'a`.
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the contract of this function.
    unsafe { pointer.as_ref() }
        .ok_or_else(|| Failure::bad_argument(format!("{what} must not be NULL")))
}

/// Borrows a string of the caller. Fails if the pointer is null or the string is not UTF-8.
///
/// # Safety
/// The pointer is null, or points to a NUL-terminated string that is valid for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::bad_argument(format!("{what} must not be NULL")));
    }
    // SAFETY: by the contract of this function.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::bad_argument(format!("{what} must be UTF-8")))
}

/// Returns a short description of a result: a static string, which stays valid.
#[unsafe(no_mangle)]
pub extern "C" fn hallpass_result_text(result: c_int) -> *const c_char {
    let known = [
        (HallpassOk, c"success"),
        (HallpassNoSlot, c"no slot is free"),
        (HallpassClosed, c"the hall is closed"),
        (HallpassMissing, c"there is no hall of this name"),
        (HallpassSlotsMismatch, c"the hall has a different number of slots"),
        (HallpassBadArgument, c"an argument is not allowed"),
        (HallpassInUse, c"the hall is in use"),
        (HallpassFull, c"the hall has no room for another holder or waiter"),
        (HallpassDamaged, c"the file is not a hall or is damaged"),
        (HallpassSystem, c"a call to the operating system failed"),
        (HallpassInternal, c"bug in hallpass"),
    ];
    let found = known.iter().find(|(one, _)| *one as c_int == result);
    found.map_or(c"unknown result", |(_, text)| text).as_ptr()
}

/// Returns the message of the last error of this thread. It says what happened and, in many cases, what to do. It has
/// at most 1023 bytes. The string is valid until the thread ends. If another function of this library fails in this
/// thread, the string changes.
#[unsafe(no_mangle)]
pub extern "C" fn hallpass_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr().cast()).unwrap_or(c"".as_ptr())
}

/// Returns the `errno` of the last error of this thread, or 0 if that error has no `errno`.
#[unsafe(no_mangle)]
pub extern "C" fn hallpass_last_errno() -> c_int {
    LAST.try_with(|last| last.borrow().errno).unwrap_or(0)
}

/// Returns the version of the library, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn hallpass_version() -> *const c_char {
    const { CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) }
        .map_or(c"".as_ptr(), CStr::as_ptr)
}
