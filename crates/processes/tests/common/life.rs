//! The identity of a process, and whether it is gone, from `/proc`.

use std::fs;

/// Identifies a process by its pid and its start time, so that a reused pid does no harm. The number is never zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Life(pub u64);

/// Pids are below 2^22.
const PID_BITS: u32 = 22;

/// The kernel's PF_EXITING.
const EXITING: u64 = 4;

/// The content of `/proc/PID/stat`.
pub struct Stat {
    pub state: char,
    flags: u64,
    began: u64,
}

/// Reads `/proc/PID/stat`. Returns `None` if there is no such process.
pub fn stat(pid: &str) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the command in parentheses. It may contain any characters.
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    Some(Stat { state: fields[0].chars().next()?, flags: number(6)?, began: number(19)? })
}

impl Life {
    /// Returns the identity of this process.
    pub fn own() -> Life {
        let began = stat("self").expect("this process exists").began;
        Life(began << PID_BITS | u64::from(std::process::id()))
    }

    /// Returns the PID of the process.
    pub fn pid(self) -> u64 {
        self.0 & ((1 << PID_BITS) - 1)
    }

    /// Returns `true` if the process will never run another instruction of its program. Its files may still
    /// be open for a moment.
    pub fn is_gone(self) -> bool {
        stat(&self.pid().to_string()).is_none_or(|stat| {
            let other = stat.began != self.0 >> PID_BITS;
            other || stat.flags & EXITING != 0 || matches!(stat.state, 'Z' | 'X')
        })
    }
}
