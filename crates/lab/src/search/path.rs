//! Finds a shortest run to a state without parent pointers.
//!
//! A search up to the state finds an ancestor of the state: the one in the middle of a shortest path. Two
//! shorter searches then find both halves in the same way. Most states of a search are on its later levels,
//! so all these searches together take two or three times as long as the first one.

use crate::{
    compact::Memory,
    explore::{Ended, Limits, PathStep, walk},
    space::Space,
};

use super::{AtLevel, Entry, Marked, Origin, Roots, Task, roots, run};

/// A state, and its ancestor on the middle level.
#[derive(Clone, Copy)]
struct Descendant<const W: usize> {
    state: [u64; W],
    ancestor: [u64; W],
}

impl<const W: usize> Entry<W> for Descendant<W> {
    fn root(state: [u64; W]) -> Self {
        Descendant { state, ancestor: state }
    }

    #[inline]
    fn child(&self, state: [u64; W], is_middle: bool) -> Self {
        Descendant { state, ancestor: if is_middle { self.state } else { self.ancestor } }
    }

    #[inline]
    fn state(&self) -> &[u64; W] {
        &self.state
    }

    #[inline]
    fn with(&self, state: [u64; W]) -> Self {
        Descendant { state, ..*self }
    }

    fn ancestor(&self) -> [u64; W] {
        self.ancestor
    }
}

/// A search that remembers the ancestor.
struct Ancestor;

impl Origin for Ancestor {
    type Entry<const W: usize> = Descendant<W>;
}

/// Returns a shortest run to a state that [`search`](super::search) has found: an initial state, and the
/// steps. With symmetry, the run ends in a state that equals `goal` up to a renaming of processes.
///
/// # Errors
/// Fails if a search reaches a limit, and returns which one. The limit on states does not apply.
pub fn run_to<const W: usize>(
    space: &dyn Space<W>,
    goal: &AtLevel<W>,
    limits: &Limits<'_>,
) -> Result<([u64; W], Vec<PathStep<W>>), Ended> {
    let limits = Limits { states: u64::MAX, ..*limits };
    let mut path = Vec::new();
    extend(space, &mut path, None, *goal, &limits)?;
    Ok(walk(space, &path))
}

/// Finds a shortest path to `goal`, and appends its states to `path`. With `from`, the path starts in `from`, which is
/// not appended. Without `from`, the path starts in an initial state.
fn extend<const W: usize>(
    space: &dyn Space<W>,
    path: &mut Vec<[u64; W]>,
    from: Option<[u64; W]>,
    goal: AtLevel<W>,
    limits: &Limits<'_>,
) -> Result<(), Ended> {
    if goal.level == 0 || (goal.level == 1 && from.is_some()) {
        path.push(goal.state);
        return Ok(());
    }
    // If the goal is on level 1, the middle level is 0, and the ancestor is an initial state.
    let middle = goal.level / 2;
    let is_goal = |state: &[u64; W]| u64::from(*state == goal.state);
    let roots = || -> Roots<'_, W> {
        match from {
            Some(from) => Box::new(std::iter::once(from)),
            None => roots(space),
        }
    };
    let task = Task { space, look: &is_goal, middle, until_found: true };
    let memory = Memory::new(limits.bytes);
    let (found, set) = run::<W, Ancestor>(&task, &roots, limits, &memory);
    let Some(Marked { level, ancestor, .. }) = found.marked[0] else { return Err(found.ended) };
    debug_assert_eq!(level, goal.level, "a shortest path has shortest parts");
    drop(set);
    extend(space, path, from, AtLevel { level: middle, state: ancestor }, limits)?;
    let rest = AtLevel { level: goal.level - middle, state: goal.state };
    extend(space, path, Some(ancestor), rest, limits)
}
