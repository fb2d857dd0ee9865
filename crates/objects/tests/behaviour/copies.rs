//! Checks that every value is dropped exactly once, and that the number of copies of the object stays
//! small, whichever threads have stopped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicIsize, Ordering::SeqCst},
    },
    thread,
};

use crate::support::{Gate, arm, stop_if_armed, within};
use hallpass_objects::{Object, Resilient, WaitFree};

/// Counts the live values of one kind.
#[derive(Default)]
struct Census {
    live: AtomicIsize,
    max: AtomicIsize,
}

/// A value that a census counts from the value's creation until it is dropped.
struct Counted {
    census: Arc<Census>,
    /// The flag is on the heap, so that a memory checker notices a use after drop or a double drop.
    alive: Box<bool>,
}

impl Counted {
    fn new(census: &Arc<Census>) -> Self {
        let live = census.live.fetch_add(1, SeqCst) + 1;
        census.max.fetch_max(live, SeqCst);
        Counted { census: Arc::clone(census), alive: Box::new(true) }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        assert!(*self.alive, "cloned after it was dropped");
        Counted::new(&self.census)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(std::mem::replace(&mut *self.alive, false), "dropped twice");
        let live = self.census.live.fetch_sub(1, SeqCst);
        assert!(live > 0, "more values were dropped than created");
    }
}

/// Counts objects, operations and results separately.
#[derive(Clone, Default)]
struct Censuses {
    objects: Arc<Census>,
    ops: Arc<Census>,
    rets: Arc<Census>,
}

impl Censuses {
    fn object(&self) -> Tally {
        Tally { sum: 0, counted: Counted::new(&self.objects), rets: Arc::clone(&self.rets) }
    }

    fn op(&self) -> Counted {
        Counted::new(&self.ops)
    }

    fn assert_all_dropped(&self) {
        for (what, census) in
            [("objects", &self.objects), ("operations", &self.ops), ("results", &self.rets)]
        {
            assert_eq!(census.live.load(SeqCst), 0, "{what} were never dropped");
            println!("at most {} {what} at once", census.max.load(SeqCst));
        }
    }
}

#[derive(Clone)]
struct Tally {
    sum: usize,
    counted: Counted,
    rets: Arc<Census>,
}

impl Object for Tally {
    type Op = Counted;
    type Ret = (usize, Counted);

    fn apply(&mut self, op: &Counted) -> (usize, Counted) {
        assert!(*op.alive && *self.counted.alive, "used after it was dropped");
        self.sum += 1;
        stop_if_armed();
        (self.sum, Counted::new(&self.rets))
    }
}

const OPERATIONS: usize = 100_000;
const WORKERS: usize = 4;

/// Stops k - 1 threads in operations and reads while others complete many operations.
fn check_few_copies(k: usize) {
    let censuses = Censuses::default();
    let shared = Resilient::new(k, censuses.object());
    let gate = Arc::new(Gate::default());
    thread::scope(|scope| {
        let _open = gate.open_on_drop();
        for process in 0..k - 1 {
            let (shared, gate, censuses) = (&shared, &gate, &censuses);
            scope.spawn(move || {
                arm(gate);
                if process % 2 == 0 {
                    shared.apply(censuses.op());
                } else {
                    shared.read(|tally| {
                        stop_if_armed();
                        assert!(*tally.counted.alive, "the object was dropped while it was read");
                    });
                }
            });
            gate.wait_for(process + 1);
        }
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    for _ in 0..OPERATIONS / WORKERS {
                        shared.apply(censuses.op());
                    }
                });
            }
        });
        let copies = censuses.objects.max.load(SeqCst);
        assert!(copies <= 4 * k as isize + 4, "{copies} copies of the object for k = {k}");
    });
    assert_eq!(shared.read(|tally| tally.sum), OPERATIONS + k / 2);
    // Only the object that `into_inner` has returned is left.
    let tally = shared.into_inner();
    assert_eq!(censuses.objects.live.load(SeqCst), 1);
    drop(tally);
    censuses.assert_all_dropped();
}

#[test]
fn few_copies_with_one_stopped_thread() {
    within("k = 2", || check_few_copies(2));
}

#[test]
fn few_copies_with_three_stopped_threads() {
    within("k = 4", || check_few_copies(4));
}

#[test]
fn few_copies_with_seven_stopped_threads() {
    within("k = 8", || check_few_copies(8));
}

/// No thread stops in this test, and the shared object is dropped instead of consumed.
#[test]
fn nothing_is_left_when_the_object_is_dropped() {
    for k in 1..=6 {
        within("no thread has stopped", move || {
            let censuses = Censuses::default();
            let shared = Resilient::new(k, censuses.object());
            thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(|| {
                        for i in 0..2_000 {
                            let (sum, ret) = shared.apply(censuses.op());
                            assert!(*ret.alive && sum > 0);
                            if i % 8 == 0 {
                                shared.snapshot();
                            }
                        }
                    });
                }
            });
            // Each of the six threads may also hold the clone that `snapshot` returns.
            let copies = censuses.objects.max.load(SeqCst);
            assert!(copies <= 4 * k as isize + 4 + 6, "{copies} copies of the object for k = {k}");
            drop(shared);
            censuses.assert_all_dropped();
        });
    }
}

#[test]
fn nothing_is_left_when_a_wait_free_object_is_dropped() {
    within("handles", || {
        let censuses = Censuses::default();
        let shared = WaitFree::new(3, censuses.object());
        for _ in 0..3 {
            thread::scope(|scope| {
                for _ in 0..3 {
                    let mut handle =
                        shared.handle().expect("the handles of the last round were dropped");
                    let censuses = &censuses;
                    scope.spawn(move || {
                        for _ in 0..1_000 {
                            handle.apply(censuses.op());
                        }
                    });
                }
            });
        }
        let copies = censuses.objects.max.load(SeqCst);
        assert!(copies <= 16, "{copies} copies of the object for k = 3");
        drop(shared);
        censuses.assert_all_dropped();
    });
}
