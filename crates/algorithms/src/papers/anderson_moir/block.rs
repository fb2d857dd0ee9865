//! A (k+1, k)-exclusion block: the part that Figures 3, 8 and 9 have in common, and that the
//! arrangements put together.
//!
//! In the figures, lines 1 and the last are the calls to the enclosing level. They belong to the
//! arrangement, so a block's lines are what stands between them.

use core::{fmt::Debug, hash::Hash, ops::RangeInclusive};

use crate::framework::{
    changed::{Change, Changed},
    layout::Layout,
    machine::Next,
    memory::{Memory, Pid, Var, Word},
};

/// What tells one block of an arrangement from another.
#[derive(Clone, Copy, Debug)]
pub struct BlockInstance<'a> {
    /// How many processes there are in all; any of them may come here.
    pub n: usize,
    /// How many this block lets through; at most one more is let in.
    pub k: usize,
    /// Its number among all blocks (`IN` in Figure 9).
    pub instance: usize,
    /// Its name, which ends the names of its variables.
    pub name: &'a str,
}

/// A (k+1, k)-exclusion algorithm.
pub trait Block: Sized {
    /// The figure, for labels.
    const FIGURE: &'static str;
    /// The paper's number of the critical section's line.
    const CRITICAL: u8;
    /// Whether it treats all processes alike, its initial values included.
    const SYMMETRIC: bool;
    /// The names of its invariants.
    const INVARIANTS: &'static [&'static str];

    /// A line, with the private variables that live there.
    type Line: Copy + Eq + Hash + Debug + Send + Sync;
    /// The first line of the entry section.
    const ENTRY: Self::Line;
    /// The first line of the exit section.
    const EXIT: Self::Line;

    /// Variables that all blocks of an arrangement have in common.
    type Shared: Copy;
    /// Declares those, for `n` processes and that many blocks.
    fn share(layout: &mut Layout, n: usize, blocks: usize) -> Self::Shared;
    /// Declares a block's own variables.
    fn new(layout: &mut Layout, shared: Self::Shared, instance: BlockInstance<'_>) -> Self;

    /// Executes one line. `Enter` means through this block, `Leave` means out of it.
    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: Self::Line) -> Next<Self::Line>;

    /// The paper's number of the line.
    fn number(at: Self::Line) -> u8;
    /// Whether a process may busy-wait at the line.
    fn waits(at: Self::Line) -> bool;

    /// The first of its invariants that does not hold.
    fn broken_invariant(&self, view: &BlockView<'_, Self>) -> Option<&'static str>;
}

impl<B, C> Block for Changed<B, C>
where
    B: Block,
    C: for<'m> Change<B, B::Line, Next<B::Line>, dyn Memory + 'm>,
{
    const FIGURE: &'static str = B::FIGURE;
    const CRITICAL: u8 = B::CRITICAL;
    const SYMMETRIC: bool = B::SYMMETRIC;
    const INVARIANTS: &'static [&'static str] = B::INVARIANTS;

    type Line = B::Line;
    const ENTRY: B::Line = B::ENTRY;
    const EXIT: B::Line = B::EXIT;

    type Shared = B::Shared;
    fn share(layout: &mut Layout, n: usize, blocks: usize) -> B::Shared {
        B::share(layout, n, blocks)
    }

    fn new(layout: &mut Layout, shared: B::Shared, instance: BlockInstance<'_>) -> Self {
        Changed::new(B::new(layout, shared, instance))
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: B::Line) -> Next<B::Line> {
        match C::line(self.original(), m, p, at) {
            Some(next) => next,
            None => self.original().step(m, p, at),
        }
    }

    fn number(at: B::Line) -> u8 {
        B::number(at)
    }

    fn waits(at: B::Line) -> bool {
        B::waits(at)
    }

    fn broken_invariant(&self, view: &BlockView<'_, Self>) -> Option<&'static str> {
        let view = BlockView { processes: view.processes, memory: view.memory };
        self.original().broken_invariant(&view)
    }
}

/// Where a process stands, as one block sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within<L> {
    /// Not in this block.
    Outside,
    /// About to execute this line.
    At(L),
    /// Let through and not yet on its way out: the block's critical section, which for an outer
    /// block holds all inner ones.
    Inside,
}

/// A whole state, as one block sees it.
pub struct BlockView<'a, B: Block> {
    /// Each process.
    pub processes: &'a [Within<B::Line>],
    /// Each variable.
    pub memory: &'a [Word],
}

impl<B: Block> BlockView<'_, B> {
    /// The value of `var`.
    pub fn value(&self, var: Var) -> Word {
        self.memory[var.index()]
    }

    /// The value of the boolean `var`.
    pub fn is_set(&self, var: Var) -> bool {
        self.value(var) != 0
    }

    /// The processes in the block, each with the paper's line number (p@line).
    pub fn lines(&self) -> impl Iterator<Item = (Pid, u8)> + '_ {
        self.processes.iter().enumerate().filter_map(|(p, within)| match *within {
            Within::Outside => None,
            Within::At(line) => Some((p, B::number(line))),
            Within::Inside => Some((p, B::CRITICAL)),
        })
    }

    /// How many processes are at these lines.
    pub fn count(&self, lines: RangeInclusive<u8>) -> Word {
        self.lines().filter(|(_, line)| lines.contains(line)).count() as Word
    }

    /// Whether a process is at one of these lines that satisfies the condition.
    pub fn any(&self, lines: &[u8], condition: impl Fn(Pid) -> bool) -> bool {
        self.lines().any(|(p, line)| lines.contains(&line) && condition(p))
    }

    /// Whether all processes at these lines satisfy the condition.
    pub fn all(&self, lines: &[u8], condition: impl Fn(Pid) -> bool) -> bool {
        !self.any(lines, |p| !condition(p))
    }
}

/// The first name whose condition is false.
pub(crate) fn first_broken<const N: usize>(
    conditions: [(&'static str, bool); N],
) -> Option<&'static str> {
    conditions.into_iter().find(|(_, holds)| !holds).map(|(name, _)| name)
}
