//! Workers take the most urgent job from a shared queue. One worker stalls in the middle of an operation. A thread
//! stalls, for example, when it waits for a page on disk, is stopped by a debugger, or loses its core. If a lock
//! protected the queue, all other workers would wait for the stalled one. Here they continue.
//!
//! ```sh
//! cargo run --release -p hallpass --features objects --example work_queue
//! ```

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass::objects::PriorityQueue;

const STALL: Duration = Duration::from_millis(500);
const WORKERS: usize = 3;

thread_local! {
    static STALLS: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Job {
    urgency: u32,
    number: usize,
}

fn main() {
    // k = 2 tolerates one stopped thread.
    let jobs = PriorityQueue::new(2);
    jobs.extend((0..100).map(|number| Job { urgency: number as u32 % 10, number }));
    let stalled = AtomicBool::new(false);
    let done = AtomicUsize::new(0);

    thread::scope(|scope| {
        scope.spawn(|| {
            STALLS.set(true);
            stalled.store(true, SeqCst);
            let started = Instant::now();
            // Other threads may help with this operation and also call this closure. Only this thread stalls, once.
            let job = jobs.pop_if(|_| {
                if STALLS.take() {
                    thread::sleep(STALL);
                }
                true
            });
            stalled.store(false, SeqCst);
            println!("The stalled worker got {job:?} after {:?}.", started.elapsed());
        });
        while !stalled.load(SeqCst) {
            thread::yield_now();
        }
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while stalled.load(SeqCst) {
                    if let Some(job) = jobs.pop() {
                        done.fetch_add(1, SeqCst);
                        // A finished job makes a new one, which is less urgent unless the urgency is 0 already.
                        jobs.push(Job { urgency: job.urgency.saturating_sub(1), ..job });
                    }
                }
            });
        }
    });
    println!(
        "The other workers did {} jobs in the meantime; {} are left.",
        done.into_inner(),
        jobs.len()
    );
}
