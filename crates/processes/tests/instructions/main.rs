//! SIGKILL at every instruction.
//!
//! ```text
//! cargo test -p hallpass-processes --test instructions                # a sample of instructions
//! HALLPASS_INSTRUCTIONS=1000 HALLPASS_INSTRUCTIONS_OF=leave \
//!     cargo test -p hallpass-processes --test instructions            # 1000 in scenarios that leave
//! ```
//!
//! A victim runs an operation one instruction at a time, and is killed after the first one, after the second
//! one, and so on until the operation ends. Each time, all waiters must get a slot, and then all slots must
//! be free. Before it is killed, the victim is only stopped: if there is another slot, another process must
//! be able to take it.

mod scenarios;
mod step;

#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/mapped.rs"]
mod mapped;
#[path = "../common/number.rs"]
mod number;
#[path = "../common/process.rs"]
mod process;

use std::{
    collections::HashSet,
    env,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_processes::{HallDir, SharedHall};
use rustix::process::{Pid, Signal, kill_process};

use mapped::{Mapped, Shareable};
use number::number;
use scenarios::{Left, Other, SCENARIOS, Scenario};
use step::{Reached, Traced};

const NAME: &str = "stepped";
/// The default number of instructions per scenario at which the victim is killed.
const SAMPLE: usize = 3;
/// The time limit for every step, more than ten times what one takes. It is less than the ten seconds after
/// which a waiter checks on its own, so a lost wake-up fails the test.
const PATIENCE: Duration = Duration::from_secs(9);
/// More instructions than any scenario has.
const THROUGH: usize = 1_000_000;

fn main() {
    harness::run(&[("killed_at_any_instruction", killed_at_any_instruction)]);
}

/// The signals that the processes of a test exchange.
#[repr(C)]
pub struct Signs {
    /// The victim has reached the first instruction that counts.
    ready: AtomicU64,
    /// The victim may continue.
    go: AtomicU64,
    /// Holders must leave.
    leave: AtomicU64,
    /// The number of other processes that have got a slot.
    came: AtomicU64,
}

// SAFETY: all fields are atomics, for which any value is valid.
unsafe impl Shareable for Signs {}

fn killed_at_any_instruction() {
    step::stay_on_one_core();
    let wanted = env::var("HALLPASS_INSTRUCTIONS_OF").unwrap_or_default();
    let sample = number("HALLPASS_INSTRUCTIONS").map_or(SAMPLE, |number| number as usize);
    let mut random = Rng::with_seed(1);
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name.contains(&wanted)) {
        let begun = Instant::now();
        let Reached::End(count) = run(scenario, THROUGH) else {
            panic!("{}: the operation does not end", scenario.name)
        };
        let sample = sample.min(count);
        for number in 0..sample {
            // One at random in each part of equal length.
            let (start, end) = (number * count / sample, (number + 1) * count / sample);
            run(scenario, random.usize(start..end.max(start + 1)));
        }
        let name = scenario.name;
        println!("{name}: killed at {sample} of {count} instructions in {:.1?}", begun.elapsed());
    }
}

/// Kills the victim after `steps` instructions, and checks the other processes.
fn run(scenario: &'static Scenario, steps: usize) -> Reached {
    let folder = tempfile::tempdir().unwrap();
    let signs = Mapped::<Signs>::open(&folder.path().join("signs"));
    let dir = folder.path().join("halls");
    let hall = || HallDir::at(&dir).open(NAME, scenario.slots).unwrap();
    let mut others: Vec<Pid> = Vec::new();
    let mut waiting = 0;
    for other in scenario.before {
        others.push(come(*other, &hall, signs, &mut waiting));
    }
    let victim = Traced::new(|mark| {
        (scenario.victim)(&dir, &|| {
            signs.ready.store(1, SeqCst);
            until("the victim may go on", || signs.go.load(SeqCst) == 1);
            mark();
        });
        mark();
    });
    until("the victim is ready", || signs.ready.load(SeqCst) == 1);
    for other in scenario.after {
        others.push(come(*other, &hall, signs, &mut waiting));
    }
    signs.go.store(1, SeqCst);
    let reached = victim.run(steps);
    let name = scenario.name;
    if scenario.spare {
        // A stopped process blocks at most one slot.
        let enters = process::fork(|| hall().try_acquire_for(PATIENCE).is_err().into());
        let status = process::wait(enters);
        assert_eq!(status.exit_status(), Some(0), "{name}: stopped after {steps} instructions");
    }
    victim.kill();
    let after = process::fork(|| aftermath(scenario, &dir, &signs, others.len()));
    let status = process::wait(after);
    for pid in others {
        let _ = kill_process(pid, Signal::KILL);
        process::wait(pid);
    }
    assert_eq!(status.exit_status(), Some(0), "{name}: killed after {steps} instructions");
    reached
}

/// Starts another process, and waits until it is in its place.
fn come(
    other: Other,
    hall: &dyn Fn() -> SharedHall,
    signs: Mapped<Signs>,
    waiting: &mut usize,
) -> Pid {
    let came = signs.came.load(SeqCst);
    let pid = process::fork(|| {
        let pass = hall().acquire_owned().unwrap();
        signs.came.fetch_add(1, SeqCst);
        until("it may leave", || signs.leave.load(SeqCst) == 1);
        drop(pass);
        0
    });
    match other {
        Other::Waiter => {
            *waiting += 1;
            let seen = || {
                let hall = hall();
                until("it waits", || hall.status().waiters.len() == *waiting);
                0
            };
            assert_eq!(process::wait(process::fork(seen)).exit_status(), Some(0));
        }
        Other::Holder | Other::DeadHolder => {
            until("it is in", || signs.came.load(SeqCst) == came + 1);
        }
    }
    if let Other::DeadHolder = other {
        kill_process(pid, Signal::KILL).unwrap();
        // It stays a zombie for now, which only this process can see.
        until("it is dead", || is_dead(pid));
    }
    pid
}

/// Returns `true` if the process is a zombie: then its files are closed.
fn is_dead(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('Z')
}

/// Checks that holders leave, that waiters get a slot, and that all slots are free in the end.
fn aftermath(scenario: &Scenario, dir: &Path, signs: &Signs, others: usize) -> i32 {
    signs.leave.store(1, SeqCst);
    until("all others were in", || signs.came.load(SeqCst) as usize == others);
    let hall = match scenario.left {
        Left::Same => HallDir::at(dir).open(NAME, scenario.slots).unwrap(),
        Left::Resized | Left::Closed => HallDir::at(dir).open_existing(NAME).unwrap(),
    };
    if scenario.left == Left::Closed && hall.is_closed() {
        return 0;
    }
    let slots = hall.slots();
    until("all slots are free", || {
        let passes: Vec<_> = (0..slots).flat_map(|_| hall.try_acquire()).collect();
        let distinct: HashSet<usize> = passes.iter().map(|pass| pass.slot()).collect();
        distinct.len() == slots && hall.try_acquire().is_err()
    });
    let status = hall.status();
    assert_eq!((status.holders.len(), status.waiters.len()), (0, 0), "{status:#?}");
    0
}

fn until(what: &str, f: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !f() {
        assert!(Instant::now() < end, "timed out waiting until {what}");
        thread::sleep(Duration::from_micros(100));
    }
}
