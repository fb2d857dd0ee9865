//! Processes that do what they are told.
//!
//! A line tells a puppet what to do; a line says what came of it.

use std::{
    env,
    io::{BufRead, BufReader, Lines, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

mod obedience;

/// Says to this program that it is a puppet.
const PUPPET: &str = "HALLPASS_PUPPET";
/// What a puppet's lines begin with: the test harness prints some of its own.
const MARK: &str = "> ";

pub struct Puppet {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// What a puppet that asked got: a slot, or why not.
pub type Answer = Result<usize, String>;

impl Puppet {
    pub fn new() -> Puppet {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "puppet::obey", "--nocapture", "--test-threads=1"]);
        command.env(PUPPET, "").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Puppet { child, orders, answers }
    }

    /// Opens the hall of that name there.
    pub fn open(&mut self, place: &Path, name: &str) {
        assert_eq!(self.order(&format!("open {name} {}", place.display())), "open");
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it something.
    pub fn say(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    /// What it answers; it is waited for.
    pub fn hear(&mut self) -> String {
        loop {
            let line = self.answers.next().expect("the puppet is gone").unwrap();
            if let Some(answer) = line.strip_prefix(MARK) {
                return answer.to_string();
            }
        }
    }

    /// Tells it something, and hears what comes of it.
    pub fn order(&mut self, order: &str) -> String {
        self.say(order);
        self.hear()
    }

    /// What came of asking for a slot.
    pub fn answer(&mut self) -> Answer {
        let text = self.hear();
        match text.strip_prefix("in ") {
            Some(slot) => Ok(slot.parse().unwrap()),
            None => Err(text),
        }
    }

    pub fn acquire(&mut self) -> Answer {
        self.say("acquire");
        self.answer()
    }

    pub fn try_acquire(&mut self) -> Answer {
        self.say("try");
        self.answer()
    }

    /// Gives the slot back.
    pub fn leave(&mut self, slot: usize) {
        assert_eq!(self.order(&format!("leave {slot}")), "left");
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops the puppet, and returns when all its threads are stopped.
    ///
    /// SIGSTOP alone is not enough: one thread of the puppet takes the signal, and until that thread is
    /// scheduled the others keep running.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let puppet = WaitId::Pid(Pid::from_child(&self.child));
        let status = waitid(puppet, WaitIdOptions::STOPPED).unwrap();
        assert!(status.is_some_and(|status| status.stopped()), "the puppet ended");
    }

    /// Lets a stopped puppet run again.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills it, and returns when it is dead.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        // Also if it was stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a puppet runs. In the program that the tests run in, nothing.
#[test]
fn obey() {
    if env::var_os(PUPPET).is_some() {
        obedience::obey();
    }
}
