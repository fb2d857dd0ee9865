//! Makes random passages (acquiring slots and freeing them) of every kind. A witness that does not depend on the code
//! of the hall observes them.
//!
//! ```text
//! cargo test -p hallpass-threads --test stress                          # a few seconds
//! HALLPASS_STRESS_PASSAGES=100000000 \
//!     cargo test --release -p hallpass-threads --test stress            # 10^8: minutes on two cores
//! HALLPASS_STRESS_CASE=resized cargo test -p hallpass-threads --test stress   # cases with this in their names
//! HALLPASS_STRESS_SEED=7 cargo test -p hallpass-threads --test stress
//! ```
//!
//! A failure prints its seed. The seed repeats the requests, but not how threads are scheduled.
//! If a run makes no progress for a minute, it fails: probably a wake-up was lost.

mod visit;
mod witness;

use std::{
    env, fmt,
    io::{self, Write},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use fastrand::Rng;
use hallpass_threads::Hall;

use visit::{Visit, visit};
use witness::Witness;

/// A hall and its users.
struct Case {
    name: &'static str,
    /// The smallest and the largest number of slots. If they differ, a thread keeps resizing the hall.
    min: usize,
    max: usize,
    /// The limit for `resize`. Above 32, the hall is *wide*: it keeps most slot numbers outside its `word`.
    room: usize,
    /// The largest number of slots in one request.
    many: usize,
    threads: usize,
    /// How many newcomers may overtake a waiter.
    bypass: u32,
}

/// Any number of newcomers may overtake.
const BARGING: u32 = u32::MAX;

/// The basic fair case.
const FAIR: Case = Case { name: "", min: 3, max: 3, room: 32, many: 3, threads: 6, bypass: 0 };

const CASES: [Case; 16] = [
    Case { name: "one slot", min: 1, max: 1, many: 1, threads: 3, ..FAIR },
    Case { name: "one slot, wide", min: 1, max: 1, room: 33, many: 1, threads: 3, ..FAIR },
    Case { name: "three slots", ..FAIR },
    Case { name: "three slots, wide", room: 99, ..FAIR },
    Case { name: "resized", min: 2, max: 6, many: 2, ..FAIR },
    Case { name: "resized, wide", min: 2, max: 6, room: 64, many: 2, ..FAIR },
    Case { name: "all of the word", min: 31, max: 32, many: 31, ..FAIR },
    Case { name: "beyond the word", min: 65, max: 200, room: 200, many: 65, ..FAIR },
    Case { name: "one slot, barging", min: 1, max: 1, many: 1, bypass: BARGING, ..FAIR },
    Case { name: "barging", bypass: BARGING, ..FAIR },
    Case { name: "barging, wide", room: 33, bypass: BARGING, ..FAIR },
    Case { name: "barging, resized", min: 2, max: 6, many: 2, bypass: BARGING, ..FAIR },
    Case { name: "one slot, bypass", min: 1, max: 1, many: 1, bypass: 1, ..FAIR },
    Case { name: "bypass", bypass: 8, ..FAIR },
    Case { name: "bypass, wide", room: 33, bypass: 3, ..FAIR },
    Case { name: "bypass, resized", min: 2, max: 6, many: 2, bypass: 2, ..FAIR },
];

fn hall(k: usize, room: usize, bypass: u32) -> Hall {
    Hall::builder(k).max_slots(room).bypass(bypass).build().unwrap()
}

/// The test that closes halls makes about 1/20 of all passages.
const CLOSED_SHARE: u64 = 20;

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, got `{text}`")))
}

fn passages() -> u64 {
    number("HALLPASS_STRESS_PASSAGES").unwrap_or(200_000)
}

/// The seed of the random requests. It is printed if the test fails.
struct Seed(u64);

impl Seed {
    fn new() -> Self {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
        Seed(number("HALLPASS_STRESS_SEED").unwrap_or_else(now))
    }

    fn rng(&self, thread: usize) -> Rng {
        Rng::with_seed(self.0 ^ (thread as u64) << 48)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "repeat with HALLPASS_STRESS_SEED={}", self.0)
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{self}");
        }
    }
}

/// State that all threads of a case share.
struct Run {
    hall: Arc<Hall>,
    witness: Witness,
    /// The number of portions of passages that no thread has taken yet.
    left: AtomicU64,
    /// The number of portions that were taken. While it grows, the run makes progress.
    taken: AtomicU64,
    over: AtomicBool,
}

/// How many passages a thread makes in one portion.
const PORTION: u64 = 64;

type Thread<'a> = thread::ScopedJoinHandle<'a, ()>;

impl Run {
    fn new(hall: Hall, slots: usize, room: usize, threads: usize, passages: u64) -> Self {
        Run {
            hall: Arc::new(hall),
            witness: Witness::new(slots, room, threads),
            left: AtomicU64::new(passages.div_ceil(PORTION)),
            taken: AtomicU64::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn take_portion(&self) -> bool {
        self.taken.fetch_add(1, SeqCst);
        self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    /// Makes passages until all are made, or the hall is closed.
    fn visitor(&self, thread: usize, many: usize, mut random: Rng) {
        let _ends = self.witness.ends_on_drop(thread);
        while self.take_portion() {
            let mut entered = 0;
            while entered < PORTION {
                self.witness.begins(thread);
                match visit(&self.hall, &self.witness, many, &mut random) {
                    Visit::Entered => entered += 1,
                    Visit::NoSlots => {}
                    Visit::Closed => return,
                }
            }
        }
    }

    /// Resizes the hall until the run is over.
    fn resizer(&self, case: &Case, mut random: Rng) {
        while !self.over.load(SeqCst) {
            let k = random.usize(case.min..=case.max);
            self.witness.resize(k, || self.hall.resize(k).unwrap());
            assert_eq!(self.hall.slots(), k);
            thread::sleep(Duration::from_micros(random.u64(0..500)));
        }
    }

    /// Waits for the visitors, and then for the thread that resizes or closes. Gives up if the run makes no
    /// progress for a minute.
    fn watch(&self, seed: &Seed, visitors: Vec<Thread<'_>>, other: Option<Thread<'_>>) {
        let (mut seen, mut since) = ((0, 0), Instant::now());
        let count = |threads: &[Thread<'_>]| threads.iter().filter(|t| t.is_finished()).count();
        while count(&visitors) < visitors.len() || count(other.as_slice()) < other.iter().count() {
            thread::sleep(Duration::from_millis(1));
            let now = (self.taken.load(SeqCst), count(&visitors));
            self.over.store(now.1 == visitors.len(), SeqCst);
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > Duration::from_secs(60) {
                // The threads would hang forever, and the output of the test would never be shown.
                let text = "no progress for a minute (`--nocapture` shows which thread panicked)";
                let hall = &self.hall;
                let _ = writeln!(
                    io::stderr(),
                    "{text}: {hall:?}, {} threads have finished; {seed}",
                    now.1
                );
                process::exit(101);
            }
        }
        visitors.into_iter().chain(other).for_each(|thread| thread.join().unwrap());
    }

    /// Checks that all slots are free and nobody waits.
    fn assert_all_slots_free(&self) {
        let hall = &self.hall;
        assert!(self.witness.has_no_holders());
        assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0), "{hall:?}");
        if !hall.is_closed() {
            let all: Vec<_> = (0..hall.slots()).map(|_| hall.try_acquire().unwrap()).collect();
            assert!(all.iter().map(|pass| pass.slot()).eq(0..hall.slots()));
            assert!(hall.try_acquire().is_err());
        }
    }
}

#[test]
fn random_passages_keep_the_guarantees() {
    let seed = Seed::new();
    let share = (passages() - passages() / CLOSED_SHARE) / CASES.len() as u64;
    let wanted = env::var("HALLPASS_STRESS_CASE").unwrap_or_default();
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        let start = Instant::now();
        let hall = hall(case.max, case.room, case.bypass);
        let run = Run::new(hall, case.max, case.room, case.threads, share);
        thread::scope(|scope| {
            let visitors = (0..case.threads).map(|thread| {
                let (run, random) = (&run, seed.rng(thread));
                scope.spawn(move || run.visitor(thread, case.many, random))
            });
            let visitors = visitors.collect();
            let resizer = (case.min < case.max)
                .then(|| scope.spawn(|| run.resizer(case, seed.rng(case.threads))));
            run.watch(&seed, visitors, resizer);
        });
        run.assert_all_slots_free();
        println!("{}: {share} passages in {:.1?}", case.name, start.elapsed());
    }
}

#[test]
fn random_passages_until_closed() {
    let seed = Seed::new();
    let mut random = seed.rng(99);
    let (threads, each) = (4, 2000);
    for _ in 0..(passages() / CLOSED_SHARE).div_ceil(each) {
        let room = [32, 33][random.usize(0..2)];
        let k = random.usize(1..=3);
        let hall = hall(k, room, [0, 2, BARGING][random.usize(0..3)]);
        let run = Run::new(hall, k, room, threads, u64::MAX / 2);
        let close_at = random.u64(0..2 * each / PORTION);
        thread::scope(|scope| {
            let visitors = (0..threads).map(|thread| {
                let (run, random) = (&run, Rng::with_seed(random.u64(..)));
                scope.spawn(move || run.visitor(thread, k, random))
            });
            let visitors = visitors.collect();
            let run = &run;
            let closer = scope.spawn(move || {
                while run.taken.load(SeqCst) < close_at && !run.over.load(SeqCst) {
                    thread::yield_now();
                }
                run.hall.close();
            });
            run.watch(&seed, visitors, Some(closer));
        });
        assert!(run.hall.is_closed());
        run.assert_all_slots_free();
    }
}
