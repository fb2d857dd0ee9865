//! A stress test of the command line. 40 loops start commands on a hall with three slots, with all kinds of options,
//! and kill and suspend processes at random. Meanwhile, an operator cancels waiters and resizes the hall. A witness
//! that does not use hallpass checks that no slot has two holders.
//!
//! By default, the test takes a few seconds. `HALLPASS_COMMAND_STORM_SECONDS=600` makes it longer, and
//! `HALLPASS_COMMAND_STORM_SEED` repeats the choices of a run.

#[path = "../common/mod.rs"]
mod common;
mod visitor;

use std::{
    env, fs,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use common::{Halls, eventually, signals::with_default_signals};
use fastrand::Rng;
use hallpass_testbed::write_executable;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const LOOPS: usize = 40;
const SLOTS: usize = 3;
const HALL: &str = "storm";

/// The options of a run, and whether the test may kill hallpass alone while its command continues. With `--close` it
/// must not, because the slot would be free then.
const OPTIONS: [(&[&str], bool); 22] = [
    (&[], true),
    (&["-k", "3"], true),
    (&["-n"], true),
    (&["-w", "0.05"], true),
    (&["-w", "20", "-E", "9"], true),
    (&["--no-fork"], true),
    (&["--descendants"], true),
    (&["--on-kill", "kill"], true),
    (&["--on-kill", "keep", "--label", "kept"], true),
    (&["--time-limit", "0.02", "--grace", "0.01"], true),
    (&["--time-limit", "10", "--descendants", "--on-kill", "kill"], true),
    (&["--env", "DEVICE=a,b,c", "--no-log"], true),
    (&["--verbose", "--per-device", "2"], true),
    (&["--take", "2"], true),
    (&["--take", "3", "-w", "1", "--on-kill", "kill"], true),
    (&["--take", "2", "-n"], true),
    (&["--take", "2", "--no-fork"], true),
    (&["--take", "2", "--descendants", "--env", "DEVICE=a,b,c"], true),
    (&["--take", "3", "-w", "2", "--time-limit", "0.02", "--grace", "0.01"], true),
    (&["--no-fork", "--descendants"], true),
    (&["--gpus"], true),
    (&["--close"], false),
];

/// The numbers of actions of the storm.
#[derive(Default)]
struct Counts {
    runs: AtomicUsize,
    kills: AtomicUsize,
    stops: AtomicUsize,
    cancels: AtomicUsize,
    resizes: AtomicUsize,
}

fn seconds() -> Duration {
    let seconds = env::var("HALLPASS_COMMAND_STORM_SECONDS").ok();
    Duration::from_secs_f64(seconds.map_or(4.0, |text| text.parse().expect("a number of seconds")))
}

#[test]
fn no_slot_has_two_holders_whatever_is_killed() {
    let halls = Halls::new();
    let seed = env::var("HALLPASS_COMMAND_STORM_SEED").ok();
    let seed = seed.map_or_else(|| fastrand::u64(..), |text| text.parse().expect("a seed"));
    eprintln!("HALLPASS_COMMAND_STORM_SEED={seed}");
    let witness = tempfile::tempdir().expect("a folder");
    // A stand-in for the tool that lists GPUs.
    let tool = witness.path().join("nvidia-smi");
    write_executable(&tool, "#!/bin/sh\necho '0, GPU-a'\necho '1, GPU-b'\necho '2, GPU-c'\n");
    assert_eq!(halls.run(&["-k", &SLOTS.to_string(), HALL, "true"]), Some(0));
    let (counts, end) = (Counts::default(), Instant::now() + seconds());
    thread::scope(|scope| {
        for number in 0..LOOPS {
            let (halls, counts, witness) = (&halls, &counts, witness.path());
            let rng = Rng::with_seed(seed ^ (number as u64) << 32);
            scope.spawn(move || Loop { halls, witness, counts, rng }.run(end));
        }
        scope.spawn(|| manage(&halls, &counts, Rng::with_seed(seed), end));
    });
    let output = halls.output("wait", &["-w", "60", HALL]);
    assert!(output.status.success(), "a slot is never free again: {}", halls.status(HALL));
    let conflicts = fs::read_to_string(witness.path().join(visitor::CONFLICTS)).unwrap_or_default();
    assert_eq!(conflicts, "", "seed {seed}");
    let visits = fs::read(witness.path().join(visitor::VISITS)).map_or(0, |visits| visits.len());
    let Counts { runs, kills, stops, cancels, resizes } = &counts;
    let [runs, kills, stops, cancels, resizes] =
        [runs, kills, stops, cancels, resizes].map(|n| n.load(Relaxed));
    eprintln!(
        "{runs} runs, {visits} visits, {kills} kills, {stops} stops, {cancels} cancels, {resizes} resizes, 0 conflicts"
    );
    assert!(runs > LOOPS && visits > 0 && kills > 0, "{runs} runs, {visits} visits, {kills} kills");
    // All slots can be held again, and the hall assigns the smallest slots.
    let holders: Vec<_> = (0..SLOTS).map(|_| halls.hold(&["-w", "60"], HALL)).collect();
    eventually("all slots are held", || halls.status(HALL)["held"] == SLOTS);
    assert!(!halls.is_free(HALL));
    drop(holders);
}

/// Looks at the hall, frees slots of dead processes, cancels waiters, and resizes the hall, as an operator would. In
/// the end, the hall has all its slots.
fn manage(halls: &Halls, counts: &Counts, mut rng: Rng, end: Instant) {
    let resize = |slots: usize| {
        counts.resizes.fetch_add(1, Relaxed);
        halls.output("resize", &[HALL, &slots.to_string()])
    };
    while Instant::now() < end {
        let output = match rng.usize(..5) {
            0 => halls.output("reap", &[HALL]),
            1 => {
                counts.cancels.fetch_add(1, Relaxed);
                // This fails if fewer than two processes wait.
                halls.output("cancel", &[HALL, "--position", "2"]);
                halls.output("list", &[])
            }
            2 => halls.output("log", &[HALL]),
            3 => resize(rng.usize(1..=SLOTS)),
            _ => halls.output("status", &["--json", HALL]),
        };
        assert!(output.status.success(), "{}", common::text(&output.stderr));
        thread::sleep(Duration::from_millis(rng.u64(20..80)));
    }
    assert!(resize(SLOTS).status.success());
}

/// A loop that starts one command after the other.
struct Loop<'a> {
    halls: &'a Halls,
    witness: &'a Path,
    counts: &'a Counts,
    rng: Rng,
}

impl Loop<'_> {
    fn run(mut self, end: Instant) {
        while Instant::now() < end {
            let (options, may_kill) = OPTIONS[self.rng.usize(..OPTIONS.len())];
            let mut child = self.start(options);
            self.counts.runs.fetch_add(1, Relaxed);
            thread::sleep(Duration::from_micros(self.rng.u64(..60_000)));
            match self.rng.usize(..6) {
                0 | 1 if may_kill => self.kill(&child),
                2 => self.kill_child(&child),
                3 if may_kill => self.kill_group(&child),
                4 => self.stop(&child),
                _ => {}
            }
            self.finish(&mut child, end);
        }
    }

    fn start(&mut self, options: &[&str]) -> Child {
        let words = [options, &[HALL, "--"]].concat();
        let mut command: Command = self.halls.command("run", &words);
        command.env("PATH", self.witness);
        visitor::add_to(&mut command, self.witness, self.rng.u64(..30), self.rng.u8(..4));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        with_default_signals(&mut command).spawn().expect("hallpass starts")
    }

    fn kill(&self, child: &Child) {
        self.counts.kills.fetch_add(1, Relaxed);
        let _ = kill_process(Pid::from_child(child), Signal::KILL);
    }

    /// Kills a child of hallpass: the command, the warden or the group probe.
    fn kill_child(&mut self, child: &Child) {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
        let children = children.unwrap_or_default();
        let pids: Vec<i32> =
            children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        if let Some(pid) = self.rng.choice(pids).and_then(Pid::from_raw) {
            self.counts.kills.fetch_add(1, Relaxed);
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn kill_group(&self, child: &Child) {
        self.counts.kills.fetch_add(1, Relaxed);
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }

    fn stop(&mut self, child: &Child) {
        self.counts.stops.fetch_add(1, Relaxed);
        let signal = if self.rng.bool() { Signal::TSTP } else { Signal::STOP };
        let group = Pid::from_child(child);
        let _ = kill_process_group(group, signal);
        thread::sleep(Duration::from_millis(self.rng.u64(..30)));
        let _ = kill_process_group(group, Signal::CONT);
    }

    /// Waits for the end of a `hallpass run`. After a random time, sends it SIGTERM until it ends.
    fn finish(&mut self, child: &mut Child, end: Instant) {
        let limit = Instant::now() + Duration::from_millis(self.rng.u64(100..4000));
        while child.try_wait().expect("asked").is_none() {
            if Instant::now() > limit.min(end) {
                let _ = kill_process(Pid::from_child(child), Signal::TERM);
                // A signal that suspends may have come after the last CONT, so send CONT again.
                let _ = kill_process_group(Pid::from_child(child), Signal::CONT);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}
