//! Behaviours of futures: when they join the queue, and the effect of dropping them.

use crate::{
    HallUnderTest, Refusal, Task, TasksUnderTest, assert_nothing_lost, enqueue, eventually,
    helpers::{assert_full, open},
};

/// Returns a task that waits for a slot of the hall.
fn waits<H: TasksUnderTest>(hall: &H) -> Task<H::Acquiring> {
    Task::new(hall.acquire_async()).waits(hall)
}

/// Returns a hall with one slot, and the pass that holds this slot.
fn taken<H: HallUnderTest>() -> (H, H::Pass) {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    (hall, held)
}

/// A task gets a free slot.
pub fn a_task_gets_a_free_slot<H: TasksUnderTest>() {
    let hall: H = open(2);
    let one = Task::new(hall.acquire_async()).done().expect("free");
    let other = Task::new(hall.acquire_async()).done().expect("free");
    assert_eq!((H::slot(&one), H::slot(&other)), (0, 1));
    assert_full(&hall);
    H::release(one);
    H::release(other);
    assert_nothing_lost(&hall);
}

/// A future joins the queue when it is first polled, not when it is created.
pub fn a_future_joins_the_queue_when_first_polled<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let early = Task::new(hall.acquire_async());
    assert_eq!(hall.waiting(), 0);
    let first = waits(&hall);
    let second = early.waits(&hall);
    assert_eq!(hall.waiting(), 2);
    H::release(held);
    let pass = first.done().expect("its turn comes");
    assert!(!second.is_woken(), "the second task was polled later");
    H::release(pass);
    H::release(second.done().expect("its turn comes"));
    assert_nothing_lost(&hall);
}

/// A future that is polled again keeps its position in the queue.
pub fn a_future_that_is_polled_again_keeps_its_position<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let (mut first, second) = (waits(&hall), waits(&hall));
    for _ in 0..10 {
        assert!(first.poll().is_pending());
    }
    assert_eq!(hall.waiting(), 2);
    H::release(held);
    let pass = first.done().expect("its turn comes");
    assert!(!second.is_woken(), "the second task came later");
    H::release(pass);
    H::release(second.done().expect("its turn comes"));
    assert_nothing_lost(&hall);
}

/// A future that is dropped before its first poll has never joined the queue.
pub fn a_future_dropped_before_its_first_poll_leaves_no_trace<H: TasksUnderTest>() {
    let hall: H = open(1);
    drop(hall.acquire_async());
    let held = hall.acquire().expect("free");
    drop(hall.acquire_async());
    assert_eq!((hall.available(), hall.waiting()), (0, 0));
    H::release(held);
    assert_nothing_lost(&hall);
}

/// A future that is dropped while it waits leaves the queue, whether it is at the head, in the middle or
/// at the end.
pub fn a_dropped_future_leaves_the_queue<H: TasksUnderTest>() {
    for gone in 0..3 {
        let (hall, held) = taken::<H>();
        let mut tasks: Vec<_> = (0..3).map(|_| waits(&hall)).collect();
        drop(tasks.remove(gone));
        eventually("the task has left the queue", || hall.waiting() == 2);
        H::release(held);
        for task in tasks {
            H::release(task.done().expect("its turn comes"));
        }
        assert_nothing_lost(&hall);
    }
}

/// A future that was granted a slot holds it even before the next poll: no other caller gets the slot.
pub fn a_granted_future_keeps_its_slot_until_it_is_polled<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let granted = waits(&hall);
    let next = waits(&hall);
    H::release(held);
    let granted = granted.woken();
    assert_full(&hall);
    assert_eq!((hall.available(), hall.waiting()), (0, 1));
    assert!(!next.is_woken(), "the slot is held");
    let pass = granted.done().expect("the slot was granted");
    assert_eq!(H::slot(&pass), 0);
    drop(next);
    H::release(pass);
    assert_nothing_lost(&hall);
}

/// If a future is dropped after it was granted a slot, the next task or thread gets the slot.
pub fn a_future_dropped_after_its_grant_hands_the_slot_on<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let (granted, next) = (waits(&hall), waits(&hall));
    let thread = enqueue(&hall, H::acquire);
    H::release(held);
    drop(granted.woken());
    drop(next.woken());
    let pass = thread.join().expect("its turn comes");
    assert_eq!(H::slot(&pass), 0);
    H::release(pass);
    assert_nothing_lost(&hall);
}

/// Tasks and threads wait in one queue.
pub fn tasks_and_threads_wait_in_one_queue<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let first = waits(&hall);
    let second = enqueue(&hall, H::acquire);
    let third = waits(&hall);
    let fourth = enqueue(&hall, H::acquire);
    assert_eq!(hall.waiting(), 4);
    H::release(held);
    let pass = first.done().expect("its turn comes");
    assert!(!second.is_done() && !third.is_woken() && !fourth.is_done());
    H::release(pass);
    let pass = second.join().expect("its turn comes");
    assert!(!third.is_woken() && !fourth.is_done());
    H::release(pass);
    let pass = third.done().expect("its turn comes");
    assert!(!fourth.is_done());
    H::release(pass);
    H::release(fourth.join().expect("its turn comes"));
    assert_nothing_lost(&hall);
}

/// When a hall is closed, waiting tasks and later tasks get an error.
pub fn closing_a_hall_refuses_its_tasks<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let (waiter, dropped) = (waits(&hall), waits(&hall));
    hall.close();
    drop(dropped);
    assert_eq!(waiter.done().unwrap_err(), Refusal::Closed);
    assert_eq!(Task::new(hall.acquire_async()).done().unwrap_err(), Refusal::Closed);
    eventually("nobody waits", || hall.waiting() == 0);
    H::release(held);
    assert_eq!(Task::new(hall.acquire_async()).done().unwrap_err(), Refusal::Closed);
}

/// A future that was granted a slot before the hall closed keeps the slot.
pub fn a_future_granted_before_the_hall_closes_keeps_its_slot<H: TasksUnderTest>() {
    let (hall, held) = taken::<H>();
    let granted = waits(&hall);
    H::release(held);
    let granted = granted.woken();
    hall.close();
    let pass = granted.done().expect("the slot was granted");
    assert_eq!(H::slot(&pass), 0);
    H::release(pass);
    assert_eq!(hall.try_acquire().unwrap_err(), Refusal::Closed);
}
