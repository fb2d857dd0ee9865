//! Halls that run a published algorithm.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
};

use hallpass_threads::Hall;

const ALGORITHMS: [&str; 9] = [
    "am-fig3",
    "am-fig3-tree",
    "am-fig3-fast",
    "am-fig8",
    "am-fig9-nested",
    "omori-excl",
    "choi",
    "afek",
    "zehavi",
];

#[test]
fn at_most_k_with_distinct_slots() {
    for algorithm in ALGORITHMS {
        let (n, k) = (4, 2);
        let hall = Hall::with(algorithm, n, k).unwrap();
        assert_eq!(hall.slots(), k);
        let (inside, taken) = (AtomicUsize::new(0), [const { AtomicBool::new(false) }; 2]);
        thread::scope(|scope| {
            // Two more threads than the algorithm has processes: they wait for a process number.
            for _ in 0..n + 2 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let pass = hall.acquire();
                        assert!(inside.fetch_add(1, SeqCst) < k, "{algorithm}");
                        assert!(!taken[pass.slot()].swap(true, SeqCst), "{algorithm}");
                        thread::yield_now();
                        taken[pass.slot()].store(false, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
    }
}

#[test]
fn passes_can_be_dropped_by_other_threads() {
    let hall = Hall::with("choi", 4, 2).unwrap();
    let (a, b) = (hall.acquire(), hall.acquire());
    assert_ne!(a.slot(), b.slot());
    assert_eq!(format!("{hall:?}"), "PaperHall { slots: 2, .. }");
    assert_eq!(format!("{a:?}"), format!("PaperPass {{ slot: {} }}", a.slot()));
    thread::scope(|scope| {
        scope.spawn(|| drop(a));
        scope.spawn(|| drop(b));
    });
    drop((hall.acquire(), hall.acquire()));
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |name: &str, n, k| Hall::with(name, n, k).unwrap_err().to_string();
    assert!(error("am-fig3:no-release", 4, 2).contains("wrong on purpose"));
    assert!(error("hall", 4, 2).contains("`Hall::new(2)`"));
    assert!(error("nothing", 4, 2).contains("nothing"));
    assert!(!error("choi", 2, 4).is_empty());
    assert!(!error("choi", 4, 0).is_empty());
}
