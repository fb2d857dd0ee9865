//! Checks panics of operations, reads and destructors.

use std::{
    mem,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use hallpass_lab::linear::check;
use hallpass_objects::{Object, Resilient};

use crate::{
    sum::{Expected, Op, Sum, perform},
    support::{Gate, Recorder, arm, within},
};

const WORKERS: usize = 4;

/// A panicking operation has no effect, and only its caller panics.
#[test]
fn a_panicking_operation_has_no_effect_and_blocks_no_thread() {
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
fn an_operation_panics_while_all_others_have_stopped() {
    within("k = 4", || {
        let shared = Resilient::new(4, Sum(0));
        let gate = Arc::new(Gate::default());
        thread::scope(|scope| {
            let _open = gate.open_on_drop();
            for stopped in 1..4 {
                scope.spawn(|| {
                    arm(&gate);
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
fn a_panicking_read_frees_its_slot() {
    within("k = 2", || {
        let shared = Resilient::new(2, Sum(0));
        for _ in 0..10 {
            let read = AssertUnwindSafe(|| shared.read(|_| panic::resume_unwind(Box::new("no"))));
            panic::catch_unwind(read).expect_err("it fails");
        }
        shared.apply(Op::Add(1));
        assert_eq!(shared.into_inner().0, 1);
    });
}

/// Panics when it is dropped while the flag is set.
#[derive(Clone)]
struct Bomb(Arc<AtomicBool>);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0.load(SeqCst), "dropped");
    }
}

/// An object whose values, operations and answers are bombs.
#[derive(Clone)]
struct Dangerous(u64, #[expect(dead_code, reason = "only its destructor is used")] Bomb);

impl Object for Dangerous {
    type Op = Bomb;
    type Ret = (u64, Bomb);

    fn apply(&mut self, bomb: &Bomb) -> (u64, Bomb) {
        self.0 += 1;
        (self.0, bomb.clone())
    }
}

#[test]
fn a_panicking_destructor_stops_no_operation() {
    let armed = Arc::new(AtomicBool::new(true));
    let bomb = || Bomb(Arc::clone(&armed));
    let mut shared = Resilient::new(2, Dangerous(0, bomb()));
    for n in 1..=100 {
        if n % 10 == 0 {
            shared.get_mut().0 += 1000; // makes the next operation clone, and drop an object
        }
        let (answer, bomb) = shared.apply(bomb()); // drops earlier operations
        mem::forget(bomb);
        assert_eq!(answer % 1000, n);
    }
    armed.store(false, SeqCst);
    assert_eq!(shared.into_inner().0, 10_100);
}
