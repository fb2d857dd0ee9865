//! Many at once.

use crate::support::{Scene, wait_until};

#[test]
fn three_hundred_wait_at_once() {
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
fn three_hundred_who_wait_are_killed() {
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

#[test]
fn threads_pass_through_many_times() {
    let scene = Scene::new(3);
    let inside: Vec<_> = (0..3).map(|_| std::sync::atomic::AtomicBool::new(false)).collect();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let pass = scene.hall.acquire().unwrap();
                    let place = &inside[pass.slot()];
                    assert!(!place.swap(true, std::sync::atomic::Ordering::SeqCst));
                    std::thread::yield_now();
                    assert!(place.swap(false, std::sync::atomic::Ordering::SeqCst));
                }
            });
        }
    });
    scene.assert_whole();
}
