//! Random calls of one thread, on a hall and on a simple [`Reference`]. Both must answer every request alike: the same
//! slots, the same errors, in the same order, with one wake-up for each answer.
//!
//! `HALLPASS_RUNS` sets the number of runs. A failure prints the seed of its run.

mod reference;

use std::{
    env,
    future::Future,
    mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_threads::{
    AcquireError, Hall, OwnedPass, OwnedPasses, Pass, Passes, ResizeError, TryAcquireError,
};

use reference::{Answer, Id, Made, Reference};

/// A guard of any kind.
enum Guard<'a> {
    One(Pass<'a>),
    Owned(OwnedPass),
    Many(Passes<'a>),
    ManyOwned(OwnedPasses),
}

impl Guard<'_> {
    fn slots(&self) -> Vec<usize> {
        match self {
            Guard::One(pass) => vec![pass.slot()],
            Guard::Owned(pass) => vec![pass.slot()],
            Guard::Many(passes) => passes.slots().collect(),
            Guard::ManyOwned(passes) => passes.slots().collect(),
        }
    }

    fn forget(self) {
        match self {
            Guard::One(pass) => pass.forget(),
            Guard::Owned(pass) => mem::forget(pass),
            Guard::Many(passes) => passes.forget(),
            Guard::ManyOwned(passes) => passes.forget(),
        }
    }
}

type Request<'a> = Pin<Box<dyn Future<Output = Result<Guard<'a>, AcquireError>> + 'a>>;

/// A waker that counts its wake-ups.
#[derive(Default)]
struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

struct Waiter<'a> {
    id: Id,
    request: Request<'a>,
    alarm: Arc<Alarm>,
    /// The alarms of earlier polls.
    old: Vec<Arc<Alarm>>,
}

/// A hall, its reference, and everything that the calls have made.
struct World<'a> {
    hall: &'a Arc<Hall>,
    reference: Reference,
    max: usize,
    /// The largest number of slots in one request.
    many: usize,
    guards: Vec<Guard<'a>>,
    waiters: Vec<Waiter<'a>>,
    /// The number of requests so far.
    requests: usize,
    random: Rng,
}

fn poll<'a>(
    request: &mut Request<'a>,
    alarm: &Arc<Alarm>,
) -> Poll<Result<Guard<'a>, AcquireError>> {
    request.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(alarm))))
}

impl<'a> World<'a> {
    /// Compares an answer of the hall with that of the reference, and keeps the guard.
    fn compare(&mut self, answer: Result<Guard<'a>, AcquireError>, expected: Answer) {
        match answer {
            Ok(guard) => {
                assert_eq!(Ok(guard.slots()), expected);
                self.guards.push(guard);
            }
            Err(error) => assert_eq!(Err(error), expected),
        }
    }

    /// Makes a future of a random kind.
    fn request(&mut self, need: usize) -> Request<'a> {
        let hall = self.hall;
        match self.random.u32(0..2) {
            0 if need == 1 => Box::pin(async { hall.acquire_async().await.map(Guard::One) }),
            1 if need == 1 => {
                Box::pin(async { hall.acquire_owned_async().await.map(Guard::Owned) })
            }
            0 => Box::pin(async move { hall.acquire_many_async(need).await.map(Guard::Many) }),
            _ => {
                Box::pin(
                    async move { hall.acquire_many_owned_async(need).await.map(Guard::ManyOwned) },
                )
            }
        }
    }

    fn make_future(&mut self) {
        let need = self.random.usize(0..=self.many);
        let mut request = self.request(need);
        let alarm = Arc::<Alarm>::default();
        let (polled, made) = (poll(&mut request, &alarm), self.reference.make(need));
        match (polled, made) {
            (Poll::Ready(answer), Made::Answer(expected)) => self.compare(answer, expected),
            (Poll::Ready(answer), Made::MayOvertake(grant)) => {
                let expected = self.reference.overtakes(grant);
                self.compare(answer, expected);
            }
            (Poll::Pending, Made::Waits | Made::MayOvertake(_)) => {
                let id = self.requests;
                self.requests += 1;
                self.reference.joins(id, need);
                self.waiters.push(Waiter { id, request, alarm, old: Vec::new() });
            }
            (polled, made) => panic!("need {need}: pending {}, {made:?}", polled.is_pending()),
        }
    }

    /// Makes a request that does not wait, of a random kind.
    fn attempt(&mut self, need: usize) -> Result<Guard<'a>, TryAcquireError> {
        let (hall, past) = (self.hall, Instant::now());
        match (self.random.u32(0..4), need) {
            (0, 1) => hall.try_acquire().map(Guard::One),
            (1, 1) => hall.try_acquire_owned().map(Guard::Owned),
            (2, 1) => hall.try_acquire_until(past).map(Guard::One),
            (3, 1) => hall.try_acquire_owned_for(Duration::ZERO).map(Guard::Owned),
            (0, _) => hall.try_acquire_many(need).map(Guard::Many),
            (1, _) => hall.try_acquire_many_owned(need).map(Guard::ManyOwned),
            (2, _) => hall.try_acquire_many_for(need, Duration::ZERO).map(Guard::Many),
            _ => hall.try_acquire_many_owned_until(need, past).map(Guard::ManyOwned),
        }
    }

    fn try_now(&mut self) {
        let need = self.random.usize(0..=self.many);
        let answer = self.attempt(need);
        let none = matches!(answer, Err(TryAcquireError::NoPermits | TryAcquireError::TimedOut));
        let answer = answer.map_err(|error| match error {
            TryAcquireError::TooMany { asked, slots } => AcquireError::TooMany { asked, slots },
            _ => AcquireError::Closed,
        });
        match self.reference.make(need) {
            Made::Answer(expected) => {
                assert!(!none, "{expected:?} expected");
                self.compare(answer, expected);
            }
            Made::MayOvertake(grant) if !none => {
                let expected = self.reference.overtakes(grant);
                self.compare(answer, expected);
            }
            Made::Waits | Made::MayOvertake(_) => assert!(none),
        }
    }

    /// Polls a waiter, with its waker or with another one.
    fn poll_again(&mut self) {
        let index = self.random.usize(0..self.waiters.len());
        let waiter = &mut self.waiters[index];
        // A waiter that has its answer keeps the alarm that was woken.
        if self.random.bool() && !self.reference.is_answered(waiter.id) {
            waiter.old.push(mem::take(&mut waiter.alarm));
        }
        let polled = poll(&mut waiter.request, &waiter.alarm);
        match (polled, self.reference.polls(waiter.id)) {
            (Poll::Pending, None) => {}
            (Poll::Ready(answer), Some(expected)) => {
                self.waiters.swap_remove(index);
                self.compare(answer, expected);
            }
            (polled, expected) => panic!("pending {}, {expected:?}", polled.is_pending()),
        }
    }

    fn drop_waiter(&mut self) {
        let waiter = self.waiters.swap_remove(self.random.usize(0..self.waiters.len()));
        drop(waiter.request);
        self.reference.drops(waiter.id);
    }

    /// Drops a guard, forgets it, splits it, takes it apart, or merges it with another one.
    fn change_guard(&mut self) {
        let guard = self.guards.swap_remove(self.random.usize(0..self.guards.len()));
        let slots = guard.slots();
        match (self.random.u32(0..40), guard) {
            (0, guard) if self.reference.k > 2 => guard.forget(),
            (1..5, Guard::Many(mut passes)) => {
                let off = passes.split_off(self.random.usize(0..=passes.len())).unwrap();
                self.guards.extend([Guard::Many(passes), Guard::Many(off)]);
            }
            (1..5, Guard::ManyOwned(passes)) => {
                self.guards.extend(passes.into_iter().map(Guard::Owned));
            }
            (1..5, Guard::One(pass)) => self.merge(pass.into()),
            (5..10, Guard::Many(passes)) => self.merge(passes),
            (_, guard) => {
                drop(guard);
                self.reference.frees(&slots);
            }
        }
    }

    /// Merges passes with those of another guard, if there is one of the same kind.
    fn merge(&mut self, passes: Passes<'a>) {
        let other = self.guards.iter_mut().find_map(|guard| match guard {
            Guard::Many(passes) => Some(passes),
            _ => None,
        });
        match other {
            Some(other) => other.merge(passes),
            None => self.guards.push(Guard::Many(passes)),
        }
    }

    fn resize(&mut self) {
        let (k, count) = (self.reference.k, self.random.usize(0..5));
        let (resized, new) = match self.random.u32(0..3) {
            0 => (self.hall.add_slots(count), k + count),
            1 if count > k => {
                let error = ResizeError::TooFew { removed: count, slots: k };
                return assert_eq!(self.hall.remove_slots(count), Err(error));
            }
            1 => (self.hall.remove_slots(count), k - count),
            _ => {
                let new = self.random.usize(0..=self.max + 1);
                (self.hall.resize(new).map(|()| new), new)
            }
        };
        if new > self.max {
            assert_eq!(resized, Err(ResizeError::TooMany { asked: new, max: self.max }));
        } else {
            assert_eq!(resized, Ok(new));
            self.reference.resizes(new);
        }
    }

    /// Makes a random call.
    fn call(&mut self) {
        match self.random.u32(0..100) {
            0..30 => self.make_future(),
            30..45 => self.try_now(),
            45..60 if !self.waiters.is_empty() => self.poll_again(),
            60..68 if !self.waiters.is_empty() => self.drop_waiter(),
            68..93 if !self.guards.is_empty() => self.change_guard(),
            93..99 => self.resize(),
            99 if self.random.u32(0..4) == 0 => {
                self.hall.close();
                self.reference.closes();
            }
            _ => {}
        }
        self.compare_state();
    }

    fn compare_state(&self) {
        let (hall, reference) = (self.hall, &self.reference);
        let state = (hall.slots(), hall.available(), hall.waiting(), hall.is_closed());
        let expected = (reference.k, reference.available(), reference.waiting(), reference.closed);
        assert_eq!(state, expected, "slots, available, waiting, closed");
        for waiter in &self.waiters {
            let wake_ups = usize::from(reference.is_answered(waiter.id));
            assert_eq!(waiter.alarm.0.load(SeqCst), wake_ups, "wake-ups of request {}", waiter.id);
            assert!(waiter.old.iter().all(|alarm| alarm.0.load(SeqCst) == 0), "a replaced waker");
        }
    }
}

/// Makes random calls on a hall. At most `limit` newcomers overtake a waiter.
fn run(seed: u64, limit: u32) {
    let mut random = Rng::with_seed(seed);
    // In a wide hall, slots from 16 on are kept outside the word.
    let (max, k) = match random.u32(0..4) {
        0 => (32, random.usize(1..=4)),
        1 => (random.usize(4..=8), 4),
        2 => (40, random.usize(14..=19)),
        _ => (33, random.usize(1..=4)),
    };
    let many = if random.bool() { 3 } else { k + 1 };
    let hall = Arc::new(Hall::builder(k).max_slots(max).bypass(limit).build().unwrap());
    let mut world = World {
        hall: &hall,
        reference: Reference::new(k, max, limit),
        max,
        many,
        guards: Vec::new(),
        waiters: Vec::new(),
        requests: 0,
        random,
    };
    (0..120).for_each(|_| world.call());
}

fn runs(limit: impl Fn(u64) -> u32) {
    let runs = env::var("HALLPASS_RUNS").map_or(4000, |runs| runs.parse().unwrap());
    for seed in 0..runs {
        catch_unwind(AssertUnwindSafe(|| run(seed, limit(seed)))).unwrap_or_else(|panic| {
            eprintln!("the run with seed {seed} failed");
            resume_unwind(panic)
        });
    }
}

#[test]
fn a_fair_hall_answers_like_a_queue() {
    runs(|_| 0);
}

/// The reference accepts that a newcomer overtakes, up to the limit, and that it does not.
#[test]
fn a_hall_with_a_limit_on_overtaking_keeps_the_limit() {
    runs(|seed| [1, 2, 8][seed as usize % 3]);
}
