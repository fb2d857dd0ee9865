//! Starts a command without copying this process, as `posix_spawn(3)` does.
//!
//! `std::process::Command` does the same, but its child inherits the signal mask of hallpass. With a `pre_exec` closure
//! that sets another mask, `Command` copies this process. For a short command, the copy takes longer than everything
//! else that hallpass does.
#![allow(unsafe_code)]

use std::{
    collections::BTreeMap,
    env,
    ffi::{CString, OsStr, OsString},
    io,
    mem::MaybeUninit,
    os::unix::ffi::OsStrExt,
    process::Command,
    ptr,
};

use libc::{c_char, c_int, pid_t, posix_spawnattr_t};
use rustix::process::{Pid, Signal};

use crate::signals::SignalSet;

/// Starts the program of `command` with its arguments and variables. The new process blocks the signals in
/// `blocked`, and has the default action for the signals in `defaults`.
///
/// # Errors
/// - `ENOEXEC` for a script without a `#!` line (see [`script`](super::script)).
/// - `ENOENT` if the program is not on `PATH`.
/// - The other errors of `posix_spawn(3)`.
pub fn spawn(command: &Command, blocked: &SignalSet, defaults: &[Signal]) -> io::Result<Pid> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<CString> =
        words.map(|word| c_string(word.as_bytes())).collect::<Result<_, _>>()?;
    let variables = variables(command)?;
    let (arguments, environment) = (pointers(&words), pointers(&variables));
    let attributes = Attributes::new(blocked, defaults)?;
    let mut pid: pid_t = 0;
    // SAFETY: the lists end with a null pointer, and they, the strings that they point to and the
    // attributes live until the call returns; there are no file actions.
    let code = unsafe {
        libc::posix_spawnp(
            &mut pid,
            arguments[0],
            ptr::null(),
            attributes.0.as_ptr(),
            arguments.as_ptr().cast(),
            environment.as_ptr().cast(),
        )
    };
    check(code)?;
    Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns the variables of this process with the changes of `command`, each as `NAME=VALUE`.
fn variables(command: &Command) -> io::Result<Vec<CString>> {
    let mut all: BTreeMap<OsString, OsString> = env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => all.insert(name.into(), value.into()),
            None => all.remove(name),
        };
    }
    let line = |(name, value): (OsString, OsString)| {
        c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat())
    };
    all.into_iter().map(line).collect()
}

/// Returns `true` if `command` changes the variable. A caller must not use [`spawn`] for a command that changes
/// `PATH`: `spawn` searches the `PATH` of this process, not that of the command.
pub fn changes(command: &Command, variable: &str) -> bool {
    command.get_envs().any(|(name, _)| name == OsStr::new(variable))
}

fn c_string(bytes: &[u8]) -> io::Result<CString> {
    Ok(CString::new(bytes)?)
}

/// Returns the strings as C expects them: pointers, then a null pointer.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

struct Attributes(MaybeUninit<posix_spawnattr_t>);

impl Attributes {
    fn new(blocked: &SignalSet, defaults: &[Signal]) -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: there is room for the attributes, which the call initialises.
        check(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
        let mut attributes = Attributes(raw);
        let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        let defaults = SignalSet::of(defaults.iter().copied());
        let this = attributes.0.as_mut_ptr();
        // SAFETY: the attributes are initialised.
        check(unsafe { libc::posix_spawnattr_setflags(this, flags as _) })?;
        // SAFETY: the attributes and the set are initialised.
        check(unsafe { libc::posix_spawnattr_setsigmask(this, blocked.as_raw()) })?;
        // SAFETY: the attributes and the set are initialised.
        check(unsafe { libc::posix_spawnattr_setsigdefault(this, defaults.as_raw()) })?;
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: `new` has initialised the attributes, and nothing uses them any more.
        unsafe { libc::posix_spawnattr_destroy(self.0.as_mut_ptr()) };
    }
}

/// Converts the result of a function that returns the error instead of setting `errno`.
fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
