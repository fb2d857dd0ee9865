//! Kills a process after instructions of an update that are chosen at random.
//!
//! The test process runs the *victim*, which makes one update, one instruction at a time. This begins when the
//! victim calls the function `ready`. While the victim is stopped between two instructions, it must not block readers.
//! When it is killed, it has made the whole update or none of it. After that, the waiters must make their updates, and
//! so must a process that arrives later.

use std::{mem, path::Path, sync::atomic::Ordering::SeqCst, time::Instant};

use fastrand::Rng;
use hallpass_processes::{HallDir, SharedCell};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    PATIENCE, Signals, add_one, ends_well, in_a_process,
    mapped::Mapped,
    number::number,
    process,
    step::{self, Reached, Traced},
    until, whole,
};

/// The default number of instructions per scenario at which the victim is killed.
const SAMPLE: usize = 3;
/// A number of instructions that is larger than that of any scenario.
const THROUGH: usize = 1_000_000;

/// The value. It is small, so that a test at all instructions is feasible.
type Numbers = [u64; 8];

fn cell(dir: &Path) -> SharedCell<Numbers> {
    HallDir::at(dir).open_cell("cell", [0; 8]).unwrap()
}

struct Scenario {
    name: &'static str,
    /// Whether another process was killed in an update before.
    dead: bool,
    /// The number of waiters behind the victim.
    waiters: u64,
    /// The number of updates that the victim makes before it calls `ready`.
    earlier: u64,
    victim: fn(&Path, &dyn Fn()),
}

const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "update again",
        dead: false,
        waiters: 0,
        earlier: 2,
        victim: |dir, ready| {
            let cell = cell(dir);
            cell.update(add_one).unwrap();
            cell.update(add_one).unwrap();
            ready();
            cell.update(add_one).unwrap();
            mem::forget(cell); // another scenario covers unregistering
        },
    },
    Scenario {
        name: "first update",
        dead: false,
        waiters: 0,
        earlier: 0,
        victim: |dir, ready| {
            let cell = cell(dir);
            ready();
            cell.update(add_one).unwrap();
        },
    },
    Scenario {
        name: "update while others wait",
        dead: false,
        waiters: 2,
        earlier: 0,
        victim: |dir, ready| {
            let change = |numbers: &mut Numbers| {
                ready();
                add_one(numbers);
            };
            cell(dir).update(change).unwrap();
        },
    },
    Scenario {
        name: "update after a process that died",
        dead: true,
        waiters: 0,
        earlier: 0,
        victim: |dir, ready| {
            let cell = cell(dir);
            ready();
            cell.update(add_one).unwrap();
        },
    },
    Scenario {
        name: "create a cell",
        dead: false,
        waiters: 0,
        earlier: 0,
        victim: |dir, ready| {
            ready();
            cell(dir).update(add_one).unwrap();
        },
    },
];

pub fn killed_at_any_instruction() {
    step::stay_on_one_core();
    let sample = number("HALLPASS_INSTRUCTIONS").map_or(SAMPLE, |number| number as usize);
    let wanted = std::env::var("HALLPASS_INSTRUCTIONS_OF").unwrap_or_default();
    let mut random = Rng::new();
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name.contains(&wanted)) {
        let begun = Instant::now();
        let (Reached::End(count), true) = run(scenario, THROUGH) else {
            panic!("{}: the operation does not end", scenario.name)
        };
        let sample = sample.min(count);
        let mut made = 0;
        for number in 0..sample {
            // Divide the instructions into parts of equal length, and choose one at random in each part.
            let (start, end) = (number * count / sample, (number + 1) * count / sample);
            let (_, new) = run(scenario, random.usize(start..end.max(start + 1)));
            made += usize::from(new);
        }
        println!(
            "{}: killed at {sample} of {count} instructions, {made} times after the update was made, \
             in {:.1?}",
            scenario.name,
            begun.elapsed()
        );
    }
}

/// Kills the victim after `steps` instructions, and checks the other processes. Returns how far the victim got, and
/// whether it has made its update.
fn run(scenario: &Scenario, steps: usize) -> (Reached, bool) {
    let folder = tempfile::tempdir().unwrap();
    let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
    let [go, ready, came] = [&signals.go, &signals.ready, &signals.words[0]];
    let dir = &folder.path().join("dir");
    if scenario.dead {
        die_in_an_update(dir, signals);
    }
    let victim = Traced::new(|mark| {
        (scenario.victim)(dir, &|| {
            ready.store(1, SeqCst);
            until("the victim may continue", || go.load(SeqCst) == 1);
            mark();
        });
        mark();
    });
    until("the victim is ready", || ready.load(SeqCst) == 1);
    let waiter = |number: u64| {
        let pid = process::fork(|| {
            cell(dir).update(add_one).unwrap();
            came.fetch_add(1, SeqCst);
            0
        });
        in_a_process(|| until("it waits", || cell(dir).hall().waiting() as u64 == number + 1));
        pid
    };
    let waiters: Vec<Pid> = (0..scenario.waiters).map(waiter).collect();
    go.store(1, SeqCst);
    let reached = victim.run(steps);
    let old = scenario.earlier;
    let name = scenario.name;
    // The victim, which the tracer has stopped, must not block readers.
    let seen = &signals.words[1];
    in_a_process(|| seen.store(whole(cell(dir).read().unwrap()), SeqCst));
    victim.kill();
    waiters.into_iter().for_each(ends_well);
    in_a_process(|| {
        let cell = cell(dir);
        let value = whole(cell.read().unwrap());
        let others = came.load(SeqCst);
        assert_eq!(others, scenario.waiters);
        let mine = value.checked_sub(old + others).filter(|mine| *mine <= 1);
        let mine = mine.unwrap_or_else(|| panic!("{name}: {value} after {steps} instructions"));
        signals.words[2].store(mine, SeqCst);
        cell.try_update_for(PATIENCE, add_one).unwrap();
        assert_eq!(whole(cell.read().unwrap()), value + 1);
    });
    let made = signals.words[2].load(SeqCst) == 1;
    let seen = seen.load(SeqCst);
    // The waiters may have made their updates before the victim was stopped.
    let max = old + u64::from(made) * (1 + scenario.waiters);
    assert!((old + u64::from(made)..=max).contains(&seen), "{name}: {seen} after {steps}");
    (reached, made)
}

/// Kills a process in the closure of an update.
fn die_in_an_update(dir: &Path, signals: Mapped<Signals>) {
    let in_update = &signals.words[3];
    let pid = process::fork(|| {
        let stay = |numbers: &mut Numbers| {
            add_one(numbers);
            in_update.store(1, SeqCst);
            until("the process is dead", || false);
        };
        cell(dir).update(stay).unwrap();
        0
    });
    until("the process is in its update", || in_update.load(SeqCst) == 1);
    kill_process(pid, Signal::KILL).unwrap();
    process::wait(pid);
}
