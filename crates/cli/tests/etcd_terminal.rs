//! Tests of `hallpass run --on` on a terminal: the status line, Ctrl-C, Ctrl-Z.

mod common;

use std::os::unix::process::ExitStatusExt;

use common::{
    Halls,
    cluster::{await_renewal, cluster},
    eventually,
    terminal::Terminal,
};
use rustix::process::Signal;

const CTRL_C: &[u8] = b"\x03";
const CTRL_Z: &[u8] = b"\x1a";

/// The halls of one test on the cluster that all tests share.
macro_rules! halls {
    ($test:literal) => {{
        let Some(cluster) = cluster() else { return };
        (cluster, Halls::on(&format!("{}/{}", cluster.url(), $test)))
    }};
}

#[test]
fn a_waiter_sees_the_queue_and_leaves_it_with_ctrl_c() {
    let (_, halls) = halls!("line");
    let holder = halls.hold(&["-k", "1"], "x");
    // The lease of the waiter does not end during the test.
    let mut terminal = Terminal::hallpass(&halls, "run", &["--ttl", "300", "x", "true"]);
    terminal.shows("hallpass: x: next in line; slot 0: ");
    let behind = halls.start(&["x", "true"]);
    eventually("both wait", || halls.status("x")["waiting"] == 2);
    terminal.press(CTRL_C);
    assert_eq!(terminal.end().signal(), Some(Signal::INT.as_raw()));
    eventually("one is in line", || halls.status("x")["waiting"] == 1);
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(behind.leave().0, Some(0));
}

#[test]
fn the_status_line_is_gone_when_the_command_runs() {
    let (_, halls) = halls!("wiped");
    let holder = halls.hold(&["-k", "1"], "x");
    let mut terminal = Terminal::hallpass(&halls, "run", &["x", "echo", "my", "turn"]);
    terminal.shows("next in line");
    assert_eq!(holder.leave().0, Some(0));
    assert!(terminal.end().success());
    terminal.shows("\r\u{1b}[2K");
    terminal.shows("my turn");
}

#[test]
fn ctrl_c_reaches_the_command_and_not_the_keeper() {
    let (_, halls) = halls!("interrupt");
    let script = "trap 'echo got; sleep 0.2; exit 5' INT; echo ready; while :; do sleep 0.01; done";
    let mut terminal = Terminal::hallpass(&halls, "run", &["x", "sh", "-c", script]);
    terminal.shows("ready");
    terminal.press(CTRL_C);
    terminal.shows("got");
    assert_eq!(terminal.end().code(), Some(5));
    assert!(halls.is_free("x"));
}

#[test]
fn ctrl_z_suspends_hallpass_and_the_command_but_the_slot_stays_held() {
    let (cluster, halls) = halls!("stop");
    let script = "set -m; \"$HALLPASS\" run --on \"$ON\" --ttl 12 x sh -c 'echo ready; read word; echo $word'; \
                  echo stopped; read word; fg; echo over";
    let script = script.replace("$ON", &halls.location[1]);
    let mut terminal = Terminal::run(&halls, &["sh", "-c", &script]);
    terminal.shows("ready");
    terminal.press(CTRL_Z);
    terminal.shows("stopped");
    // The keeper still runs and renews the lease, so the slot stays held.
    await_renewal(cluster, "/stop", "x");
    assert!(!halls.is_free("x"));
    terminal.press(b"continue\r");
    terminal.press(b"later\r");
    terminal.shows("over");
    terminal.shows("later");
    assert!(terminal.end().success());
    assert!(halls.is_free("x"));
}
