//! A timestamp system of any type behind one object, its private states numbered.

use std::sync::RwLock;

use hallpass_algorithms::{
    Layout, Memory, Op, Pid, Var, Word,
    papers::timestamps::{All, Inside, InsideOf, Marked, Part, Stamp, Timestamps, Turn},
};
use indexmap::IndexMap;

/// Where a process stands, as a number. [`IDLE`] is 0.
pub type Place = u32;

/// In neither procedure.
pub const IDLE: Place = 0;

/// The two procedures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Procedure {
    /// Takes a new timestamp.
    Label,
    /// Returns an order.
    Scan,
}

impl Procedure {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Procedure::Label => "Label",
            Procedure::Scan => "Scan",
        }
    }
}

/// A set of processes.
pub type Set = u16;

/// The timestamps that a Scan has seen: who is ordered before whom, and the mark of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// For each process, who is ordered before it.
    pub before: Vec<Set>,
    /// For each process, the mark of its timestamp.
    pub marks: Vec<u8>,
}

impl Seen {
    /// Whether `i` is ordered before `j`.
    pub fn orders(&self, i: Pid, j: Pid) -> bool {
        self.before[j] >> i & 1 != 0
    }

    /// The processes from first to last; none if that is not an order.
    pub fn permutation(&self) -> Option<Vec<Pid>> {
        let mut order = vec![None; self.before.len()];
        for (j, before) in self.before.iter().enumerate() {
            // In an order, the number of those before is the rank; and all ranks differ.
            let rank = &mut order[before.count_ones() as usize];
            if rank.replace(j).is_some() {
                return None;
            }
        }
        order.into_iter().collect()
    }
}

/// Private states and registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Where each process stands.
    pub places: Vec<Place>,
    /// What each register holds.
    pub memory: Vec<Word>,
}

/// What a step did.
#[derive(Clone, Debug, Default)]
pub struct Happened {
    /// It was the first of this procedure.
    pub began: Option<Procedure>,
    /// The line.
    pub line: &'static str,
    /// The accesses: one, but of a system that is only a model.
    pub accesses: Vec<(Var, Op, Word)>,
    /// It could have gone another way, with another coin.
    pub tossed: bool,
    /// Label's own Scan has seen these.
    pub decided: Option<Seen>,
    /// It was the last of this procedure.
    pub ended: Option<Procedure>,
    /// Scan returned these.
    pub scanned: Option<Seen>,
}

/// A function on the marks of processes' timestamps.
pub type Renew<'a> = &'a mut dyn FnMut(Pid, u64) -> u64;

/// A timestamp system whose type no longer matters.
pub trait Subject: Send + Sync {
    /// How many processes there are.
    fn n(&self) -> usize;
    /// The registers.
    fn layout(&self) -> &Layout;
    /// The mark of a timestamp that is not written yet; none without marks.
    fn fresh(&self) -> Option<u64>;
    /// One step of `p`, which begins `start` if it is in neither procedure.
    fn step(&self, p: Pid, start: Procedure, coin: Word, state: &mut State) -> Happened;
    /// The marks in a place, for each process as bits.
    fn marks(&self, p: Pid, at: Place) -> [u32; MAX_PROCESSES];
    /// Changes the marks in a place.
    fn renew(&self, p: Pid, at: Place, renew: Renew<'_>) -> Place;
    /// Changes the marks in registers.
    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>);
    /// How many ways a step may go that the system leaves open.
    fn coins(&self) -> Word {
        1
    }
    /// Everybody idle, registers as declared.
    fn initial(&self) -> State {
        State { places: vec![IDLE; self.n()], memory: self.layout().first_initial() }
    }
}

/// The most processes a system with marks has here.
pub const MAX_PROCESSES: usize = 8;

type Places<T> =
    IndexMap<(u8, InsideOf<T>), Option<[u32; MAX_PROCESSES]>, foldhash::fast::FixedState>;

/// What only a system with marks can do.
struct Hooks<T: Timestamps> {
    mark_bits: u32,
    inner_scan: fn(T::Labelling) -> Option<T::Scanning>,
    renew: fn(Pid, InsideOf<T>, Renew<'_>) -> InsideOf<T>,
    renew_memory: fn(&T, &mut [Word], Renew<'_>),
    mark: fn(T::Stamp) -> u64,
}

/// A register that is not one: what is read from it is open.
pub const COIN: &str = "coin";

struct Numbered<T: Timestamps> {
    system: T,
    layout: Layout,
    n: usize,
    coins: Word,
    hooks: Option<Hooks<T>>,
    /// The places, and for each the marks in it, once somebody has asked.
    places: RwLock<Places<T>>,
}

/// A system without marks.
pub fn plain<S: Part, T: Timestamps<Stamp = S, Collected = All<S>>>(n: usize) -> Box<dyn Subject> {
    Box::new(number::<T>(n, None))
}

/// A system with marks.
pub fn marked<T: Marked>(n: usize) -> Box<dyn Subject> {
    let hooks = Hooks {
        mark_bits: T::MARK_BITS,
        inner_scan: T::inner_scan,
        renew: |p, at, renew| {
            let renew = &mut |q: Pid, stamp: Stamp| stamp.marked(renew(q, stamp.mark()));
            match at {
                Inside::Neither => at,
                Inside::Label(label) => Inside::Label(T::renew_label(p, label, renew)),
                Inside::Scan(scan) => Inside::Scan(T::renew_scan(p, scan, renew)),
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
    let mut places = IndexMap::default();
    places.insert((0, Inside::Neither), Some([0; MAX_PROCESSES]));
    Numbered { system, layout, n, coins, hooks, places: RwLock::new(places) }
}

impl<S: Part, T: Timestamps<Stamp = S, Collected = All<S>>> Numbered<T> {
    fn at(&self, place: Place) -> InsideOf<T> {
        let places = self.places.read().expect("no panic while held");
        places.get_index(place as usize).expect("a number given out").0.1
    }

    /// Numbers are of places of one process each: what they hold may be its own.
    fn place(&self, p: Pid, at: InsideOf<T>) -> Place {
        if at == Inside::Neither {
            return IDLE;
        }
        let key = (p as u8, at);
        let known = self.places.read().expect("no panic while held").get_index_of(&key);
        let number = known.unwrap_or_else(|| {
            let mut places = self.places.write().expect("no panic while held");
            places.entry(key).or_insert(None);
            places.get_index_of(&key).expect("just inserted")
        });
        number as Place
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

    /// What the Scan inside Label has seen if a step was its last.
    fn decided(
        &self,
        p: Pid,
        from: T::Labelling,
        to: InsideOf<T>,
        after: &Watch<'_>,
    ) -> Option<Seen> {
        let hooks = self.hooks.as_ref()?;
        let scan = (hooks.inner_scan)(from)?;
        if matches!(to, Inside::Label(label) if (hooks.inner_scan)(label).is_some()) {
            return None;
        }
        // The same step again, of the Scan alone, on the memory from before it.
        let mut memory = after.memory.clone();
        for &(var, _, old) in after.accesses.iter().rev() {
            memory[var.index()] = old;
        }
        let mut watch = Watch { memory: &mut memory, accesses: Vec::new(), ..*after };
        match self.system.scan(&mut watch, p, scan) {
            Turn::Done(seen) => Some(self.seen(seen)),
            Turn::Goto(_) => None,
        }
    }
}

/// Memory that writes down what is done to it.
struct Watch<'a> {
    memory: &'a mut Vec<Word>,
    coin: Word,
    tossed: bool,
    layout: &'a Layout,
    accesses: Vec<(Var, Op, Word)>,
}

impl Memory for Watch<'_> {
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
        let at = match (self.at(state.places[p]), start) {
            (Inside::Neither, Procedure::Label) => Inside::Label(self.system.begin_label(p)),
            (Inside::Neither, Procedure::Scan) => Inside::Scan(self.system.begin_scan(p)),
            (at, _) => at,
        };
        happened.began = (state.places[p] == IDLE).then_some(start);
        let mut watch = Watch {
            memory: &mut state.memory,
            coin,
            tossed: false,
            layout: &self.layout,
            accesses: Vec::new(),
        };
        let next = match at {
            Inside::Neither => at,
            Inside::Label(label) => {
                happened.line = T::label_line(label);
                let next = match self.system.label(&mut watch, p, label) {
                    Turn::Goto(label) => Inside::Label(label),
                    Turn::Done(()) => {
                        happened.ended = Some(Procedure::Label);
                        Inside::Neither
                    }
                };
                happened.decided = self.decided(p, label, next, &watch);
                next
            }
            Inside::Scan(scan) => {
                happened.line = T::scan_line(scan);
                match self.system.scan(&mut watch, p, scan) {
                    Turn::Goto(scan) => Inside::Scan(scan),
                    Turn::Done(seen) => {
                        happened.ended = Some(Procedure::Scan);
                        happened.scanned = Some(self.seen(seen));
                        Inside::Neither
                    }
                }
            }
        };
        happened.accesses = watch.accesses;
        happened.tossed = watch.tossed;
        state.places[p] = self.place(p, next);
        happened
    }

    fn marks(&self, p: Pid, at: Place) -> [u32; MAX_PROCESSES] {
        let known = {
            let places = self.places.read().expect("no panic while held");
            *places.get_index(at as usize).expect("a number given out").1
        };
        known.unwrap_or_else(|| {
            let mut marks = [0; MAX_PROCESSES];
            if let Some(hooks) = &self.hooks {
                (hooks.renew)(p, self.at(at), &mut |q, mark| {
                    marks[q] |= 1 << mark;
                    mark
                });
            }
            self.places.write().expect("no panic while held")[at as usize] = Some(marks);
            marks
        })
    }

    fn renew(&self, p: Pid, at: Place, renew: Renew<'_>) -> Place {
        match &self.hooks {
            Some(hooks) if at != IDLE => {
                let old = self.at(at);
                let new = (hooks.renew)(p, old, renew);
                if new == old { at } else { self.place(p, new) }
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
