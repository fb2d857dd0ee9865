//! Tests of `hallpass run`: exit statuses, waiting, the environment, bad input.

mod common;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, process::ExitStatusExt},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use common::{HALLPASS, Halls, Running, eventually, text};
use hallpass_testbed::write_executable;

#[test]
fn the_exit_status_is_that_of_the_command() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "1", "x", "--", "true"]), Some(0));
    assert_eq!(halls.run(&["x", "false"]), Some(1));
    assert_eq!(halls.run(&["x", "sh", "-c", "exit 200"]), Some(200));
    assert_eq!(halls.run(&["x", "sh", "-c", "kill -TERM $$"]), Some(128 + 15));
    assert_eq!(halls.run(&["x", "sh", "-c", "kill -INT $$"]), Some(128 + 2));
    // A realtime signal, which has no name.
    assert_eq!(halls.run(&["x", "sh", "-c", "kill -40 $$"]), Some(128 + 40));
    assert!(halls.is_free("x"));
}

#[test]
fn the_status_for_a_command_that_cannot_run_is_126_or_127() {
    let halls = Halls::new();
    let file = halls.path().join("not-executable");
    fs::write(&file, "text").expect("written");
    let file = file.to_str().expect("text");
    for fork in [&[][..], &["--no-fork"]] {
        for (command, code) in [("no-such-command", 127), (file, 126), ("/", 126)] {
            let output = halls.output("run", &[fork, &["x", command]].concat());
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{stderr}");
            assert!(stderr.starts_with(&format!("hallpass: cannot run {command}: ")), "{stderr}");
            assert_eq!(stderr.lines().count(), 1);
            assert!(output.stdout.is_empty());
        }
    }
    assert!(halls.is_free("x"), "a command that did not start holds no slot");
}

#[test]
fn a_script_without_a_shebang_line_is_given_to_the_shell() {
    let halls = Halls::new();
    let file = halls.path().join("script");
    write_executable(&file, "echo script $1");
    let file = file.to_str().expect("text");
    assert_eq!(halls.prints("run", &["x", file, "a"]), "script a\n");
    assert_eq!(halls.prints("run", &["-F", "x", file, "b"]), "script b\n");
}

#[test]
fn option_c_gives_its_string_to_the_shell_of_the_user() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["x", "-c", "exit $((40 + 2))"]), Some(42));
    let mut with_shell = halls.command("run", &["x", "-c", "a  b"]);
    let output = with_shell.env("SHELL", "/bin/echo").output().expect("it runs");
    assert_eq!(text(&output.stdout), "-c a  b\n");
}

#[test]
fn standard_input_and_output_belong_to_the_command() {
    let halls = Halls::new();
    let mut cat = halls.start(&["--verbose", "x", "cat"]);
    cat.say("through\n");
    assert_eq!(cat.line(), "through");
    assert_eq!(cat.leave(), (Some(0), String::new()));
    let quiet = halls.output("run", &["x", "true"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty());
}

#[test]
fn nonblock_fails_immediately_and_prints_nothing() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let output = halls.output("run", &["-n", "x", "echo", "in"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(halls.run(&["-n", "-E", "77", "x", "true"]), Some(77));
    assert_eq!(halls.run(&["-n", "-E", "0", "x", "false"]), Some(0));
    let verbose = halls.output("run", &["-n", "--verbose", "x", "true"]);
    assert!(text(&verbose.stderr).contains("x: no slot is free"), "{}", text(&verbose.stderr));
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(halls.run(&["-n", "-E", "77", "x", "true"]), Some(0));
}

#[test]
fn wait_fails_when_the_time_is_over() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let begun = Instant::now();
    let output = halls.output("run", &["-w", "0.2", "x", "true"]);
    assert_eq!(output.status.code(), Some(124));
    assert!(begun.elapsed() >= Duration::from_millis(200));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "nothing is printed in a pipe");
    assert_eq!(halls.run(&["-w", "0", "x", "true"]), Some(124));
    assert_eq!(halls.run(&["--wait", "0.001m", "-E", "9", "x", "true"]), Some(9));
    assert_eq!(halls.status("x")["waiting"], 0, "a waiter that gave up has left the queue");
    drop(holder);
}

#[test]
fn a_waiter_gets_the_slot_when_a_holder_leaves() {
    let halls = Halls::new();
    for waiting in [&[][..], &["-w", "1h"], &["-w", "100000d"], &["-w", "99999999999999999d"]] {
        let holder = halls.hold(&["-k", "1"], "x");
        let mut waiter = halls.start(&[waiting, &["x", "echo", "in"]].concat());
        eventually("it waits", || halls.status("x")["waiting"] == 1);
        assert!(waiter.process.try_wait().expect("asked").is_none());
        assert_eq!(holder.leave().0, Some(0));
        assert_eq!(waiter.line(), "in");
        assert_eq!(waiter.leave().0, Some(0));
    }
}

#[test]
fn waiters_get_the_slot_in_order() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let log = halls.path().join("log");
    let waiters: Vec<_> = (0..5)
        .map(|number| {
            let script = format!("echo {number} >> {}", log.display());
            let waiter = halls.start(&["x", "sh", "-c", &script]);
            eventually("it waits", || halls.status("x")["waiting"] == number + 1);
            waiter
        })
        .collect();
    holder.leave();
    for waiter in waiters {
        assert_eq!(waiter.leave().0, Some(0));
    }
    assert_eq!(fs::read_to_string(log).expect("text"), "0\n1\n2\n3\n4\n");
}

#[test]
fn the_default_is_one_slot_for_a_new_hall_and_the_number_of_an_existing_hall() {
    let halls = Halls::new();
    let slots = |name: &str| halls.prints("run", &[name, "-c", "echo $HALLPASS_SLOTS"]);
    assert_eq!(slots("new"), "1\n");
    assert_eq!(halls.run(&["-k", "4", "old", "true"]), Some(0));
    assert_eq!(slots("old"), "4\n");
    let output = halls.output("run", &["-k", "3", "old", "true"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125));
    assert!(stderr.contains('3') && stderr.contains('4') && stderr.contains("old"), "{stderr}");
}

#[test]
fn each_holder_has_its_own_slot_and_values() {
    let halls = Halls::new();
    let holders: Vec<_> = (0..3)
        .map(|_| {
            let script = "echo $HALLPASS_NAME $HALLPASS_SLOT of $HALLPASS_SLOTS on $CARD; exec cat";
            let mut one =
                halls.start(&["-k", "3", "--env", "CARD=a,b,c", "gpu", "sh", "-c", script]);
            (one.line(), one)
        })
        .collect();
    let mut lines: Vec<_> = holders.iter().map(|(line, _)| line.as_str()).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["gpu 0 of 3 on a", "gpu 1 of 3 on b", "gpu 2 of 3 on c"]);
    assert!(!halls.is_free("gpu"));
}

#[test]
fn several_jobs_share_a_device() {
    let halls = Halls::new();
    let script = "echo $HALLPASS_SLOT/$HALLPASS_SLOTS on $HALLPASS_DEVICE: $CARD $PORT; exec cat";
    let options = ["--env", "CARD=a,b", "--env", "PORT=1,2,3", "--per-device", "2"];
    let holders: Vec<_> = (0..4)
        .map(|_| {
            let mut one = halls.start(&[&options[..], &["gpu", "sh", "-c", script]].concat());
            (one.line(), one)
        })
        .collect();
    let mut lines: Vec<_> = holders.iter().map(|(line, _)| line.as_str()).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0/4 on 0: a 1", "1/4 on 0: a 1", "2/4 on 1: b 2", "3/4 on 1: b 2"]);
    let bare = halls.prints("run", &["other", "-c", "echo ${HALLPASS_DEVICE-none}"]);
    assert_eq!(bare, "none\n");
}

#[test]
fn too_few_values_are_refused_before_a_hall_is_created_or_waited_for() {
    let halls = Halls::new();
    let options = ["-k", "3", "--env", "CARD=a,b"];
    let output = halls.output("run", &[&options[..], &["x", "true"]].concat());
    assert_eq!(output.status.code(), Some(125));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("--env CARD needs 3 values for 3 slots, but has 2"), "{stderr}");
    assert_eq!(halls.prints("list", &[]), "");
    let holder = halls.hold(&["-k", "1"], "x");
    assert_eq!(halls.run(&["--env", "CARD=", "-n", "x", "true"]), Some(1), "one value is enough");
    assert_eq!(halls.prints("resize", &["x", "2"]), "");
    assert_eq!(halls.run(&["--env", "CARD=a", "x", "true"]), Some(125));
    drop(holder);
}

#[test]
fn bad_input_is_refused_with_125_and_creates_nothing() {
    let halls = Halls::new();
    for words in [
        &["-k", "0", "x", "true"][..],
        &["-k", "1000000000", "x", "true"],
        &["-k", "many", "x", "true"],
        &["a/b", "true"],
        &["..", "true"],
        &["", "true"],
        &["x"],
        &["x", "--"],
        &[],
        &["--nonblok", "x", "true"],
        &["-w", "soon", "x", "true"],
        &["-E", "256", "x", "true"],
        &["-n", "-w", "1", "x", "true"],
        &["--env", "CARD", "x", "true"],
    ] {
        let output = halls.output("run", words);
        assert_eq!(output.status.code(), Some(125), "{words:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
    let not_text = OsStr::from_bytes(b"\xff");
    let output = halls.command("run", &[]).arg(not_text).arg("true").output().expect("it runs");
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("UTF-8"), "{}", text(&output.stderr));
    let left: Vec<_> = fs::read_dir(halls.path()).expect("there").collect();
    assert!(left.is_empty(), "{left:?}");
    let help = halls.output("run", &["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).contains("--conflict-exit-code"));
}

#[test]
fn a_path_that_cannot_be_a_directory_is_refused_with_125() {
    let halls = Halls::new();
    let file = halls.path().join("file");
    fs::write(&file, "not a directory").expect("written");
    // Not even root can create the second directory.
    for path in [file.to_str().expect("text"), "/proc/halls"] {
        let output = halls.output("run", &["x", "true"]);
        assert_eq!(output.status.code(), Some(0));
        let mut elsewhere = Command::new(HALLPASS);
        let output = elsewhere.args(["run", "--dir", path, "x", "true"]).output().expect("it runs");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{stderr}");
        assert!(stderr.starts_with("hallpass: ") && stderr.lines().count() == 1, "{stderr}");
        assert!(stderr.contains(path), "{stderr}");
    }
    assert_eq!(fs::read_to_string(&file).expect("text"), "not a directory");
}

/// Runs a command with `env(1)`. Its options set the actions of signals.
fn started_by_env(options: &[&str], words: &[&str]) -> Output {
    Command::new("env").args(options).args(words).output().expect("it runs")
}

#[test]
fn the_command_has_the_signal_settings_that_hallpass_was_started_with() {
    let halls = Halls::new();
    let look = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"];
    let dir = halls.path().to_str().expect("text");
    for signals in [
        &[][..],
        &["--ignore-signal=PIPE,USR1,CHLD"],
        &["--ignore-signal=HUP", "--block-signal=USR2,WINCH,TERM"],
    ] {
        let expected = text(&started_by_env(signals, &look).stdout);
        assert_eq!(expected.lines().count(), 2, "{expected}");
        for option in ["--verbose", "--no-fork", "--on-kill=kill"] {
            let run = [HALLPASS, "run", "--dir", dir, option, "x"];
            let found = text(&started_by_env(signals, &[&run[..], &look].concat()).stdout);
            assert_eq!(found, expected, "{option} {signals:?}");
        }
    }
}

#[test]
fn the_end_of_the_command_is_noticed_even_if_the_caller_ignores_sigchld() {
    let halls = Halls::new();
    let dir = halls.path().to_str().expect("text");
    let run = [HALLPASS, "run", "--dir", dir, "x", "sh", "-c", "exit 5"];
    assert_eq!(started_by_env(&["--ignore-signal=CHLD"], &run).status.code(), Some(5));
}

#[test]
fn verbose_reports_progress_on_standard_error() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let mut command = halls.command("run", &["--verbose", "x", "echo", "out"]);
    let mut waiter = Running::start(&mut command);
    let mut stderr = waiter.process.stderr.take().expect("a pipe");
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    holder.leave();
    assert_eq!(waiter.leave(), (Some(0), "out\n".to_string()));
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut lines).expect("text");
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0], "hallpass: x: no slot is free; waiters ahead: 0");
    assert!(lines[1].starts_with("hallpass: x: got a slot after "), "{lines:?}");
    assert_eq!(lines[2], "hallpass: x: slot 0: running echo out");
}

#[test]
fn a_command_killed_by_sigpipe_gives_141() {
    let halls = Halls::new();
    let mut writer =
        halls.command("run", &["x", "yes"]).stdout(Stdio::piped()).spawn().expect("runs");
    drop(writer.stdout.take());
    let status = writer.wait().expect("it ends");
    assert_eq!((status.code(), status.signal()), (Some(128 + 13), None));
}
