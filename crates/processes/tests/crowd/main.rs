//! Many processes wait for one hall. All of them get its only slot, one after another.
//!
//! ```text
//! cargo test -p hallpass-processes --test crowd                                      # 100 processes
//! HALLPASS_CROWD=10000 cargo test --release -p hallpass-processes --test crowd      # ten thousand
//! ```
//!
//! The test prints the time between the moment at which a holder begins to leave and the moment at which its successor
//! has the slot.

#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/mapped.rs"]
mod mapped;
#[path = "../common/number.rs"]
mod number;
#[path = "../common/process.rs"]
mod process;

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::HallDir;
use rustix::time::{ClockId, clock_gettime};

use mapped::{Mapped, Shareable};
use number::number;

const NAME: &str = "crowd";
/// The default number of processes.
const FEW: usize = 100;
/// The maximum number of processes.
const MOST: usize = 16_000;
/// The test fails if there is no progress for this long.
const STANDSTILL: Duration = Duration::from_secs(60);

fn main() {
    harness::run(&[("all_of_a_crowd_get_the_slot", all_of_a_crowd_get_the_slot)]);
}

/// The measurements that the processes share.
#[repr(C)]
struct Record {
    /// The number of processes that hold the slot now.
    holders: AtomicU64,
    /// The number of processes that have had the slot.
    served: AtomicU64,
    /// The number of processes that got the slot while another process held it.
    conflicts: AtomicU64,
    /// The time at which the last holder began to leave, in nanoseconds.
    left: AtomicU64,
    /// The time of each hand-over, in nanoseconds.
    times: [AtomicU64; MOST],
}

// SAFETY: all fields are atomics, for which any value is valid.
unsafe impl Shareable for Record {}

fn all_of_a_crowd_get_the_slot() {
    let count = number("HALLPASS_CROWD").map_or(FEW, |count| count as usize);
    assert!(
        (1..=MOST).contains(&count),
        "HALLPASS_CROWD must be between 1 and {MOST}, got {count}"
    );
    let folder = tempfile::tempdir().unwrap();
    let record = Mapped::<Record>::open(&folder.path().join("record"));
    let dir = folder.path().join("halls");
    let hall = HallDir::at(&dir).open(NAME, 1).unwrap();
    let pass = hall.acquire().unwrap();
    let begun = Instant::now();
    let waiters: Vec<_> = (0..count).map(|_| process::fork(|| wait(&dir, &record))).collect();
    await_progress("a process joins the queue", count, || hall.waiting());
    println!("{count} processes wait after {:.1?}", begun.elapsed());
    let begun = Instant::now();
    record.left.store(now(), SeqCst);
    drop(pass);
    await_progress("a process gets the slot", count, || record.served.load(SeqCst) as usize);
    let took = begun.elapsed();
    for pid in waiters {
        assert_eq!(process::wait(pid).exit_status(), Some(0));
    }
    assert_eq!((record.conflicts.load(SeqCst), hall.waiting(), hall.available()), (0, 0, 1));
    let mut times: Vec<_> = record.times[..count].iter().map(|time| time.load(SeqCst)).collect();
    times.sort_unstable();
    let at = |part: usize| Duration::from_nanos(times[(count - 1) * part / 100]);
    let (median, late, longest) = (at(50), at(99), at(100));
    println!(
        "all served in {took:.1?}; hand-over: median {median:.1?}, p99 {late:.1?}, max {longest:.1?}"
    );
}

/// Waits for the slot, and leaves immediately.
fn wait(dir: &Path, record: &Record) -> i32 {
    let hall = HallDir::at(dir).open(NAME, 1).unwrap();
    let pass = hall.acquire().unwrap();
    let time = now() - record.left.load(SeqCst);
    if record.holders.fetch_add(1, SeqCst) != 0 {
        record.conflicts.fetch_add(1, SeqCst);
    }
    record.times[record.served.fetch_add(1, SeqCst) as usize].store(time, SeqCst);
    record.holders.fetch_sub(1, SeqCst);
    record.left.store(now(), SeqCst);
    drop(pass);
    0
}

/// Waits until `progress` returns `count`. Fails if its result does not change for [`STANDSTILL`].
fn await_progress(what: &str, count: usize, progress: impl Fn() -> usize) {
    let (mut last, mut changed) = (0, Instant::now());
    while last < count {
        let now = progress();
        if now != last {
            (last, changed) = (now, Instant::now());
        }
        assert!(
            changed.elapsed() < STANDSTILL,
            "no progress after {last} of {count}, expected: {what}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the nanoseconds of a clock that all processes share.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
