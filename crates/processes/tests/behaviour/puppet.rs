//! Puppets: child processes that a test controls.
//!
//! A puppet reads one order per line, and answers each order with one line.

use std::{
    env,
    io::{BufRead, BufReader, Lines, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

mod orders;

/// The environment variable that makes this program a puppet.
const PUPPET: &str = "HALLPASS_PUPPET";
/// The beginning of a puppet's answers. The test harness prints other lines.
const MARK: &str = "> ";

pub struct Puppet {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// The answer to a request for a slot: the slot, or the error.
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

    /// Opens the hall of that name in the directory.
    pub fn open(&mut self, dir: &Path, name: &str) {
        assert_eq!(self.order(&format!("open {name} {}", dir.display())), "open");
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends an order.
    pub fn say(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    /// Waits for the puppet's answer to an order, and returns it.
    pub fn hear(&mut self) -> String {
        loop {
            let line = self.answers.next().expect("the puppet is gone").unwrap();
            if let Some(answer) = line.strip_prefix(MARK) {
                return answer.to_string();
            }
        }
    }

    /// Sends an order and waits for the answer.
    pub fn order(&mut self, order: &str) -> String {
        self.say(order);
        self.hear()
    }

    /// Waits for the answer to a request for a slot.
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

    /// Frees the slot.
    pub fn leave(&mut self, slot: usize) {
        assert_eq!(self.order(&format!("leave {slot}")), "left");
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Suspends the puppet with SIGSTOP, and returns when all its threads are suspended.
    ///
    /// Sending SIGSTOP is not enough. One thread of the puppet takes the signal, and the others keep running until
    /// that thread is scheduled.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let puppet = WaitId::Pid(Pid::from_child(&self.child));
        let status = waitid(puppet, WaitIdOptions::STOPPED).unwrap();
        assert!(status.is_some_and(|status| status.stopped()), "the puppet ended");
    }

    /// Lets a suspended puppet run again.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills the puppet, and returns when it is dead.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        // SIGKILL also ends suspended processes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a puppet. In the process that runs the tests, this does nothing.
#[test]
fn obey() {
    if env::var_os(PUPPET).is_some() {
        orders::obey();
    }
}
