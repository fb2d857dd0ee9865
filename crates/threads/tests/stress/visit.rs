//! One attempt to acquire slots, of a random kind.

use std::{
    future::Future,
    hint,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_threads::{AcquireError, Hall, OwnedPass, OwnedPasses, Pass, Passes, TryAcquireError};

use crate::witness::Witness;

/// The result of an attempt.
pub enum Visit {
    /// The attempt got slots, and has freed them.
    Entered,
    /// The attempt got no slots.
    NoSlots,
    /// The hall is closed.
    Closed,
}

/// Tries to acquire slots, keeps them for a moment, and frees them.
pub fn visit(hall: &Arc<Hall>, witness: &Witness, many: usize, random: &mut Rng) -> Visit {
    match attempt(hall, many, random) {
        Ok(held) => {
            let count = held.count();
            witness.enter(count, held.slots());
            stay(random);
            witness.leave(count, held.slots());
            Visit::Entered
        }
        Err(TryAcquireError::NoPermits | TryAcquireError::TimedOut) => Visit::NoSlots,
        Err(TryAcquireError::Closed) => Visit::Closed,
        Err(error) => panic!("{error}"),
    }
}

/// Keeps the slots for a moment. From time to time, keeps them so long that others have to queue.
fn stay(random: &mut Rng) {
    match random.u32(0..20_000) {
        0 => thread::sleep(Duration::from_micros(50)),
        1..20 => thread::yield_now(),
        other => (0..other % 16).for_each(|_| hint::spin_loop()),
    }
}

/// The guard that an attempt got.
enum Held<'a> {
    One(Pass<'a>),
    Owned(OwnedPass),
    Many(Passes<'a>),
    ManyOwned(OwnedPasses),
}

impl Held<'_> {
    fn count(&self) -> usize {
        match self {
            Held::One(_) | Held::Owned(_) => 1,
            Held::Many(passes) => passes.len(),
            Held::ManyOwned(passes) => passes.len(),
        }
    }

    fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        let (one, many, owned) = match self {
            Held::One(pass) => (Some(pass.slot()), None, None),
            Held::Owned(pass) => (Some(pass.slot()), None, None),
            Held::Many(passes) => (None, Some(passes.slots()), None),
            Held::ManyOwned(passes) => (None, None, Some(passes.slots())),
        };
        one.into_iter().chain(many.into_iter().flatten()).chain(owned.into_iter().flatten())
    }
}

macro_rules! held {
    ($($kind:ident($guard:ty)),+) => {$(
        impl<'a> From<$guard> for Held<'a> {
            fn from(guard: $guard) -> Self {
                Held::$kind(guard)
            }
        }
    )+};
}
held!(One(Pass<'a>), Owned(OwnedPass), Many(Passes<'a>), ManyOwned(OwnedPasses));

type Attempt<'a> = Result<Held<'a>, TryAcquireError>;

fn attempt<'a>(hall: &'a Arc<Hall>, many: usize, random: &mut Rng) -> Attempt<'a> {
    let m = random.usize(1..=many);
    let time = Duration::from_nanos(random.u64(0..30_000));
    Ok(match random.u32(0..100) {
        0..50 => hall.acquire()?.into(),
        50..60 => hall.try_acquire()?.into(),
        60..65 => hall.try_acquire_for(time)?.into(),
        65..70 => hall.try_acquire_until(Instant::now() + time)?.into(),
        70..74 => hall.acquire_many(m)?.into(),
        74..76 => hall.acquire_many_owned(m)?.into(),
        76..78 => hall.try_acquire_many(m)?.into(),
        78..80 => hall.try_acquire_many_for(m, time)?.into(),
        80..82 => hall.try_acquire_owned()?.into(),
        82..88 => block_on(hall.acquire_async())?.into(),
        88..90 => block_on(hall.acquire_owned_async())?.into(),
        90..92 => block_on(hall.acquire_many_owned_async(m))?.into(),
        92..94 => return hesitate(hall.acquire_async(), random),
        94..97 => return hesitate(hall.acquire_many_async(m), random),
        _ => return race(hall, m),
    })
}

/// A waker that unparks a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn waker() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}

fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, waker) = (pin!(future), waker());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Polls a few times, with a new waker each time, and then drops the future. The future may be in the queue or have a
/// grant.
fn hesitate<'a, G: Into<Held<'a>>>(
    future: impl Future<Output = Result<G, AcquireError>>,
    random: &mut Rng,
) -> Attempt<'a> {
    let mut future = pin!(future);
    for _ in 0..random.u32(0..4) {
        if let Poll::Ready(got) = future.as_mut().poll(&mut Context::from_waker(&waker())) {
            return Ok(got?.into());
        }
        (0..random.u32(0..500)).for_each(|_| hint::spin_loop());
    }
    Err(TryAcquireError::NoPermits)
}

/// Polls several futures in turn, takes the first one that gets its slots, and drops the others.
fn race(hall: &Arc<Hall>, m: usize) -> Attempt<'_> {
    let mut futures =
        [hall.acquire_many_async(m), hall.acquire_many_async(1), hall.acquire_many_async(m)]
            .map(Box::pin);
    let waker = waker();
    loop {
        for future in &mut futures {
            let polled = Pin::new(future).poll(&mut Context::from_waker(&waker));
            if let Poll::Ready(got) = polled {
                return Ok(got?.into());
            }
        }
        thread::park();
    }
}
