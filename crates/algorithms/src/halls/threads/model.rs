//! The step machine as the lab checks it: processes with different roles that use one hall.

use alloc::{format, string::String, vec::Vec};
use core::marker::PhantomData;

use super::{
    codecs::{GrantCodec, LockCodec, Slots, TermsCodec, WordCodec},
    lines::{self, Job, Line},
    model_environment::ModelEnvironment,
    overtake::DEBT,
    policy::{Bypass, Fair, Policy},
    pool::{Bits, Pool},
    words::{CALLED, FREE, HELD, MARK, NEWS, SERVE, Terms, WAITER},
};
use crate::framework::{
    layout::{Array, Decl, Init, Kind, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Pid, Var, Word},
    queue,
};

/// The maximum number of processes of a model. It is small, because the model lists every possible content of
/// the queue.
pub const MAX_PROCESSES: usize = 6;

/// A role or an event that a model can have. In a model without any, every process takes one slot at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// Process 0 takes two slots at a time.
    Many,
    /// The clock may expire at any time, and may be reset at any time. A waiter that finds it expired gives up.
    Timeout,
    /// The manager (see [`Casts`]) takes a slot away from the hall, or gives it back.
    Resize,
    /// The manager closes the hall.
    Close,
}

/// The roles and events of a model: a set of [`Cast`]s, as in `Cast::Timeout | Cast::Resize`.
///
/// If the set contains `Timeout`, `Resize` or `Close`, the last process is the *manager*, which takes no
/// slots. In each of its passages, the manager makes the clock expire or resets it (`Timeout`), and then
/// resizes or closes the hall. With both `Resize` and `Close`, it closes the hall after it has taken a slot away, and
/// resizes the closed hall from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Casts(u32);

set_of_casts!();

impl Casts {
    fn has_manager(self) -> bool {
        [Cast::Timeout, Cast::Resize, Cast::Close].into_iter().any(|cast| self.has(cast))
    }
}

/// The moments at which a waiter looks for its grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sleep {
    /// A waiter looks at any time, because it may wake up spuriously.
    Light,
    /// A waiter looks only when it was woken, so a lost wake-up stays lost.
    Deep,
}

/// A hall and the processes that use it.
pub struct ThreadsModel<P = Bits, M = Fair> {
    n: usize,
    pub(super) k: usize,
    pub(super) casts: Casts,
    pub(super) sleep: Sleep,
    layout: Layout,
    pub(super) word: Var,
    pub(super) lock: Var,
    pub(super) terms: Var,
    pub(super) queue: Var,
    pub(super) clock: Var,
    pub(super) grant: Array,
    pub(super) bell: Array,
    /// In a hall with a limit on overtaking: the variable `credit`, and how many newcomers may overtake a waiter.
    pub(super) credit: Option<(Var, u32)>,
    rules: PhantomData<(P, M)>,
}

/// The next step of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The process executes a line of a passage.
    At(Line<Pid>),
    /// The process makes the clock expire or resets it.
    Clock,
    /// The process reads the number of slots, in order to change it.
    Look,
}
use State::*;

impl<P: Pool, M: Policy> ThreadsModel<P, M> {
    /// Creates the model of a hall with `k` slots for `n` processes.
    pub fn new(casts: impl Into<Casts>, sleep: Sleep, n: usize, k: usize) -> Self {
        Self::with_bypass(casts.into(), sleep, 0, n, k)
    }

    /// Creates the model in which `bypass` newcomers may overtake a waiter, if the policy allows it.
    fn with_bypass(casts: Casts, sleep: Sleep, bypass: u32, n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        let takes = P::all(k);
        let words = Self::all_words(casts, n, takes);
        let slots = Slots::of(P::BITS);
        let kind = Kind::custom(WordCodec(slots));
        let word = layout.add(Decl::listed("word", kind, words, Init::Is(takes)).waited_on());
        let locks = (0..=HELD | NEWS).collect();
        let lock = layout
            .add(Decl::listed("lock", Kind::custom(LockCodec), locks, Init::Is(0)).waited_on());
        let terms = layout.add(Decl::listed(
            "terms",
            Kind::custom(TermsCodec(slots)),
            Self::all_terms(casts, k),
            Init::Is(Terms::new(k as u16).pack()),
        ));
        let queues = queue::contents(n).iter().map(|queue| queue::pack(queue)).collect();
        let queue = layout.add(Decl::listed("queue", Kind::Queue, queues, Init::Is(0)));
        let clock = layout.add(Decl::flag("clock", false));
        let grant = layout.array(n, |p| {
            let (name, grants) = (format!("grant[{p}]"), (SERVE..=takes).collect());
            let kind = Kind::custom(GrantCodec(slots));
            Decl::listed(name, kind, grants, Init::Is(0)).at(p).waited_on()
        });
        let bell = layout.array(n, |p| Decl::flag(format!("bell[{p}]"), false).at(p).waited_on());
        let credit = M::BYPASSES.then(|| {
            let limit = bypass.into();
            let credits = Self::all_credits(n, limit);
            let decl = Decl::listed("credit", Kind::Number, credits, Init::Is(limit));
            (layout.add(decl), bypass)
        });
        let rules = PhantomData;
        ThreadsModel {
            n,
            k,
            casts,
            sleep,
            layout,
            word,
            lock,
            terms,
            queue,
            clock,
            grant,
            bell,
            credit,
            rules,
        }
    }

    /// Lists all values of `word`.
    fn all_words(casts: Casts, n: usize, max: Word) -> Vec<Word> {
        let marks = match (casts.has(Cast::Resize), casts.has(Cast::Close)) {
            (true, true) => 3,
            (false, false) => 0,
            _ => 2,
        };
        let called = Word::from(M::BARGES);
        (0..=marks)
            .flat_map(|marks| (0..=called).map(move |called| marks * MARK + called * CALLED))
            // The count can be n + 1: a process that has begun its next passage may still be counted from
            // the previous one.
            .flat_map(|above| (0..=n as Word + 1).map(move |waiting| above + waiting * WAITER))
            .flat_map(|above| (0..=max).map(move |free| above + free))
            .collect()
    }

    /// Lists all values of `credit`.
    fn all_credits(n: usize, limit: Word) -> Vec<Word> {
        // Each process may lower the credit once after none is left. So the credit can become -n, and a debt can
        // grow by n. The server sets a debt of at most the number of waiters, which is at most n + 1.
        let n = n as Word;
        (-n..=limit).chain((1..=2 * n + 1).map(|debt| DEBT - debt)).collect()
    }

    /// Lists all values of `terms`.
    fn all_terms(casts: Casts, k: usize) -> Vec<Word> {
        let resizes = casts.has(Cast::Resize);
        let fewest = if resizes { fewer(casts, k) } else { k };
        let owed = if resizes { P::all(k) } else { 0 };
        let sizes = (fewest..=k).flat_map(|k| [false, true].map(|closed| (k as u16, closed)));
        sizes
            .flat_map(|(k, closed)| (0..=owed).map(move |owed| Terms { k, closed, owed }.pack()))
            .collect()
    }

    /// Returns whether `p` is the manager: the last process, if the model has one.
    fn is_manager(&self, p: Pid) -> bool {
        self.casts.has_manager() && p + 1 == self.n
    }

    /// Returns how the manager continues after the step `Clock`: it resizes or closes the hall, or does nothing more.
    fn manage(&self) -> Option<State> {
        match self.casts {
            casts if casts.has(Cast::Resize) => Some(Look),
            casts if casts.has(Cast::Close) => Some(At(Line::L5 { job: Job::Close })),
            _ => None,
        }
    }

    /// Lists the slots in the variables and in the private states of all processes. Returns `None` if
    /// the server is between the two accesses that change the owed slots.
    fn slots(&self, state: &View<'_, State>) -> Option<Vec<Word>> {
        let mut all = Vec::from([state.value(self.word) & FREE]);
        for p in 0..self.n {
            let grant = state.value(self.grant.at(p));
            if grant > 0 {
                all.push(grant);
            }
        }
        for loc in state.processes {
            let (Loc::Entry(At(line)) | Loc::Critical(At(line)) | Loc::Exit(At(line))) = *loc
            else {
                continue;
            };
            match line {
                Line::X1 { take } => all.push(take),
                Line::S10 { take, .. } | Line::S11 { take, .. } if take > 0 => all.push(take),
                Line::S5 { .. } | Line::R5 { .. } => return None,
                _ => {}
            }
        }
        Some(all)
    }
}

fn turn(clock: Word, _: Word) -> Word {
    1 - clock
}

/// Returns the number of slots of a hall with `k` slots after the manager has taken one away. The hall keeps at least
/// as many slots as one process takes. Otherwise, this process would wait until the hall is resized again, and so would
/// the waiters behind it.
fn fewer(casts: Casts, k: usize) -> usize {
    let taken = if casts.has(Cast::Many) { k.min(2) } else { 1 };
    (k - 1).max(taken)
}

impl<P: Pool, M: Policy> Algorithm for ThreadsModel<P, M> {
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
        match self.manage().filter(|_| !self.casts.has(Cast::Timeout)) {
            _ if !self.is_manager(p) => At(Line::L1),
            Some(managing) => managing,
            None => Clock,
        }
    }

    fn step<S: Memory>(&self, m: &mut S, p: Pid, at: State) -> Next<State> {
        match at {
            Clock => {
                m.atomic_update(self.clock, turn, 0);
                self.manage().map_or(Leave, Goto)
            }
            Look => {
                let terms = Terms::unpack(m.read(self.terms));
                let fewer = fewer(self.casts, self.k);
                let job = match terms.k as usize == fewer {
                    true if self.casts.has(Cast::Close) && !terms.closed => Job::Close,
                    true => Job::Resize(self.k as u16),
                    false => Job::Resize(fewer as u16),
                };
                Goto(At(Line::L5 { job }))
            }
            At(line) => {
                let mut environment = ModelEnvironment { model: self, memory: m };
                match lines::step::<P, M, _>(&mut environment, p, line) {
                    Goto(next) => Goto(At(next)),
                    // Resizing and closing fail if there is a server. The process tries again in another
                    // passage.
                    Spin(Line::L5 { .. }) => Leave,
                    Spin(next) => Spin(At(next)),
                    Enter(next) => Enter(At(next)),
                    Leave => Leave,
                }
            }
        }
    }

    fn waits(&self, _: Pid, at: State) -> bool {
        match at {
            Clock | Look => false,
            At(line) => !line.is_doorway(),
        }
    }

    fn label(&self, _: Pid, at: State) -> Label {
        let line = match at {
            At(line) => line.label(),
            Clock => "Clock",
            Look => "Look",
        };
        Label { figure: "hall", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: State) -> Option<usize> {
        match at {
            At(Line::X1 { take }) => {
                Some(take.trailing_zeros()).filter(|&slot| slot < P::BITS).map(|slot| slot as usize)
            }
            _ => None,
        }
    }

    fn invariants(&self) -> &'static [&'static str] {
        &["I1"]
    }

    fn broken_invariant(&self, state: &View<'_, State>) -> Option<&'static str> {
        let slots = self.slots(state)?;
        let terms = Terms::unpack(state.value(self.terms));
        let count: u32 = slots.iter().map(|&these| P::count(these)).sum();
        let union = slots.iter().fold(0, |all, these| all | these);
        let expected = P::all(terms.k.into()) | terms.owed;
        (count != P::count(expected) || union != expected).then_some("I1")
    }
}

/// Creates a model in which `bypass` newcomers may overtake a waiter.
pub fn bypass_model(
    bypass: u32,
    casts: impl Into<Casts>,
    sleep: Sleep,
    n: usize,
    k: usize,
) -> ThreadsModel<Bits, Bypass> {
    ThreadsModel::with_bypass(casts.into(), sleep, bypass, n, k)
}

/// Creates a model with this policy and these roles.
pub fn model<M: Policy>(
    _: M,
    casts: impl Into<Casts>,
    sleep: Sleep,
    n: usize,
    k: usize,
) -> ThreadsModel<Bits, M> {
    ThreadsModel::new(casts, sleep, n, k)
}
