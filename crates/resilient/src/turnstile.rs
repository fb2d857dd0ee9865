//! The door: the machine of [`hallpass_algorithms::turnstile`] with names, and how one waits there.

use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Var, Word,
    anderson_moir::{Named, names::At},
    turnstile::{Line, Turnstile as Machine},
};

use crate::{
    bell::Bell,
    words::{Apart, access},
};

/// How often to look again at once.
const SPINS: u32 = 40;
/// How often to let others run before lying down.
const YIELDS: u32 = 2;
/// How long one lets others overtake before it draws a number.
const PATIENCE: Duration = Duration::from_millis(20);
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
}

struct Waiting {
    /// How many sleep without a number.
    sleepers: AtomicU32,
    /// Whether one of them has been woken and not yet looked.
    called: AtomicBool,
    bell: Bell,
    turns: [Bell; BELLS],
}

/// Where the exit section of one begins who is in.
pub(crate) type Exit = At<Line>;

/// The machine's variables are the two counters, then a flag for each name, which natively is a bit.
impl Memory for &Counters {
    #[inline(always)]
    fn access(&mut self, var: Var, op: Op) -> Word {
        match (var.index(), op) {
            (0, op) => access(&self.drawn, op),
            (1, op) => access(&self.exits, op),
            (name, Op::TestAndSet) => {
                self.names.fetch_or(1 << (name - 2), SeqCst) >> (name - 2) & 1
            }
            (name, Op::Write(0)) => self.names.fetch_and(!(1 << (name - 2)), SeqCst),
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
        };
        let waiting = Waiting {
            sleepers: AtomicU32::new(0),
            called: AtomicBool::new(false),
            bell: Bell::new(),
            turns: [const { Bell::new() }; BELLS],
        };
        Turnstile { machine, counters: Apart(counters), waiting: Apart(waiting) }
    }

    pub(crate) fn k(&self) -> usize {
        self.machine.k()
    }

    /// Gets in; the name comes back, and where to go out.
    #[inline]
    pub(crate) fn enter(&self) -> (usize, Exit) {
        let mut patience = Patience::new();
        let mut at = self.machine.begin(0);
        loop {
            at = match self.machine.step(&mut &self.counters.0, 0, at) {
                // A first try in vain: one more is the last only for who has no patience left.
                Next::Goto(At::Exclusion(Line::E1 { .. })) => {
                    let last = !self.rest(&mut patience);
                    At::Exclusion(Line::E1 { last })
                }
                Next::Goto(next) => next,
                Next::Spin(next) => {
                    self.wait_for_turn(next, &mut patience);
                    next
                }
                Next::Enter(exit) => {
                    let name = self.machine.name(exit).expect("who is in has a name");
                    return (name, exit);
                }
                Next::Leave => unreachable!("a passage enters before it leaves"),
            }
        }
    }

    /// Gets out.
    #[inline]
    pub(crate) fn leave(&self, mut at: Exit) {
        while let Next::Goto(next) = self.machine.step(&mut &self.counters.0, 0, at) {
            at = next;
        }
        let left = self.counters.0.exits.load(SeqCst);
        let turn = left + self.machine.k() as Word - 1;
        if turn < self.counters.0.drawn.load(SeqCst) {
            self.turn(turn).ring(true);
        } else if self.waiting.0.sleepers.load(SeqCst) > 0 {
            self.call();
        }
    }

    /// Wakes one that sleeps, unless another is about to look already.
    #[cold]
    fn call(&self) {
        if !self.waiting.0.called.swap(true, SeqCst) {
            self.waiting.0.bell.ring(false);
        }
    }

    /// Where the holder of number `t` sleeps.
    fn turn(&self, t: Word) -> &Bell {
        &self.waiting.0.turns[t as usize % BELLS]
    }

    /// Whether it looks as if one could get in.
    fn has_room(&self) -> bool {
        let exits = self.counters.0.exits.load(SeqCst);
        self.counters.0.drawn.load(SeqCst) - exits < self.machine.k() as Word
    }

    /// After a try in vain: says whether to be patient once more.
    #[cold]
    fn rest(&self, patience: &mut Patience) -> bool {
        if patience.looks_again() {
            return true;
        }
        let Some(left) = patience.left() else { return false };
        let waiting = &self.waiting.0;
        let count = waiting.bell.count();
        waiting.sleepers.fetch_add(1, SeqCst);
        if !self.has_room() {
            waiting.bell.sleep(count, left);
        }
        waiting.sleepers.fetch_sub(1, SeqCst);
        waiting.called.store(false, SeqCst);
        patience.rounds = 0;
        true
    }

    /// With a number that is not in yet.
    #[cold]
    fn wait_for_turn(&self, at: Exit, patience: &mut Patience) {
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

/// What is left of one's patience.
struct Patience {
    rounds: u32,
    since: Option<Instant>,
}

impl Patience {
    fn new() -> Self {
        Patience { rounds: 0, since: None }
    }

    /// Spins or yields, if there is any point in it: otherwise one should sleep.
    fn looks_again(&mut self) -> bool {
        self.rounds += 1;
        if self.rounds <= SPINS {
            hint::spin_loop();
        } else if self.rounds <= SPINS + YIELDS {
            thread::yield_now();
        } else {
            return false;
        }
        true
    }

    /// How long one is still patient.
    fn left(&mut self) -> Option<Duration> {
        let since = *self.since.get_or_insert_with(Instant::now);
        PATIENCE.checked_sub(since.elapsed()).filter(|left| !left.is_zero())
    }
}
