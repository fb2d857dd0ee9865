//! Tests of `hallpass run` in unusual conditions, such as low limits, full disks and an empty command, and of the
//! libraries that it loads.

mod common;

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    process::Command,
};

use common::{HALLPASS, Halls, eventually, text};

#[test]
fn a_low_limit_on_open_files_is_named_in_the_error() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "1", "x", "true"]), Some(0));
    for limit in 4..8 {
        let script = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
        let dir = halls.path().to_str().expect("UTF-8");
        let mut run = Command::new("sh");
        run.args(["-c", &script, HALLPASS, "run", "--dir", dir, "x", "true"]);
        let output = run.output().expect("sh starts");
        let stderr = text(&output.stderr);
        // The command succeeds if this build needs no more descriptors than the limit.
        if output.status.code() != Some(0) {
            assert_eq!(output.status.code(), Some(125), "limit {limit}: {stderr}");
            assert!(stderr.starts_with("hallpass: cannot "), "limit {limit}: {stderr}");
            assert!(
                stderr.contains("raise the limit with `ulimit -n 64`"),
                "limit {limit}: {stderr}"
            );
        }
    }
}

#[test]
fn a_command_that_takes_several_slots_waits_even_if_it_cannot_start_a_thread() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "2"], "x");
    let mut run = halls.command("run", &["--take", "2", "x", "true"]);
    // No address space is large enough for this stack.
    let mut run = run.env("RUST_MIN_STACK", (1u64 << 50).to_string()).spawn().expect("it starts");
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(run.wait().expect("it ends").code(), Some(0));
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for (words, code) in [(&["run", "--help"][..], 125), (&["--help"], 2), (&["--version"], 2)] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = Command::new(HALLPASS).args(words).stdout(full).output().expect("it starts");
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with("hallpass: cannot write the output: "), "{words:?}: {stderr}");
    }
}

#[test]
fn an_empty_command_gives_status_127_and_a_message() {
    let halls = Halls::new();
    for option in ["--verbose", "--no-fork"] {
        let output = halls.output("run", &[option, "x", ""]);
        assert_eq!(output.status.code(), Some(127), "{option}");
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("hallpass: CMD is empty: it must be the name of a program"),
            "{stderr}"
        );
    }
}

#[test]
fn variables_of_hallpass_cannot_be_set_by_the_user() {
    let halls = Halls::new();
    let output = halls.output("run", &["--env", "HALLPASS_SLOT=9", "x", "true"]);
    assert_eq!(output.status.code(), Some(125));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("hallpass itself sets HALLPASS_SLOT"), "{stderr}");
}

#[test]
fn an_option_after_the_name_is_refused_and_the_message_says_where_options_go() {
    let halls = Halls::new();
    let output = halls.output("run", &["gpu", "-k", "4", "--", "true"]);
    assert_eq!(output.status.code(), Some(125));
    let stderr = text(&output.stderr);
    assert!(
        stderr.starts_with("hallpass: options go before NAME, and `-k` follows it"),
        "{stderr}"
    );
}

#[test]
fn a_misspelt_command_or_option_gets_a_suggestion() {
    for (words, expected) in [
        (&["statsu"][..], "'status'"),
        (&["run", "--nonblok", "x", "true"], "'--nonblock'"),
        (&["list", "--jsno"], "'--json'"),
    ] {
        let output = Command::new(HALLPASS).args(words).output().expect("it starts");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("tip: a similar ") && stderr.contains(expected), "{stderr}");
    }
}

/// For a short command, loading a library is a large part of the time that `hallpass run` takes.
#[test]
fn run_loads_no_library_but_the_c_library() {
    let halls = Halls::new();
    let maps = halls.prints("run", &["x", "sh", "-c", "cat /proc/$PPID/maps"]);
    assert!(maps.contains("libc.so"), "{maps}");
    for library in ["libgcc_s", "libm.so", "libm-"] {
        assert!(!maps.contains(library), "{maps}");
    }
}

/// The test uses a datagram socket, on which each write is a separate message.
#[test]
fn a_message_is_one_write() {
    let halls = Halls::new();
    let (ours, theirs) = UnixDatagram::pair().expect("sockets");
    let mut run = halls.command("run", &["x", "no-such-command"]);
    let status = run.stderr(OwnedFd::from(theirs)).status().expect("it starts");
    assert_eq!(status.code(), Some(127));
    let mut message = [0; 200];
    let length = ours.recv(&mut message).expect("a message");
    let stderr = text(&message[..length]);
    assert!(stderr.starts_with("hallpass: cannot run no-such-command: "), "{stderr}");
    assert!(stderr.ends_with('\n'), "{stderr:?}");
}

/// Truncating a mapped file raises SIGBUS in the processes that use it.
#[test]
fn a_truncated_hall_does_not_lose_the_exit_status_of_the_command() {
    let halls = Halls::new();
    let file = halls.path().join("x/hall").display().to_string();
    for options in [&["-k", "1"][..], &["--time-limit", "60"]] {
        let script = format!("truncate --size 0 {file}; exit 9");
        let output = halls.output("run", &[options, &["x", "sh", "-c", &script]].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(9), "{stderr}");
        assert!(
            stderr.contains("truncated the file of a hall") && stderr.contains("rm --force"),
            "{stderr}"
        );
        assert_eq!(halls.prints("rm", &["--force", "x"]), "");
        assert_eq!(halls.run(&["-k", "1", "x", "true"]), Some(0));
    }
}

#[test]
fn a_run_inside_a_run_of_the_same_hall_gets_a_hint_while_it_waits() {
    let halls = Halls::new();
    let dir = halls.path().to_str().expect("UTF-8");
    let inner = format!("{HALLPASS} run --dir {dir} -w 0.3 x true");
    let output = halls.output("run", &["-k", "1", "x", "sh", "-c", &format!("{inner}; exit $?")]);
    assert_eq!(output.status.code(), Some(124));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("x: waiting inside process ") && stderr.contains("neither ever ends"),
        "{stderr}"
    );
    // A run in another hall, and a run that the holder has not started, get no hint.
    let _holder = halls.hold(&[], "x");
    let output = halls.output("run", &["y", "sh", "-c", &format!("{inner}; exit $?")]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(124), ""));
}

#[test]
fn timeout_is_refused_and_the_message_names_both_meanings() {
    let halls = Halls::new();
    let output = halls.output("run", &["--timeout", "5", "x", "true"]);
    assert_eq!(output.status.code(), Some(125));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("--wait TIME") && stderr.contains("--time-limit TIME"), "{stderr}");
}

#[test]
fn more_values_than_slots_are_reported() {
    let halls = Halls::new();
    let output = halls.output("run", &["-k", "2", "--env", "GPU=a,b,c", "x", "true"]);
    assert_eq!(output.status.code(), Some(0));
    let stderr = text(&output.stderr);
    assert_eq!(stderr, "hallpass: x: --env GPU has 3 values for 2 slots; no slot gets c\n");
}

#[test]
fn a_negative_number_of_slots_is_refused_with_the_limits() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "1", "x", "true"]), Some(0));
    for (command, words) in [("run", &["-k", "-1", "x", "true"][..]), ("resize", &["x", "-1"])] {
        let output = halls.output(command, words);
        let stderr = text(&output.stderr);
        assert!(!output.status.success(), "{stderr}");
        assert!(stderr.contains("a hall can have 1 to 1024 slots, not -1"), "{stderr}");
        assert!(!stderr.contains("tip:"), "{stderr}");
    }
}

#[test]
fn a_relative_runtime_directory_is_ignored() {
    let (one, other) = (Halls::new(), Halls::new());
    let where_is = |halls: &Halls| {
        let mut list = Command::new(HALLPASS);
        list.args(["list", "--json"]).current_dir(halls.path()).env_remove("HALLPASS_DIR");
        list.env_remove("HALLPASS_ON").env("XDG_RUNTIME_DIR", "rel");
        text(&list.output().expect("it runs").stdout)
    };
    let place = where_is(&one);
    assert_eq!(place, where_is(&other));
    assert!(place.contains("\"place\":\"/"), "{place}");
}
