//! Waiting for a short time before going to sleep. Most waits are short, and a sleep that ends when a process dies
//! needs several system calls.
//!
//! A waiter first *yields*: it stays runnable, lets other processes run, and looks at its card again (the word of its
//! record that shows whether it has got a slot). Then it *naps* on another word of its record: the process that gives
//! it a slot ends the nap by one system call. If the machine is busy with other work, a yield is slow. After a slow
//! yield, the next waits begin with the nap. The first waiter in the queue does not nap: it goes to sleep, because a
//! sleeping waiter notices the death of a holder.
//!
//! All this only delays line W1 of the step machine, and the step machine does not depend on time. If the process that
//! should end a nap dies, or the word is damaged, the waiter continues after [`MAX_LINGER`].

use std::{
    sync::atomic::Ordering::SeqCst,
    thread,
    time::{Duration, Instant},
};

use hallpass_algorithms::halls::processes::{Card, Number, Phase};

use crate::{patience::Patience, shared_state::SharedState, sys::nap};

/// How long the first waiter yields before it goes to sleep. The other waiters check at this interval whether they are
/// first.
const FIRST_YIELDS: Duration = Duration::from_micros(200);

/// How long the waiters behind the first one yield before they nap.
const MAX_YIELDING: Duration = Duration::from_millis(2);

/// How long the waiters behind the first one yield and nap, in total, before they go to sleep.
const MAX_LINGER: Duration = Duration::from_millis(4);

/// A yield that takes longer than this shows that the core has other work.
const SLOW_YIELD: Duration = Duration::from_millis(1);

/// The number of waits that begin with a nap after a slow yield.
const WAITS_WITHOUT_YIELD: u32 = 64;

/// The number of waits that still begin with a nap because yields were slow.
#[derive(Default)]
pub(crate) struct Crowded(u32);

/// Waits until the waiter `me` is given a slot, but only for a short time.
pub(crate) fn linger(
    hall: &SharedState,
    me: usize,
    crowded: &mut Crowded,
    patience: &Patience<'_>,
) {
    let card = hall.file.card(me);
    let is_awake = || matches!(Card::unpack(card.load(SeqCst)).phase, Phase::Waiting(_));
    let goes_on = || is_awake() && !patience.is_over();
    let number = Card::unpack(card.load(SeqCst)).number;
    let begun = Instant::now();
    let (mut now, mut next_check) = (Duration::ZERO, FIRST_YIELDS);
    let mut may_yield = crowded.0 == 0;
    crowded.0 = crowded.0.saturating_sub(1);
    while goes_on() && may_yield && now < MAX_YIELDING {
        let before = now;
        thread::yield_now();
        now = begun.elapsed();
        if now - before > SLOW_YIELD {
            crowded.0 = WAITS_WITHOUT_YIELD;
            may_yield = false;
        }
        if now > next_check {
            if is_first(hall, number) {
                return;
            }
            next_check = now + FIRST_YIELDS;
        }
    }
    while goes_on() && now < MAX_LINGER && !is_first(hall, number) {
        let rest = MAX_LINGER - now;
        let time = patience.limit.remaining().map_or(rest, |left| left.min(rest));
        nap::take(hall.file.nap(me), time, goes_on);
        now = begun.elapsed();
    }
}

/// Returns `true` if no other process waits with a lower number.
fn is_first(hall: &SharedState, number: Number) -> bool {
    (0..hall.records_used())
        .map(|record| hall.card(record))
        .all(|card| !card.waits() || card.number >= number)
}
