//! The protocol as the lab sees it: a few processes, and a store that is one word.
//!
//! A model has a set of events besides passages ([`Casts`]). The [parent module](super) lists what the native
//! driver does beyond the model.

use alloc::{string::String, vec::Vec};

use super::{
    events,
    hall::{Hall, Knowledge, MAX_PROCESSES, Slot},
    halls::{Halls, all_halls, fewer, owns},
    lines::{
        ClaimState,
        Line::{self, *},
    },
    register::{self, Answer, Transact},
    words::{HallCodec, pack_line},
};
use crate::framework::{
    layout::{Decl, Domain, Init, Kind, Layout},
    machine::{
        Algorithm, Label, Loc, Mishap,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Op, Pid, Var, Word},
};

/// An event that a model has besides passages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cast {
    /// Any process may die, at any line.
    Mortal,
    /// Any lease may end at any time, even if its owner is alive and holds a slot.
    Expiry,
    /// Any connection may break: the request has taken effect, but the sender gets no answer.
    Unheard,
    /// Any request that changes the hall may hang in the network. Its sender sends it again. The manager delivers the
    /// first copy at any later time.
    Late,
    /// Of the processes that want slots, the one with the largest number does not wait.
    Try,
    /// Waiters may give up. The manager is a clock: their time limit may expire at any time.
    Timeout,
    /// The manager removes a slot from the hall, and adds it again.
    Resize,
    /// The manager gives a free slot to the head of the queue, as `ClusterHall::resize` does after it has made the hall
    /// larger.
    HandOver,
    /// The manager gives the slots of vanished holders to waiters, or frees them.
    Reap,
    /// The manager removes the hall by force and creates it again.
    Remake,
    /// The store loses its history.
    Wipe,
    /// Holders whose lease has ended create their claims again.
    Attach,
    /// The manager closes the hall.
    Close,
    /// The manager makes a backup of the store.
    BackUp,
    /// The store is restored from the backup: it goes back to an earlier state.
    Restore,
    /// The leases of the claims in the backup end.
    OldLeases,
    /// Each of the first two processes takes two slots at once, if the hall has at least two.
    Pairs,
}
use Cast::*;

/// The events of a model: a set of [`Cast`]s, as in `Cast::Expiry | Cast::Try`.
///
/// Four events hit a process: `Mortal`, `Expiry`, `Unheard` and `Late`. The set has at most one of them, because the
/// lab supports one kind of mishap for each process. If the set has any event except `Mortal`, `Expiry`, `Unheard`,
/// `Try` and `Pairs`, the last process is the *manager*, which never wants a slot. The manager makes its events happen
/// one after the other, in the order of [`Cast`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Casts(u32);

set_of_casts!();

impl Casts {
    /// Returns the events that the manager makes happen.
    fn managed(self) -> impl Iterator<Item = Cast> {
        let before = [Late, Timeout, Resize, HandOver, Reap, Remake, Wipe, Attach, Close];
        let all = before.into_iter().chain([BackUp, Restore, OldLeases]);
        all.filter(move |cast| self.has(*cast))
    }

    fn has_manager(self) -> bool {
        self.managed().next().is_some()
    }

    /// Returns how many of `n` processes want slots.
    pub(super) fn competitors(self, n: usize) -> usize {
        n - usize::from(self.has_manager())
    }

    /// Returns whether a claim may be gone while its owner uses its slot.
    pub(super) fn has_stale_holders(self) -> bool {
        [Expiry, Remake, Wipe, Restore].into_iter().any(|cast| self.has(cast))
    }

    /// Returns whether claims may be lost.
    pub(super) fn loses_claims(self) -> bool {
        self.has(Mortal) || self.has_stale_holders()
    }
}

/// The maximum number of states of the hall for a model that the lab can explore. With more states, the tables of the
/// lab would take gigabytes.
const MOST_HALLS: usize = 1 << 22;

/// A hall and the processes that use it.
pub struct ClusterModel {
    n: usize,
    k: usize,
    casts: Casts,
    layout: Layout,
    hall: Var,
    /// The mishap: its effect on the store, whether it kills the process, and its name.
    mishap: Option<(Transact, bool, &'static str)>,
    /// The event of the manager that a wrong variant changes, with its changed effect.
    management: Option<(Cast, Transact)>,
}

/// The position of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The process is at a line of a passage.
    At(Line<Pid>),
    /// The process is about to look for a free slot. The result may be out of date when the process creates
    /// its claim.
    Guess,
    /// The manager is about to make this event happen.
    Manage(Cast),
}
use State::*;

impl ClusterModel {
    /// Models `n` processes that compete for `k` slots.
    pub fn new(casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        let casts = casts.into();
        ClusterModel::with_halls(casts, n, k, all_halls(casts, casts.competitors(n), k))
    }

    /// Models processes that share one hall. `halls` are the states that it can have.
    pub(super) fn with_halls(casts: Casts, n: usize, k: usize, halls: Halls) -> Self {
        let mut layout = Layout::default();
        let empty = Init::Is(Hall { pairs: casts.has(Pairs) && k > 1, ..Hall::new(k) }.pack());
        let halls: Vec<Word> = halls.take(MOST_HALLS + 1).map(|hall| hall.pack()).collect();
        let domain = match halls.len() <= MOST_HALLS {
            true => Domain::Listed(halls),
            false => Domain::Wide(Word::BITS - 1),
        };
        let decl = Decl::listed("hall", Kind::custom(HallCodec), Vec::new(), empty).waited_on();
        let hall = layout.add(Decl { domain, ..decl });
        let mishaps: [(Cast, Transact, bool, &str); 4] = [
            (Mortal, events::dies, true, "killed"),
            (Expiry, events::expires, false, "lease ends"),
            (Unheard, events::breaks, false, "cut off"),
            (Late, events::delays, false, "request hangs"),
        ];
        let mut mishaps = mishaps.into_iter().filter(|(cast, ..)| casts.has(*cast));
        let mishap = mishaps.next().map(|(_, change, kills, name)| (change, kills, name));
        debug_assert!(mishaps.next().is_none(), "the lab supports one kind of mishap");
        ClusterModel { n, k, casts, layout, hall, mishap, management: None }
    }

    /// Replaces what the manager does to the store when it makes this event happen.
    pub(super) fn with_management(mut self, cast: Cast, change: Transact) -> Self {
        self.management = Some((cast, change));
        self
    }

    /// Replaces the effect that the mishap has on the store.
    pub(super) fn with_mishap(mut self, change: Transact) -> Self {
        self.mishap = self.mishap.map(|(_, kills, name)| (change, kills, name));
        self
    }

    /// Returns the number of the manager. The claims in a backup count as claims of the manager.
    fn manager(&self) -> Word {
        (self.n - 1) as Word
    }

    /// Returns the change that the manager makes to the hall for this event.
    fn management(&self, cast: Cast) -> Op {
        if let Some((changed, change)) = self.management
            && changed == cast
        {
            return Op::AtomicUpdate(change, self.manager());
        }
        match cast {
            Late => Op::AtomicUpdate(events::deliver, 0),
            Resize => Op::AtomicUpdate(events::resize, (fewer(self.k) + 8 * self.k) as Word),
            HandOver => Op::AtomicUpdate(events::hand_over, 0),
            Reap => Op::AtomicUpdate(events::reap, 0),
            Remake => Op::AtomicUpdate(events::remake, 0),
            Wipe => Op::AtomicUpdate(events::wipe, 0),
            Attach => Op::AtomicUpdate(events::attach, 0),
            Close => Op::AtomicUpdate(events::close, 0),
            BackUp => Op::AtomicUpdate(events::back_up, 0),
            Restore => Op::AtomicUpdate(events::restore, self.manager()),
            OldLeases => Op::AtomicUpdate(events::dies, self.manager()),
            Timeout | Mortal | Expiry | Unheard | Try | Pairs => {
                Op::AtomicUpdate(events::turn_clock, 0)
            }
        }
    }

    /// Executes one line: its transaction, and the step to which the answer leads.
    pub(super) fn line<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        line: Line<Pid>,
        (transact, answer): (Transact, Answer),
    ) -> Next<State> {
        let op = Op::AtomicUpdate(transact, pack_line(p, line));
        let found = m.access(self.hall, op);
        let before = Hall::unpack(found);
        if before.sleeps(p, line) {
            return Spin(At(line));
        }
        if before.unheard == Some(p) || before.delayed(p, line) {
            return Goto(At(line));
        }
        match answer(&Hall::unpack(op.leaves(found)), p, line) {
            Goto(next) => Goto(At(next)),
            Spin(next) => Spin(At(next)),
            Enter(next) => Enter(At(next)),
            Leave => Leave,
        }
    }
}

impl Algorithm for ClusterModel {
    type State = State;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> State {
        match self.casts.managed().next() {
            Some(first) if p + 1 == self.n => Manage(first),
            _ => Guess,
        }
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: State) -> Next<State> {
        match at {
            Manage(cast) => {
                m.access(self.hall, self.management(cast));
                let mut later = self.casts.managed().skip_while(|other| *other != cast).skip(1);
                later.next().map_or(Leave, |next| Goto(Manage(next)))
            }
            Guess => {
                let now = Hall::unpack(m.read(self.hall)).picture(p);
                let slot = now.free.unwrap_or(0);
                let waits = !self.casts.has(Try) || p + 1 != self.casts.competitors(self.n);
                Goto(At(if waits { E1 { slot } } else { T1 { slot } }))
            }
            At(line) => self.line(m, p, line, (register::transact, Hall::answer)),
        }
    }

    fn waits(&self, _: Pid, at: State) -> bool {
        !matches!(at, Manage(_) | Guess | At(E1 { .. }))
    }

    fn label(&self, _: Pid, at: State) -> Label {
        let line = match at {
            At(line) => line.name(),
            Guess => "guess",
            Manage(_) => "manage",
        };
        Label { figure: "claims", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: State) -> Option<usize> {
        match at {
            At(X1 { slot }) => Some(slot),
            _ => None,
        }
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        // No mishap hits the manager.
        let (change, kills, name) = self.mishap.filter(|_| p < self.casts.competitors(self.n))?;
        Some(Mishap {
            var: self.hall,
            op: Op::AtomicUpdate(change, p as Word),
            kills,
            recurs: false,
            name,
        })
    }

    fn invariants(&self) -> &'static [&'static str] {
        &["I1", "I2", "I3", "I4", "I5"]
    }

    fn broken_invariant(&self, state: &View<'_, State>) -> Option<&'static str> {
        let hall = Hall::unpack(state.value(self.hall));
        let has_own_slot = |(p, loc): (Pid, &Loc<State>)| match *loc {
            Loc::Critical(At(X1 { slot })) => {
                let is_own = |slot: &&Slot| [Slot::Held(p), Slot::Stale(p)].contains(slot);
                is_own(&&hall.slots[slot])
                    && hall.slots.iter().filter(is_own).count() == hall.take(p)
            }
            _ => true,
        };
        let leaves_nothing = |(p, loc): (Pid, &Loc<State>)| {
            *loc != Loc::Remainder || hall.claim_state(p) == ClaimState::Absent && !owns(&hall, p)
        };
        let sleeps = |p: &Pid| hall.known[*p] == Knowledge::Asleep;
        let slots = &hall.slots[..hall.size];
        let is_free = hall.queue.first().is_some_and(|head| hall.has_room_for(*head));
        let is_available = is_free || slots.contains(&Slot::Left);
        let processes = || state.processes.iter().enumerate();
        let has_one_claim = |p: Pid| {
            let mine = [Slot::Given(p), Slot::Held(p)];
            let inside = hall.slots.iter().filter(|slot| mine.contains(slot)).count();
            inside.div_ceil(hall.take(p)) + usize::from(hall.queue.contains(&p)) <= 1
        };
        let rules = [
            ("I1", processes().all(has_own_slot)),
            ("I2", processes().all(leaves_nothing)),
            ("I3", !is_available || !hall.queue.first().is_some_and(sleeps)),
            ("I4", !is_free || !hall.queue.iter().any(sleeps)),
            ("I5", (0..self.casts.competitors(self.n)).all(has_one_claim)),
        ];
        rules.into_iter().find(|(_, holds)| !holds).map(|(name, _)| name)
    }
}

const _: () =
    assert!(MAX_PROCESSES < 8, "a process number must fit into the argument of a transaction");
