//! Explores a [`Space`] breadth first and keeps only the set of its states.
//!
//! The search needs less memory than [`explore`](crate::explore::explore()), because states have no numbers while
//! it runs. It keeps only the set of all states found so far (see [`compact`](crate::compact)), and the states of
//! two levels. This is enough for properties of single states. For properties of whole runs, the states are
//! numbered afterwards, and the steps between them are computed again. A level is finished before the next level
//! begins. So levels are exact for any number of threads.
//!
//! The search keeps no parents either. [`run_to`] finds a shortest run by searching again.

mod bits;
mod bounds;
mod coded;
mod components;
mod enabled;
mod frontier;
mod levels;
mod mail;
mod numbers;
mod open;
mod packed;
mod path;
mod starvation;
mod unfold;
mod worker;

use crate::{
    compact::{Codes, CompactSet, Memory, Numbered},
    explore::{Ended, Limits, MOST_STATES},
    space::{Space, violation},
};
use levels::{Apart, Shared, run_on};

pub use bounds::{Longest, LongestRun, longest_section};
pub use enabled::{KeptOut, Overtaking, Overtakings, Pair};
pub use path::run_to;
pub use starvation::{FIXED_VICTIM, Lasso, MOST_PROCESSES, Trap, cheapest_deadlock, cheapest_trap};
pub use unfold::renamed_cycle;

/// The number of different marks. A mark is a bit of the set that a [`Look`] returns.
const MARKS: usize = 64;

/// What a search remembers of the origin of a state.
trait Origin {
    /// A state with its origin.
    type Entry<const W: usize>: Entry<W>;
}

/// A search that remembers nothing.
struct Nothing;

impl Origin for Nothing {
    type Entry<const W: usize> = [u64; W];
}

/// A state that the search still has to expand, with the facts about its origin that the search needs.
trait Entry<const W: usize>: Copy + Send + Sync {
    /// Creates the entry of an initial state.
    fn root(state: [u64; W]) -> Self;
    /// Creates the entry of a successor. `is_middle` says whether `self` is on the level [`Task::middle`].
    fn child(&self, state: [u64; W], is_middle: bool) -> Self;
    /// Returns the state without its origin.
    fn state(&self) -> &[u64; W];
    /// Returns the entry of another state with the same origin.
    fn with(&self, state: [u64; W]) -> Self;
    /// Returns the ancestor on the level [`Task::middle`], if the search remembers it. Otherwise returns any state.
    fn ancestor(&self) -> [u64; W];
}

impl<const W: usize> Entry<W> for [u64; W] {
    fn root(state: [u64; W]) -> Self {
        state
    }

    #[inline]
    fn child(&self, state: [u64; W], _: bool) -> Self {
        state
    }

    #[inline]
    fn state(&self) -> &[u64; W] {
        self
    }

    #[inline]
    fn with(&self, state: [u64; W]) -> Self {
        state
    }

    fn ancestor(&self) -> [u64; W] {
        *self
    }
}

/// A function that returns the marks of a state as a set of bits. A search for violations marks the states that have
/// them ([`Space::violations`]). A search for a certain state marks this state with bit 0.
type Look<'a, const W: usize> = &'a (dyn Fn(&[u64; W]) -> u64 + Sync);

/// The states to search, and the marks to look for.
struct Task<'a, const W: usize> {
    space: &'a dyn Space<W>,
    look: Look<'a, W>,
    /// The level of the ancestors that a search can remember: an entry on a later level can have its ancestor on this
    /// level (see `path`).
    middle: u32,
    /// Whether to end after the first level with a marked state.
    until_found: bool,
}

/// The initial states of a search, in canonical form.
type Roots<'a, const W: usize> = Box<dyn Iterator<Item = [u64; W]> + 'a>;

/// Returns the initial states of a space, in canonical form.
fn roots<const W: usize>(space: &dyn Space<W>) -> Roots<'_, W> {
    Box::new(space.initial().map(|state| space.canonical(state)))
}

/// A state and its level.
#[derive(Clone, Copy, Debug)]
pub struct AtLevel<const W: usize> {
    /// The number of steps of a shortest run to the state.
    pub level: u32,
    /// The state itself.
    pub state: [u64; W],
}

/// The result of a search.
pub struct Searched<const W: usize> {
    /// The number of states.
    pub states: u64,
    /// The number of steps from all expanded states, including steps that only wait and steps that the search leaves
    /// out (see [`Space::expand`]).
    pub transitions: u64,
    /// The number of levels.
    pub depth: u32,
    /// The reason why the search ended.
    pub ended: Ended,
    /// The maximum number of bytes in use at once.
    pub bytes: u64,
    /// The number of initial states.
    pub roots: u64,
    violating: Vec<Option<AtLevel<W>>>,
}

impl<const W: usize> Searched<W> {
    /// Returns the first state with the violation `bit`: on the smallest level that has such a state, the one
    /// with the smallest words. So the result does not depend on the number of threads.
    pub fn violating(&self, bit: u32) -> Option<AtLevel<W>> {
        self.violating[bit as usize]
    }

    /// Returns whether every reachable state has been seen and no step left a variable's range. The
    /// search does not continue after such a step.
    pub fn is_whole(&self) -> bool {
        self.ended == Ended::Complete && self.violating(violation::RANGE).is_none()
    }
}

/// Searches every reachable state of `space`, up to the limits.
pub fn search<const W: usize>(space: &dyn Space<W>, limits: &Limits<'_>) -> Searched<W> {
    search_all(space, limits, &Memory::new(limits.bytes)).0
}

/// Searches like [`search`], and numbers the states. `memory` replaces [`Limits::bytes`].
///
/// The second result is the numbered states, or the reason why the search or the numbering ended early.
pub fn search_and_number<const W: usize>(
    space: &dyn Space<W>,
    limits: &Limits<'_>,
    memory: &Memory,
) -> (Searched<W>, Result<Numbered<W>, Ended>) {
    let (searched, set) = search_all(space, limits, memory);
    let states = match (searched.ended, set) {
        (Ended::Complete, Set::States(set)) => set.into_numbered(MOST_STATES, limits.stop),
        (Ended::Complete, Set::Codes(set, codes)) => {
            set.into_numbered_states(codes, MOST_STATES, limits.stop)
        }
        (ended, _) => Err(ended),
    };
    (searched, states)
}

fn search_all<'a, const W: usize>(
    space: &dyn Space<W>,
    limits: &Limits<'_>,
    memory: &'a Memory,
) -> (Searched<W>, Set<'a, W>) {
    let look = |state: &[u64; W]| space.violations(state);
    let task = Task { space, look: &look, middle: 0, until_found: false };
    let (found, set) = run::<W, Nothing>(&task, &|| roots(space), limits, memory);
    let at_level = |found: &Option<Marked<W>>| {
        found.map(|Marked { level, state, .. }| AtLevel { level, state })
    };
    let searched = Searched {
        states: found.states,
        transitions: found.transitions,
        depth: found.depth,
        ended: found.ended,
        bytes: memory.peak(),
        roots: found.roots,
        violating: found.marked.iter().map(at_level).collect(),
    };
    (searched, set)
}

/// The states that a search has found.
enum Set<'a, const W: usize> {
    States(CompactSet<'a, W>),
    Codes(CompactSet<'a, 2>, Codes<W>),
}

/// A state with a mark.
#[derive(Clone, Copy)]
struct Marked<const W: usize> {
    level: u32,
    state: [u64; W],
    /// See [`Entry::ancestor`].
    ancestor: [u64; W],
}

/// The result of [`run`].
struct Outcome<const W: usize> {
    states: u64,
    transitions: u64,
    depth: u32,
    ended: Ended,
    roots: u64,
    /// For each mark: the smallest level with a state that has it, and the smallest such state.
    marked: Vec<Option<Marked<W>>>,
}

/// Searches from the states that `roots` returns.
///
/// If a state is wider than a word, and the space divides it into parts, the search uses codes of the states. It begins
/// again without codes if codes become too long, or their dictionaries too large.
fn run<'a, 'r, const W: usize, O: Origin>(
    task: &Task<'_, W>,
    roots: &dyn Fn() -> Roots<'r, W>,
    limits: &Limits<'_>,
    memory: &'a Memory,
) -> (Outcome<W>, Set<'a, W>) {
    let parts = if W > 1 { task.space.parts() } else { Vec::new() };
    if !parts.is_empty() {
        let used = memory.used();
        match coded::run_coded::<W, O>(task, &parts, roots, limits, memory) {
            Some((outcome, set, codes)) => return (outcome, Set::Codes(set, codes)),
            None => memory.give_back(memory.used() - used),
        }
    }
    let set = CompactSet::new(task.space.word_bits(), memory);
    let (outcome, set) =
        run_on::<W, O::Entry<W>>(task, &mut roots(), &|_| false, set, limits, memory);
    (outcome, Set::States(set))
}
