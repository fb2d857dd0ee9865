//! The turnstile in front of a [`Resilient`](crate::Resilient) object. It runs the step machine of
//! [`hallpass_algorithms::objects::turnstile`], assigns slots, and defines how threads wait.
//!
//! Two threads that operate on one object at the same time are slower than two threads that take turns: they compete
//! for cache lines, and the work of one of them is lost. So newcomers hold back while the admitted threads make
//! progress, although k threads may enter. One more thread enters only if no thread has left for a while. Newcomers
//! hold back while at least `level` threads are admitted. `level` is only a hint. The step machine decides which
//! threads enter, and its guarantees hold for every `level`.
//!
//! A waiter that has waited long enough draws a *number*. From then on, no newcomer overtakes it: threads with a number
//! enter in the order of their numbers.

use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;
use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Var, Word,
    objects::turnstile::{Line, Turnstile as Machine},
    papers::anderson_moir::{Named, names::At},
};

use crate::event::Event;

/// The number of short pauses that a waiter makes before it sleeps. It looks again after each pause. The last pause is
/// a yield. The others are spins, each twice as long as the previous one.
const LOOKS: u32 = 3;
/// If no thread has left for this long, the admitted threads count as stalled.
const STALL: Duration = Duration::from_micros(200);
/// After a sleeper has woken up and could not enter, no sleeper is woken (*called*) until this many threads have left.
const EXITS_BETWEEN_CALLS: Word = 1024;
/// The time for which one sleeper watches for a stall. After that, another sleeper may watch.
const WATCH: Duration = STALL;
/// A thread counts as stalled if this many other threads have left since it was admitted.
const OVERTAKEN: Word = 16;
/// The time for which a waiter lets others overtake it before it draws a number.
const PATIENCE: Duration = Duration::from_millis(5);
/// The maximum time that a waiter with a number sleeps without a notification.
const NAP: Duration = Duration::from_millis(10);
/// The number of events. A waiter with a number sleeps on one of them.
const EVENTS: usize = 16;

/// Admits at most k threads at once. Each has its own slot from 0 to k-1. Stopped threads block others only if at least
/// k threads have stopped.
pub(crate) struct Turnstile {
    machine: Named<Machine>,
    counters: CachePadded<Counters>,
    waiting: CachePadded<Waiting>,
}

/// The variables that every *passage* accesses (a thread enters and leaves). They share one cache line.
struct Counters {
    /// k, plus the number of threads that were admitted so far, or have drawn a number and still wait.
    drawn: AtomicI64,
    /// k, plus the number of threads that have left.
    exits: AtomicI64,
    /// The slots in use, one bit each.
    slots: AtomicI64,
    /// Newcomers hold back while at least this many threads are admitted. It is one more than the number of
    /// threads that seem to have stalled.
    level: AtomicI64,
}

struct Waiting {
    /// The number of waiters that sleep and have not drawn a number.
    sleepers: AtomicU32,
    /// Whether a sleeper that has not drawn a number was woken and has not looked for room yet.
    called: AtomicBool,
    /// No sleeper is called while `exits` is below this value. A call costs more than several passages, so a
    /// call that admitted no sleeper is not repeated immediately.
    next_call: AtomicI64,
    /// The time until which a sleeper watches for a stall, in microseconds since `created`. A watching
    /// sleeper sleeps only for a short time.
    watched: AtomicU64,
    created: Instant,
    newcomers: Event,
    turns: [Event; EVENTS],
}

/// A thread that the turnstile has admitted.
#[derive(Clone, Copy)]
pub(crate) struct Admission {
    /// A slot that no other admitted thread has.
    pub(crate) slot: usize,
    exit: At<Line>,
    /// The value of `exits` when the thread was admitted.
    since: Word,
}

/// The counters, as one passage accesses them.
///
/// The step machine has `drawn` and `exits` as variables, followed by a flag for each slot. On real memory, the flags
/// are bits of one word.
struct CounterMemory<'a> {
    counters: &'a Counters,
    /// The value of `exits` that the latest access to it found.
    exits: Word,
}

impl Memory for CounterMemory<'_> {
    #[inline(always)]
    fn access(&mut self, var: Var, op: Op) -> Word {
        let Counters { drawn, exits, slots, .. } = self.counters;
        match (var.index(), op) {
            (0, op) => op.apply(drawn),
            (1, op) => {
                self.exits = op.apply(exits);
                self.exits
            }
            (flag, Op::TestAndSet) => slots.fetch_or(1 << (flag - 2), SeqCst) >> (flag - 2) & 1,
            (flag, Op::Write(0)) => slots.fetch_and(!(1 << (flag - 2)), SeqCst),
            (_, op) => unreachable!("slots are only set and cleared, not {op:?}"),
        }
    }
}

impl Turnstile {
    pub(crate) fn new(k: usize) -> Self {
        // The step machine's behaviour does not depend on the number of processes.
        let machine = Named::new(Machine::new(k + 1, k));
        let initial = machine.layout().first_initial();
        let counters = Counters {
            drawn: AtomicI64::new(initial[0]),
            exits: AtomicI64::new(initial[1]),
            slots: AtomicI64::new(0),
            level: AtomicI64::new(1),
        };
        let waiting = Waiting {
            sleepers: AtomicU32::new(0),
            called: AtomicBool::new(false),
            next_call: AtomicI64::new(0),
            watched: AtomicU64::new(0),
            created: Instant::now(),
            newcomers: Event::new(),
            turns: [const { Event::new() }; EVENTS],
        };
        Turnstile {
            machine,
            counters: CachePadded::new(counters),
            waiting: CachePadded::new(waiting),
        }
    }

    pub(crate) fn k(&self) -> usize {
        self.machine.k()
    }

    /// Waits until a slot is free and takes it.
    #[inline]
    pub(crate) fn enter(&self) -> Admission {
        let mut patience = Patience::new();
        let mut at = match self.is_welcome() {
            true => self.machine.begin(0),
            false => self.wait(&mut patience),
        };
        let mut memory = CounterMemory { counters: &self.counters, exits: 0 };
        loop {
            at = match self.machine.step(&mut memory, 0, at) {
                // The try has failed. If the waiter has waited long enough, its next try is the last one before it
                // draws a number.
                Next::Goto(At::Exclusion(Line::E1 { .. })) => self.wait(&mut patience),
                Next::Goto(next) => next,
                Next::Spin(next) => {
                    self.wait_for_turn(next, &mut patience);
                    next
                }
                Next::Enter(exit) => {
                    let slot = self.machine.name(exit).expect("`Named` assigns a slot");
                    return Admission { slot, exit, since: memory.exits };
                }
                Next::Leave => unreachable!("a passage enters before it leaves"),
            }
        }
    }

    /// Frees the slot and wakes a waiter.
    #[inline]
    pub(crate) fn leave(&self, admission: Admission) {
        let mut at = admission.exit;
        let mut memory = CounterMemory { counters: &self.counters, exits: 0 };
        while let Next::Goto(next) = self.machine.step(&mut memory, 0, at) {
            at = next;
        }
        // `exits` is the count after this exit, not the latest count, because each exit admits the holder of a
        // different number.
        let exits = memory.exits + 1;
        let Counters { drawn, level, .. } = &*self.counters;
        let admitted = drawn.load(SeqCst) - exits;
        let level_now = level.load(SeqCst);
        if level_now > 1 && (exits - admission.since > OVERTAKEN || admitted + 1 < level_now) {
            level.store(level_now - 1, SeqCst); // a stalled thread has left
        }
        if admitted >= self.machine.k() as Word {
            self.turn(exits + self.machine.k() as Word - 1).notify_all();
        } else if self.waiting.sleepers.load(SeqCst) > 0 {
            self.call_sleeper(exits);
        }
    }

    /// Wakes a sleeper, unless another sleeper was woken and has not looked yet, or `exits` is below `next_call`.
    #[cold]
    fn call_sleeper(&self, exits: Word) {
        let Waiting { called, next_call, newcomers, .. } = &*self.waiting;
        if exits >= next_call.load(SeqCst) && !called.swap(true, SeqCst) {
            newcomers.notify_one();
        }
    }

    /// Returns the event on which the holder of number `t` sleeps.
    fn turn(&self, t: Word) -> &Event {
        &self.waiting.turns[t as usize % EVENTS]
    }

    /// Returns the number of threads that are admitted or have a number. This is a snapshot that may
    /// already be stale.
    fn admitted(&self) -> Word {
        let exits = self.counters.exits.load(SeqCst);
        self.counters.drawn.load(SeqCst) - exits
    }

    /// Returns whether a newcomer should try to enter now.
    fn is_welcome(&self) -> bool {
        self.admitted() < self.counters.level.load(SeqCst)
    }

    /// Waits until the thread should try again. Returns the line at which the try begins.
    #[cold]
    fn wait(&self, patience: &mut Patience) -> At<Line> {
        loop {
            let is_patient = self.rest(patience);
            if !is_patient || self.is_welcome() {
                return At::Exclusion(Line::E1 { last: !is_patient });
            }
        }
    }

    /// Waits for a short time, or until a thread leaves. Returns `false` if the next try of the waiter is the last one
    /// before it draws a number.
    fn rest(&self, patience: &mut Patience) -> bool {
        if patience.looks_again() {
            return true;
        }
        let left = patience.left(self.counters.exits.load(SeqCst));
        if patience.sees_stall() {
            let one_more = (self.admitted() + 1).min(self.machine.k() as Word);
            self.counters.level.fetch_max(one_more, SeqCst);
            return left.is_some();
        }
        let Some(left) = left else { return false };
        let waiting = &*self.waiting;
        if patience.has_slept {
            let exits = self.counters.exits.load(SeqCst);
            waiting.next_call.store(exits + EXITS_BETWEEN_CALLS, SeqCst);
        }
        patience.has_slept = true;
        let count = waiting.newcomers.count();
        waiting.sleepers.fetch_add(1, SeqCst);
        waiting.called.store(false, SeqCst); // the called sleeper has looked or entered
        if !self.is_welcome() {
            let at_most = if waiting.becomes_watcher() { left.min(STALL) } else { left };
            waiting.newcomers.wait(count, at_most);
        }
        waiting.sleepers.fetch_sub(1, SeqCst);
        waiting.called.store(false, SeqCst);
        patience.looks = 0;
        true
    }

    /// Waits for a limited time for the turn of the number that this thread has drawn.
    #[cold]
    fn wait_for_turn(&self, at: At<Line>, patience: &mut Patience) {
        let At::Exclusion(Line::E5 { t }) = at else { return };
        if patience.looks_again() {
            return;
        }
        let turn = self.turn(t);
        let count = turn.count();
        if t - self.counters.exits.load(SeqCst) >= self.machine.k() as Word {
            turn.wait(count, NAP);
        }
    }
}

impl Waiting {
    /// Makes the calling sleeper the watcher for stalls, if there is no other watcher. Returns whether
    /// it became the watcher. One watcher is enough. If the watcher stops, another sleeper takes over
    /// after [`WATCH`].
    fn becomes_watcher(&self) -> bool {
        let now = self.created.elapsed();
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let until = self.watched.load(SeqCst);
        let next = micros(now + WATCH);
        until <= micros(now) && self.watched.compare_exchange(until, next, SeqCst, SeqCst).is_ok()
    }
}

/// The time that a waiter has waited, and the exits that it has seen.
struct Patience {
    looks: u32,
    has_slept: bool,
    /// The time at which the waiter had finished its brief pauses.
    since: Option<Instant>,
    /// The latest number of exits that the waiter has seen, and the time at which it first saw this
    /// number.
    seen: Option<(Word, Instant)>,
}

impl Patience {
    fn new() -> Self {
        Patience { looks: 0, has_slept: false, since: None, seen: None }
    }

    /// Pauses briefly and returns `true`. Returns `false` instead if the waiter should sleep.
    fn looks_again(&mut self) -> bool {
        self.looks += 1;
        match self.looks {
            ..LOOKS => (0..1 << self.looks).for_each(|_| hint::spin_loop()),
            LOOKS => thread::yield_now(),
            _ => return false,
        }
        true
    }

    /// Records the number of exits. Returns the time that is left before the waiter draws a number, or
    /// `None` if no time is left.
    fn left(&mut self, exits: Word) -> Option<Duration> {
        let now = Instant::now();
        if self.seen.is_none_or(|(seen, _)| seen != exits) {
            self.seen = Some((exits, now));
        }
        let since = *self.since.get_or_insert(now);
        PATIENCE.checked_sub(now - since).filter(|left| !left.is_zero())
    }

    /// Returns whether no thread has left for [`STALL`]. Returns `true` only once for each such period.
    fn sees_stall(&mut self) -> bool {
        let is_old = |&(_, when): &(Word, Instant)| when.elapsed() >= STALL;
        self.seen.take_if(|seen| is_old(seen)).is_some()
    }
}
