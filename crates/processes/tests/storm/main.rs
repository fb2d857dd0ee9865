//! SIGKILL over holders, waiters and rescuers, watched by a witness that knows nothing of the hall.
//!
//! ```text
//! cargo test -p hallpass-processes --test storm                     # some seconds
//! HALLPASS_STORM_SECONDS=60 HALLPASS_STORM_KILLS=10000 \
//!     cargo test -p hallpass-processes --test storm                 # at least so many kills, or it fails
//! HALLPASS_STORM_CASE=resized HALLPASS_STORM_SEED=7 cargo test -p hallpass-processes --test storm
//! ```
//!
//! 64 processes use one hall. Some wait, some not for long, some have two threads, some free what
//! the dead hold, some change the number of slots, some turn into another program while they are in,
//! some leave their slot to a child. They are killed all the time, mostly where it hurts: inside, in
//! the queue's front just after a holder was killed, while they open, leave, free, resize; and some
//! are stopped for a while, which is not death. What must hold:
//!
//! - never two in a slot, and no slot but those below k, so never more than k in (`witness`);
//! - nobody is in who came after one was in the queue that still is (`observer`);
//! - somebody gets in all the time (`killer`);
//! - in the end, with everybody dead, all slots can be had, numbered from 0.
//!
//! The other test lines up processes one by one, kills and stops some, and knows exactly who is next.
//!
//! A seed, which is printed on failure, repeats what is done and not how processes are scheduled.

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

/// The one that was asked for, or one that differs from run to run.
fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    number("HALLPASS_STORM_SEED").unwrap_or_else(now)
}

fn storm() {
    // Children whose parents were killed are to be buried here.
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
    assert!(all.kills >= least, "{} kills in {seconds} s, not {least}", all.kills);
    all.assert_all_were_hit();
}

fn run(case: &'static Case, time: Duration, seed: u64) -> Result<Tally, String> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    witness::prepare(folder, case.most);
    in_a_process(|| {
        HallDir::at(folder.join("halls")).open(case.name, case.least).map(drop).unwrap();
    })?;
    let begun = Instant::now();
    let mut storm = Storm::new(case, folder, seed);
    let ended = storm.rage(time).and_then(|()| storm.finish());
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
        "{}: {:.1} s, {:.0} kills/s, {} got in, {} gave up, {} execs, {} heirs, {} watched \
         waits, {} overtaken, locks of the dead lingered {:.1} ms at most",
        case.name,
        seconds,
        storm.tally.kills as f64 / seconds,
        board.entries.load(SeqCst),
        board.gave_up.load(SeqCst),
        board.execs.load(SeqCst),
        board.heirs.load(SeqCst),
        board.watched_waits.load(SeqCst),
        overtaken,
        ms(board.lingered.load(SeqCst)),
    );
    println!("{}: {}", case.name, storm.tally);
    if overtaken > 0 {
        return Err("somebody was overtaken".into());
    }
    in_a_process(|| all_slots_can_be_had(case, folder))?;
    Ok(std::mem::take(&mut storm.tally))
}

/// Everybody is dead: a newcomer gets every slot.
fn all_slots_can_be_had(case: &Case, folder: &Path) {
    let hall = HallDir::at(folder.join("halls")).open_existing(case.name).unwrap();
    hall.resize(case.most).unwrap();
    hall.reap().unwrap();
    let passes: Vec<_> = (0..case.most).map(|_| hall.try_acquire().unwrap()).collect();
    assert!(passes.iter().map(|pass| pass.slot()).eq(0..case.most));
    assert!(matches!(hall.try_acquire(), Err(Error::NoPermits)));
    let status = hall.status();
    assert_eq!((status.holders.len(), status.waiters.len()), (case.most, 0), "{status:#?}");
    drop(passes);
    assert_eq!((hall.available(), hall.waiting()), (case.most, 0));
}

fn show(case: &Case, folder: &Path) {
    match HallDir::at(folder.join("halls")).open_existing(case.name) {
        Ok(hall) => eprintln!("{:#?}", hall.status()),
        Err(error) => eprintln!("{error}"),
    }
}

/// Runs it in a process of its own: this one never has the hall open, so that nothing is inherited.
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
