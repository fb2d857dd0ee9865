//! Up to k - 1 threads stop in the middle of an operation. All others continue, and the history stays
//! linearizable. In one test, k threads stop and later resume.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use hallpass_lab::linear::check;
use hallpass_objects::{PriorityQueue, Resilient, ResilientCell, WaitFree};

use crate::{
    sum::{Expected, Op, Sum, perform},
    support::{Gate, Recorder, arm, stop_if_armed, within},
};

const WORKERS: usize = 4;

/// Stops `stopping` threads while the workers continue, and then lets all threads end. If `reads` is
/// set, every second one of the stopped threads stops in a read.
fn check_others_continue(k: usize, stopping: usize, reads: bool) {
    const EACH: i64 = 200;
    let shared = Resilient::new(k, Sum(0));
    let recorder = Recorder::new(stopping + WORKERS);
    let gate = Arc::new(Gate::default());
    thread::scope(|scope| {
        let _open = gate.open_on_drop();
        for process in 0..stopping {
            let (shared, recorder, gate) = (&shared, &recorder, &gate);
            scope.spawn(move || {
                arm(gate);
                if reads && process % 2 == 1 {
                    recorder.call(process, Op::Get, |_| {
                        shared.read(|sum| {
                            stop_if_armed();
                            sum.0
                        })
                    });
                } else {
                    // Each thread adds a different power of two, larger than everything that the workers
                    // add. So the sum shows which operations have taken effect.
                    let op = Op::Add(1 << (16 + process));
                    recorder.call(process, op, |op| perform(shared, op));
                }
            });
            gate.wait_for(process + 1);
        }
        thread::scope(|scope| {
            for process in stopping..stopping + WORKERS {
                let (shared, recorder) = (&shared, &recorder);
                scope.spawn(move || {
                    for i in 0..EACH {
                        let op = if i % 4 == 3 { Op::Get } else { Op::Add(1) };
                        recorder.call(process, op, |op| perform(shared, op));
                    }
                });
            }
        });
        // The operations of the stopped threads are still under way at this point.
        check(&Expected, 0, &recorder.history()).unwrap_or_else(|violation| panic!("{violation}"));
    });
    check(&Expected, 0, &recorder.history()).unwrap_or_else(|violation| panic!("{violation}"));
    let stopped: i64 =
        (0..stopping).filter(|p| !(reads && p % 2 == 1)).map(|p| 1 << (16 + p)).sum();
    assert_eq!(shared.into_inner().0, stopped + WORKERS as i64 * EACH * 3 / 4);
}

#[test]
fn one_of_two_has_stopped_in_an_operation() {
    within("k = 2", || check_others_continue(2, 1, false));
}

#[test]
fn three_of_four_have_stopped_in_operations() {
    within("k = 4", || check_others_continue(4, 3, false));
}

#[test]
fn seven_of_eight_have_stopped_in_operations() {
    within("k = 8", || check_others_continue(8, 7, false));
}

#[test]
fn seven_of_eight_have_stopped_in_operations_and_reads() {
    within("k = 8", || check_others_continue(8, 7, true));
}

/// Threads enter and stop again and again, in the middle of their operations, while others operate.
#[test]
fn threads_stop_repeatedly_while_others_operate() {
    const ROUNDS: usize = 100;
    within("k = 4", || {
        let (k, stopping) = (4, 3);
        let shared = Resilient::new(k, Sum(0));
        let added = AtomicUsize::new(0);
        for _ in 0..ROUNDS {
            let gate = Arc::new(Gate::default());
            thread::scope(|scope| {
                let _open = gate.open_on_drop();
                for _ in 0..stopping {
                    let (shared, gate, added) = (&shared, &gate, &added);
                    scope.spawn(move || {
                        arm(gate);
                        // Other threads may apply the operation for this thread. Then this thread does
                        // not stop.
                        for _ in 0..10 {
                            shared.apply(Op::Add(1));
                            added.fetch_add(1, SeqCst);
                        }
                    });
                }
                thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            for _ in 0..50 {
                                shared.apply(Op::Add(1));
                                added.fetch_add(1, SeqCst);
                            }
                        });
                    }
                });
            });
        }
        assert_eq!(shared.into_inner().0 as usize, added.load(SeqCst));
        assert_eq!(added.into_inner(), ROUNDS * (10 * stopping + 100));
    });
}

/// While k threads are stopped, other threads may be blocked. They continue as soon as fewer than k threads are
/// stopped. In this test, all k threads resume.
#[test]
fn others_continue_after_k_stopped_threads_resume() {
    within("k = 2, both stopped for a while", || {
        let shared = Resilient::new(2, Sum(0));
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _open = gate.open_on_drop();
            for stopped in 1..=2 {
                scope.spawn(|| {
                    arm(&gate);
                    shared.apply(Op::Add(1));
                });
                gate.wait_for(stopped);
            }
            for _ in 0..WORKERS {
                scope.spawn(|| shared.apply(Op::Add(1)));
            }
        });
        assert_eq!(shared.into_inner().0, 2 + WORKERS as i64);
    });
}

#[test]
fn all_handles_but_one_have_stopped() {
    for k in [2, 4, 8] {
        within("wait-free", move || {
            let shared = WaitFree::new(k, Sum(0));
            let gate = Arc::new(Gate::default());
            thread::scope(|scope| {
                let _open = gate.open_on_drop();
                for stopped in 1..k {
                    let mut handle = shared.handle().unwrap();
                    let gate = &gate;
                    scope.spawn(move || {
                        arm(gate);
                        handle.apply(Op::Add(1000));
                    });
                    gate.wait_for(stopped);
                }
                let mut handle = shared.handle().unwrap();
                assert!(shared.handle().is_none(), "k handles exist already");
                for i in 0..1000 {
                    let before = handle.apply(Op::Add(1));
                    assert_eq!(before % 1000, i % 1000);
                    assert_eq!(handle.read(|sum| sum.0), before + 1);
                }
            });
            let mut handle = shared.handle().expect("all handles were dropped");
            assert_eq!(handle.read(|sum| sum.0), 1000 * k as i64);
        });
    }
}

#[test]
fn a_wait_free_object_has_at_most_k_handles() {
    let shared = WaitFree::new(WaitFree::<Sum>::MAX_K, Sum(0));
    let mut handles: Vec<_> =
        (0..WaitFree::<Sum>::MAX_K).map(|_| shared.handle().unwrap()).collect();
    handles.iter_mut().for_each(|handle| _ = handle.apply(Op::Add(1)));
    assert!(shared.handle().is_none());
    handles.truncate(1);
    assert!(shared.handle().is_some());
    assert_eq!(handles[0].read(|sum| sum.0), 64);
}

#[test]
fn sixty_three_of_sixty_four_have_stopped() {
    within("k = 64", || {
        let k = Resilient::<Sum>::MAX_K;
        let shared = Resilient::new(k, Sum(0));
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _open = gate.open_on_drop();
            for stopped in 1..k {
                scope.spawn(|| {
                    arm(&gate);
                    shared.apply(Op::Add(1000));
                });
                gate.wait_for(stopped);
            }
            thread::scope(|scope| {
                for _ in 0..WORKERS {
                    scope.spawn(|| (0..250).for_each(|_| _ = shared.apply(Op::Add(1))));
                }
            });
        });
        assert_eq!(shared.into_inner().0, 1000 * k as i64);
    });
}

/// Threads stop in the closure of a cell and in the test of a queue.
#[test]
fn ready_made_objects_continue_while_threads_have_stopped() {
    within("k = 3", || {
        let cell = ResilientCell::new(3, vec![0]);
        let queue = PriorityQueue::with_items(3, [1, 2, 3]);
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _open = gate.open_on_drop();
            for stopped in 1..=2 {
                scope.spawn(|| {
                    arm(&gate);
                    cell.update(|list| {
                        list.push(7);
                        stop_if_armed();
                    });
                });
                gate.wait_for(2 * stopped - 1);
                scope.spawn(|| {
                    arm(&gate);
                    queue.pop_if(|_| {
                        stop_if_armed();
                        true
                    });
                });
                gate.wait_for(2 * stopped);
            }
            for i in 0..1000 {
                cell.update(move |list| list[0] = i);
                queue.push(0);
                queue.pop();
            }
        });
        assert_eq!(cell.into_inner(), [999, 7, 7]);
        assert_eq!(queue.len(), 1);
    });
}

#[test]
fn get_mut_is_seen_by_all_later_operations() {
    let mut shared = Resilient::new(2, Sum(1));
    assert_eq!(shared.apply(Op::Add(1)), 1);
    shared.get_mut().0 = 10;
    for before in 10..20 {
        assert_eq!(shared.apply(Op::Add(1)), before);
    }
}
