//! Tests with many waiters.

use crate::support::{TestHall, wait_until};

#[test]
fn three_hundred_waiters_of_ten_processes_get_slots() {
    let test = TestHall::new(2);
    let (one, other) = (test.hall.acquire().unwrap(), test.hall.acquire().unwrap());
    let mut puppets: Vec<_> = (0..10).map(|_| test.puppet()).collect();
    puppets.iter_mut().for_each(|puppet| puppet.say("crowd 30"));
    wait_until("all wait", || test.hall.waiting() == 300);
    assert_eq!(test.hall.status().waiters.len(), 300);
    drop((one, other));
    for puppet in &mut puppets {
        assert_eq!(puppet.hear(), "30");
    }
    drop(puppets);
    test.assert_all_slots_free();
}

#[test]
fn a_waiter_behind_three_hundred_killed_waiters_gets_a_slot() {
    let test = TestHall::new(1);
    let pass = test.hall.acquire().unwrap();
    let mut puppets: Vec<_> = (0..10).map(|_| test.puppet()).collect();
    puppets.iter_mut().for_each(|puppet| puppet.say("crowd 30"));
    wait_until("all wait", || test.hall.waiting() == 300);
    let mut last = test.waiter();
    drop(puppets);
    drop(pass);
    assert_eq!(last.answer(), Ok(0));
    drop(last);
    test.assert_all_slots_free();
}
