//! Tasks on tokio, at most three at once in the part that counts. Any other executor will do as well.
//!
//! ```sh
//! cargo run -p hallpass --example tasks
//! ```

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use hallpass::Hall;
use tokio::time::{sleep, timeout};

#[derive(Default)]
struct Seen {
    inside: AtomicUsize,
    most: AtomicUsize,
}

async fn fetch(hall: Arc<Hall>, seen: Arc<Seen>, page: usize) -> usize {
    let pass = hall.acquire_async().await.expect("nobody closes it");
    let inside = seen.inside.fetch_add(1, SeqCst) + 1;
    seen.most.fetch_max(inside, SeqCst);
    sleep(Duration::from_millis(5)).await;
    seen.inside.fetch_sub(1, SeqCst);
    println!("page {page} by slot {}", pass.slot());
    page
}

async fn run() {
    let (hall, seen) = (Arc::new(Hall::new(3)), Arc::new(Seen::default()));
    let tasks: Vec<_> = (0..12)
        .map(|page| tokio::spawn(fetch(Arc::clone(&hall), Arc::clone(&seen), page)))
        .collect();
    for (page, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.expect("no task panics"), page);
    }
    println!("at most {} at once", seen.most.load(SeqCst));
    assert!(seen.most.load(SeqCst) <= 3);

    // A time limit is the executor's: the future is dropped, and leaves the queue.
    let all = hall.acquire_many_async(3).await.expect("there are three");
    assert!(timeout(Duration::from_millis(5), hall.acquire_async()).await.is_err());
    assert_eq!(hall.waiting(), 0);
    drop(all);
    assert_eq!(hall.available(), 3);
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(run());
}
