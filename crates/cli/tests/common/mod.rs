//! Halls in a directory or on a store, and `hallpass` commands on them.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod cluster;
pub mod signals;
pub mod terminal;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use signals::with_default_signals;

pub const HALLPASS: &str = env!("CARGO_BIN_EXE_hallpass");

/// Time limit for every event for which a test waits. Even on a busy machine, only a failure takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Halls for one test.
pub struct Halls {
    /// A directory with the halls, unless they are on a store, and with files of the test.
    dir: TempDir,
    /// The options for the location of the halls.
    pub location: Vec<String>,
}

impl Halls {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let location = vec!["--dir".into(), dir.path().to_str().expect("text").into()];
        Halls { dir, location }
    }

    /// Halls on a cluster.
    pub fn on(url: &str) -> Self {
        Halls { location: vec!["--on".into(), url.into()], ..Halls::new() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns `hallpass COMMAND --dir ... WORDS...`, or the same with `--on ...`.
    pub fn command(&self, command: &str, words: &[&str]) -> Command {
        let mut ready = Command::new(HALLPASS);
        ready.arg(command).args(&self.location).args(words);
        ready.stdin(Stdio::null());
        if self.location.first().is_some_and(|option| option == "--on") {
            // Commands must not share connections with commands that the user who runs the tests has started. So they
            // use a separate directory for sockets.
            ready.env("XDG_RUNTIME_DIR", self.path());
        }
        with_default_signals(&mut ready);
        ready
    }

    pub fn output(&self, command: &str, words: &[&str]) -> Output {
        self.command(command, words).output().expect("it runs")
    }

    /// Returns the exit status of `hallpass run WORDS...`.
    pub fn run(&self, words: &[&str]) -> Option<i32> {
        self.output("run", words).status.code()
    }

    /// Returns the output of a command, which must succeed.
    pub fn prints(&self, command: &str, words: &[&str]) -> String {
        let output = self.output(command, words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Returns the hall `name` as `status --json` shows it.
    pub fn status(&self, name: &str) -> Value {
        let printed = self.prints("status", &["--json", name]);
        let mut json: Value = serde_json::from_str(&printed).expect("it is JSON");
        assert_eq!(json["halls"].as_array().map(Vec::len), Some(1), "{json}");
        json["halls"][0].take()
    }

    /// Returns `true` if `hallpass run -n` gets a slot of `name`.
    pub fn is_free(&self, name: &str) -> bool {
        match self.run(&["-n", name, "true"]) {
            Some(0) => true,
            Some(1) => false,
            other => panic!("unexpected exit status: {other:?}"),
        }
    }

    /// Starts `hallpass run WORDS...`, with pipes for its standard input and output.
    pub fn start(&self, words: &[&str]) -> Running {
        Running::start(&mut self.command("run", words))
    }

    /// Holds a slot until the test calls `leave` on the returned process.
    pub fn hold(&self, options: &[&str], name: &str) -> Running {
        let script = ["sh", "-c", "echo $$; exec cat"];
        let mut held = self.start(&[options, &[name], &script].concat());
        held.command_pid = held.line().parse().expect("a number");
        held
    }
}

/// A running `hallpass run`, with the standard input and output of its command.
pub struct Running {
    pub process: Child,
    pub stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// The PID of the command, if the command has printed it.
    pub command_pid: i32,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = with_default_signals(command).spawn().expect("it runs");
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        Running { process, stdin, stdout, command_pid: 0 }
    }

    pub fn pid(&self) -> i32 {
        self.process.id() as i32
    }

    /// Returns the next line that the command prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("text");
        line.trim_end().to_string()
    }

    /// Writes to the standard input of the command.
    pub fn say(&mut self, words: &str) {
        self.stdin.as_mut().expect("open").write_all(words.as_bytes()).expect("it listens");
    }

    /// Closes the standard input and waits for the end. Returns the exit status and the remaining output.
    pub fn leave(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        let status = self.process.wait().expect("it ends");
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("text");
        (status.code(), rest)
    }

    pub fn send(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Kills hallpass itself with SIGKILL.
    pub fn kill_hallpass(&mut self) {
        self.send(Signal::KILL);
        self.process.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed test must leave no process behind.
        self.stdin = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn send(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).expect("a process"), signal).expect("it is there");
}

/// Returns the letter for the state of a process; `None` if the process has ended or is exiting.
pub fn state(pid: i32) -> Option<char> {
    state_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads the letter for the state of a process from a line of `/proc/PID/stat`. Returns `None` if the process is
/// exiting.
pub fn state_in(stat: &str) -> Option<char> {
    /// Flag of a process that executes no further instruction of its program.
    const EXITING: u32 = 4;
    // The name of the program, before the last parenthesis, may contain anything.
    let fields: Vec<_> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let state = fields[0].chars().next()?;
    let is_exiting = fields[6].parse::<u32>().expect("a number") & EXITING != 0;
    (!is_exiting && !"ZX".contains(state)).then_some(state)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until the condition holds.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
