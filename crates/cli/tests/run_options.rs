//! Tests of the options of `hallpass run` that concern the command: `{slot}`, `--label`, `--gpus` and
//! `--take`.

mod common;

use std::{fs, io, process::Output, thread, time::Duration};

use common::{Halls, eventually, text};
use hallpass_testbed::write_executable;

#[test]
fn the_slot_is_put_into_the_arguments_of_the_command() {
    let halls = Halls::new();
    let _first = halls.hold(&["-k", "3"], "x");
    assert_eq!(
        halls.prints("run", &["x", "echo", "{slot}", "5{slot}", "{{slot}}"]),
        "1 51 {slot}\n"
    );
    assert_eq!(halls.prints("run", &["x", "-c", "echo slot {slot}"]), "slot 1\n");
}

#[test]
fn a_label_is_shown_instead_of_the_command() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1", "--label", "nightly backup"], "x");
    let waiter = halls.start(&["--label", "next one", "x", "true"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    let seen = halls.status("x");
    assert_eq!(seen["holders"][0]["command"], "nightly backup");
    assert_eq!(seen["queue"][0]["command"], "next one");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(waiter.leave().0, Some(0));
}

/// Puts a tool that runs the shell commands `answer` into a directory, unless `tool` is empty. Returns the output of
/// `hallpass run WORDS...` with a `PATH` that contains only this directory. `outer` is the value of
/// `CUDA_VISIBLE_DEVICES`.
fn run_with_tool(
    halls: &Halls,
    tool: &str,
    answer: &str,
    outer: Option<&str>,
    words: &[&str],
) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path();
    if !tool.is_empty() {
        write_executable(&bin.join(tool), &format!("#!/bin/sh\n{answer}\n"));
    }
    let mut command = halls.command("run", words);
    command.env_remove("CUDA_VISIBLE_DEVICES").env_remove("HIP_VISIBLE_DEVICES");
    command.env("PATH", bin).env_remove("HALLPASS_NAME");
    if let Some(outer) = outer {
        command.env("CUDA_VISIBLE_DEVICES", outer);
    }
    command.output().expect("it runs")
}

const THREE: &str = "echo '0, GPU-aaaa'; echo '1, GPU-bbbb'; echo '2, GPU-cccc'";
const PRINT: &str = "echo $CUDA_VISIBLE_DEVICES of $HALLPASS_SLOTS";

#[test]
fn gpus_gives_each_slot_a_device() {
    let run = |outer, options: &[&str], name: &str| {
        let halls = Halls::new();
        let words = [options, &["--gpus", name, "/bin/sh", "-c", PRINT]].concat();
        let output = run_with_tool(&halls, "nvidia-smi", THREE, outer, &words);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(run(None, &[], "gpu").1, "GPU-aaaa of 3\n");
    assert_eq!(run(Some("2,1"), &[], "gpu").1, "2 of 2\n");
    assert_eq!(run(Some("GPU-cc"), &["--per-device", "2"], "gpu").1, "GPU-cc of 2\n");
    for (outer, options, why) in [
        (Some(""), &[][..], "names no device"),
        (Some("-1"), &[], "names no device"),
        (None, &["--env", "CUDA_VISIBLE_DEVICES=0,1"], "give one of them"),
        (None, &["-k", "4"], "--gpus needs 4 values for 4 slots, but has 3"),
    ] {
        let (code, output, stderr) = run(outer, options, "gpu");
        assert_eq!((code, output.as_str()), (Some(125), ""), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}

#[test]
fn gpus_of_amd_are_found_by_their_tool() {
    let halls = Halls::new();
    let answer = "echo 'device,Unique ID'; echo card0,0x1; echo card1,0x2";
    let words = ["--gpus", "gpu", "/bin/sh", "-c", "echo $HIP_VISIBLE_DEVICES of $HALLPASS_SLOTS"];
    let output = run_with_tool(&halls, "rocm-smi", answer, None, &words);
    assert_eq!(text(&output.stdout), "0 of 2\n", "{}", text(&output.stderr));
}

#[test]
fn without_devices_gpus_is_a_clear_error_and_creates_no_hall() {
    for (tool, answer, why) in [
        ("", "", "neither nvidia-smi nor rocm-smi is on PATH"),
        ("nvidia-smi", "exit 0", "nvidia-smi lists no device"),
        (
            "nvidia-smi",
            "echo 'No devices were found'; exit 6",
            "failed (exit status: 6): No devices were found",
        ),
    ] {
        let halls = Halls::new();
        let output = run_with_tool(&halls, tool, answer, None, &["--gpus", "gpu", "/bin/true"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{stderr}");
        assert!(stderr.starts_with("hallpass: --gpus: ") && stderr.contains(why), "{stderr}");
        assert_eq!(halls.prints("list", &[]), "");
    }
}

/// A command that prints its slots, and then waits until its standard input is closed.
const SLOTS_HELD: [&str; 3] = ["sh", "-c", "echo $HALLPASS_SLOTS_HELD $GPU {slot}; exec cat"];

#[test]
fn take_gives_a_command_several_slots_together() {
    let halls = Halls::new();
    let words =
        [&["-k", "4", "--take", "2", "--env", "GPU=a,b,c,d", "x"], &SLOTS_HELD[..]].concat();
    let mut first = halls.start(&words);
    assert_eq!(first.line(), "0,1 a,b 0,1");
    let one = halls.hold(&[], "x");
    // Only slot 3 is free, so the next command waits, and a later one does not overtake it.
    let mut second = halls.start(&words);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    assert_eq!(halls.status("x")["held"], 3, "slot 3 stays free for it");
    let mut third = halls.start(&["x", "sh", "-c", "echo $HALLPASS_SLOTS_HELD; exec cat"]);
    eventually("the third waits", || halls.status("x")["waiting"] == 2);
    assert_eq!(halls.run(&["-n", "--take", "2", "x", "true"]), Some(1));
    assert_eq!(halls.run(&["-w", "0.05", "--take", "3", "x", "true"]), Some(124));
    assert_eq!(one.leave().0, Some(0));
    assert_eq!(second.line(), "2,3 c,d 2,3");
    assert_eq!(first.leave().0, Some(0));
    assert_eq!(third.line(), "0");
    assert_eq!(second.leave().0, Some(0));
    assert_eq!(third.leave().0, Some(0));
    let status = halls.status("x");
    assert_eq!((&status["held"], &status["waiting"]), (&0.into(), &0.into()));
}

#[test]
fn commands_that_take_several_slots_do_not_block_each_other() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "3", "x", "true"]), Some(0));
    let start = |number: usize| {
        let take = (number % 3 + 1).to_string();
        halls.start(&["--take", &take, "x", "sleep", "0.01"])
    };
    let all: Vec<_> = (0..24).map(start).collect();
    for running in all {
        assert_eq!(running.leave().0, Some(0));
    }
}

#[test]
fn after_the_death_of_a_holder_of_two_slots_a_large_request_comes_before_a_small_one() {
    let halls = Halls::new();
    let words = [&["-k", "3", "--take", "2", "--on-kill", "kill", "x"], &SLOTS_HELD[..]].concat();
    let mut first = halls.start(&words);
    assert_eq!(first.line(), "0,1 0,1");
    let mut second = halls.start(&words);
    eventually("the second waits", || halls.status("x")["waiting"] == 1);
    let mut small = halls.start(&[&["x"], &SLOTS_HELD[..]].concat());
    eventually("the small one waits", || halls.status("x")["waiting"] == 2);
    // Slot 2 stays free for the second command.
    assert_eq!(halls.status("x")["held"], 2);
    first.kill_hallpass();
    assert_eq!((second.line().as_str(), small.line().as_str()), ("0,1 0,1", "2 2"));
    assert_eq!((second.leave().0, small.leave().0), (Some(0), Some(0)));
}

#[test]
fn a_command_that_waits_for_several_slots_sleeps() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "3"], "x");
    let waiter = halls.start(&["--take", "3", "x", "true"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    let wakings = || -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", waiter.pid())).expect("it runs");
        let statuses = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("status")));
        let count = |status: io::Result<String>| {
            let status = status.expect("it runs");
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"));
            line.and_then(|line| line.split_whitespace().last()?.parse::<u64>().ok()).unwrap_or(0)
        };
        statuses.map(count).sum()
    };
    eventually("it sleeps for 200 ms", || {
        let before = wakings();
        thread::sleep(Duration::from_millis(200));
        wakings() - before < 10
    });
    assert_eq!((holder.leave().0, waiter.leave().0), (Some(0), Some(0)));
}

#[test]
fn a_killed_command_frees_all_of_its_slots_and_too_many_are_refused() {
    let halls = Halls::new();
    let mut holder = halls.hold(&["-k", "3", "--take", "3", "--on-kill", "kill"], "x");
    assert_eq!(halls.status("x")["held"], 3);
    holder.kill_hallpass();
    eventually("all slots are free", || halls.run(&["-n", "--take", "3", "x", "true"]) == Some(0));
    let output = halls.output("run", &["--take", "4", "x", "true"]);
    assert_eq!(output.status.code(), Some(125));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("--take 4 is more than the 3 slots of hall `x`"), "{stderr}");
    // A hall that shrinks while a command waits for its slots.
    let one = halls.hold(&[], "x");
    let mut waiter = halls.start(&["--take", "3", "x", "true"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    assert_eq!(halls.prints("resize", &["x", "2"]), "");
    assert_eq!(waiter.process.wait().expect("it ends").code(), Some(125));
    let mut stderr = waiter.process.stderr.take().expect("it is a pipe");
    let said = io::read_to_string(&mut stderr).expect("text");
    assert!(said.contains("--take 3 is more than the 2 slots of hall `x`"), "{said}");
    assert_eq!(one.leave().0, Some(0));
    assert_eq!(halls.run(&["-n", "--take", "2", "x", "true"]), Some(0));
    let before = halls.prints("list", &[]);
    for slots in [["-k", "1"], ["--env", "GPU=a"]] {
        let words = [&slots[..], &["--take", "2", "y", "true"]].concat();
        let output = halls.output("run", &words);
        assert_eq!(output.status.code(), Some(125));
        let stderr = text(&output.stderr);
        assert!(stderr.contains("--take 2 is more than the number of slots, 1"), "{stderr}");
    }
    assert_eq!(halls.prints("list", &[]), before, "no hall `y` was created");
}

/// The hall grows while a command waits. The command has no value for the new slot.
#[test]
fn a_resize_does_not_end_commands_that_wait_with_too_few_values() {
    let halls = Halls::new();
    let options = ["--env", "V=a,b"];
    let first = halls.hold(&options, "x");
    let second = halls.hold(&options, "x");
    let mut waiter =
        halls.start(&["-w", "60", "--env", "V=a,b", "x", "sh", "-c", "echo $V; exec cat"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    assert_eq!(halls.prints("resize", &["x", "3"]), "");
    // The command gets slot 2 and frees it again.
    eventually("it has left the queue", || halls.status("x")["waiting"] == 0);
    assert_eq!(second.leave().0, Some(0));
    assert_eq!(waiter.line(), "b", "it gets the slot for which it has a value");
    assert_eq!(waiter.leave().0, Some(0));
    assert_eq!(first.leave().0, Some(0));
}
