//! Spaces to explore. A space has packed states, and the agents that can take a step in each state.

use hallpass_algorithms::Pid;

use crate::tables::Tables;

mod expand;
mod forget;
mod normal;
mod quotient;
mod store_buffers;

pub use expand::Found;
pub use forget::{Contradiction, Forgetful, Stale};
pub use normal::Normal;
pub use quotient::{Quotient, Symmetry};
pub use store_buffers::StoreBuffers;

/// An agent: anything that can make a step. Every process is an agent. With store buffers, each buffer
/// is also an agent. If the algorithm has mishaps ([`Mishap`](hallpass_algorithms::Mishap), such as the death
/// of a process), the mishap of each process is also an agent.
pub type Agent = usize;

/// States packed into `W` words, and the steps between them.
pub trait Space<const W: usize>: Sync {
    /// Returns the number of agents.
    fn agents(&self) -> usize;

    /// Returns the number of bits of a state. If a state is one word, all higher bits are 0.
    fn bits(&self) -> u32 {
        u64::BITS * W as u32
    }

    /// Returns the number of bits in use in each word of a state. All higher bits are 0.
    fn word_bits(&self) -> [u32; W] {
        [u64::BITS; W]
    }

    /// Returns the bits of each part of a state. Each bit in use belongs to one part. A part should have few values: a
    /// search numbers the values of each part of a wide state (see [`Codes`](crate::compact::Codes)). Returns no parts
    /// if states are not divided.
    fn parts(&self) -> Vec<[u64; W]> {
        Vec::new()
    }

    /// Returns whether a state comes before another one in an order that does not depend on the course of a search.
    fn precedes(&self, one: &[u64; W], other: &[u64; W]) -> bool {
        one < other
    }

    /// Returns every initial state.
    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_>;

    /// Calls `each` with every agent that can take a step and the state after its step. A step that only waits
    /// leads to the same state.
    fn successors(&self, state: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W]));

    /// Appends the successors of a state to `found`, in canonical form. Leaves out steps that lead to the same state,
    /// and may leave out the steps of the processes in the set `skip`.
    ///
    /// `skip` is 0, or the set that an earlier call of `expand` appended together with `state`. `space/expand.rs`
    /// contains the proof that a breadth-first search finds every state nevertheless.
    #[inline]
    fn expand(&self, state: &[u64; W], _skip: u64, found: &mut Found<W>) {
        self.successors(state, &mut |_, successor| {
            found.transitions += 1;
            if successor != *state {
                found.push(self.canonical(successor), 0);
            }
        });
    }

    /// Returns the representative of all states that differ from `state` only by a renaming of
    /// processes.
    #[inline]
    fn canonical(&self, state: [u64; W]) -> [u64; W] {
        state
    }

    /// Returns the violations that the state shows, as a set of bits. Each space defines their meaning.
    /// The module [`violation`] defines the bits of [`Sequential`].
    #[inline]
    fn violations(&self, _state: &[u64; W]) -> u64 {
        0
    }
}

/// The choice of initial states for an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Initial {
    /// Open variables, whose initial value the algorithm leaves open, take every value.
    #[default]
    All,
    /// Open variables take their smallest value, so there is one initial state.
    Smallest,
}

/// The safety properties to check in each state.
#[derive(Clone, Copy, Debug, Default)]
pub struct SafetyFlags {
    /// At most k processes are in their critical sections.
    pub exclusion: bool,
    /// Processes in their critical sections have distinct names (slot numbers), all below k.
    pub names: bool,
}

/// The bit numbers of the violations that a single state shows. A state shows a *violation* if a property of the
/// algorithm does not hold in it.
pub mod violation {
    /// More than k processes are in their critical sections.
    pub const EXCLUSION: u32 = 0;
    /// Two processes have the same name, or a name is out of range.
    pub const NAMES: u32 = 1;
    /// A step wrote a value outside the variable's declared range, or the normal form of the state does not fit
    /// into the tables.
    pub const RANGE: u32 = 2;
    /// The first of up to 32 bits, one for each invariant of the paper. A set bit means that this
    /// invariant is broken.
    pub const FIRST_INVARIANT: u32 = 8;
}

/// A function that returns the number of the first broken invariant of the paper, if any.
pub type Invariants<'a> = &'a (dyn Fn(&[u64]) -> Option<u32> + Sync);

/// Sequential consistency: the access of a step takes effect immediately.
pub struct Sequential<'a> {
    /// The compiled step machine.
    pub tables: &'a Tables,
    /// The maximum number of processes outside their remainder.
    pub contention: usize,
    /// The initial states.
    pub initial: Initial,
    /// The normal form of states, if the algorithm counts without bound.
    pub normal: Option<Normal<'a>>,
    /// Whether mishaps hit processes. If so, the mishaps are agents `n..2n`.
    pub mishaps: bool,
    /// The safety properties to check.
    pub flags: SafetyFlags,
    /// The paper's invariants.
    pub invariants: Option<Invariants<'a>>,
    /// Whether [`Space::expand`] makes the steps that it could leave out because another order of the same steps leads
    /// to the same state.
    pub every_step: bool,
}

impl Sequential<'_> {
    /// Returns the number of initial states.
    pub fn initial_count(tables: &Tables) -> u128 {
        tables.initial().iter().map(|values| values.len() as u128).product()
    }

    /// Returns whether the limit on contention allows `p` to take a step.
    #[inline]
    fn may_move(&self, state: &[u64], p: Pid) -> bool {
        let tables = self.tables;
        self.contention >= tables.n // the usual case
            || tables.code(state, p) != 0
            || tables.contention(state) < self.contention
    }

    /// Returns the state after the step of `p`.
    #[inline]
    fn step<const W: usize>(&self, state: &[u64; W], p: Pid) -> [u64; W] {
        let tables = self.tables;
        let (row, step) = tables.move_of(state, p);
        let mut next = *state;
        if step.out_of_range {
            tables.out_of_range.set(&mut next, 1);
        } else {
            tables.apply(&mut next, p, row, step);
            if let Some(normal) = &self.normal {
                normal.after_step(tables, p, state, &mut next);
            }
        }
        next
    }
}

impl Sequential<'_> {
    /// Returns the state after the mishap of `p`, in normal form. `None` if `p` cannot have a mishap now.
    #[inline]
    fn after_mishap<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<[u64; W]> {
        let mut next = self.tables.after_mishap(state, p)?;
        if let Some(normal) = &self.normal {
            normal.after_step(self.tables, p, state, &mut next);
        }
        Some(next)
    }
}

/// Returns whether two processes have the same name, or a name is out of range.
pub fn names_clash(tables: &Tables, state: &[u64]) -> bool {
    let mut taken = 0u64;
    (0..tables.n).any(|p| match tables.position(state, p).name {
        Some(name) => {
            let bit = 1 << name;
            let clash = name >= tables.k || taken & bit != 0;
            taken |= bit;
            clash
        }
        None => false,
    })
}

impl<const W: usize> Space<W> for Sequential<'_> {
    fn agents(&self) -> usize {
        self.tables.n * if self.mishaps { 2 } else { 1 }
    }

    fn bits(&self) -> u32 {
        self.tables.bits
    }

    fn word_bits(&self) -> [u32; W] {
        self.tables.word_bits()
    }

    fn parts(&self) -> Vec<[u64; W]> {
        self.tables.parts()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_> {
        let tables = self.tables;
        let choices: Vec<&[u32]> = tables
            .initial()
            .iter()
            .map(|values| match self.initial {
                Initial::All => &values[..],
                Initial::Smallest => &values[..1],
            })
            .collect();
        let mut digits = Some(vec![0usize; choices.len()]);
        Box::new(std::iter::from_fn(move || {
            let mut now = digits.take()?;
            let mut state = [0; W];
            for (var, &digit) in now.iter().enumerate() {
                tables.vars[var].set(&mut state, choices[var][digit] as usize);
            }
            // Advances to the next choice of initial values. The last variable changes fastest.
            if let Some(var) = (0..now.len()).rfind(|&v| now[v] + 1 < choices[v].len()) {
                now[var] += 1;
                now[var + 1..].fill(0);
                digits = Some(now);
            }
            Some(state)
        }))
    }

    #[inline]
    fn successors(&self, state: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W])) {
        if self.tables.out_of_range.get_in(state) != 0 {
            return; // a step left a variable's range
        }
        for p in 0..self.tables.n {
            if self.may_move(state, p) {
                each(p, self.step(state, p));
            }
        }
        if self.mishaps {
            for p in 0..self.tables.n {
                if let Some(next) = self.after_mishap(state, p) {
                    each(self.tables.n + p, next);
                }
            }
        }
    }

    #[inline]
    fn expand(&self, state: &[u64; W], skip: u64, found: &mut Found<W>) {
        self.expand_skipping(state, skip, found);
    }

    #[inline]
    fn violations(&self, state: &[u64; W]) -> u64 {
        let tables = self.tables;
        let mut violations = 0;
        if self.flags.exclusion && tables.inside(state) > tables.k {
            violations |= 1 << violation::EXCLUSION;
        }
        if self.flags.names && names_clash(tables, state) {
            violations |= 1 << violation::NAMES;
        }
        if tables.out_of_range.get(state) != 0 {
            violations |= 1 << violation::RANGE;
        }
        if let Some(broken) = self.invariants.and_then(|broken| broken(state)) {
            violations |= 1 << (violation::FIRST_INVARIANT + broken);
        }
        violations
    }
}
