//! A trait object for a timestamp system of any type. Its private states are numbered.

use std::sync::RwLock;

use hallpass_algorithms::{
    Layout, Memory, Op, Pid, Var, Word,
    papers::timestamps::{All, InProcedure, InProcedureOf, Marked, Part, Stamp, Timestamps, Turn},
};
use indexmap::IndexMap;

/// The position of a process, as a number. [`IDLE`] is 0.
pub type Position = u32;

/// The position of a process that is in neither procedure.
pub const IDLE: Position = 0;

/// A procedure of a timestamp system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Procedure {
    /// Takes a new timestamp.
    Label,
    /// Returns an order of the processes.
    Scan,
}

impl Procedure {
    /// Returns the name that the papers use.
    pub fn name(self) -> &'static str {
        match self {
            Procedure::Label => "Label",
            Procedure::Scan => "Scan",
        }
    }
}

/// A set of processes.
pub type Set = u16;

/// The timestamps that a Scan has seen: their order, and the [mark](super::marks) of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// For each process, the processes ordered before it.
    pub before: Vec<Set>,
    /// For each process, the mark of its timestamp.
    pub marks: Vec<u8>,
}

impl Seen {
    /// Returns whether `i` is ordered before `j`.
    pub fn orders(&self, i: Pid, j: Pid) -> bool {
        self.before[j] >> i & 1 != 0
    }

    /// Returns the processes from first to last, or `None` if the relation is not an order.
    pub fn permutation(&self) -> Option<Vec<Pid>> {
        let mut order = vec![None; self.before.len()];
        for (j, before) in self.before.iter().enumerate() {
            // In an order, the rank of a process is the number of processes before it, and all ranks
            // differ.
            let rank = &mut order[before.count_ones() as usize];
            if rank.replace(j).is_some() {
                return None;
            }
        }
        order.into_iter().collect()
    }
}

/// A state: the positions of the processes and the contents of the registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// The position of each process.
    pub positions: Vec<Position>,
    /// The content of each register.
    pub memory: Vec<Word>,
}

/// The events of a step.
#[derive(Clone, Debug, Default)]
pub struct Happened {
    /// The procedure that began with this step.
    pub began: Option<Procedure>,
    /// The short name of the line.
    pub line: &'static str,
    /// The accesses. There is exactly one, except in a model.
    pub accesses: Vec<(Var, Op, Word)>,
    /// Whether the step used a coin that could have had another value.
    pub tossed: bool,
    /// The view of the Scan within Label, if this step ended that Scan.
    pub decided: Option<Seen>,
    /// The procedure that ended with this step.
    pub ended: Option<Procedure>,
    /// The result of Scan, if this step ended it.
    pub scanned: Option<Seen>,
}

/// A function that replaces the mark of a process's timestamp.
pub type Renew<'a> = &'a mut dyn FnMut(Pid, u64) -> u64;

/// A timestamp system of any type.
pub trait Subject: Send + Sync {
    /// Returns the number of processes.
    fn n(&self) -> usize;
    /// Returns the registers.
    fn layout(&self) -> &Layout;
    /// Returns the mark of a timestamp that is not written yet, or `None` for a system without marks.
    fn fresh(&self) -> Option<u64>;
    /// Makes one step of `p`. If `p` is in neither procedure, it begins `start`.
    fn step(&self, p: Pid, start: Procedure, coin: Word, state: &mut State) -> Happened;
    /// Returns the marks in a position, as one set of bits for each process.
    fn marks(&self, p: Pid, at: Position) -> [u32; MAX_PROCESSES];
    /// Replaces the marks in a position.
    fn renew(&self, p: Pid, at: Position, renew: Renew<'_>) -> Position;
    /// Replaces the marks in the registers.
    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>);
    /// Returns the number of coin values. A coin decides the outcomes of a step that the system leaves
    /// open.
    fn coins(&self) -> Word {
        1
    }
    /// Returns the initial state. All processes are idle, and the registers have their declared values.
    fn initial(&self) -> State {
        State { positions: vec![IDLE; self.n()], memory: self.layout().first_initial() }
    }
}

/// The maximum number of processes of a system with marks.
pub const MAX_PROCESSES: usize = 8;

type Positions<T> =
    IndexMap<(u8, InProcedureOf<T>), Option<[u32; MAX_PROCESSES]>, foldhash::fast::FixedState>;

/// The operations of a system with marks.
struct Hooks<T: Timestamps> {
    mark_bits: u32,
    inner_scan: fn(T::Labelling) -> Option<T::Scanning>,
    renew: fn(Pid, InProcedureOf<T>, Renew<'_>) -> InProcedureOf<T>,
    renew_memory: fn(&T, &mut [Word], Renew<'_>),
    mark: fn(T::Stamp) -> u64,
}

/// The name of a pseudo-register. A read of it returns the coin.
pub const COIN: &str = "coin";

struct Numbered<T: Timestamps> {
    system: T,
    layout: Layout,
    n: usize,
    coins: Word,
    hooks: Option<Hooks<T>>,
    /// The positions, each with its marks once they have been computed.
    positions: RwLock<Positions<T>>,
}

/// Builds a system without marks.
pub fn plain<S: Part, T: Timestamps<Stamp = S, Collected = All<S>>>(n: usize) -> Box<dyn Subject> {
    Box::new(number::<T>(n, None))
}

/// Builds a system with marks.
pub fn marked<T: Marked>(n: usize) -> Box<dyn Subject> {
    let hooks = Hooks {
        mark_bits: T::MARK_BITS,
        inner_scan: T::inner_scan,
        renew: |p, at, renew| {
            let renew = &mut |q: Pid, stamp: Stamp| stamp.marked(renew(q, stamp.mark()));
            match at {
                InProcedure::Neither => at,
                InProcedure::Label(label) => InProcedure::Label(T::renew_label(p, label, renew)),
                InProcedure::Scan(scan) => InProcedure::Scan(T::renew_scan(p, scan, renew)),
            }
        },
        renew_memory: |system: &T, memory, renew| {
            system.renew_memory(memory, &mut |q, stamp| stamp.marked(renew(q, stamp.mark())));
        },
        mark: Stamp::mark,
    };
    Box::new(number::<T>(n, (T::MARK_BITS > 0).then_some(hooks)))
}

fn number<T: Timestamps>(n: usize, hooks: Option<Hooks<T>>) -> Numbered<T> {
    let mut layout = Layout::default();
    let system = T::new(&mut layout, n);
    let coin = layout.decls().iter().find(|decl| decl.name == COIN);
    let coins = coin.map_or(1, |decl| decl.domain.listed().len() as Word);
    let mut positions = IndexMap::default();
    positions.insert((0, InProcedure::Neither), Some([0; MAX_PROCESSES]));
    Numbered { system, layout, n, coins, hooks, positions: RwLock::new(positions) }
}

impl<S: Part, T: Timestamps<Stamp = S, Collected = All<S>>> Numbered<T> {
    fn at(&self, position: Position) -> InProcedureOf<T> {
        let positions = self.positions.read().expect("no panic while held");
        positions.get_index(position as usize).expect("the number of a known position").0.1
    }

    /// Returns the number of a position. Each process has separate numbers, because a position may
    /// contain the process's own timestamp.
    fn position(&self, p: Pid, at: InProcedureOf<T>) -> Position {
        if at == InProcedure::Neither {
            return IDLE;
        }
        let key = (p as u8, at);
        let known = self.positions.read().expect("no panic while held").get_index_of(&key);
        let number = known.unwrap_or_else(|| {
            let mut positions = self.positions.write().expect("no panic while held");
            positions.entry(key).or_insert(None);
            positions.get_index_of(&key).expect("just inserted")
        });
        number as Position
    }

    fn seen(&self, seen: All<S>) -> Seen {
        let before = |j: Pid| {
            let before = |&i: &Pid| i != j && seen.orders::<T>(i, j);
            (0..self.n).filter(before).fold(0, |set, i| set | 1 << i)
        };
        let mark = |q| match (&self.hooks, seen.stamp(q)) {
            (Some(hooks), Some(stamp)) => (hooks.mark)(stamp) as u8,
            _ => 0,
        };
        Seen { before: (0..self.n).map(before).collect(), marks: (0..self.n).map(mark).collect() }
    }

    /// Returns the timestamps that the Scan within Label has seen, if the step was the last step of this
    /// Scan.
    fn decided(
        &self,
        p: Pid,
        from: T::Labelling,
        to: InProcedureOf<T>,
        after: &Recorder<'_>,
    ) -> Option<Seen> {
        let hooks = self.hooks.as_ref()?;
        let scan = (hooks.inner_scan)(from)?;
        if matches!(to, InProcedure::Label(label) if (hooks.inner_scan)(label).is_some()) {
            return None;
        }
        // Makes the same step again, with only the Scan, on the memory before the step.
        let mut memory = after.memory.clone();
        for &(var, _, old) in after.accesses.iter().rev() {
            memory[var.index()] = old;
        }
        let mut recorder = Recorder { memory: &mut memory, accesses: Vec::new(), ..*after };
        match self.system.scan(&mut recorder, p, scan) {
            Turn::Done(seen) => Some(self.seen(seen)),
            Turn::Goto(_) => None,
        }
    }
}

/// Memory that records its accesses.
struct Recorder<'a> {
    memory: &'a mut Vec<Word>,
    coin: Word,
    tossed: bool,
    layout: &'a Layout,
    accesses: Vec<(Var, Op, Word)>,
}

impl Memory for Recorder<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        if self.layout.decl(var).name == COIN {
            self.tossed = true;
            return self.coin;
        }
        let old = self.memory[var.index()];
        self.memory[var.index()] = op.leaves(old);
        self.accesses.push((var, op, old));
        old
    }
}

impl<S: Part, T: Timestamps<Stamp = S, Collected = All<S>>> Subject for Numbered<T> {
    fn n(&self) -> usize {
        self.n
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn fresh(&self) -> Option<u64> {
        self.hooks
            .as_ref()
            .map(|hooks| hallpass_algorithms::papers::timestamps::marked::fresh(hooks.mark_bits))
    }

    fn coins(&self) -> Word {
        self.coins
    }

    fn step(&self, p: Pid, start: Procedure, coin: Word, state: &mut State) -> Happened {
        let mut happened = Happened::default();
        let at = match (self.at(state.positions[p]), start) {
            (InProcedure::Neither, Procedure::Label) => {
                InProcedure::Label(self.system.begin_label(p))
            }
            (InProcedure::Neither, Procedure::Scan) => InProcedure::Scan(self.system.begin_scan(p)),
            (at, _) => at,
        };
        happened.began = (state.positions[p] == IDLE).then_some(start);
        let mut recorder = Recorder {
            memory: &mut state.memory,
            coin,
            tossed: false,
            layout: &self.layout,
            accesses: Vec::new(),
        };
        let next = match at {
            InProcedure::Neither => at,
            InProcedure::Label(label) => {
                happened.line = T::label_line(label);
                let next = match self.system.label(&mut recorder, p, label) {
                    Turn::Goto(label) => InProcedure::Label(label),
                    Turn::Done(()) => {
                        happened.ended = Some(Procedure::Label);
                        InProcedure::Neither
                    }
                };
                happened.decided = self.decided(p, label, next, &recorder);
                next
            }
            InProcedure::Scan(scan) => {
                happened.line = T::scan_line(scan);
                match self.system.scan(&mut recorder, p, scan) {
                    Turn::Goto(scan) => InProcedure::Scan(scan),
                    Turn::Done(seen) => {
                        happened.ended = Some(Procedure::Scan);
                        happened.scanned = Some(self.seen(seen));
                        InProcedure::Neither
                    }
                }
            }
        };
        happened.accesses = recorder.accesses;
        happened.tossed = recorder.tossed;
        state.positions[p] = self.position(p, next);
        happened
    }

    fn marks(&self, p: Pid, at: Position) -> [u32; MAX_PROCESSES] {
        let known = {
            let positions = self.positions.read().expect("no panic while held");
            *positions.get_index(at as usize).expect("the number of a known position").1
        };
        known.unwrap_or_else(|| {
            let mut marks = [0; MAX_PROCESSES];
            if let Some(hooks) = &self.hooks {
                (hooks.renew)(p, self.at(at), &mut |q, mark| {
                    marks[q] |= 1 << mark;
                    mark
                });
            }
            self.positions.write().expect("no panic while held")[at as usize] = Some(marks);
            marks
        })
    }

    fn renew(&self, p: Pid, at: Position, renew: Renew<'_>) -> Position {
        match &self.hooks {
            Some(hooks) if at != IDLE => {
                let old = self.at(at);
                let new = (hooks.renew)(p, old, renew);
                if new == old { at } else { self.position(p, new) }
            }
            _ => at,
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        if let Some(hooks) = &self.hooks {
            (hooks.renew_memory)(&self.system, memory, renew);
        }
    }
}
