//! Decides FIFE (first in, first enabled) for one ordered pair of processes.
//!
//! FIFE means: if process p leaves its doorway before process q leaves its remainder, then p has entered its critical
//! section or is enabled when q enters its critical section. A process is enabled if it enters its critical section in
//! every run in which it keeps taking steps. FIFE is weaker than first come, first served. Afek et al. define it
//! (definition 2.5), and also a strong form (definition 5.1).
//!
//! The analysis explores the graph of all steps once more, with three bits of history: whether p waits after its
//! doorway, whether q waits after its doorway, and whether p left its doorway before q left its remainder. In the code,
//! p is `first` and q is `second`.

use hallpass_algorithms::{Pid, Section};

use crate::{
    graph::Graph,
    liveness::KeptOut,
    space::{Agent, Space},
    standing::Standing,
    store::Id,
};

/// An ordered pair of processes, with the results that the check needs.
pub struct Pair<'a, S> {
    /// The graph of all steps.
    pub graph: &'a Graph,
    /// The section of each process in each state.
    pub standing: &'a S,
    /// The number of initial states. These have the lowest numbers.
    pub roots: Id,
    /// The process that leaves its doorway first.
    pub first: Pid,
    /// The process that leaves its remainder afterwards.
    pub second: Pid,
    /// The states in which `first` is not enabled.
    pub first_kept_out: &'a KeptOut,
    /// The states in which `second` is not enabled.
    pub second_kept_out: &'a KeptOut,
}

/// Violation: `second` is in its critical section, but `first`, which came earlier, is not enabled.
pub const OVERTAKEN: u32 = 0;
/// Violation: `second` is enabled, but `first`, which came earlier, is not.
pub const OVERTAKEN_STRONG: u32 = 1;

/// History: `first` has left its doorway and waits.
pub(crate) const FIRST_WAITS: u64 = 1 << 32;
/// History: `second` has left its doorway and waits.
pub(crate) const SECOND_WAITS: u64 = 1 << 33;
/// History: `first` left its doorway before `second` left its remainder.
pub(crate) const IN_ORDER: u64 = 1 << 34;

/// The number of bits of a state with its history.
pub(crate) const BITS: u32 = 35;

/// Returns the history after a step. `before` has the history before it. `second_from` is the section of `second`
/// before the step, and the other sections are those of both processes after it.
#[inline]
pub(crate) fn history(before: u64, second_from: Section, [first, second]: [Section; 2]) -> u64 {
    let has = |bit| before & bit != 0;
    let first_waits = waits_in(first, has(FIRST_WAITS));
    let second_waits = waits_in(second, has(SECOND_WAITS));
    let second_in_passage = second != Section::Remainder;
    let second_starts = second_in_passage && second_from == Section::Remainder;
    let in_order =
        if second_starts { first_waits } else { has(IN_ORDER) && first_waits && second_in_passage };
    [(first_waits, FIRST_WAITS), (second_waits, SECOND_WAITS), (in_order, IN_ORDER)]
        .into_iter()
        .fold(0, |history, (holds, bit)| history | if holds { bit } else { 0 })
}

/// Returns the number of the state, without its history.
pub fn id_of(state: &[u64; 1]) -> Id {
    state[0] as u32
}

/// Returns whether the process has left its doorway and not yet entered its critical section.
/// `before` is the result for the previous state.
pub fn still_waits(standing: &impl Standing, p: Pid, to: Id, before: bool) -> bool {
    waits_in(standing.section(to, p), before)
}

/// Returns whether a process in this section has left its doorway and not yet entered its critical section. `before` is
/// the result for the previous state.
fn waits_in(section: Section, before: bool) -> bool {
    match section {
        Section::Waiting => true,
        Section::Doorway => before,
        Section::Remainder | Section::Critical | Section::Exit => false,
    }
}

impl<S: Standing> Space<1> for Pair<'_, S> {
    fn agents(&self) -> usize {
        self.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        Box::new((0..self.roots).map(|id| [u64::from(id)]))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let from = id_of(state);
        let second_from = self.standing.section(from, self.second);
        for (agent, to) in self.graph.edges(from) {
            let sections = [self.first, self.second].map(|p| self.standing.section(to, p));
            each(agent, [u64::from(to) | history(state[0], second_from, sections)]);
        }
    }

    fn violations(&self, state: &[u64; 1]) -> u64 {
        let id = id_of(state);
        if state[0] & IN_ORDER == 0 || !self.first_kept_out.contains(id) {
            return 0;
        }
        let inside = self.standing.section(id, self.second) == Section::Critical;
        let enabled = state[0] & SECOND_WAITS != 0 && !self.second_kept_out.contains(id);
        u64::from(inside) << OVERTAKEN | u64::from(enabled) << OVERTAKEN_STRONG
    }
}
