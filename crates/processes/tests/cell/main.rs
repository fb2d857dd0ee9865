//! Tests of values that processes share. Processes are killed, suspended and forked during updates.
//!
//! ```text
//! cargo test -p hallpass-processes --test cell                        # some seconds
//! HALLPASS_CELL_SECONDS=20 cargo test -p hallpass-processes --test cell storm
//! HALLPASS_INSTRUCTIONS=1000 HALLPASS_INSTRUCTIONS_OF="update again" \
//!     cargo test -p hallpass-processes --test cell instruction        # killed at up to 1000 instructions
//! ```
//!
//! The value is an array of equal numbers, so that the tests notice a mixture of two updates.

mod damage;
mod instructions;
mod storm;
mod together;

#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/mapped.rs"]
mod mapped;
#[allow(dead_code, reason = "the test `damage` uses all of it")]
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

/// The time limit for every wait of a test. On an idle machine, such a wait takes less than a tenth of it.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    harness::run(&[
        ("the_sum_is_exact", together::the_sum_is_exact),
        ("a_reader_sees_whole_values", together::a_reader_sees_whole_values),
        (
            "processes_that_open_at_the_same_time_share_one_value",
            together::processes_that_open_at_the_same_time_share_one_value,
        ),
        (
            "a_process_suspended_in_an_update_blocks_no_reader",
            together::a_process_suspended_in_an_update_blocks_no_reader,
        ),
        (
            "a_child_forked_in_the_closure_does_not_change_the_value",
            together::a_child_forked_in_the_closure_does_not_change_the_value,
        ),
        ("damaged_while_in_use", damage::damaged_while_in_use),
        ("storm", storm::storm),
        ("storm_over_a_queue", storm::storm_over_a_queue),
        ("killed_at_any_instruction", instructions::killed_at_any_instruction),
    ]);
}

/// An array of equal numbers.
type Numbers = [u64; 64];

/// Opens the cell of a test. Only child processes call this. If the parent opened the cell, the children would
/// inherit its descriptors.
fn cell(dir: &Path) -> SharedCell<Numbers> {
    HallDir::at(dir).open_cell("cell", [0; 64]).unwrap()
}

fn add_one<const N: usize>(numbers: &mut [u64; N]) {
    numbers.iter_mut().for_each(|number| *number += 1);
}

/// Returns the number that all elements have.
fn whole<const N: usize>(numbers: [u64; N]) -> u64 {
    let other = numbers.iter().position(|number| *number != numbers[0]);
    if let Some(other) = other {
        panic!("a mixture: {} at 0 and {} at {other} of {N}", numbers[0], numbers[other]);
    }
    numbers[0]
}

/// The signals that the processes of a test exchange.
#[repr(C)]
struct Signals {
    go: AtomicU64,
    ready: AtomicU64,
    words: [AtomicU64; 64],
}

// SAFETY: all fields are atomics, for which any value is valid.
unsafe impl Shareable for Signals {}

/// Runs `f` in a child process, which must succeed.
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
        assert!(Instant::now() < end, "timed out waiting until {what}");
        thread::sleep(Duration::from_micros(100));
    }
}
