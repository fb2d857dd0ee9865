//! Kills holders, waiters and rescuers (processes that free the slot of a dead one). A witness that does not depend on
//! the hall checks the guarantees.
//!
//! ```text
//! cargo test -p hallpass-processes --test storm                     # some seconds
//! HALLPASS_STORM_SECONDS=60 HALLPASS_STORM_KILLS=10000 \
//!     cargo test -p hallpass-processes --test storm                 # fails if there are fewer kills
//! HALLPASS_STORM_CASE=resized HALLPASS_STORM_SEED=7 cargo test -p hallpass-processes --test storm
//! ```
//!
//! 64 processes use one hall. Some wait, some give up soon, some have two threads, some free the slots of dead
//! processes, some resize the hall, some exec while they hold a slot, and some leave their slot to a child. The
//! test kills them all the time, mostly at the most difficult moments: while they hold a slot; at the front of the
//! queue just after a holder was killed; while they open, leave, reap or resize. It also suspends some of them with
//! SIGSTOP for a while; a suspended process is not dead. The test checks that
//!
//! - no slot has two holders, and every slot is below k, so there are at most k holders (`witness`);
//! - no process overtakes a waiter that was in the queue when the process arrived (`observer`);
//! - processes keep getting slots (`killer`);
//! - at the end, when all processes are dead, all slots can be acquired, from 0 on.
//!
//! The second test lets processes join the queue one by one, and kills and suspends some of them. So the test knows
//! exactly which process is next.
//!
//! A failure prints a seed, which repeats the actions of the test but not how processes are scheduled.

mod board;
mod cases;
mod killer;
mod observer;
mod order;
mod tally;
mod witness;
mod worker;

#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/life.rs"]
mod life;
#[path = "../common/mapped.rs"]
mod mapped;
#[path = "../common/number.rs"]
mod number;
#[path = "../common/process.rs"]
mod process;

use std::{
    env,
    path::Path,
    sync::atomic::Ordering::SeqCst,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hallpass_processes::{Error, HallDir};

use board::Board;
use cases::{CASES, Case};
use killer::{Storm, words};
use mapped::Mapped;
use number::number;
use tally::Tally;

fn main() {
    if let Some(job) = worker::Job::of_environment() {
        process::exit(worker::work(job));
    }
    harness::run(&[("storm", storm), ("order", order::order)]);
}

/// Returns the seed from the environment, or a new one.
fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    number("HALLPASS_STORM_SEED").unwrap_or_else(now)
}

fn storm() {
    // This process reaps children whose parents were killed.
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1)).unwrap();
    let seconds = number("HALLPASS_STORM_SECONDS").unwrap_or(6);
    let wanted = env::var("HALLPASS_STORM_CASE").unwrap_or_default();
    let cases = || CASES.iter().filter(|case| case.name.contains(&wanted));
    let share = Duration::from_secs(seconds) / cases().count() as u32;
    let seed = seed();
    let mut all = Tally::default();
    for case in cases() {
        match run(case, share, seed) {
            Ok(tally) => all.add(&tally),
            Err(what) => {
                panic!("{}: {what}\nrepeat with HALLPASS_STORM_SEED={seed}", case.name)
            }
        }
    }
    println!("all: {all}");
    let least = number("HALLPASS_STORM_KILLS").unwrap_or(0);
    assert!(all.kills >= least, "{} kills in {seconds} s, fewer than {least}", all.kills);
    all.assert_all_were_hit();
}

fn run(case: &'static Case, time: Duration, seed: u64) -> Result<Tally, String> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    witness::prepare(folder, case.max);
    in_a_process(|| {
        HallDir::at(folder.join("halls")).open(case.name, case.min).map(drop).unwrap();
    })?;
    let begun = Instant::now();
    let mut storm = Storm::new(case, folder, seed);
    let ended = storm.kill_and_stop(time).and_then(|()| storm.finish());
    if let Err(what) = ended {
        let shown = in_a_process(|| show(case, folder)).err().unwrap_or_default();
        let _ = storm.finish();
        return Err(format!("{what}{shown}"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let board = Mapped::<Board>::open(&folder.join("board"));
    let overtaken = board.overtaken.load(SeqCst);
    let ms = |nanos: u64| nanos as f64 / 1e6;
    println!(
        "{}: {:.1} s, {:.0} kills/s, {} entries, {} gave up, {} execs, {} left to a child, {} watched \
         waits, {} overtaken, locks of dead processes stayed for at most {:.1} ms",
        case.name,
        seconds,
        storm.tally.kills as f64 / seconds,
        board.entries.load(SeqCst),
        board.gave_up.load(SeqCst),
        board.execs.load(SeqCst),
        board.left_to_child.load(SeqCst),
        board.watched_waits.load(SeqCst),
        overtaken,
        ms(board.lingered.load(SeqCst)),
    );
    println!("{}: {}", case.name, storm.tally);
    if overtaken > 0 {
        return Err("a waiter was overtaken".into());
    }
    in_a_process(|| all_slots_can_be_acquired(case, folder))?;
    Ok(std::mem::take(&mut storm.tally))
}

/// Checks that a newcomer gets every slot when all processes are dead.
fn all_slots_can_be_acquired(case: &Case, folder: &Path) {
    let hall = HallDir::at(folder.join("halls")).open_existing(case.name).unwrap();
    hall.resize(case.max).unwrap();
    hall.reap().unwrap();
    let passes: Vec<_> = (0..case.max).map(|_| hall.try_acquire().unwrap()).collect();
    assert!(passes.iter().map(|pass| pass.slot()).eq(0..case.max));
    assert!(matches!(hall.try_acquire(), Err(Error::NoPermits)));
    let status = hall.status();
    assert_eq!((status.holders.len(), status.waiters.len()), (case.max, 0), "{status:#?}");
    drop(passes);
    assert_eq!((hall.available(), hall.waiting()), (case.max, 0));
}

fn show(case: &Case, folder: &Path) {
    match HallDir::at(folder.join("halls")).open_existing(case.name) {
        Ok(hall) => eprintln!("{:#?}", hall.status()),
        Err(error) => eprintln!("{error}"),
    }
}

/// Runs `f` in a child process. This process never opens the hall, so that its children inherit no descriptors of it.
fn in_a_process(f: impl FnOnce()) -> Result<(), String> {
    let status = process::wait(process::fork(|| {
        f();
        0
    }));
    match status.exit_status() {
        Some(0) => Ok(()),
        _ => Err(words(status)),
    }
}
