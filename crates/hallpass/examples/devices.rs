//! More worker threads than devices: each job has its own device while it runs.
//!
//! ```sh
//! cargo run -p hallpass --example devices
//! ```

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use hallpass::Hall;

const DEVICES: [&str; 3] = ["gpu-a", "gpu-b", "gpu-c"];
static HALL: Hall = Hall::new(DEVICES.len());

fn main() {
    let next = AtomicUsize::new(0);
    let used: [AtomicUsize; DEVICES.len()] = Default::default();
    thread::scope(|scope| {
        for worker in 0..8 {
            let (next, used) = (&next, &used);
            scope.spawn(move || {
                loop {
                    let job = next.fetch_add(1, Relaxed);
                    if job >= 24 {
                        break;
                    }
                    let pass = HALL.acquire().expect("nobody closes the hall");
                    let device = DEVICES[pass.slot()];
                    println!("worker {worker} runs job {job} on {device}");
                    used[pass.slot()].fetch_add(1, Relaxed);
                    thread::sleep(Duration::from_millis(5));
                }
            });
        }
    });
    for (device, used) in DEVICES.iter().zip(&used) {
        println!("{device}: {} jobs", used.load(Relaxed));
    }
    assert_eq!(used.iter().map(|used| used.load(Relaxed)).sum::<usize>(), 24);
}
