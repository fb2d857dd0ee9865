//! Processes that use a hall while its file is damaged.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_processes::HallDir;

use crate::{
    check,
    exercise::{NAME, accepted, accepted_pass, look, set_alarm},
    halls::{file_in, open},
    process,
};

const USERS: usize = 4;
/// How long the processes use the hall. This is longer than `mutate::LIVE`, the time after which `mutate::live` begins
/// no further round of changes.
const TIME: Duration = Duration::from_millis(200);

/// Runs processes that use a new hall while `damage` changes its file. All of them must end normally or by
/// `signal`, and it must be possible to remove the hall afterwards. Returns how many ended by the signal.
pub fn disturbed(random: &mut Rng, damage: fn(&Path, &mut Rng), signal: Option<i32>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let mut process = |f: &dyn Fn(&mut Rng)| {
        let mut random = random.fork();
        process::fork(|| {
            set_alarm();
            f(&mut random);
            0
        })
    };
    check(process::wait(process(&|_| drop(open(dir)))), "a new hall");
    let file = file_in(dir);
    let mut pids: Vec<_> = (0..USERS).map(|_| process(&|random| uses(dir, random))).collect();
    pids.push(process(&|random| damage(&file, random)));
    let mut ended = 0;
    for pid in pids {
        let status = process::wait(pid);
        if signal.is_some() && status.terminating_signal() == signal {
            ended += 1;
        } else {
            check(status, "a process that used the hall while it was damaged");
        }
    }
    let renew = process(&|_| {
        HallDir::at(dir).remove(NAME, true).unwrap();
        drop(open(dir).try_acquire().unwrap());
    });
    check(process::wait(renew), "a new hall in place of the damaged one");
    ended
}

fn uses(dir: &Path, random: &mut Rng) {
    let end = Instant::now() + TIME;
    let mut hall = accepted(HallDir::at(dir).open_existing(NAME));
    while Instant::now() < end {
        let Some(open) = &hall else {
            thread::sleep(Duration::from_millis(1));
            hall = accepted(HallDir::at(dir).open_existing(NAME));
            continue;
        };
        let time = Duration::from_micros(random.u64(0..5000));
        match random.u8(0..12) {
            0 => look(open),
            1 => drop(accepted(open.reap())),
            2 => drop(accepted(open.resize(random.usize(1..6)))),
            3 => hall = None,
            4..7 => drop(accepted_pass(open.try_acquire())),
            _ => {
                let pass = accepted_pass(open.try_acquire_for(time));
                if random.bool() {
                    thread::sleep(time / 10);
                }
                drop(pass);
            }
        }
    }
}
