//! A terminal for tests, and the user in front of it.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::OpenOptionsExt,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
};

use libc::O_NOCTTY;
use rustix::{
    fs::{OFlags, fcntl_setfl},
    pty::{OpenptFlags, openpt, ptsname, unlockpt},
    termios::{Termios, Winsize, tcgetattr, tcsetwinsize},
};

use super::{HALLPASS, Halls, eventually, signals::with_default_signals};

/// A terminal, and the first process of its session.
pub struct Terminal {
    pub process: Child,
    /// The side of the user; `None` once the window is closed.
    pub window: Option<File>,
    /// The side of the programs.
    line: File,
    /// Everything that programs have written so far.
    shown: Vec<u8>,
}

impl Terminal {
    /// Runs a command on a new terminal with 24 lines and 80 columns.
    pub fn run(halls: &Halls, words: &[&str]) -> Self {
        Terminal::run_on(halls, words, (24, 80))
    }

    /// Runs a command on a new terminal with this many lines and columns.
    pub fn run_on(halls: &Halls, words: &[&str], (lines, columns): (u16, u16)) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let window = openpt(flags).expect("a terminal");
        unlockpt(&window).expect("unlocked");
        let name = ptsname(&window, Vec::new()).expect("a name").into_string().expect("text");
        fcntl_setfl(&window, OFlags::NONBLOCK).expect("set");
        let line = OpenOptions::new().read(true).write(true).custom_flags(O_NOCTTY).open(name);
        let line = line.expect("opened");
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&line, size).expect("set");
        let copy = || Stdio::from(line.try_clone().expect("a copy"));
        // `setsid --ctty` starts a session whose terminal is its standard input.
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(words).env("HALLPASS", HALLPASS).env("DIR", halls.path());
        command.stdin(copy()).stdout(copy()).stderr(copy()).env("TERM", "xterm");
        let process = with_default_signals(&mut command).spawn().expect("it runs");
        Terminal { process, window: Some(File::from(window)), line, shown: vec![] }
    }

    /// Runs `hallpass COMMAND --dir ... WORDS...`, or with `--on ...`, on a new terminal without a shell.
    pub fn hallpass(halls: &Halls, command: &str, words: &[&str]) -> Self {
        let location: Vec<_> = halls.location.iter().map(String::as_str).collect();
        Terminal::run(halls, &[&[HALLPASS, command], &location[..], words].concat())
    }

    pub fn press(&mut self, keys: &[u8]) {
        self.window.as_mut().expect("open").write_all(keys).expect("it listens");
    }

    pub fn text(&mut self) -> String {
        let mut buffer = [0; 4096];
        // The loop always ends with an error: there is nothing to read now, or no process has the terminal open.
        while let Some(Ok(count @ 1..)) =
            self.window.as_mut().map(|window| window.read(&mut buffer))
        {
            self.shown.extend(&buffer[..count]);
        }
        String::from_utf8_lossy(&self.shown).into_owned()
    }

    #[track_caller]
    pub fn shows(&mut self, what: &str) {
        eventually(what, || self.text().contains(what));
    }

    pub fn end(&mut self) -> ExitStatus {
        self.process.wait().expect("it ends")
    }

    pub fn settings(&self) -> Termios {
        tcgetattr(&self.line).expect("asked")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the terminal has shown {:?}", self.text());
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
