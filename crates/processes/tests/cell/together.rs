//! Tests with several processes. Only one test kills a process, which was suspended in an update before.

use std::{
    sync::atomic::Ordering::SeqCst,
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::{Error, HallDir};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    Numbers, Signals, add_one, cell, ends_well, in_a_process, mapped::Mapped, process, step, until,
    whole,
};

const PROCESSES: usize = 4;
const UPDATES: u64 = 500;

pub fn the_sum_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let work = || {
        let cell = cell(dir);
        let mut last = 0;
        for _ in 0..UPDATES {
            let mine = cell.update(|numbers| {
                add_one(numbers);
                whole(*numbers)
            });
            let mine = mine.unwrap();
            assert!(mine > last, "an update of this process is lost");
            last = mine;
            let read = whole(cell.read().unwrap());
            assert!(read >= last, "an update of this process is not visible");
        }
        0
    };
    let pids: Vec<Pid> = (0..PROCESSES).map(|_| process::fork(work)).collect();
    pids.into_iter().for_each(ends_well);
    in_a_process(|| {
        assert_eq!(whole(cell(dir).read().unwrap()), PROCESSES as u64 * UPDATES);
        assert_eq!(HallDir::at(dir).names().unwrap(), ["cell"]);
    });
}

/// One process reads while another makes updates. They share a core. So the reader is often interrupted in the
/// middle of its copy, and the other process makes many updates in the meantime.
pub fn a_reader_sees_whole_values() {
    let folder = tempfile::tempdir().unwrap();
    let open = || HallDir::at(folder.path()).open_cell("cell", [0; 16_384]).unwrap();
    let end = Instant::now() + Duration::from_millis(400);
    let work = |reads: bool| {
        step::stay_on_one_core();
        let cell = open();
        let (mut last, mut times) = (0, 0);
        while Instant::now() < end || times == 0 {
            if reads {
                let read = whole(cell.read().unwrap());
                assert!(read >= last, "{read} after {last}");
                last = read;
            } else {
                cell.update(add_one).unwrap();
            }
            times += 1;
        }
        0
    };
    let pids: Vec<Pid> =
        [true, false].into_iter().map(|reads| process::fork(|| work(reads))).collect();
    pids.into_iter().for_each(ends_well);
}

pub fn processes_that_open_at_the_same_time_share_one_value() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("dir");
        let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
        let open = |index: usize| {
            signals.ready.fetch_add(1, SeqCst);
            while signals.go.load(SeqCst) == 0 {
                thread::yield_now();
            }
            let cell = HallDir::at(&dir).open_cell("cell", [index as u64 + 1; 64]).unwrap();
            signals.words[index].store(whole(cell.read().unwrap()), SeqCst);
            0
        };
        let pids: Vec<Pid> = (0..8).map(|index| process::fork(|| open(index))).collect();
        until("all processes are ready", || signals.ready.load(SeqCst) == 8);
        signals.go.store(1, SeqCst);
        pids.into_iter().for_each(ends_well);
        let seen: Vec<u64> = signals.words[..8].iter().map(|word| word.load(SeqCst)).collect();
        assert!(seen.iter().all(|value| (1..=8).contains(value) && *value == seen[0]), "{seen:?}");
        // The directories that the other processes had created are removed.
        let names: Vec<_> = std::fs::read_dir(&dir).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

/// While a process is suspended in an update, reads succeed and updates wait. When the suspended process is killed, the
/// updates start from the old value.
pub fn a_process_suspended_in_an_update_blocks_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    let dir = &folder.path().join("dir");
    let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
    let suspended = process::fork(|| {
        let stay = |numbers: &mut Numbers| {
            add_one(numbers);
            signals.ready.store(1, SeqCst);
            thread::sleep(Duration::from_secs(60));
        };
        cell(dir).update(stay).unwrap();
        0
    });
    until("the process is in its update", || signals.ready.load(SeqCst) == 1);
    process::stop(suspended);
    in_a_process(|| {
        let cell = cell(dir);
        assert_eq!(whole(cell.read().unwrap()), 0);
        let short = Duration::from_millis(30);
        assert!(matches!(cell.try_update_for(short, add_one), Err(Error::NoPermits)));
        assert!(matches!(cell.try_update(add_one), Err(Error::NoPermits)));
        assert_eq!(cell.hall().status().holders.len(), 1);
    });
    let waiter = process::fork(|| {
        cell(dir).update(add_one).unwrap();
        0
    });
    in_a_process(|| until("a process waits", || cell(dir).hall().waiting() == 1));
    kill_process(suspended, Signal::KILL).unwrap();
    process::wait(suspended);
    ends_well(waiter);
    in_a_process(|| assert_eq!(whole(cell(dir).read().unwrap()), 1));
}

pub fn a_child_forked_in_the_closure_does_not_change_the_value() {
    let folder = tempfile::tempdir().unwrap();
    in_a_process(|| {
        let cell = cell(folder.path());
        let mut pid = 0;
        let updated = cell.update(|numbers| {
            // SAFETY: there are no other threads, so the child may do whatever this process may.
            pid = unsafe { libc::fork() };
            numbers.fill(if pid == 0 { 100 } else { 7 });
        });
        if pid == 0 {
            let refused = matches!(updated, Err(Error::Forked));
            // The updates that the child itself makes succeed.
            let own = cell.update(add_one).is_ok();
            process::exit(if refused && own { 0 } else { 1 });
        }
        updated.unwrap();
        ends_well(Pid::from_raw(pid).unwrap());
        assert_eq!(whole(cell.read().unwrap()), 8);
    });
}
