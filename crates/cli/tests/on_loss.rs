//! Tests of `hallpass run --on-loss`, on all stores. The *hook* is the command that this option names.

mod common;

use std::{fs, io::Read, path::PathBuf, thread};

use common::{
    Halls, Running,
    cluster::{Far, far_stores},
    eventually, state, text,
};
use rustix::process::Signal;

/// The exit status if the slot was lost and hallpass ended the command.
const SLOT_LOST: i32 = 123;
/// Options for a slot that has to be lost soon. The grace is long enough for a hook on a busy machine.
const SHORT: [&str; 4] = ["--ttl", "11", "--grace", "5"];

/// Runs a test on all stores that are installed, at the same time. `test` is a name that no other test uses.
fn on_each_store(test: &str, check: impl Fn(Far) + Sync) {
    thread::scope(|scope| {
        for far in far_stores(test) {
            scope.spawn(|| check(far));
        }
    });
}

impl Far {
    /// Starts a command with a hook. Each test needs a different name of the hall, because all tests share the
    /// database.
    fn start(&self, hall: &str, hook: &str, script: &str) -> Running {
        let words = ["-k", "1", "--on-loss", hook, hall, "sh", "-c", script];
        Running::start(
            self.halls.command("run", &[&SHORT[..], &words].concat()).env("SHELL", "/bin/sh"),
        )
    }

    /// Returns the path of a file for a hook.
    fn file(&self) -> PathBuf {
        self.halls.path().join("hook")
    }
}

/// Waits for the end of hallpass. Returns its exit status, and what it wrote to standard error.
fn end_of(mut running: Running) -> (Option<i32>, String) {
    let mut stderr = running.process.stderr.take().expect("a pipe");
    let code = running.process.wait().expect("it ends").code();
    let mut written = Vec::new();
    stderr.read_to_end(&mut written).expect("read");
    (code, text(&written))
}

#[test]
fn when_a_pass_is_lost_the_hook_learns_which_one_and_why() {
    on_each_store("told", |far| {
        let hook = format!(
            "echo $HALLPASS_NAME $HALLPASS_SLOT $HALLPASS_SLOTS $HALLPASS_TOKEN $HALLPASS_LOSS >{0}.new; \
             mv {0}.new {0}",
            far.file().display()
        );
        let mut holder = far.start("told", &hook, "echo $HALLPASS_TOKEN; exec cat");
        let token = holder.line();
        far.path.cut();
        let (code, stderr) = end_of(holder);
        assert_eq!(code, Some(SLOT_LOST), "{stderr}");
        let told = fs::read_to_string(far.file()).expect("the hook has ended before hallpass");
        let reason = told.strip_prefix(&format!("told 0 1 {token} ")).expect(&told).trim_end();
        assert!(!reason.is_empty() && stderr.contains(reason), "{reason}: {stderr}");
        assert!(!stderr.contains("--on-loss"), "the hook has succeeded: {stderr}");
    });
}

#[test]
fn a_hook_that_does_not_end_is_killed_with_all_its_processes() {
    on_each_store("endless", |far| {
        let hook = format!("sleep 1000 & echo $! >{0}; mv {0} {0}.pid; wait", far.file().display());
        let mut holder = far.start("endless", &hook, "echo in; exec cat");
        assert_eq!(holder.line(), "in");
        far.path.cut();
        let (code, stderr) = end_of(holder);
        assert_eq!(code, Some(SLOT_LOST), "{stderr}");
        assert!(stderr.contains("--on-loss did not end within --grace and was killed"), "{stderr}");
        let pid = fs::read_to_string(far.file().with_extension("pid")).expect("the hook ran");
        let pid = pid.trim().parse().expect("a number");
        eventually("the process of the hook is killed", || state(pid).is_none());
    });
}

#[test]
fn after_a_suspension_the_hook_has_its_whole_grace() {
    on_each_store("suspended", |far| {
        let hook = format!("sleep 1; touch {}", far.file().display());
        let mut holder = far.start("suspended", &hook, "echo $$; exec cat");
        let command = holder.line().parse().expect("a number");
        holder.send(Signal::STOP);
        far.path.cut();
        // The keeper kills the command when its time is over.
        eventually("the command is killed", || state(command).is_none_or(|state| state == 'Z'));
        holder.send(Signal::CONT);
        let (code, stderr) = end_of(holder);
        assert_eq!(code, Some(SLOT_LOST), "{stderr}");
        assert!(far.file().exists(), "the hook was killed: {stderr}");
        assert!(!stderr.contains("--on-loss"), "{stderr}");
    });
}

#[test]
fn a_failure_of_the_hook_is_reported() {
    on_each_store("fails", |far| {
        let mut holder = far.start("fails", "exit 7", "echo in; exec cat");
        assert_eq!(holder.line(), "in");
        far.path.cut();
        let (code, stderr) = end_of(holder);
        assert_eq!(code, Some(SLOT_LOST), "{stderr}");
        assert!(stderr.contains("the command of --on-loss failed: exit status: 7"), "{stderr}");
    });
}

#[test]
fn a_command_that_keeps_its_pass_runs_no_hook() {
    on_each_store("kept", |far| {
        let hook = format!("touch {}", far.file().display());
        let holder = far.start("kept", &hook, "exit 3");
        assert_eq!(holder.leave(), (Some(3), String::new()));
        assert!(!far.file().exists());
    });
}

#[test]
fn a_hall_on_one_machine_has_no_hook() {
    let output = Halls::new().output("run", &["--on-loss", "true", "x", "true"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("--on-loss is for halls on etcd or PostgreSQL"));
}
