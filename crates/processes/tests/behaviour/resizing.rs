//! Changing the number of slots while the hall is used.

use hallpass_processes::SharedPass;

use crate::support::{NAME, Scene, a_while, is_full, wait_until};

#[test]
fn more_slots_let_waiting_processes_in() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let mut waiters: Vec<_> = (0..4).map(|_| scene.waiter()).collect();
    scene.hall.resize(3).unwrap();
    assert_eq!((waiters[0].answer(), waiters[1].answer()), (Ok(1), Ok(2)));
    a_while();
    assert_eq!((scene.hall.slots(), scene.hall.waiting()), (3, 2));
    scene.hall.resize(100).unwrap();
    assert_eq!((waiters[2].answer(), waiters[3].answer()), (Ok(3), Ok(4)));
    assert_eq!((scene.hall.available(), scene.hall.waiting()), (95, 0));
    drop((pass, waiters));
    scene.assert_whole();
}

#[test]
fn slots_that_are_left_are_handed_out_while_removed_ones_are_held() {
    let scene = Scene::new(4);
    let mut passes: Vec<_> = (0..4).map(|_| scene.hall.acquire().unwrap()).collect();
    scene.hall.resize(2).unwrap();
    assert_eq!((scene.hall.slots(), scene.hall.available()), (2, 0));
    assert_eq!(scene.hall.status().holders.len(), 4);
    assert!(passes.iter().map(SharedPass::slot).eq(0..4));
    // Removed slots are not handed out; slots that are left are, as soon as they are free.
    drop(passes.pop());
    assert!(is_full(&scene.hall));
    drop(passes.remove(0));
    let small = scene.hall.try_acquire().unwrap();
    assert_eq!(small.slot(), 0);
    assert!(is_full(&scene.hall));
    drop((passes, small));
    scene.assert_whole();
}

#[test]
fn other_processes_and_handles_see_the_new_size() {
    let scene = Scene::new(1);
    let mut puppet = scene.puppet();
    scene.hall.resize(2).unwrap();
    assert_eq!((puppet.acquire(), puppet.acquire()), (Ok(0), Ok(1)));
    assert!(scene.dir().open(NAME, 1).is_err());
    assert_eq!(scene.dir().open(NAME, 2).unwrap().slots(), 2);
    assert_eq!(scene.hall.status().slots, 2);
    drop(puppet);
    scene.assert_whole();
}

#[test]
fn slots_of_a_dead_process_do_not_keep_a_hall_from_shrinking() {
    let scene = Scene::new(4);
    let mut holder = scene.puppet();
    (0..4).for_each(|slot| assert_eq!(holder.acquire(), Ok(slot)));
    scene.hall.resize(1).unwrap();
    holder.kill();
    wait_until("the one slot is free", || scene.hall.try_acquire().is_ok());
    scene.assert_whole();
    scene.hall.resize(4).unwrap();
    scene.assert_whole();
}
