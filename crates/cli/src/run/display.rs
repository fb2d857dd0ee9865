//! What somebody at a terminal sees while waiting: one line, written over and over.

use std::{
    io, process,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use hallpass_common::Participant;
use hallpass_processes::SharedHall;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::{process::getpgrp, termios::tcgetpgrp};

use crate::people::{self, Users, View, printable};

/// Who gets in sooner than this need not see anything flash.
pub const AT_FIRST: Duration = Duration::from_millis(150);
pub const EVERY: Duration = Duration::from_millis(500);

/// A line on standard error; gone when this is dropped.
pub struct WaitDisplay {
    done: Option<Sender<()>>,
    painter: Option<JoinHandle<()>>,
}

/// Where it is written; wiped out when this is dropped.
pub struct StatusLine(ProgressBar);

impl StatusLine {
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("hallpass: {wide_msg}") {
            bar.set_style(style);
        }
        StatusLine(bar)
    }

    pub fn write(&self, sentence: String) {
        self.0.set_message(sentence);
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl WaitDisplay {
    pub fn show(hall: SharedHall) -> Self {
        let (done, is_done) = mpsc::channel();
        let paint = move || {
            let status_line = StatusLine::new();
            let mut users = Users::default();
            let mut pause = AT_FIRST;
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(pause) {
                pause = EVERY;
                if in_foreground() {
                    let hall = View::new(hall.status(), &mut users);
                    status_line.write(sentence(&hall, |one| one.pid == process::id()));
                }
            }
        };
        // Without a thread there is no line, and one waits all the same.
        let painter = thread::Builder::new().name("display".into()).spawn(paint).ok();
        WaitDisplay { done: Some(done), painter }
    }
}

impl Drop for WaitDisplay {
    fn drop(&mut self) {
        self.done = None;
        if let Some(painter) = self.painter.take() {
            let _ = painter.join();
        }
    }
}

/// A command in the background does not write over what the user types.
pub fn in_foreground() -> bool {
    tcgetpgrp(io::stderr()).is_ok_and(|group| group == getpgrp())
}

/// Our place in the queue and who is ahead: those before us, then those who are in.
pub fn sentence(hall: &View, is_us: impl Fn(&Participant) -> bool) -> String {
    let show = |one: &Participant| {
        let host = one.host.as_ref().map_or_else(String::new, |_| people::host(one) + " ");
        let (user, command) = (people::user(one), printable(&one.command));
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
    use crate::people::tests::{person, view};

    #[test]
    fn the_sentence_says_who_is_ahead() {
        let mut hall = view(
            vec![person(Some(0), 7, "python train.py", 720), person(Some(1), 12, "sh", 0)],
            vec![person(None, 8, "make\n", 3), person(None, 9, "me", 1)],
        );
        let inside = "; slot 0: 7 ann python train.py (12m00s), slot 1: 12 ann sh (0s)";
        let second = sentence(&hall, |one| one.pid == 9);
        assert_eq!(second, format!("gpu: 2nd in line, after 8 ann make\\n (3s){inside}"));
        hall.status.waiters.remove(0);
        assert_eq!(sentence(&hall, |one| one.pid == 9), format!("gpu: next in line{inside}"));
        assert_eq!(sentence(&hall, |one| one.pid == 10), format!("gpu: waiting{inside}"));
    }

    #[test]
    fn numbers_have_their_endings() {
        let shown = [1, 2, 3, 4, 11, 12, 13, 21, 22, 111, 1002].map(ordinal);
        let expected =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "111th", "1002nd"];
        assert_eq!(shown, expected);
    }
}
