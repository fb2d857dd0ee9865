//! Tasks on tokio. At most three of them hold a slot at once. Any other executor works as well.
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
    holders: AtomicUsize,
    max: AtomicUsize,
}

async fn fetch(hall: Arc<Hall>, seen: Arc<Seen>, page: usize) -> usize {
    let pass = hall.acquire_async().await.expect("nobody closes the hall");
    let holders = seen.holders.fetch_add(1, SeqCst) + 1;
    seen.max.fetch_max(holders, SeqCst);
    sleep(Duration::from_millis(5)).await;
    seen.holders.fetch_sub(1, SeqCst);
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
    println!("at most {} tasks at once", seen.max.load(SeqCst));
    assert!(seen.max.load(SeqCst) <= 3);

    // When the time is over, `timeout` drops the future, which leaves the queue.
    let all = hall.acquire_many_async(3).await.expect("the hall has three slots");
    assert!(timeout(Duration::from_millis(5), hall.acquire_async()).await.is_err());
    assert_eq!(hall.waiting(), 0);
    drop(all);
    assert_eq!(hall.available(), 3);
}

fn main() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("tokio starts");
    runtime.block_on(run());
}
