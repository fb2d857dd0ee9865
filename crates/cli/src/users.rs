//! Names of users.
#![allow(unsafe_code)]

use std::{ffi::CStr, mem::MaybeUninit, ptr};

/// Size of the buffer for an entry of the user database. A user with a longer entry is shown by number.
const ENTRY: usize = 1 << 16;

/// Looks up the name of a user in the user database. Returns `None` if there is no such user.
pub fn name_of(uid: u32) -> Option<String> {
    let mut strings = vec![0; ENTRY];
    let mut entry = MaybeUninit::uninit();
    let mut found = ptr::null_mut();
    // SAFETY: `entry` and `strings` have the sizes that are passed, and `found` is a pointer to write to.
    let code = unsafe {
        libc::getpwuid_r(uid, entry.as_mut_ptr(), strings.as_mut_ptr(), ENTRY, &mut found)
    };
    if code != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call succeeded and has set `found` to `entry`, which it has filled.
    let entry = unsafe { entry.assume_init() };
    // SAFETY: the name is a string that ends with a zero byte in `strings`, which still lives.
    let name = unsafe { CStr::from_ptr(entry.pw_name) };
    Some(name.to_string_lossy().into_owned())
}
