//! Kills a process at any instruction of an operation.
//!
//! ```text
//! cargo test -p hallpass-processes --test instructions                # a sample of instructions
//! HALLPASS_INSTRUCTIONS=1000 HALLPASS_INSTRUCTIONS_OF=leave \
//!     cargo test -p hallpass-processes --test instructions            # 1000 in scenarios that leave
//! ```
//!
//! A victim runs an operation one instruction at a time, and is killed after one of its instructions. The test does
//! this for a few instructions of each operation, or for as many as `HALLPASS_INSTRUCTIONS` says, and chooses them at
//! random. Each time, all waiters must get a slot (or the answer that the hall is closed), and then all slots must be
//! free. Before the victim is killed, it is stopped between two instructions. If there is another slot, another process
//! must be able to take that slot while the victim is stopped.

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
use hallpass_processes::{Error, HallDir, SharedHall};
use rustix::process::{Pid, Signal, kill_process};

use mapped::{Mapped, Shareable};
use number::number;
use scenarios::{Left, Other, SCENARIOS, Scenario};
use step::{Reached, Traced};

const NAME: &str = "stepped";
/// The default number of instructions per scenario at which the victim is killed.
const SAMPLE: usize = 3;
/// The number of instructions that a scenario may execute in all its runs, unless it was chosen by name.
/// Single-stepping this many takes about ten seconds.
const STEPS: usize = 1_500_000;
/// The time limit for every wait of the test. Such a wait takes less than a tenth of it. A waiter that is not woken
/// checks the hall again after ten seconds. The limit is shorter, so that a lost wake-up fails the test.
const PATIENCE: Duration = Duration::from_secs(9);
/// A number of instructions that is larger than that of any scenario.
const THROUGH: usize = 1_000_000;

fn main() {
    harness::run(&[("killed_at_any_instruction", killed_at_any_instruction)]);
}

/// The signals that the processes of a test exchange.
#[repr(C)]
pub struct Signals {
    /// The victim has reached the first instruction that counts.
    ready: AtomicU64,
    /// The victim may continue.
    go: AtomicU64,
    /// Holders must leave.
    leave: AtomicU64,
    /// The number of other processes that have got a slot, or the answer that the hall is closed.
    came: AtomicU64,
}

// SAFETY: all fields are atomics, for which any value is valid.
unsafe impl Shareable for Signals {}

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
        let most = if wanted.is_empty() { (STEPS / count.max(1)).max(3) } else { usize::MAX };
        let sample = sample.min(count).min(most);
        for number in 0..sample {
            // Divide the instructions into parts of equal length, and choose one at random in each part.
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
    let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
    let dir = folder.path().join("halls");
    let hall = || HallDir::at(&dir).open(NAME, scenario.slots).unwrap();
    let mut others: Vec<Pid> = Vec::new();
    let mut waiting = 0;
    for other in scenario.before {
        others.push(come(*other, &hall, signals, &mut waiting));
    }
    let victim = Traced::new(|mark| {
        (scenario.victim)(&dir, &|| {
            signals.ready.store(1, SeqCst);
            until("the victim may continue", || signals.go.load(SeqCst) == 1);
            mark();
        });
        mark();
    });
    until("the victim is ready", || signals.ready.load(SeqCst) == 1);
    for other in scenario.after {
        others.push(come(*other, &hall, signals, &mut waiting));
    }
    signals.go.store(1, SeqCst);
    let reached = victim.run(steps);
    let name = scenario.name;
    if scenario.spare {
        // The stopped victim blocks only the slots that it wants, so another process can take the spare slot.
        let enters = process::fork(|| hall().try_acquire_for(PATIENCE).is_err().into());
        let status = process::wait(enters);
        assert_eq!(status.exit_status(), Some(0), "{name}: stopped after {steps} instructions");
    }
    victim.kill();
    let after = process::fork(|| aftermath(scenario, &dir, &signals, others.len()));
    let status = process::wait(after);
    for pid in others {
        let _ = kill_process(pid, Signal::KILL);
        process::wait(pid);
    }
    assert_eq!(status.exit_status(), Some(0), "{name}: killed after {steps} instructions");
    reached
}

/// Starts another process, and waits until it holds a slot, waits, or is dead, as `other` says.
fn come(
    other: Other,
    hall: &dyn Fn() -> SharedHall,
    signals: Mapped<Signals>,
    waiting: &mut usize,
) -> Pid {
    let came = signals.came.load(SeqCst);
    let pid = process::fork(|| {
        let pass = match hall().acquire_owned() {
            Err(Error::Closed) => None,
            pass => Some(pass.unwrap()),
        };
        signals.came.fetch_add(1, SeqCst);
        until("the process may leave", || signals.leave.load(SeqCst) == 1);
        drop(pass);
        0
    });
    match other {
        Other::Waiter => {
            *waiting += 1;
            let seen = || {
                let hall = hall();
                until("the process waits", || hall.status().waiters.len() == *waiting);
                0
            };
            assert_eq!(process::wait(process::fork(seen)).exit_status(), Some(0));
        }
        Other::Holder | Other::DeadHolder => {
            until("the process has a slot", || signals.came.load(SeqCst) == came + 1);
        }
    }
    if let Other::DeadHolder = other {
        kill_process(pid, Signal::KILL).unwrap();
        // The killed process stays a zombie until this process waits for it.
        until("the process is dead", || is_dead(pid));
    }
    pid
}

/// Returns `true` if the process is a zombie. Then its files are closed.
fn is_dead(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('Z')
}

/// Checks that holders leave, that waiters get a slot, and that all slots eventually become free.
fn aftermath(scenario: &Scenario, dir: &Path, signals: &Signals, others: usize) -> i32 {
    signals.leave.store(1, SeqCst);
    until("all others have had a slot or an answer", || {
        signals.came.load(SeqCst) as usize == others
    });
    let hall = match scenario.left {
        // If the hall was removed, this creates it again.
        Left::Same | Left::Removed => HallDir::at(dir).open(NAME, scenario.slots).unwrap(),
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
