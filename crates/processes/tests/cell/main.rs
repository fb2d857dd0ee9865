//! Values that processes share, and processes that are killed, stopped and forked at it.
//!
//! ```text
//! cargo test -p hallpass-processes --test cell                        # some seconds
//! HALLPASS_CELL_SECONDS=20 cargo test -p hallpass-processes --test cell storm
//! HALLPASS_INSTRUCTIONS=1000 HALLPASS_INSTRUCTIONS_OF="update again" \
//!     cargo test -p hallpass-processes --test cell instruction        # after every one of them
//! ```
//!
//! The value is many numbers that are all equal, unless it is a mixture.

mod damage;
mod instructions;
mod storm;
mod together;

#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/mapped.rs"]
mod mapped;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../damage/mutate.rs"]
mod mutate;
#[path = "../common/number.rs"]
mod number;
#[path = "../common/process.rs"]
mod process;
#[path = "../instructions/step.rs"]
mod step;

use std::{
    path::Path,
    sync::atomic::AtomicU64,
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::{HallDir, SharedCell};

use mapped::Shareable;

/// Nothing here takes a tenth of that, on a machine that has time.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    harness::run(&[
        ("the_sum_is_exact", together::the_sum_is_exact),
        ("what_is_read_is_whole", together::what_is_read_is_whole),
        ("all_who_open_at_once_have_one_value", together::all_who_open_at_once_have_one_value),
        ("who_is_stopped_keeps_nobody_from_reading", together::who_is_stopped),
        ("a_child_that_is_forked_in_the_closure", together::a_child_that_is_forked_in_the_closure),
        ("changed_under_its_users", damage::changed_under_its_users),
        ("storm", storm::storm),
        ("storm_over_a_queue", storm::storm_over_a_queue),
        ("killed_at_any_instruction", instructions::killed_at_any_instruction),
    ]);
}

/// Numbers that are all equal.
type Numbers = [u64; 64];

/// The cell of a test. Only processes that end open it: what this one has, others would inherit.
fn cell(place: &Path) -> SharedCell<Numbers> {
    HallDir::at(place).open_cell("cell", [0; 64]).unwrap()
}

fn add_one<const N: usize>(numbers: &mut [u64; N]) {
    numbers.iter_mut().for_each(|number| *number += 1);
}

/// What all of them are.
fn whole<const N: usize>(numbers: [u64; N]) -> u64 {
    let other = numbers.iter().position(|number| *number != numbers[0]);
    if let Some(other) = other {
        panic!("a mixture: {} at 0 and {} at {other} of {N}", numbers[0], numbers[other]);
    }
    numbers[0]
}

/// What processes of a test tell each other.
#[repr(C)]
struct Signs {
    go: AtomicU64,
    ready: AtomicU64,
    words: [AtomicU64; 64],
}

// SAFETY: it is atomics throughout, for which any value will do.
unsafe impl Shareable for Signs {}

/// Runs it in a process of its own, which must end well.
fn in_a_process(f: impl FnOnce()) {
    ends_well(process::fork(|| {
        f();
        0
    }));
}

fn ends_well(pid: rustix::process::Pid) {
    let status = process::wait(pid);
    assert_eq!(status.exit_status(), Some(0), "{status:?}");
}

fn until(what: &str, f: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !f() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_micros(100));
    }
}
