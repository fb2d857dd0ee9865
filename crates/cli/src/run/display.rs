//! The status line: one line on the terminal that shows the queue while hallpass waits for a slot.

use std::{
    cell::{OnceCell, RefCell},
    io::{self, Write},
    os::fd::OwnedFd,
    time::Duration,
};

use console::Term;
use hallpass_common::Participant;
use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, open},
    process::getpgrp,
    termios::tcgetpgrp,
};

use crate::snapshot::{self, View, printable};

/// Time before the line first appears. A shorter wait shows no line, because a line that flashes for a moment
/// distracts.
pub const AT_FIRST: Duration = Duration::from_millis(150);
/// Time between two updates of the line.
pub const EVERY: Duration = Duration::from_millis(500);

/// Moves the cursor to the first column and clears the line.
const CLEAR_LINE: &str = "\r\x1b[2K";

/// The line on standard error. Dropping it clears the line.
pub struct StatusLine {
    terminal: Term,
    /// The text that the line shows; empty before the first text.
    shown: RefCell<String>,
    /// A lock on the terminal. While it is held, other commands that wait on the terminal show no line. The cell
    /// contains `None` if the terminal cannot be opened again; then there is no lock.
    lock: OnceCell<Option<OwnedFd>>,
}

impl StatusLine {
    pub fn new() -> Self {
        StatusLine { terminal: Term::stderr(), shown: RefCell::default(), lock: OnceCell::new() }
    }

    /// Returns `true` if no other command shows its line on this terminal. From then on, no other command shows
    /// its line until this value is dropped.
    pub fn has_terminal(&self) -> bool {
        if self.lock.get().is_some() {
            return true;
        }
        // Other processes often share standard error, and would share a lock on it. So open the terminal again.
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = open("/proc/self/fd/2", flags, Mode::empty()).ok();
        let is_free = terminal.as_ref().is_none_or(|terminal| {
            flock(terminal, FlockOperation::NonBlockingLockExclusive).is_ok()
        });
        is_free && self.lock.set(terminal).is_ok()
    }

    /// Shows `sentence`, truncated to the width of the terminal.
    pub fn write(&self, sentence: &str) {
        let (_, columns) = self.terminal.size();
        let line = format!("hallpass: {sentence}");
        // Some terminals wrap a line that fills the last column.
        let line = console::truncate_str(&line, usize::from(columns).saturating_sub(1), "…");
        if *self.shown.borrow() != line {
            // Use one write, so that lines of several processes do not mix. Ignore errors, because the line is not
            // important.
            let _ = (&self.terminal).write_all(format!("{CLEAR_LINE}{line}").as_bytes());
            self.shown.replace(line.into_owned());
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if !self.shown.borrow().is_empty() {
            let _ = (&self.terminal).write_all(CLEAR_LINE.as_bytes());
        }
    }
}

/// Returns `true` if this process is in the foreground. A process in the background must not overwrite the text
/// that the user types.
pub fn in_foreground() -> bool {
    tcgetpgrp(io::stderr()).is_ok_and(|group| group == getpgrp())
}

/// Describes the queue for the waiter that `is_us` finds: its position, the waiters before it, and the holders.
pub fn sentence(hall: &View, is_us: impl Fn(&Participant) -> bool) -> String {
    let show = |one: &Participant| {
        let host = one.host.as_ref().map_or_else(String::new, |_| snapshot::host(one) + " ");
        let (user, command) = (snapshot::user(one), printable(&one.command));
        format!("{host}{} {user} {command} ({})", one.pid, hall.time(one))
    };
    let (name, waiters) = (&hall.status.name, &hall.status.waiters);
    let mut text = match waiters.iter().position(is_us) {
        Some(0) => format!("{name}: next in line"),
        Some(before) => {
            let ahead: Vec<_> = waiters[..before].iter().map(show).collect();
            format!("{name}: {} in line, after {}", ordinal(before + 1), ahead.join(", "))
        }
        None => format!("{name}: waiting"),
    };
    for (number, one) in hall.status.holders.iter().enumerate() {
        text += if number == 0 { "; " } else { ", " };
        if let Some(slot) = one.slot {
            text += &format!("slot {slot}: ");
        }
        text += &show(one);
    }
    text
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::{participant, view};

    #[test]
    fn the_sentence_lists_the_waiters_ahead_and_the_holders() {
        let mut hall = view(
            vec![
                participant(Some(0), 7, "python train.py", 720),
                participant(Some(1), 12, "sh", 0),
            ],
            vec![participant(None, 8, "make\n", 3), participant(None, 9, "me", 1)],
        );
        let holders = "; slot 0: 7 ann python train.py (12m00s), slot 1: 12 ann sh (0s)";
        let second = sentence(&hall, |one| one.pid == 9);
        assert_eq!(second, format!("gpu: 2nd in line, after 8 ann make\\n (3s){holders}"));
        hall.status.waiters.remove(0);
        assert_eq!(sentence(&hall, |one| one.pid == 9), format!("gpu: next in line{holders}"));
        assert_eq!(sentence(&hall, |one| one.pid == 10), format!("gpu: waiting{holders}"));
    }

    #[test]
    fn ordinals_have_the_right_suffix() {
        let shown = [1, 2, 3, 4, 11, 12, 13, 21, 22, 111, 1002].map(ordinal);
        let expected =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "111th", "1002nd"];
        assert_eq!(shown, expected);
    }
}
