//! Changes words of the file while processes use the cell.

use std::{
    path::Path,
    sync::atomic::Ordering::SeqCst,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_processes::HallDir;
use rustix::process::Pid;

use crate::{Signals, ends_well, in_a_process, mapped::Mapped, mutate, process, until};

/// How long the processes use the cell. This is longer than `mutate::LIVE`, the time after which `mutate::live` begins
/// no further round of changes.
const TIME: Duration = Duration::from_millis(200);
const ROUNDS: u64 = 3;
/// The time after which the kernel kills a process that still uses the cell. A process on an idle machine needs less
/// than a tenth of this time.
const SECONDS: u32 = 60;

/// Checks that no process crashes, hangs or gets an error. Any bytes are a valid value of a cell. The queue may
/// contain any items, but at most as many as it has room for.
pub fn damaged_while_in_use() {
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        let dir = &folder.path().join("dir");
        let signals = Mapped::<Signals>::open(&folder.path().join("signals"));
        in_a_process(|| drop(HallDir::at(dir).open_queue::<20>("queue").unwrap()));
        let users = (0..3).map(|_| process::fork(|| uses(dir, &signals)));
        let mut pids: Vec<Pid> = users.collect();
        // The damage begins after this wait, because a queue with a damaged header cannot be opened.
        until("all processes have opened the cell", || signals.ready.load(SeqCst) == 3);
        pids.push(process::fork(|| {
            mutate::live(&dir.join("queue/value"), &mut Rng::with_seed(round));
            0
        }));
        pids.into_iter().for_each(ends_well);
    }
}

fn uses(dir: &Path, signals: &Signals) -> i32 {
    // SAFETY: `alarm` is always allowed.
    unsafe { libc::alarm(SECONDS) };
    let queue = HallDir::at(dir).open_queue::<20>("queue").unwrap();
    signals.ready.fetch_add(1, SeqCst);
    let end = Instant::now() + TIME;
    let mut item = 0;
    while Instant::now() < end {
        let _ = queue.push(item);
        item += queue.pop().unwrap().unwrap_or(1) % 7;
        assert!(queue.snapshot().unwrap().len() <= 20);
    }
    0
}
