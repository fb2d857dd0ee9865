//! A simple hall in memory: a mutex, a condition variable and a queue. It shows what the suite requires of a hall, and
//! tests of the suite use it instead of a real hall.

use std::{
    collections::VecDeque,
    fmt,
    marker::PhantomData,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{Capacity, HallUnderTest, Refusal};

/// The decisions of a [`Double`]. The defaults are correct. The tests of this crate replace one decision
/// at a time and check that the suite notices.
pub trait Decisions: Send + Sync + 'static {
    /// Returns the number of holders that a hall with `k` slots admits.
    fn admitted(k: usize) -> usize {
        k
    }

    /// Returns the position in the queue of the waiter that is served next.
    fn next(waiters: usize) -> usize {
        let _ = waiters;
        0
    }

    /// Returns a number: the hall hands out only slots below it. `k` is the present number of slots, and `peak` is the
    /// largest number of slots so far.
    fn offered(k: usize, peak: usize) -> usize {
        let _ = peak;
        k
    }

    /// Returns the slot that the next holder gets. `free` contains the free slots in ascending order.
    fn pick(free: &[usize]) -> Option<usize> {
        free.first().copied()
    }

    /// Whether a held slot counts as taken.
    const SLOTS_ARE_EXCLUSIVE: bool = true;
    /// Whether `try_acquire` fails while there are waiters.
    const TRY_QUEUES: bool = true;
    /// Whether a released slot is assigned to the next waiter immediately. Otherwise it stays free until a
    /// waiter wakes up and assigns it.
    const HANDS_OVER: bool = true;
    /// Whether a waiter leaves the queue when it times out.
    const LEAVES_QUEUE: bool = true;
    /// Whether a waiter that times out leaves all slots to others. Otherwise it takes one slot, which is lost.
    const LEAVES_SLOTS: bool = true;
    /// Whether closing the hall wakes its waiters.
    const CLOSING_WAKES: bool = true;
}

/// The decisions of a correct hall.
pub struct Sound;

impl Decisions for Sound {}

/// A simple hall in memory.
pub struct Double<R: Decisions = Sound> {
    shared: Arc<Shared>,
    decisions: PhantomData<R>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    k: usize,
    closed: bool,
    /// The largest number of slots that the hall has had.
    peak: usize,
    /// The slots that are held.
    held: Vec<usize>,
    /// The tickets of the waiters, in the order of their arrival. A ticket is a number that identifies a waiter.
    queue: VecDeque<u64>,
    /// The tickets that were served, with their slots.
    granted: Vec<(u64, usize)>,
    next_ticket: u64,
}

/// A slot of a [`Double`]. Dropping it frees the slot.
pub struct Pass<R: Decisions = Sound> {
    hall: Double<R>,
    slot: usize,
}

impl<R: Decisions> Double<R> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, slot: usize) -> Pass<R> {
        Pass { hall: self.clone(), slot }
    }

    /// Grants free slots to waiters, in order.
    fn serve(&self, state: &mut State) {
        while !state.queue.is_empty() && !state.closed {
            let Some(slot) = self.take(state) else { break };
            let position = R::next(state.queue.len());
            let ticket = state.queue.remove(position).expect("the position is in the queue");
            state.granted.push((ticket, slot));
        }
        self.shared.changed.notify_all();
    }

    /// Takes a free slot.
    fn take(&self, state: &mut State) -> Option<usize> {
        if state.held.len() >= R::admitted(state.k) {
            return None;
        }
        let is_free = |slot: &usize| !R::SLOTS_ARE_EXCLUSIVE || !state.held.contains(slot);
        let free: Vec<_> = (0..R::offered(state.k, state.peak)).filter(is_free).collect();
        // A hall that admits too many holders has no free slot left. It then hands out slot k, which
        // does not exist.
        let slot = R::pick(&free).unwrap_or(state.k);
        state.held.push(slot);
        Some(slot)
    }

    fn give_back(&self, slot: usize) {
        let mut state = self.state();
        let position = state.held.iter().position(|held| *held == slot).expect("the slot is held");
        state.held.swap_remove(position);
        if R::HANDS_OVER {
            self.serve(&mut state);
        } else {
            self.shared.changed.notify_all();
        }
    }

    fn wait(&self, until: Option<Instant>) -> Result<Pass<R>, Refusal> {
        let mut state = self.state();
        if state.closed {
            return Err(Refusal::Closed);
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.queue.push_back(ticket);
        self.serve(&mut state);
        loop {
            let granted = state.granted.iter().position(|(other, _)| *other == ticket);
            let is_over = until.is_some_and(|until| until <= Instant::now());
            match granted {
                Some(position) => {
                    let (_, slot) = state.granted.swap_remove(position);
                    return Ok(self.pass(slot));
                }
                None if state.closed && R::CLOSING_WAKES => {
                    state.queue.retain(|other| *other != ticket);
                    return Err(Refusal::Closed);
                }
                None if is_over => {
                    if R::LEAVES_QUEUE {
                        state.queue.retain(|other| *other != ticket);
                    }
                    if !R::LEAVES_SLOTS {
                        state.held.push(usize::MAX);
                    }
                    return Err(Refusal::NoPermits);
                }
                None => {}
            }
            let left = until.map_or(Duration::from_secs(3600), |until| {
                until.saturating_duration_since(Instant::now())
            });
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !R::HANDS_OVER {
                self.serve(&mut state);
            }
        }
    }
}

impl<R: Decisions> HallUnderTest for Double<R> {
    type Pass = Pass<R>;

    const CAPACITY: Capacity = Capacity {
        max_slots: 256,
        sizes: &[1, 2, 7, 64, 256],
        rounds: 300,
        hand_over: Duration::from_micros(50),
    };

    fn open(k: usize) -> Result<Self, String> {
        if !(1..=Self::CAPACITY.max_slots).contains(&k) {
            return Err(format!("a double must have 1 to 256 slots, got {k}"));
        }
        let (held, queue, granted) = (Vec::new(), VecDeque::new(), Vec::new());
        let state = State { k, closed: false, peak: k, held, queue, granted, next_ticket: 0 };
        let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
        Ok(Double { shared: Arc::new(shared), decisions: PhantomData })
    }

    fn acquire(&self) -> Result<Pass<R>, Refusal> {
        self.wait(None)
    }

    fn try_acquire(&self) -> Result<Pass<R>, Refusal> {
        let mut state = self.state();
        if state.closed {
            return Err(Refusal::Closed);
        }
        if !state.queue.is_empty() && R::TRY_QUEUES {
            return Err(Refusal::NoPermits);
        }
        self.take(&mut state).map(|slot| self.pass(slot)).ok_or(Refusal::NoPermits)
    }

    fn acquire_for(&self, time: Duration) -> Result<Pass<R>, Refusal> {
        self.wait(Instant::now().checked_add(time))
    }

    fn acquire_until(&self, deadline: Instant) -> Result<Pass<R>, Refusal> {
        self.wait(Some(deadline))
    }

    fn slot(pass: &Pass<R>) -> usize {
        pass.slot
    }

    fn slots(&self) -> usize {
        self.state().k
    }

    fn available(&self) -> usize {
        let state = self.state();
        state.k.saturating_sub(state.held.len())
    }

    fn waiting(&self) -> usize {
        self.state().queue.len()
    }

    fn resize(&self, k: usize) -> Result<(), String> {
        if !(1..=Self::CAPACITY.max_slots).contains(&k) {
            return Err(format!("a double must have 1 to 256 slots, got {k}"));
        }
        let mut state = self.state();
        state.k = k;
        state.peak = state.peak.max(k);
        self.serve(&mut state);
        Ok(())
    }

    fn close(&self) {
        self.state().closed = true;
        self.shared.changed.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }
}

impl<R: Decisions> Drop for Pass<R> {
    fn drop(&mut self) {
        self.hall.give_back(self.slot);
    }
}

impl<R: Decisions> Clone for Double<R> {
    fn clone(&self) -> Self {
        Double { shared: self.shared.clone(), decisions: PhantomData }
    }
}

impl<R: Decisions> fmt::Debug for Pass<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("slot", &self.slot).finish_non_exhaustive()
    }
}
