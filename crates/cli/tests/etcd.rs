//! Tests of `hallpass` with halls on etcd: the input, output and signals of the command, the output of hallpass,
//! and bad options.

mod common;

use std::{
    fs,
    os::unix::process::{CommandExt, ExitStatusExt},
    thread,
    time::{Duration, Instant},
};

use common::{
    Halls, Running,
    cluster::{cluster, command_line, stderr_of},
    eventually, text,
};
use hallpass_testbed::EtcdCluster;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// The halls of one test on the cluster that all tests share.
macro_rules! halls {
    ($test:literal) => {{
        let Some(cluster) = cluster() else { return };
        (cluster, Halls::on(&format!("{}/{}", cluster.url(), $test)))
    }};
}

#[test]
fn a_command_gets_its_slot_and_a_growing_token_in_its_environment() {
    let (_, halls) = halls!("slots");
    let show = "echo $HALLPASS_NAME $HALLPASS_SLOT $HALLPASS_SLOTS $HALLPASS_TOKEN $GPU";
    let run = |options: &[&str]| {
        let printed = halls.prints("run", &[options, &["gpu", "sh", "-c", show]].concat());
        let words: Vec<_> = printed.split_whitespace().map(str::to_string).collect();
        (words[..3].join(" "), words[3].parse::<u64>().expect("a number"), words.get(4).cloned())
    };
    let (name_and_slot, first, _) = run(&["-k", "2"]);
    assert_eq!(name_and_slot, "gpu 0 2");
    let holder = halls.hold(&[], "gpu");
    let (name_and_slot, second, device) = run(&["--env", "GPU=a,b"]);
    assert_eq!((name_and_slot.as_str(), device.as_deref()), ("gpu 1 2", Some("b")));
    assert!(first < second);
    assert_eq!(holder.leave().0, Some(0));
}

#[test]
fn input_output_and_exit_status_pass_through_hallpass() {
    let (_, halls) = halls!("through");
    let mut cat = halls.start(&["--verbose", "x", "cat"]);
    cat.say("through\n");
    assert_eq!(cat.line(), "through");
    assert_eq!(cat.leave(), (Some(0), String::new()));
    assert_eq!(halls.run(&["x", "sh", "-c", "exit 200"]), Some(200));
    assert_eq!(halls.run(&["x", "sh", "-c", "kill -TERM $$"]), Some(128 + 15));
    assert_eq!(halls.run(&["x", "no-such-command"]), Some(127));
    assert_eq!(halls.run(&["x", "/"]), Some(126));
    let quiet = halls.output("run", &["x", "true"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{}", stderr_of(&quiet));
    assert!(halls.is_free("x"), "all have released their slot");
}

#[test]
fn a_signal_reaches_the_command_once() {
    let (_, halls) = halls!("signals");
    let script = "n=0; trap 'n=$((n + 1))' USR1; trap 'echo $n; exit 3' TERM; echo ready; \
                  while :; do sleep 0.01; done";
    let mut counter = halls.start(&["x", "sh", "-c", script]);
    assert_eq!(counter.line(), "ready");
    for signal in [Signal::USR1, Signal::TERM] {
        counter.send(signal);
        std::thread::sleep(Duration::from_millis(60));
    }
    assert_eq!(counter.leave(), (Some(3), "1\n".into()));
}

#[test]
fn a_signal_to_the_process_group_reaches_the_command_once() {
    let (_, halls) = halls!("group-signals");
    let stop = halls.path().join("stop").display().to_string();
    let script = format!(
        "n=0; trap 'n=$((n + 1)); echo got' TERM; echo ready; \
         while ! [ -e {stop} ]; do sleep 0.01; done; echo total $n"
    );
    let mut command = halls.command("run", &["x", "sh", "-c", &script]);
    let mut counter = Running::start(command.process_group(0));
    assert_eq!(counter.line(), "ready");
    // hallpass has three children: its keeper, the command, and the group probe.
    let children = format!("/proc/{0}/task/{0}/children", counter.pid());
    for _ in 0..1000 {
        let children = fs::read_to_string(&children).unwrap_or_default();
        if children.split_whitespace().count() == 3 {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let group = Pid::from_raw(counter.pid()).expect("a group");
    kill_process_group(group, Signal::TERM).expect("it is there");
    assert_eq!(counter.line(), "got");
    // Time in which a second signal would arrive, if hallpass sent one.
    thread::sleep(Duration::from_millis(60));
    fs::write(&stop, "").expect("written");
    assert_eq!(counter.leave(), (Some(0), "total 1\n".into()));
}

#[test]
fn a_different_number_of_slots_is_refused_and_the_error_shows_both_numbers() {
    let (_, halls) = halls!("sizes");
    assert_eq!(halls.run(&["-k", "2", "x", "true"]), Some(0));
    let other = halls.output("run", &["-k", "3", "x", "true"]);
    assert_eq!(other.status.code(), Some(125));
    assert!(
        stderr_of(&other).contains("has 2 slots, but 3 were requested"),
        "{}",
        stderr_of(&other)
    );
    let few = halls.output("run", &["--env", "GPU=a", "x", "true"]);
    assert_eq!(few.status.code(), Some(125));
    assert!(stderr_of(&few).contains("needs 2 values for 2 slots"), "{}", stderr_of(&few));
}

#[test]
fn without_a_slot_the_exit_status_shows_the_reason() {
    let (_, halls) = halls!("conflicts");
    let holder = halls.hold(&["-k", "1"], "x");
    // The holder stays, so a call that waits would never return.
    assert_eq!(halls.run(&["-n", "x", "true"]), Some(1));
    assert_eq!(halls.run(&["-n", "-E", "9", "x", "true"]), Some(9));
    let begun = Instant::now();
    // A waiter that has given up may still be leaving the queue.
    let empty = || eventually("the queue is empty", || halls.status("x")["waiting"] == 0);
    assert_eq!(halls.run(&["-w", "0.4", "x", "true"]), Some(124));
    assert!(begun.elapsed() >= Duration::from_millis(400));
    empty();
    assert_eq!(halls.run(&["-w", "0", "x", "true"]), Some(124));
    empty();
    let waiter = halls.output("run", &["--verbose", "-w", "0.1", "x", "true"]);
    assert!(
        stderr_of(&waiter).contains("x: no slot is free; waiters ahead: 0"),
        "{}",
        stderr_of(&waiter)
    );
    empty();
    assert_eq!(holder.leave().0, Some(0));
    assert!(halls.is_free("x"));
}

#[test]
fn a_waiter_that_a_signal_kills_leaves_the_queue() {
    let (_, halls) = halls!("waiters");
    let holder = halls.hold(&["-k", "1"], "x");
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let mut waiter = halls.start(&["--ttl", "120", "x", "true"]);
        eventually("it waits", || halls.status("x")["waiting"] == 1);
        waiter.send(signal);
        assert_eq!(waiter.process.wait().expect("it ends").signal(), Some(signal.as_raw()));
        // The keeper leaves the queue immediately. The lease of the waiter would end much later.
        eventually("the queue is empty", || halls.status("x")["waiting"] == 0);
    }
    assert_eq!(holder.leave().0, Some(0));
}

#[test]
fn status_list_and_json_show_holders_and_waiters() {
    let (_, halls) = halls!("status");
    let holder = halls.hold(&["-k", "1"], "x");
    let waiter = halls.start(&["x", "echo", "in"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    let seen = halls.status("x");
    let (held, queued) = (&seen["holders"][0], &seen["queue"][0]);
    assert_eq!((&held["slot"], &held["alive"]), (&0.into(), &true.into()));
    assert!(held["token"].as_u64().is_some() && queued["token"].is_null());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    assert_eq!(held["host"], host.as_str());
    assert_eq!(held["pid"], holder.process.id(), "hallpass run, not its keeper");
    assert_eq!(queued["command"], "echo in");
    let table = halls.prints("status", &[]);
    assert!(table.starts_with("x: 1 of 1 slot held, 1 waiting\n  SLOT  HOST"), "{table}");
    let list = halls.prints("list", &[]);
    assert_eq!(list.lines().nth(1), Some("x         1     1        1"), "{list}");
    let json: Value = serde_json::from_str(&halls.prints("list", &["--json"])).expect("JSON");
    assert!(json["place"].as_str().is_some_and(|place| place.ends_with("/status")), "{json}");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(waiter.leave(), (Some(0), "in\n".into()));
}

#[test]
fn halls_are_resized_reaped_and_removed() {
    let (_, halls) = halls!("manage");
    let holder = halls.hold(&["-k", "1"], "x");
    let mut waiter = halls.start(&["x", "sh", "-c", "echo $HALLPASS_SLOT"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    halls.prints("resize", &["x", "2"]);
    assert_eq!(waiter.line(), "1");
    assert_eq!(waiter.leave().0, Some(0));
    assert_eq!(halls.prints("reap", &[]), "x: 0 dead\n");
    let refused = halls.output("rm", &["x"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr_of(&refused).contains("in use: 1 holding a slot"), "{}", stderr_of(&refused));
    assert_eq!(holder.leave().0, Some(0));
    halls.prints("rm", &["x"]);
    assert_eq!(halls.prints("list", &[]), "");
    let missing = halls.output("status", &["x"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        stderr_of(&missing).contains("there is no hall `x` on etcd://"),
        "{}",
        stderr_of(&missing)
    );
}

#[test]
fn eviction_gives_the_slot_of_a_suspended_holder_to_the_next_waiter() {
    let (_, halls) = halls!("evict");
    // With this ttl, the slot of a holder that has vanished becomes free long after the time limit of the test, unless
    // the holder is evicted.
    let mut holder = halls.hold(&["--ttl", "300", "-k", "1"], "x");
    let mut waiter = halls.start(&["x", "echo", "in"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    let vacant = halls.output("evict", &["x", "1"]);
    assert_eq!(vacant.status.code(), Some(1));
    assert!(
        stderr_of(&vacant).contains("slot 1 of hall `x` is not held"),
        "{}",
        stderr_of(&vacant)
    );
    // Suspend hallpass and its keeper, as if their machine were dead. Then neither can release the slot.
    for pid in [holder.keeper(), holder.pid()] {
        common::send(pid, Signal::STOP);
    }
    halls.prints("evict", &["x", "0"]);
    assert_eq!(waiter.line(), "in");
    assert_eq!(waiter.leave().0, Some(0));
    common::send(holder.keeper(), Signal::KILL);
    holder.kill_hallpass();
}

#[test]
fn halls_on_etcd_are_drained_and_measured() {
    let (_, halls) = halls!("drain");
    let holder = halls.hold(&["-k", "2"], "x");
    let metrics = halls.prints("metrics", &[]);
    for line in ["hallpass_slots{hall=\"x\"} 2", "hallpass_held{hall=\"x\"} 1"] {
        assert!(metrics.lines().any(|other| other == line), "{metrics}");
    }
    let reaped: Value =
        serde_json::from_str(&halls.prints("reap", &["--json"])).expect("it is JSON");
    assert_eq!(reaped["halls"][0], serde_json::json!({ "name": "x", "dead": 0 }));
    assert_eq!(halls.output("drain", &["-w", "0.3", "x"]).status.code(), Some(124));
    let refused = halls.output("run", &["x", "true"]);
    assert_eq!(refused.status.code(), Some(125));
    assert!(stderr_of(&refused).contains("closed"), "{}", stderr_of(&refused));
    assert_eq!(holder.leave().0, Some(0));
    halls.prints("drain", &["x"]);
}

#[test]
fn the_environment_may_name_the_cluster() {
    let (cluster, halls) = halls!("environment");
    let url = format!("{}/environment", cluster.url());
    let here = Halls::new();
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(common::HALLPASS);
        command.arg("run").args(words).env("HALLPASS_ON", &url).output().expect("it runs")
    };
    assert!(run(&["-k", "3", "there", "true"]).status.success());
    assert_eq!(halls.status("there")["slots"], 3);
    let path = here.path().to_str().expect("text");
    assert!(run(&["--dir", path, "here", "true"]).status.success());
    assert_eq!(here.status("here")["slots"], 1, "--dir takes precedence");
}

#[test]
fn invalid_options_are_refused_with_a_reason() {
    let halls = Halls::on("etcd://127.0.0.1:1");
    let here = Halls::new();
    for (halls, words, reason) in [
        (&halls, &["-F", "x", "true"][..], "--no-fork cannot be combined with --on"),
        (&halls, &["--ttl", "6", "--grace", "3", "x", "true"], "less than half of --ttl"),
        (&halls, &["--user", "bob:secret", "x", "true"], "--user takes a name only"),
        (&halls, &["--user", "bob", "x", "true"], "no password for --user bob"),
        (&halls, &["--cert", "/x", "x", "true"], "--key"),
        (&here, &["--ttl", "6", "x", "true"], "add --on"),
        (&here, &["--grace", "6", "x", "true"], "--on URL"),
        (&here, &["--user", "bob", "x", "true"], "add --on"),
    ] {
        let output = halls.output("run", words);
        assert_eq!(output.status.code(), Some(125), "{words:?}");
        let stderr = stderr_of(&output);
        assert!(stderr.contains(reason) && !stderr.contains("secret"), "{words:?}: {stderr}");
    }
}

#[test]
fn after_the_dial_timeout_the_error_names_the_cluster_that_is_down() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = nowhere.local_addr().expect("it has one").to_string();
    // At `address`, connections are accepted but nothing answers. At port 1, no connection is accepted.
    let silent = Halls::on(&format!("etcd://{address}"));
    let absent = Halls::on("etcd://127.0.0.1:1");
    for (halls, address) in [(silent, address.as_str()), (absent, "127.0.0.1:1")] {
        for (command, words, code) in [
            ("run", &["--dial-timeout", "0.5", "x", "true"][..], 125),
            ("status", &["--dial-timeout", "0.5"], 1),
        ] {
            let begun = Instant::now();
            // Without the option, this variable would set the limit.
            let mut command = halls.command(command, words);
            let output = command.env("ETCDCTL_COMMAND_TIMEOUT", "1h").output().expect("it runs");
            let stderr = stderr_of(&output);
            assert_eq!(output.status.code(), Some(code), "{stderr}");
            assert!(
                stderr.contains("etcd cannot be reached at") && stderr.contains(address),
                "{stderr}"
            );
            assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
        }
    }
}

/// The keeper writes to the state directory, and its own working directory is the root directory.
#[test]
fn a_relative_state_directory_is_below_the_working_directory() {
    let (_, halls) = halls!("state");
    let mut command = halls.command("run", &["-k", "1", "x", "true"]);
    command.current_dir(halls.path()).env("HALLPASS_STATE_DIR", "state");
    assert!(command.status().expect("it runs").success());
    eventually("the directory has a file", || {
        halls.path().join("state").read_dir().is_ok_and(|mut files| files.next().is_some())
    });
}

#[test]
fn no_command_line_contains_the_password() {
    let Some(()) = hallpass_testbed::etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let secret = format!("secret-{}", std::process::id());
    for words in [
        &["user", "add", &format!("root:{secret}")][..],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        let output = cluster.etcdctl(words).output().expect("it runs");
        assert!(output.status.success(), "{words:?}: {}", stderr_of(&output));
    }
    let halls = Halls::on(&cluster.url());
    let file = halls.path().join("password");
    fs::write(&file, format!("{secret}\n")).expect("written");
    let user = ["--user", "root", "--password-file", file.to_str().expect("text")];
    let mut holder = halls.start(&[&user[..], &["x", "sh", "-c", "echo in; exec cat"]].concat());
    assert_eq!(holder.line(), "in");
    let processes = fs::read_dir("/proc").expect("there");
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // The etcdctl processes that set the password have ended.
    let seen: Vec<_> = pids
        .map(command_line)
        .filter(|line| line.iter().any(|word| word.contains(&secret)))
        .collect();
    assert!(seen.is_empty(), "{seen:?}");
    assert_eq!(command_line(holder.keeper())[..2], ["hallpass", "keeper"]);
    assert_eq!(holder.leave().0, Some(0));
    let with_variables = |password: &str| {
        let mut status = halls.command("status", &["--user", "root"]);
        status.env("ETCDCTL_PASSWORD", password).output().expect("it runs")
    };
    assert!(text(&with_variables(&secret).stdout).contains("x: 0 of 1 slot held"));
    let wrong = with_variables("wrong");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr_of(&wrong).contains("no access to etcd"), "{}", stderr_of(&wrong));
}

#[test]
fn a_keeper_that_is_started_by_hand_fails() {
    for words in
        [&["keeper"][..], &["keeper", "7", "8", "9", "10"], &["keeper", "0", "1", "2", "3"]]
    {
        let mut command = std::process::Command::new(common::HALLPASS);
        let output = Running::start(command.args(words));
        assert_ne!(output.leave().0, Some(0), "{words:?}");
    }
}
