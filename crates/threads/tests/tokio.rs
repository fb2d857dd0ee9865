//! Tests of the cooperative budget of tokio (feature `tokio`).
#![cfg(feature = "tokio")]

use std::{cell::Cell, future::Future, pin::pin, rc::Rc, task::Poll};

use hallpass_threads::Hall;
use tokio::{
    runtime::Builder,
    task::{LocalSet, coop, spawn_local},
};

fn run<F: Future>(future: F) -> F::Output {
    let runtime = Builder::new_current_thread().build().unwrap();
    LocalSet::new().block_on(&runtime, future)
}

/// Without the budget, the loop never yields, and the other task never runs.
#[test]
fn a_loop_of_free_slots_lets_other_tasks_run() {
    run(async {
        let over = Rc::new(Cell::new(false));
        let other = spawn_local({
            let over = Rc::clone(&over);
            async move { over.set(true) }
        });
        let hall = Hall::new(2);
        while !over.get() {
            drop(hall.acquire_async().await.unwrap());
            drop(hall.acquire_many_async(2).await.unwrap());
        }
        other.await.unwrap();
    });
}

/// A future that waits uses no budget. A poll without budget takes no slot.
#[test]
fn a_poll_without_budget_leaves_the_hall_as_it_was() {
    run(async {
        let hall = Hall::new(1);
        let mut future = pin!(hall.acquire_async());
        let without_budget = std::future::poll_fn(|context| {
            while coop::has_budget_remaining() {
                drop(pin!(hall.acquire_async()).poll(context));
            }
            Poll::Ready(future.as_mut().poll(context))
        });
        assert!(without_budget.await.is_pending());
        assert_eq!((hall.available(), hall.waiting()), (1, 0));
        assert_eq!(future.await.unwrap().slot(), 0);
    });
}

/// Outside tokio there is no budget, and a free slot is always ready.
#[test]
fn other_executors_have_no_budget() {
    let hall = Hall::new(1);
    for _ in 0..10_000 {
        drop(pollster::block_on(hall.acquire_async()).unwrap());
    }
}
