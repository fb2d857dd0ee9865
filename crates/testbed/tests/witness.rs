//! Checks the witness, and that witness and judge together catch a lock that relies on leases.

use std::{
    env,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use hallpass_testbed::{
    EtcdCluster, Observation, TIMEOUT, Visit, Witness, etcd,
    judge::{Promise, visits},
    mortal, spawn,
};
use rustix::process::{Pid, Signal, kill_process};

/// Acts as a visitor, in the processes that the tests start as visitors. In the process that runs the tests, it does
/// nothing.
#[test]
fn visitor() {
    hallpass_testbed::visit();
}

const VISITOR: [&str; 3] = ["visitor", "--exact", "--nocapture"];

fn start(witness: &Witness, command: Command, stay: &str) -> Child {
    let mut command = command;
    witness.introduce(&mut command, "somebody", stay);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    spawn(command).expect("it starts")
}

fn with_slot(witness: &Witness, slot: usize, token: u64, stay: &str) -> Child {
    let mut command = mortal(env::current_exe().unwrap());
    command.args(VISITOR);
    command.env("HALLPASS_SLOT", slot.to_string()).env("HALLPASS_TOKEN", token.to_string());
    start(witness, command, stay)
}

fn await_visitors(witness: &Witness, count: usize) -> Vec<Visit> {
    let start = Instant::now();
    while witness.running().len() != count {
        assert!(start.elapsed() < TIMEOUT, "{:?}", witness.running());
        thread::sleep(Duration::from_millis(10));
    }
    witness.running()
}

#[test]
fn arrivals_departures_and_deaths_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::start(folder.path());
    let mut first = with_slot(&witness, 0, 7, "600000-600000");
    let visitors = await_visitors(&witness, 1);
    assert_eq!((visitors[0].slot, visitors[0].token, visitors[0].pid), (0, 7, first.id()));
    let mut second = with_slot(&witness, 1, 8, "0-0");
    assert!(second.wait().unwrap().success());
    await_visitors(&witness, 1);
    first.kill().unwrap();
    await_visitors(&witness, 0);
    first.wait().unwrap();
    witness.note("the test ends here");
    let seen: Vec<_> = witness.record().into_iter().map(|event| event.what).collect();
    assert!(
        matches!(
            &seen[..],
            [
                Observation::Enter(_),
                Observation::Enter(_),
                Observation::Leave { visit: 1 },
                Observation::Leave { visit: 0 },
                Observation::Note { .. }
            ]
        ),
        "{seen:?}"
    );
    let file = folder.path().join("visits.jsonl");
    drop(witness);
    let lines = std::fs::read_to_string(file).unwrap();
    let read: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<hallpass_testbed::Event>(line).unwrap().what)
        .collect();
    assert_eq!(read, seen);
}

/// `etcdctl lock` admits the next command when the lease has ended, even if the first command is still
/// running.
#[test]
fn a_lock_that_admits_a_second_holder_is_caught() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::start(folder.path());
    let lock = || {
        let mut command = mortal("etcdctl");
        command.args(["lock", "--ttl", "1", "a", "--", "sh", "-c"]);
        // The revision of the lock grows like a token.
        command.arg("HALLPASS_SLOT=0 HALLPASS_TOKEN=$ETCD_LOCK_REV exec \"$0\" \"$@\"");
        command.arg(env::current_exe().unwrap()).args(VISITOR);
        command.env("ETCDCTL_API", "3");
        command.env("ETCDCTL_ENDPOINTS", cluster.member(0).client_address().to_string());
        start(&witness, command, "600000-600000")
    };
    let mut first = lock();
    await_visitors(&witness, 1);
    kill_process(Pid::from_child(&first), Signal::STOP).unwrap();
    let mut second = lock();
    await_visitors(&witness, 2);
    let violations = visits(1, &witness.record()).violations;
    let promises: Vec<_> = violations.iter().map(|violation| violation.promise).collect();
    assert_eq!(promises, [Promise::OwnSlot, Promise::AtMostK]);
    // Killing etcdctl does not kill the command that it started.
    for visit in witness.running() {
        let pid = Pid::from_raw(visit.pid as i32).expect("a process");
        kill_process(pid, Signal::KILL).unwrap();
    }
    for child in [&mut first, &mut second] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
