//! Threads stop inside, k - 1 at once: everybody else goes on, and what is returned stays
//! linearizable. Nothing leaks, nothing is dropped twice, and those who have stopped do not make
//! copies pile up.

mod common;

use std::{
    mem,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use common::{Gate, Recorder, stop_if_told, tell_to_stop, within};
use hallpass_lab::linear::{Specification, check};
use hallpass_objects::{Object, PriorityQueue, Resilient, ResilientCell, WaitFree};

/// A number that operations add to. Returns what it was.
#[derive(Clone)]
struct Sum(i64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Op {
    Add(i64),
    /// Adds and then panics.
    Fail(i64),
    /// Not an operation of the object, but a read.
    Get,
}

impl Object for Sum {
    type Op = Op;
    type Ret = i64;

    fn apply(&mut self, op: &Op) -> i64 {
        let before = self.0;
        match op {
            Op::Add(n) => self.0 += n,
            Op::Fail(n) => {
                self.0 += n;
                // Like a panic, but without a message for each.
                panic::resume_unwind(Box::new("it fails"));
            }
            Op::Get => {}
        }
        // In the middle of it: what has been done so far must not show.
        stop_if_told();
        before
    }
}

struct Expected;

impl Specification for Expected {
    type State = i64;
    type Op = Op;
    type Ret = i64;

    fn apply(&self, state: &i64, op: &Op) -> (i64, i64) {
        match op {
            Op::Add(n) => (state + n, *state),
            Op::Fail(_) | Op::Get => (*state, *state),
        }
    }
}

fn perform(shared: &Resilient<Sum>, op: &Op) -> i64 {
    match op {
        Op::Get => shared.read(|sum| sum.0),
        op => shared.apply(*op),
    }
}

const WORKERS: usize = 4;

/// So many stop, half of them in reads if `reads`; the workers go on; then all end.
fn others_go_on(k: usize, stopping: usize, reads: bool) {
    const EACH: i64 = 200;
    let shared = Resilient::new(k, Sum(0));
    let recorder = Recorder::new(stopping + WORKERS);
    let gate = Arc::new(Gate::default());
    thread::scope(|scope| {
        let _opens = gate.opens_at_end();
        for process in 0..stopping {
            let (shared, recorder, gate) = (&shared, &recorder, &gate);
            scope.spawn(move || {
                tell_to_stop(gate);
                if reads && process % 2 == 1 {
                    recorder.call(process, Op::Get, |_| {
                        shared.read(|sum| {
                            stop_if_told();
                            sum.0
                        })
                    });
                } else {
                    // Each another power of two, above all that the workers add: the sum tells whose
                    // operations have had their effect.
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
        // Who has stopped is still under way here.
        check(&Expected, 0, &recorder.history()).unwrap_or_else(|violation| panic!("{violation}"));
    });
    check(&Expected, 0, &recorder.history()).unwrap_or_else(|violation| panic!("{violation}"));
    let stopped: i64 =
        (0..stopping).filter(|p| !(reads && p % 2 == 1)).map(|p| 1 << (16 + p)).sum();
    assert_eq!(shared.into_inner().0, stopped + WORKERS as i64 * EACH * 3 / 4);
}

#[test]
fn one_of_two_has_stopped_in_an_operation() {
    within("k = 2", || others_go_on(2, 1, false));
}

#[test]
fn three_of_four_have_stopped_in_operations() {
    within("k = 4", || others_go_on(4, 3, false));
}

#[test]
fn seven_of_eight_have_stopped_in_operations() {
    within("k = 8", || others_go_on(8, 7, false));
}

#[test]
fn seven_of_eight_have_stopped_in_operations_and_reads() {
    within("k = 8", || others_go_on(8, 7, true));
}

/// Those who stop are not alone when they do: they come in and stop again and again while others
/// work, wherever they happen to be.
#[test]
fn threads_stop_now_and_then_in_traffic() {
    const ROUNDS: usize = 100;
    within("k = 4", || {
        let (k, stopping) = (4, 3);
        let shared = Resilient::new(k, Sum(0));
        let added = AtomicUsize::new(0);
        for _ in 0..ROUNDS {
            let gate = Arc::new(Gate::default());
            thread::scope(|scope| {
                let _opens = gate.opens_at_end();
                for _ in 0..stopping {
                    let (shared, gate, added) = (&shared, &gate, &added);
                    scope.spawn(move || {
                        tell_to_stop(gate);
                        // Others may do it for us, so that we do not come to stop.
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

/// With k stopped, nobody else is promised anything, until one goes on.
#[test]
fn all_places_taken_by_those_who_stopped_and_then_go_on() {
    within("k = 2, both stopped for a while", || {
        let shared = Resilient::new(2, Sum(0));
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _opens = gate.opens_at_end();
            for stopped in 1..=2 {
                scope.spawn(|| {
                    tell_to_stop(&gate);
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
                let _opens = gate.opens_at_end();
                for stopped in 1..k {
                    let mut handle = shared.handle().unwrap();
                    let gate = &gate;
                    scope.spawn(move || {
                        tell_to_stop(gate);
                        handle.apply(Op::Add(1000));
                    });
                    gate.wait_for(stopped);
                }
                let mut handle = shared.handle().unwrap();
                assert!(shared.handle().is_none(), "there are k handles");
                for i in 0..1000 {
                    let before = handle.apply(Op::Add(1));
                    assert_eq!(before % 1000, i % 1000);
                    assert_eq!(handle.read(|sum| sum.0), before + 1);
                }
            });
            let mut handle = shared.handle().expect("all have been given back");
            assert_eq!(handle.read(|sum| sum.0), 1000 * k as i64);
        });
    }
}

#[test]
fn there_are_as_many_handles_as_there_can_be() {
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
fn sixty_three_have_stopped() {
    within("k = 64", || {
        let k = Resilient::<Sum>::MAX_K;
        let shared = Resilient::new(k, Sum(0));
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _opens = gate.opens_at_end();
            for stopped in 1..k {
                scope.spawn(|| {
                    tell_to_stop(&gate);
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

/// What fails has not happened, and only who called it hears of it.
#[test]
fn an_operation_that_panics_changes_nothing_and_stops_nobody() {
    for k in [2, 4] {
        within("panics", move || {
            const EACH: usize = 500;
            let shared = Resilient::new(k, Sum(0));
            let recorder = Recorder::new(2 * WORKERS);
            thread::scope(|scope| {
                for process in 0..2 * WORKERS {
                    let (shared, recorder) = (&shared, &recorder);
                    scope.spawn(move || {
                        for _ in 0..EACH {
                            if process % 2 == 0 {
                                recorder.call(process, Op::Add(1), |op| perform(shared, op));
                                continue;
                            }
                            let fail = AssertUnwindSafe(|| shared.apply(Op::Fail(1 << 20)));
                            panic::catch_unwind(fail).expect_err("it fails");
                        }
                    });
                }
            });
            let history = recorder.history();
            check(&Expected, 0, &history).unwrap_or_else(|violation| panic!("{violation}"));
            assert_eq!(shared.into_inner().0, (WORKERS * EACH) as i64);
        });
    }
}

#[test]
fn a_panic_with_all_others_stopped() {
    within("k = 4", || {
        let shared = Resilient::new(4, Sum(0));
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _opens = gate.opens_at_end();
            for stopped in 1..4 {
                scope.spawn(|| {
                    tell_to_stop(&gate);
                    shared.apply(Op::Add(1));
                });
                gate.wait_for(stopped);
            }
            for _ in 0..100 {
                let fail = AssertUnwindSafe(|| shared.apply(Op::Fail(1 << 20)));
                panic::catch_unwind(fail).expect_err("it fails");
                shared.apply(Op::Add(1));
            }
        });
        assert_eq!(shared.into_inner().0, 103);
    });
}

#[test]
fn a_panic_while_reading_leaves_the_place_to_others() {
    within("k = 2", || {
        let shared = Resilient::new(2, Sum(0));
        for _ in 0..10 {
            let look = AssertUnwindSafe(|| shared.read(|_| panic::resume_unwind(Box::new("no"))));
            panic::catch_unwind(look).expect_err("it fails");
        }
        shared.apply(Op::Add(1));
        assert_eq!(shared.into_inner().0, 1);
    });
}

/// Closures of a cell stop too, and a queue's tests.
#[test]
fn ready_made_objects_go_on() {
    within("k = 3", || {
        let cell = ResilientCell::new(3, vec![0]);
        let queue = PriorityQueue::with_items(3, [1, 2, 3]);
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _opens = gate.opens_at_end();
            for stopped in 1..=2 {
                scope.spawn(|| {
                    tell_to_stop(&gate);
                    cell.update(|list| {
                        list.push(7);
                        stop_if_told();
                    });
                });
                gate.wait_for(2 * stopped - 1);
                scope.spawn(|| {
                    tell_to_stop(&gate);
                    queue.pop_if(|_| {
                        stop_if_told();
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

/// Panics when it is dropped, as long as it is armed.
#[derive(Clone)]
struct Bomb(Arc<AtomicBool>);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0.load(SeqCst), "dropped");
    }
}

/// Operations, answers and the object itself are bombs.
#[derive(Clone)]
struct Dangerous(u64, #[expect(dead_code, reason = "it is there to be dropped")] Bomb);

impl Object for Dangerous {
    type Op = Bomb;
    type Ret = (u64, Bomb);

    fn apply(&mut self, bomb: &Bomb) -> (u64, Bomb) {
        self.0 += 1;
        (self.0, bomb.clone())
    }
}

#[test]
fn a_panic_while_something_old_is_dropped_is_nobodys() {
    let armed = Arc::new(AtomicBool::new(true));
    let bomb = || Bomb(Arc::clone(&armed));
    let mut shared = Resilient::new(2, Dangerous(0, bomb()));
    for n in 1..=100 {
        if n % 10 == 0 {
            shared.get_mut().0 += 1000; // so that the next operation copies, and drops an object
        }
        let (answer, bomb) = shared.apply(bomb()); // and drops earlier operations
        mem::forget(bomb);
        assert_eq!(answer % 1000, n);
    }
    armed.store(false, SeqCst);
    assert_eq!(shared.into_inner().0, 10_100);
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
