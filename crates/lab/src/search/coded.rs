//! A search that uses codes instead of states (see [`compact::Codes`](crate::compact::Codes)).

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{
    compact::{Code, Codes, CompactSet, MOST_CODE_BITS, Memory, NoCode},
    explore::{Ended, Limits},
    space::{Agent, Found, Space},
};

use super::{Marked, Origin, Outcome, Roots, Task, run_on};

/// A space whose states are the codes of the states of another space.
struct Coded<'a, const W: usize> {
    space: &'a dyn Space<W>,
    codes: &'a Codes<W>,
    memory: &'a Memory,
    /// The reason why a state has no code, if the search has met such a state. Once there is a reason, no state has
    /// successors, so the search ends soon.
    failure: Mutex<Option<NoCode>>,
    has_failed: AtomicBool,
}

impl<const W: usize> Coded<'_, W> {
    /// Returns the code if there is one. Otherwise records the reason why there is none.
    #[inline]
    fn or_fail(&self, code: Result<Code, NoCode>) -> Option<Code> {
        code.inspect_err(|&why| self.fail(why)).ok()
    }

    #[cold]
    fn fail(&self, why: NoCode) {
        *self.failure.lock().expect("no panic while held") = Some(why);
        self.has_failed.store(true, Relaxed);
    }

    fn encode(&self, state: &[u64; W]) -> Option<Code> {
        self.or_fail(self.codes.encode(state, self.memory))
    }
}

impl<const W: usize> Space<2> for Coded<'_, W> {
    fn agents(&self) -> usize {
        self.space.agents()
    }

    fn word_bits(&self) -> [u32; 2] {
        MOST_CODE_BITS
    }

    /// Compares the states themselves. The order of their codes would depend on the course of the search, because a
    /// search numbers values in the order in which it finds them.
    fn precedes(&self, one: &Code, other: &Code) -> bool {
        self.space.precedes(&self.codes.state(one), &self.codes.state(other))
    }

    fn initial(&self) -> Box<dyn Iterator<Item = Code> + '_> {
        Box::new(self.space.initial().filter_map(|state| self.encode(&self.space.canonical(state))))
    }

    fn successors(&self, code: &Code, each: &mut dyn FnMut(Agent, Code)) {
        self.space.successors(&self.codes.state(code), &mut |agent, next| {
            if let Some(next) = self.encode(&self.space.canonical(next)) {
                each(agent, next);
            }
        });
    }

    fn expand(&self, code: &Code, skip: u64, found: &mut Found<2>) {
        if self.has_failed.load(Relaxed) {
            return;
        }
        let state = self.codes.state(code);
        let mut inner = Found::default();
        self.space.expand(&state, skip, &mut inner);
        found.transitions += inner.transitions;
        for (next, skip) in &inner.successors {
            let next = self.codes.encode_like(next, (&state, *code), self.memory);
            if let Some(next) = self.or_fail(next) {
                found.push(next, *skip);
            }
        }
    }

    fn violations(&self, code: &Code) -> u64 {
        self.space.violations(&self.codes.state(code))
    }
}

/// Searches with codes of states that have these parts. Returns `None` if codes become too long, or their dictionaries
/// too large.
pub(super) fn run_coded<'a, 'r, const W: usize, O: Origin>(
    task: &Task<'_, W>,
    parts: &[[u64; W]],
    roots: &dyn Fn() -> Roots<'r, W>,
    limits: &Limits<'_>,
    memory: &'a Memory,
) -> Option<(Outcome<W>, CompactSet<'a, 2>, Codes<W>)> {
    let codes = Codes::new(parts, memory).ok()?;
    let (space, failure) = (task.space, Mutex::new(None));
    let coded = Coded { space, codes: &codes, memory, failure, has_failed: AtomicBool::new(false) };
    let look = |code: &Code| (task.look)(&codes.state(code));
    let mut roots = roots().filter_map(|state| coded.encode(&state));
    let Task { middle, until_found, .. } = *task;
    let task = Task { space: &coded, look: &look, middle, until_found };
    let is_useless = |states| codes.are_too_large(states);
    let set = CompactSet::of_codes(memory);
    let (found, set) =
        run_on::<2, O::Entry<2>>(&task, &mut roots, &is_useless, set, limits, memory);
    let failure = *coded.failure.lock().expect("no panic while held");
    if failure == Some(NoCode::Bits) || codes.are_too_large(found.states) {
        return None;
    }
    let is_full = failure == Some(NoCode::Memory) && found.ended == Ended::Complete;
    let marked = |marked: Option<Marked<2>>| {
        marked.map(|Marked { level, state, ancestor }| Marked {
            level,
            state: codes.state(&state),
            ancestor: codes.state(&ancestor),
        })
    };
    let outcome = Outcome {
        states: found.states,
        transitions: found.transitions,
        depth: found.depth,
        ended: if is_full { Ended::Memory } else { found.ended },
        roots: found.roots,
        marked: found.marked.into_iter().map(marked).collect(),
    };
    Some((outcome, set, codes))
}

#[cfg(test)]
mod tests;
