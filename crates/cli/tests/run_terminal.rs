//! Tests of hallpass on a terminal: Ctrl-C, Ctrl-Z, closing the window, the status line, `top`, `demo`.

mod common;

use std::{fs, os::unix::process::ExitStatusExt, thread, time::Duration};

use common::{Halls, eventually, send, state, terminal::Terminal};
use rustix::{process::Signal, termios::Termios};

const CTRL_C: &[u8] = b"\x03";
const CTRL_Z: &[u8] = b"\x1a";
const A_WHILE: Duration = Duration::from_millis(60);

const RUN: &str = "\"$HALLPASS\" run --dir \"$DIR\"";

#[test]
fn ctrl_c_reaches_the_command_once() {
    let halls = Halls::new();
    let stop = halls.path().join("stop");
    let script = "n=0; trap 'n=$((n + 1)); echo got' INT; echo ready; \
                  while ! [ -e \"$DIR/stop\" ]; do sleep 0.01; done; echo total $n; exit 3";
    let mut terminal = Terminal::hallpass(&halls, "run", &["x", "sh", "-c", script]);
    terminal.shows("ready");
    terminal.press(CTRL_C);
    terminal.shows("got");
    thread::sleep(A_WHILE);
    fs::write(stop, "").expect("written");
    assert_eq!(terminal.end().code(), Some(3));
    terminal.shows("total 1");
}

#[test]
fn ctrl_c_ends_a_script_that_runs_hallpass() {
    let halls = Halls::new();
    let script = format!("{RUN} x sh -c 'echo ready; exec sleep 60'; echo next");
    let mut terminal = Terminal::run(&halls, &["bash", "-c", &script]);
    terminal.shows("ready");
    terminal.press(CTRL_C);
    assert_eq!(terminal.end().signal(), Some(2));
    assert!(!terminal.text().contains("next"), "{}", terminal.text());
    let left = fs::read_dir(halls.path().join("x")).expect("there").flatten();
    let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["hall", "log", "tally"], "the holder's pipe is removed");
    assert!(halls.is_free("x"));
}

#[test]
fn ctrl_z_suspends_hallpass_and_the_command_and_fg_continues_both() {
    let halls = Halls::new();
    let script = format!(
        "set -m; {RUN} x sh -c 'echo $$ >\"$DIR/pid\"; echo ready; read line; echo \"read $line\"; exit 5'; \
         echo \"stopped $?\"; read go; fg; echo \"ended $?\""
    );
    let mut terminal = Terminal::run(&halls, &["bash", "-c", &script]);
    terminal.shows("ready");
    let pid = fs::read_to_string(halls.path().join("pid")).expect("text");
    let pid: i32 = pid.trim().parse().expect("a number");
    terminal.press(CTRL_Z);
    // The shell reports 128 + SIGTSTP (20).
    terminal.shows("stopped 148");
    assert_eq!(state(pid), Some('T'));
    assert!(!halls.is_free("x"), "a suspended command keeps its slot");
    terminal.press(b"go\n");
    eventually("the command continues", || state(pid) == Some('S'));
    terminal.press(b"words\n");
    terminal.shows("read words");
    terminal.shows("ended 5");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn closing_the_terminal_sends_sighup_to_the_command() {
    let halls = Halls::new();
    let script = "trap 'echo got >>\"$DIR/hangup\"; exit 0' HUP; echo ready; \
                  while :; do sleep 0.01; done";
    let mut terminal = Terminal::hallpass(&halls, "run", &["x", "sh", "-c", script]);
    terminal.shows("ready");
    terminal.window = None;
    eventually("the command gets SIGHUP", || halls.path().join("hangup").exists());
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn a_status_line_shows_the_queue_and_is_cleared_before_the_command_runs() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let ahead = halls.start(&["x", "true"]);
    eventually("the first waiter is in the queue", || halls.status("x")["waiting"] == 1);
    let script = format!("{RUN} x echo got in");
    let mut terminal = Terminal::run(&halls, &["bash", "-c", &script]);
    terminal.shows(&format!("hallpass: x: 2nd in line, after {} ", ahead.pid()));
    let line = terminal.text();
    let widest = line.split('\r').map(console::measure_text_width).max();
    assert!(widest.is_some_and(|widest| widest <= 80), "{line:?}");
    ahead.send(Signal::KILL);
    terminal.shows(&format!("hallpass: x: next in line; slot 0: {} ", holder.pid()));
    assert_eq!(holder.leave().0, Some(0));
    terminal.shows("got in");
    assert_eq!(terminal.end().code(), Some(0));
    let text = terminal.text();
    let after = text.rsplit("in line").next().unwrap_or_default();
    let cleared = after.find("\x1b[2K").zip(after.find("got in"));
    assert!(cleared.is_some_and(|(cleared, printed)| cleared < printed), "{text:?}");
}

/// Asserts that `top` used the alternate screen and restored the terminal.
#[track_caller]
fn assert_restored(terminal: &mut Terminal, before: &Termios) {
    let after = terminal.settings();
    assert_eq!(before.local_modes, after.local_modes);
    assert_eq!(before.input_modes, after.input_modes);
    let text = terminal.text();
    let seen = ["\x1b[?1049h", "\x1b[?25l", "\x1b[?25h", "\x1b[?1049l"].map(|code| text.find(code));
    assert!(seen.iter().all(Option::is_some) && seen.is_sorted(), "{text:?}");
}

#[test]
fn top_follows_changes_and_restores_the_terminal() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "2"], "gpu");
    for leave in [b"q", CTRL_C] {
        let mut terminal =
            Terminal::run(&halls, &["bash", "-c", "read go; exec $HALLPASS top -d 0.1 --dir $DIR"]);
        let before = terminal.settings();
        terminal.press(b"go\n");
        terminal.shows("gpu: 1 of 2 slots held, 0 waiting");
        terminal.shows(&holder.pid().to_string());
        let another = halls.hold(&[], "gpu");
        terminal.shows("gpu: 2 of 2 slots held");
        assert_eq!(another.leave().0, Some(0));
        terminal.press(leave);
        assert_eq!(terminal.end().code(), Some(0));
        assert_restored(&mut terminal, &before);
    }
}

#[test]
fn top_restores_the_terminal_after_sigterm() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "2", "gpu", "true"]), Some(0));
    let mut terminal =
        Terminal::run(&halls, &["bash", "-c", "read go; exec $HALLPASS top --dir $DIR"]);
    let before = terminal.settings();
    terminal.press(b"go\n");
    terminal.shows("gpu: 0 of 2");
    send(terminal.process.id() as i32, Signal::TERM);
    assert_eq!(terminal.end().code(), Some(0));
    assert_restored(&mut terminal, &before);
}

#[test]
fn top_ends_when_its_terminal_is_closed() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "2", "gpu", "true"]), Some(0));
    // The second program ignores SIGHUP, as under nohup. So no signal reports that the terminal is gone.
    for program in ["$HALLPASS", "env --ignore-signal=HUP $HALLPASS"] {
        let script = format!("exec {program} top --dir $DIR");
        let mut terminal = Terminal::run(&halls, &["bash", "-c", &script]);
        terminal.shows("gpu: 0 of 2");
        terminal.window = None;
        eventually("top ends", || terminal.process.try_wait().is_ok_and(|end| end.is_some()));
    }
}

#[test]
fn top_needs_a_terminal() {
    let halls = Halls::new();
    let output = halls.output("top", &[]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = common::text(&output.stderr);
    assert!(stderr.contains("hallpass status"), "{stderr}");
    assert!(output.stdout.is_empty());
}

/// Returns, for each drawing, the number of lines by which it moves the cursor up to replace the previous drawing.
fn moves_up(text: &str) -> Vec<usize> {
    let codes = text.split("\x1b[").skip(1);
    codes.filter_map(|code| code.split_once('F')?.0.parse().ok()).collect()
}

#[test]
fn the_picture_of_the_demo_fits_on_a_low_terminal() {
    let halls = Halls::new();
    let words = [common::HALLPASS, "demo", "--seconds", "1"];
    let mut terminal = Terminal::run_on(&halls, &words, (6, 80));
    terminal.shows("Measured in");
    assert!(terminal.end().success());
    let moves = moves_up(&terminal.text());
    assert!(!moves.is_empty(), "the picture is drawn again and again: {}", terminal.text());
    let highest = moves.into_iter().max();
    assert!(highest < Some(6), "a picture of {highest:?} lines scrolls on a terminal of 6 lines");
}
