//! Many waiters at once.

use crate::support::{Scene, wait_until};

#[test]
fn three_hundred_waiters_of_ten_processes_get_in() {
    let scene = Scene::new(2);
    let (one, other) = (scene.hall.acquire().unwrap(), scene.hall.acquire().unwrap());
    let mut puppets: Vec<_> = (0..10).map(|_| scene.puppet()).collect();
    puppets.iter_mut().for_each(|puppet| puppet.say("crowd 30"));
    wait_until("all wait", || scene.hall.waiting() == 300);
    assert_eq!(scene.hall.status().waiters.len(), 300);
    drop((one, other));
    for puppet in &mut puppets {
        assert_eq!(puppet.hear(), "30");
    }
    drop(puppets);
    scene.assert_whole();
}

#[test]
fn a_waiter_behind_three_hundred_killed_ones_gets_in() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let mut puppets: Vec<_> = (0..10).map(|_| scene.puppet()).collect();
    puppets.iter_mut().for_each(|puppet| puppet.say("crowd 30"));
    wait_until("all wait", || scene.hall.waiting() == 300);
    let mut last = scene.waiter();
    drop(puppets);
    drop(pass);
    assert_eq!(last.answer(), Ok(0));
    drop(last);
    scene.assert_whole();
}
