//! (k+1, k)-exclusion blocks: the interface that Figures 3, 8 and 9 implement. The [arrangements](super::arrange)
//! combine blocks.
//!
//! In the figures, the first and the last line call the outer level. These calls belong to the
//! arrangement, so a block has only the lines between them.

use core::{fmt::Debug, hash::Hash, ops::RangeInclusive};

use crate::framework::{
    changed::{Change, Changed},
    layout::Layout,
    machine::Next,
    memory::{Memory, Pid, Var, Word},
    statement::{Observed, RunStatement},
};

/// The parameters that distinguish the blocks of an arrangement.
#[derive(Clone, Copy, Debug)]
pub struct BlockInstance<'a> {
    /// The number of all processes. In a tree, some of them never reach this block.
    pub n: usize,
    /// The number of processes that the block lets through. At most one more process may enter the
    /// block.
    pub k: usize,
    /// The number of the block among all blocks (`IN` in Figure 9).
    pub instance: usize,
    /// The name of the block, used as a suffix of its variables' names.
    pub name: &'a str,
}

/// A (k+1, k)-exclusion algorithm.
pub trait Block: Sized {
    /// The figure that labels show.
    const FIGURE: &'static str;
    /// The number that the paper gives to the line of the critical section.
    const CRITICAL: u8;
    /// Whether the block treats all processes alike, including its initial values.
    const SYMMETRIC: bool;
    /// The names of the invariants.
    const INVARIANTS: &'static [&'static str];
    /// The statements about runs. [`Block::PASSES_OUTER`] and [`Block::LEAVES_OUTER`] are among them.
    const STATEMENTS: &'static [RunStatement];
    /// The name of the statement that the outer blocks let every process through: p@1 leads to p@2. (The paper
    /// writes p@1 for "p is at line 1". At line 1, p passes the outer blocks.)
    const PASSES_OUTER: &'static str;
    /// The name of the statement that a process that has left this block reaches its remainder.
    const LEAVES_OUTER: &'static str;

    /// A line and the private variables that are live at that line.
    type Line: Copy + Eq + Hash + Debug + Send + Sync;
    /// The first line of the entry section.
    const ENTRY: Self::Line;
    /// The first line of the exit section.
    const EXIT: Self::Line;

    /// The variables that all blocks of an arrangement share.
    type Shared: Copy;
    /// Declares the shared variables for `n` processes and this many blocks.
    fn share(layout: &mut Layout, n: usize, blocks: usize) -> Self::Shared;
    /// Declares the variables that belong to this block only.
    fn new(layout: &mut Layout, shared: Self::Shared, instance: BlockInstance<'_>) -> Self;

    /// Executes one line. `Enter` means that the process passes the block. `Leave` means that it leaves
    /// the block.
    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: Self::Line) -> Next<Self::Line>;

    /// Returns the number that the paper gives to the line.
    fn number(at: Self::Line) -> u8;
    /// Returns whether a process may busy-wait at the line.
    fn waits(at: Self::Line) -> bool;

    /// Returns the first invariant that does not hold.
    fn broken_invariant(&self, view: &BlockView<'_, Self>) -> Option<&'static str>;

    /// Evaluates a statement about steps.
    fn observe(&self, statement: &str, step: &BlockStep<'_, Self>) -> Observed;
}

/// A step as seen from one block.
pub struct BlockStep<'a, B: Block> {
    /// The process that takes the step. `None` for the initial state of a run.
    pub mover: Option<Pid>,
    /// The state before the step.
    pub before: BlockView<'a, B>,
    /// The state after the step.
    pub after: BlockView<'a, B>,
}

impl<B: Block> BlockStep<'_, B> {
    /// Evaluates "`hold` unless `end`" for every process (the paper's definition in Section 2): if `hold`
    /// is true and `end` is false before the step, then one of them is true after the step.
    pub fn unless(
        &self,
        hold: impl Fn(&BlockView<'_, B>, Pid) -> bool,
        end: impl Fn(&BlockView<'_, B>, Pid) -> bool,
    ) -> Observed {
        let (before, after) = (&self.before, &self.after);
        (0..before.processes.len()).fold(Observed::default(), |all, p| {
            all.any(Observed::implication(
                hold(before, p) && !end(before, p),
                hold(after, p) || end(after, p),
            ))
        })
    }

    /// Returns the process that takes the step, if it executes a line that is not a line of this block.
    pub fn mover_elsewhere(&self) -> Option<Pid> {
        self.mover.filter(|&p| !matches!(self.before.processes[p], Within::At(_)))
    }
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
    const STATEMENTS: &'static [RunStatement] = B::STATEMENTS;
    const PASSES_OUTER: &'static str = B::PASSES_OUTER;
    const LEAVES_OUTER: &'static str = B::LEAVES_OUTER;

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

    fn observe(&self, statement: &str, step: &BlockStep<'_, Self>) -> Observed {
        let BlockStep { mover, before, after } = step;
        let step = BlockStep {
            mover: *mover,
            before: BlockView { processes: before.processes, memory: before.memory },
            after: BlockView { processes: after.processes, memory: after.memory },
        };
        self.original().observe(statement, &step)
    }
}

/// The position of a process as seen from one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within<L> {
    /// The process is not in this block.
    Outside,
    /// The process is about to execute this line.
    At(L),
    /// The process is in the block's critical section, which contains all inner blocks: it has passed
    /// the block and has not started to leave it.
    Inside,
}

/// A whole state as seen from one block.
pub struct BlockView<'a, B: Block> {
    /// The position of each process.
    pub processes: &'a [Within<B::Line>],
    /// The value of each variable.
    pub memory: &'a [Word],
}

impl<B: Block> BlockView<'_, B> {
    /// Returns whether `p` is at one of these lines (p@lines).
    pub fn is_at(&self, p: Pid, lines: &[u8]) -> bool {
        match self.processes[p] {
            Within::Outside => false,
            Within::At(line) => lines.contains(&B::number(line)),
            Within::Inside => lines.contains(&B::CRITICAL),
        }
    }

    /// Returns the value of `var` in this state.
    pub fn value(&self, var: Var) -> Word {
        self.memory[var.index()]
    }

    /// Returns the value of the boolean `var`.
    pub fn is_set(&self, var: Var) -> bool {
        self.value(var) != 0
    }

    /// Returns the processes in the block, each with the paper's line number (p@line).
    pub fn lines(&self) -> impl Iterator<Item = (Pid, u8)> + '_ {
        self.processes.iter().enumerate().filter_map(|(p, within)| match *within {
            Within::Outside => None,
            Within::At(line) => Some((p, B::number(line))),
            Within::Inside => Some((p, B::CRITICAL)),
        })
    }

    /// Returns the number of processes at these lines.
    pub fn count(&self, lines: RangeInclusive<u8>) -> Word {
        self.lines().filter(|(_, line)| lines.contains(line)).count() as Word
    }

    /// Returns whether some process at one of these lines satisfies the condition.
    pub fn any(&self, lines: &[u8], condition: impl Fn(Pid) -> bool) -> bool {
        self.lines().any(|(p, line)| lines.contains(&line) && condition(p))
    }

    /// Returns whether all processes at these lines satisfy the condition.
    pub fn all(&self, lines: &[u8], condition: impl Fn(Pid) -> bool) -> bool {
        !self.any(lines, |p| !condition(p))
    }
}

/// Returns the first name whose condition is false.
pub(crate) fn first_broken<const N: usize>(
    conditions: [(&'static str, bool); N],
) -> Option<&'static str> {
    conditions.into_iter().find(|(_, holds)| !holds).map(|(name, _)| name)
}
