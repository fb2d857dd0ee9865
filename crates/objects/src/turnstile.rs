//! The door: the machine of [`hallpass_algorithms::objects::turnstile`] with names, and how one waits there.
//!
//! Two that operate at once on one object are slower than one after the other: they take turns with the
//! cache lines, and one of them works in vain. So though k may be in, newcomers wait politely while those
//! who are in make progress, and only when nobody has left for a while does one more go in. That
//! number, `level`, is advice: the machine decides who gets in, and its promises hold whatever anybody
//! takes for polite.

use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Var, Word,
    objects::turnstile::{Line, Turnstile as Machine},
    papers::anderson_moir::{Named, names::At},
};

use crate::{bell::Bell, words::Apart};

/// How often to look again before lying down, after pauses that double each time.
const LOOKS: u32 = 3;
/// After so long without anybody leaving, those who are in count as stalled.
const STALL: Duration = Duration::from_micros(200);
/// After one was called in vain, so many leave before the next is called.
const CALM: Word = 1024;
/// How long one watches. Others may, when that time is over.
const WATCH: Duration = STALL;
/// One during whose stay so many have left counts as one that had stalled.
const OVERTAKEN: Word = 16;
/// How long one lets others overtake before it draws a number.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long one with a number sleeps at most if nobody rings.
const NAP: Duration = Duration::from_millis(10);
/// Those who have a number sleep at one of so many bells.
const BELLS: usize = 16;

/// Lets at most k in at once, each with a name of its own from 0 to k-1. Whoever has stopped, wherever it
/// did, keeps others out only if there are k of them.
pub(crate) struct Turnstile {
    machine: Named<Machine>,
    counters: Apart<Counters>,
    waiting: Apart<Waiting>,
}

/// Every passage accesses all of these: they are on one line.
struct Counters {
    drawn: AtomicI64,
    exits: AtomicI64,
    names: AtomicI64,
    /// How many are in before newcomers wait: one more than seem to have stalled there.
    level: AtomicI64,
}

struct Waiting {
    /// How many sleep without a number.
    sleepers: AtomicU32,
    /// Whether one of them has been woken and not yet looked.
    called: AtomicBool,
    /// From so many exits on, one of them is called. After a call in vain it is not done at once again:
    /// a call costs more than several passages.
    next_call: AtomicI64,
    /// Until when one of them watches: it sleeps for a short time only, to see whether anybody leaves.
    /// In microseconds since `birth`.
    watched: AtomicU64,
    birth: Instant,
    bell: Bell,
    turns: [Bell; BELLS],
}

/// Somebody who is in.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    /// A name that nobody else has who is in.
    pub(crate) name: usize,
    exit: At<Line>,
    /// How many had left when it came.
    since: Word,
}

/// The counters, as one passage sees them.
struct View<'a> {
    counters: &'a Counters,
    /// The value of exits that the last access found.
    exits: Word,
}

/// The machine's variables are the two counters, then a flag for each name, which natively is a bit.
impl Memory for View<'_> {
    #[inline(always)]
    fn access(&mut self, var: Var, op: Op) -> Word {
        let Counters { drawn, exits, names, .. } = self.counters;
        match (var.index(), op) {
            (0, op) => op.apply(drawn),
            (1, op) => {
                self.exits = op.apply(exits);
                self.exits
            }
            (name, Op::TestAndSet) => names.fetch_or(1 << (name - 2), SeqCst) >> (name - 2) & 1,
            (name, Op::Write(0)) => names.fetch_and(!(1 << (name - 2)), SeqCst),
            (_, op) => unreachable!("names are set and cleared only, not {op:?}"),
        }
    }
}

impl Turnstile {
    pub(crate) fn new(k: usize) -> Self {
        // Nothing depends on how many processes there are.
        let machine = Named::new(Machine::new(k + 1, k));
        let initial = machine.layout().first_initial();
        let counters = Counters {
            drawn: AtomicI64::new(initial[0]),
            exits: AtomicI64::new(initial[1]),
            names: AtomicI64::new(0),
            level: AtomicI64::new(1),
        };
        let waiting = Waiting {
            sleepers: AtomicU32::new(0),
            called: AtomicBool::new(false),
            next_call: AtomicI64::new(0),
            watched: AtomicU64::new(0),
            birth: Instant::now(),
            bell: Bell::new(),
            turns: [const { Bell::new() }; BELLS],
        };
        Turnstile { machine, counters: Apart(counters), waiting: Apart(waiting) }
    }

    pub(crate) fn k(&self) -> usize {
        self.machine.k()
    }

    /// Gets in.
    #[inline]
    pub(crate) fn enter(&self) -> Inside {
        let mut patience = Patience::new();
        let mut at = match self.is_welcome() {
            true => self.machine.begin(0),
            false => self.wait(&mut patience),
        };
        let mut view = View { counters: &self.counters.0, exits: 0 };
        loop {
            at = match self.machine.step(&mut view, 0, at) {
                // A first try in vain: the second is the last for who has no patience left.
                Next::Goto(At::Exclusion(Line::E1 { .. })) => self.wait(&mut patience),
                Next::Goto(next) => next,
                Next::Spin(next) => {
                    self.wait_for_turn(next, &mut patience);
                    next
                }
                Next::Enter(exit) => {
                    let name = self.machine.name(exit).expect("who is in has a name");
                    return Inside { name, exit, since: view.exits };
                }
                Next::Leave => unreachable!("a passage enters before it leaves"),
            }
        }
    }

    /// Gets out.
    #[inline]
    pub(crate) fn leave(&self, who: Inside) {
        let mut at = who.exit;
        let mut view = View { counters: &self.counters.0, exits: 0 };
        while let Next::Goto(next) = self.machine.step(&mut view, 0, at) {
            at = next;
        }
        // Its own exit and not the latest: each has its own number to wake.
        let exits = view.exits + 1;
        let Counters { drawn, level, .. } = &self.counters.0;
        let inside = drawn.load(SeqCst) - exits;
        let level_now = level.load(SeqCst);
        if level_now > 1 && (exits - who.since > OVERTAKEN || inside + 1 < level_now) {
            level.store(level_now - 1, SeqCst); // one that had stalled has left
        }
        if inside >= self.machine.k() as Word {
            self.turn(exits + self.machine.k() as Word - 1).ring(true);
        } else if self.waiting.0.sleepers.load(SeqCst) > 0 {
            self.call(exits);
        }
    }

    /// Wakes one that sleeps, unless another is about to look already.
    #[cold]
    fn call(&self, exits: Word) {
        let Waiting { called, next_call, bell, .. } = &self.waiting.0;
        if exits >= next_call.load(SeqCst) && !called.swap(true, SeqCst) {
            bell.ring(false);
        }
    }

    /// Where the holder of number `t` sleeps.
    fn turn(&self, t: Word) -> &Bell {
        &self.waiting.0.turns[t as usize % BELLS]
    }

    /// How many are in or have a number, as it seems.
    fn inside(&self) -> Word {
        let exits = self.counters.0.exits.load(SeqCst);
        self.counters.0.drawn.load(SeqCst) - exits
    }

    /// Whether it is polite to try.
    fn is_welcome(&self) -> bool {
        self.inside() < self.counters.0.level.load(SeqCst)
    }

    /// Waits until it is time to try (again); says where to begin.
    #[cold]
    fn wait(&self, patience: &mut Patience) -> At<Line> {
        loop {
            let is_patient = self.rest(patience);
            if !is_patient || self.is_welcome() {
                return At::Exclusion(Line::E1 { last: !is_patient });
            }
        }
    }

    /// Waits a little, or until somebody leaves; says whether to be patient any longer.
    fn rest(&self, patience: &mut Patience) -> bool {
        if patience.looks_again() {
            return true;
        }
        let left = patience.left(self.counters.0.exits.load(SeqCst));
        if patience.sees_stall() {
            let one_more = (self.inside() + 1).min(self.machine.k() as Word);
            self.counters.0.level.fetch_max(one_more, SeqCst);
            return left.is_some();
        }
        let Some(left) = left else { return false };
        let waiting = &self.waiting.0;
        if patience.has_slept {
            let exits = self.counters.0.exits.load(SeqCst);
            waiting.next_call.store(exits + CALM, SeqCst);
        }
        patience.has_slept = true;
        let count = waiting.bell.count();
        waiting.sleepers.fetch_add(1, SeqCst);
        waiting.called.store(false, SeqCst); // whoever was called has looked, or left
        if !self.is_welcome() {
            waiting.bell.sleep(count, if waiting.is_to_watch() { left.min(STALL) } else { left });
        }
        waiting.sleepers.fetch_sub(1, SeqCst);
        waiting.called.store(false, SeqCst);
        patience.looks = 0;
        true
    }

    /// With a number that is not in yet.
    #[cold]
    fn wait_for_turn(&self, at: At<Line>, patience: &mut Patience) {
        let At::Exclusion(Line::E5 { t }) = at else { return };
        if patience.looks_again() {
            return;
        }
        let bell = self.turn(t);
        let count = bell.count();
        if t - self.counters.0.exits.load(SeqCst) >= self.machine.k() as Word {
            bell.sleep(count, NAP);
        }
    }
}

impl Waiting {
    /// Whether the one who asks should watch. One of all who sleep is enough; should it stop, another
    /// one takes over when its time is up.
    fn is_to_watch(&self) -> bool {
        let now = self.birth.elapsed();
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let until = self.watched.load(SeqCst);
        let next = micros(now + WATCH);
        until <= micros(now) && self.watched.compare_exchange(until, next, SeqCst, SeqCst).is_ok()
    }
}

/// What is left of one's patience.
struct Patience {
    looks: u32,
    has_slept: bool,
    /// When it began to sleep.
    since: Option<Instant>,
    /// How many had left when it first saw so many, and when that was.
    seen: Option<(Word, Instant)>,
}

impl Patience {
    fn new() -> Self {
        Patience { looks: 0, has_slept: false, since: None, seen: None }
    }

    /// Pauses, if there is any point in it: otherwise one should sleep.
    fn looks_again(&mut self) -> bool {
        self.looks += 1;
        match self.looks {
            ..LOOKS => (0..1 << self.looks).for_each(|_| hint::spin_loop()),
            LOOKS => thread::yield_now(),
            _ => return false,
        }
        true
    }

    /// How long one is still patient, now that so many have left.
    fn left(&mut self, exits: Word) -> Option<Duration> {
        let now = Instant::now();
        if self.seen.is_none_or(|(seen, _)| seen != exits) {
            self.seen = Some((exits, now));
        }
        let since = *self.since.get_or_insert(now);
        PATIENCE.checked_sub(now - since).filter(|left| !left.is_zero())
    }

    /// Whether nobody has left for a while.
    fn sees_stall(&mut self) -> bool {
        let is_old = |&(_, when): &(Word, Instant)| when.elapsed() >= STALL;
        self.seen.take_if(|seen| is_old(seen)).is_some()
    }
}
