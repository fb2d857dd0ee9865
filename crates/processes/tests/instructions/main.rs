//! SIGKILL at every instruction.
//!
//! ```text
//! cargo test -p hallpass-processes --test instructions                # at some of them
//! HALLPASS_INSTRUCTIONS=1000 HALLPASS_INSTRUCTIONS_OF=leave \
//!     cargo test -p hallpass-processes --test instructions            # at so many, where it leaves
//! ```
//!
//! A process is run one instruction at a time through something that halls do, and is killed after
//! the first, after the second, and so on until it is through. Each time, those who waited must get in,
//! and then all slots can be had. Before it is killed it is merely stopped: if there is another slot,
//! somebody else must be able to have it.

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
/// At how many instructions of each scenario it is tried, unless more are asked for.
const SAMPLE: usize = 6;
/// Nothing here takes a tenth of that. It is less than the ten seconds after which a waiter looks by
/// itself, so a wake-up that got lost is noticed.
const PATIENCE: Duration = Duration::from_secs(9);
/// More than any scenario has.
const THROUGH: usize = 1_000_000;

fn main() {
    harness::run(&[("killed_at_any_instruction", killed_at_any_instruction)]);
}

/// What the processes tell each other.
#[repr(C)]
pub struct Signs {
    /// The victim is where its instructions are to be counted from.
    ready: AtomicU64,
    /// It may go on.
    go: AtomicU64,
    /// Who holds is to leave.
    leave: AtomicU64,
    /// How many others are in, or have been.
    came: AtomicU64,
}

// SAFETY: it is atomics throughout, for which any value will do.
unsafe impl Shareable for Signs {}

fn killed_at_any_instruction() {
    step::stay_on_one_core();
    let wanted = env::var("HALLPASS_INSTRUCTIONS_OF").unwrap_or_default();
    let sample = number("HALLPASS_INSTRUCTIONS").map_or(SAMPLE, |number| number as usize);
    let mut random = Rng::with_seed(1);
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name.contains(&wanted)) {
        let begun = Instant::now();
        let Reached::End(count) = run(scenario, THROUGH) else {
            panic!("{}: it does not come to an end", scenario.name)
        };
        let sample = sample.min(count);
        for number in 0..sample {
            // Evenly spread, but not always the same.
            let (start, end) = (number * count / sample, (number + 1) * count / sample);
            run(scenario, random.usize(start..end.max(start + 1)));
        }
        let name = scenario.name;
        println!("{name}: killed at {sample} of {count} instructions in {:.1?}", begun.elapsed());
    }
}

/// Kills the victim after so many instructions, and looks what becomes of the others.
fn run(scenario: &'static Scenario, steps: usize) -> Reached {
    let folder = tempfile::tempdir().unwrap();
    let signs = Mapped::<Signs>::open(&folder.path().join("signs"));
    let place = folder.path().join("halls");
    let hall = || HallDir::at(&place).open(NAME, scenario.slots).unwrap();
    let mut others: Vec<Pid> = Vec::new();
    let mut waiting = 0;
    for other in scenario.before {
        others.push(come(*other, &hall, signs, &mut waiting));
    }
    let victim = Traced::new(|mark| {
        (scenario.victim)(&place, &|| {
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
        // Who is stopped anywhere keeps others from one slot, and no more.
        let enters = process::fork(|| hall().try_acquire_for(PATIENCE).is_err().into());
        let status = process::wait(enters);
        assert_eq!(status.exit_status(), Some(0), "{name}: stopped after {steps} instructions");
    }
    victim.kill();
    let after = process::fork(|| aftermath(scenario, &place, &signs, others.len()));
    let status = process::wait(after);
    for pid in others {
        let _ = kill_process(pid, Signal::KILL);
        process::wait(pid);
    }
    assert_eq!(status.exit_status(), Some(0), "{name}: killed after {steps} instructions");
    reached
}

/// Another process comes, and is where it is to be.
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
        // It is buried later, which makes no difference to anybody but this process.
        until("it is dead", || is_dead(pid));
    }
    pid
}

/// Its files are closed when it has become a zombie.
fn is_dead(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('Z')
}

/// Those who hold leave, those who waited get in, and then everything is free.
fn aftermath(scenario: &Scenario, place: &Path, signs: &Signs, others: usize) -> i32 {
    signs.leave.store(1, SeqCst);
    until("all others were in", || signs.came.load(SeqCst) as usize == others);
    let hall = match scenario.left {
        Left::Same => HallDir::at(place).open(NAME, scenario.slots).unwrap(),
        Left::Resized | Left::Closed => HallDir::at(place).open_existing(NAME).unwrap(),
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
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_micros(100));
    }
}
