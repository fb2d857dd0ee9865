//! Kills processes at random times while they make updates.

use std::{
    hint, iter,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_processes::{HallDir, PushError, SharedCell, SharedPriorityQueue};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    PATIENCE, Signals, add_one, in_a_process, mapped::Mapped, number::number, process, whole,
};

const WORKERS: usize = 6;
/// The maximum time between two kills, in microseconds.
const LIFE: u64 = 3_000;
/// The number of turns of a loop that takes longer than an update.
const LOOPS: u32 = 2_000;

/// Opens the cell. Its value is large, so that many processes are killed while they write it.
fn cell(dir: &Path) -> SharedCell<[u64; 16_384]> {
    HallDir::at(dir).open_cell("cell", [0; 16_384]).unwrap()
}

fn seconds() -> Duration {
    Duration::from_secs(number("HALLPASS_CELL_SECONDS").unwrap_or(2))
}

/// Runs workers. Kills and replaces one after another until the time is over, and then kills all. About half of the
/// victims are the process whose PID is in `writes`: it is about to write the value. Returns the number of kills.
///
/// On a busy machine, most workers would die before they have made an update. So while `done`, the number
/// of updates, does not exceed the number of kills, workers live longer and the end is delayed.
fn run_storm(writes: &AtomicU64, done: &AtomicU64, worker: impl Fn(u64) -> i32) -> u64 {
    let mut random = Rng::new();
    let mut start = |number: u64| process::fork(|| worker(number));
    let mut pids: Vec<Pid> = (0..WORKERS as u64).map(&mut start).collect();
    let mut kills = 0;
    let begun = Instant::now();
    loop {
        let behind = done.load(SeqCst) <= kills + WORKERS as u64;
        let end = if behind { seconds() + PATIENCE } else { seconds() };
        if begun.elapsed() >= end {
            break;
        }
        let life = if behind { 10 * LIFE } else { LIFE };
        thread::sleep(Duration::from_micros(random.u64(0..life)));
        let mut victim = random.usize(0..WORKERS);
        if random.bool() {
            let named = || writes.load(SeqCst);
            let index = || pids.iter().position(|pid| pid.as_raw_pid() as u64 == named());
            let soon = Instant::now() + Duration::from_millis(1);
            let writer =
                iter::repeat_with(index).find(|one| one.is_some() || Instant::now() > soon);
            victim = writer.flatten().unwrap_or(victim);
            (0..random.u32(0..LOOPS)).for_each(|_| hint::spin_loop());
        }
        kill(pids[victim]);
        kills += 1;
        pids[victim] = start(kills);
    }
    pids.into_iter().for_each(kill);
    kills + WORKERS as u64
}

/// Kills a worker. A worker that has ended by itself has found an error.
fn kill(pid: Pid) {
    kill_process(pid, Signal::KILL).unwrap();
    let status = process::wait(pid);
    assert_eq!(status.terminating_signal(), Some(libc::SIGKILL), "{status:?}");
}

/// Checks the number of updates. Workers count their updates. Each killed worker may have made one update that it
/// did not count.
fn assert_counted(what: &str, found: u64, counted: u64, kills: u64) {
    println!(
        "{what}: {found} updates, {} of them by processes that were killed during the update, {kills} kills",
        found - counted
    );
    assert!((counted..=counted + kills).contains(&found), "{found} updates, {counted} counted");
    assert!(counted > 0, "no update was made");
}

pub fn storm() {
    let folder = tempfile::tempdir().unwrap();
    let dir = &folder.path().join("dir");
    let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
    let [done, writes, ..] = &signals.words;
    let worker = |number: u64| {
        let cell = cell(dir);
        let mut last = 0;
        loop {
            if number.is_multiple_of(3) {
                let read = whole(cell.read().unwrap());
                assert!(read >= last, "{read} after {last}");
                last = read;
            }
            let mine = cell.update(|numbers| {
                let before = whole(*numbers);
                add_one(numbers);
                writes.store(std::process::id().into(), SeqCst);
                before
            });
            writes.store(0, SeqCst);
            let mine = mine.unwrap();
            done.fetch_add(1, SeqCst);
            assert!(mine >= last, "{mine} after {last}");
            last = mine;
        }
    };
    let kills = run_storm(writes, done, worker);
    in_a_process(|| {
        let cell = cell(dir);
        let value = whole(cell.read().unwrap());
        assert_counted("cell", value, done.load(SeqCst), kills);
        // All workers are dead, and a new process makes an update.
        cell.try_update_for(PATIENCE, add_one).unwrap();
        assert_eq!(whole(cell.read().unwrap()), value + 1);
        cell.hall().reap().unwrap();
        let status = cell.hall().status();
        assert_eq!((status.holders.len(), status.waiters.len()), (0, 0), "{status:#?}");
    });
}

const ROOM: usize = 32;

fn queue(dir: &Path) -> SharedPriorityQueue<ROOM> {
    HallDir::at(dir).open_queue("queue").unwrap()
}

pub fn storm_over_a_queue() {
    let folder = tempfile::tempdir().unwrap();
    let dir = &folder.path().join("dir");
    let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
    let [pushed, popped, tried, no_writer, ..] = &signals.words;
    let worker = |seed: u64| {
        let queue = queue(dir);
        let mut random = Rng::with_seed(seed);
        loop {
            let items = queue.snapshot().unwrap();
            assert!(items.is_sorted() && items.len() <= ROOM, "{items:?}");
            tried.fetch_add(1, SeqCst);
            if random.bool() {
                match queue.push(random.u64(..)) {
                    Ok(()) => drop(pushed.fetch_add(1, SeqCst)),
                    Err(PushError::Full(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            } else if queue.pop().unwrap().is_some() {
                popped.fetch_add(1, SeqCst);
            }
        }
    };
    let kills = run_storm(no_writer, tried, worker);
    in_a_process(|| {
        let queue = queue(dir);
        let items = queue.snapshot().unwrap();
        let [pushed, popped, tried] = [pushed, popped, tried].map(|word| word.load(SeqCst));
        println!("queue: {pushed} pushed, {popped} popped, {} left, {kills} kills", items.len());
        let off = (pushed as i64 - popped as i64 - items.len() as i64).unsigned_abs();
        assert!(off <= kills && tried > kills, "{off} items are not accounted for");
        // All items come out, in order.
        assert!(items.iter().all(|item| queue.pop().unwrap() == Some(*item)));
        assert_eq!((queue.pop().unwrap(), queue.is_empty().unwrap()), (None, true));
    });
}
