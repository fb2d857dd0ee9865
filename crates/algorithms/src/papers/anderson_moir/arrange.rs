//! Builds (n, k)-exclusion from (k+1, k)-exclusion. Anderson & Moir 1997, Figures 5 and 7 and the
//! induction of Theorem 1.
//!
//! In every arrangement, a process passes a route of blocks in its entry section. In its exit section,
//! it passes the same route backwards. So one step machine serves all four arrangements:
//!
//! - [`inductive`] (Theorems 1, 5, 9): n - k levels, from the outermost level n - 1 to the innermost
//!   level k. Level j lets j processes through.
//! - [`tree`] (Theorems 2, 6, 10; Figure 5): each half of the processes passes a smaller tree. Then both
//!   halves meet in (2k, k)-exclusion, which has k levels.
//! - [`fast`] (Theorems 3, 7, 11; Figure 7): a test-and-set bit, the gate, sends one process
//!   directly to the last block, and the others through a tree first.
//! - [`nested`] (Theorems 4, 8, 12): Figure 7 whose slow path is Figure 7 for one process less. The
//!   recursion ends at (k+1, k), which is a block. The result has n - k blocks and n - k - 1 gates. (The
//!   paper counts n - k + 1 bits; its Figure 6 shows two bits for n = k + 3.)
//!
//! Difference from the paper: the slow path of [`fast`] is a tree over all n process numbers. Figure 7 uses (n-1,
//! k)-exclusion there. But Figure 5 compares the number of a process with half the number of processes, and so decides
//! whether the process goes left or right. On the slow path, all n numbers can occur, though never at the same time.
//! [`fast_printed`] follows Figure 5 literally and violates exclusion.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::block::{Block, BlockStep, BlockView, Within};
use crate::framework::{
    layout::Layout,
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Pid, Var},
    statement::{Observed, RunStatement, Side, Transition},
};

mod plan;

pub(super) use plan::Plan;

/// An arrangement of blocks of one kind.
pub struct Arranged<B> {
    n: usize,
    k: usize,
    layout: Layout,
    blocks: Vec<B>,
    names: Vec<String>,
    /// For each block, the number of processes that it lets through.
    widths: Vec<usize>,
    /// The test-and-set bits of Figure 7, the outermost first. A process that finds a bit set has *lost* this gate.
    gates: Vec<Var>,
    /// `routes[p][lost]`: the blocks that `p` passes, outermost first, after it has lost `lost` gates.
    routes: Vec<Vec<Vec<usize>>>,
    symmetric: bool,
}

/// The position of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At<L> {
    /// The process is at line 1 of Figure 7, at this gate.
    Gate(u8),
    /// The process is in a block.
    Block {
        /// The number of gates that the process has lost. It selects the route.
        lost: u8,
        /// The index of the block on the route.
        stage: u8,
        /// The block's line.
        line: L,
    },
    /// The process is at line 7 of Figure 7, at this gate.
    Clear(u8),
}

/// Arranges levels n-1, ..., k that every process passes.
pub fn inductive<B: Block>(n: usize, k: usize) -> Arranged<B> {
    Plan::inductive(n, k, n - 1).declare(n, k)
}

/// Arranges blocks as in Figure 5.
pub fn tree<B: Block>(n: usize, k: usize) -> Arranged<B> {
    let mut plan = Plan::new(n);
    plan.symmetric = false; // the number of a process determines its leaf
    let routes = plan.tree("t", 0..n, n, k);
    plan.routes = routes.into_iter().map(|route| vec![route]).collect();
    plan.declare(n, k)
}

/// Arranges blocks as in Figure 7 over a tree.
pub fn fast<B: Block>(n: usize, k: usize) -> Arranged<B> {
    // At most n - 1 processes are on the slow path at the same time. If n - 1 is k, this path needs no blocks.
    fast_over(n, k, if n - 1 <= k { k } else { n })
}

/// Arranges blocks as in Figure 7 over Figure 5, as printed. The slow path is the tree for n - 1
/// processes. Its right half may get one process more than it is built for.
pub fn fast_printed<B: Block>(n: usize, k: usize) -> Arranged<B> {
    fast_over(n, k, n - 1)
}

fn fast_over<B: Block>(n: usize, k: usize, tree_size: usize) -> Arranged<B> {
    let mut plan = Plan::new(n);
    plan.symmetric = tree_size <= k;
    let slow = plan.tree("t", 0..n, tree_size, k);
    let last = plan.block("fast".to_string(), k);
    plan.gates = 1;
    for (routes, slow) in plan.routes.iter_mut().zip(slow) {
        let lost = slow.into_iter().chain([last]).collect();
        *routes = vec![vec![last], lost];
    }
    plan.declare(n, k)
}

/// Arranges blocks as in Figure 7 inside Figure 7.
pub fn nested<B: Block>(n: usize, k: usize) -> Arranged<B> {
    let mut plan = Plan::new(n);
    plan.gates = n - k - 1;
    let depths: Vec<usize> = (0..n - k).map(|depth| plan.block(format!("d{depth}"), k)).collect();
    // A process that wins gate d has lost the gates before it. It passes the blocks at the depths d, ..., 0.
    let routes: Vec<Vec<usize>> =
        (0..n - k).map(|lost| depths[..=lost].iter().rev().copied().collect()).collect();
    plan.routes = vec![routes; n];
    plan.declare(n, k)
}

impl<B: Block> Arranged<B> {
    fn route(&self, p: Pid, lost: u8) -> &[usize] {
        &self.routes[p][lost as usize]
    }

    fn block(&self, p: Pid, lost: u8, stage: u8) -> usize {
        self.route(p, lost)[stage as usize]
    }

    /// Returns the position of a process after it has lost this many gates.
    fn after_losing(&self, lost: u8) -> At<B::Line> {
        if (lost as usize) < self.gates.len() {
            At::Gate(lost)
        } else {
            At::Block { lost, stage: 0, line: B::ENTRY }
        }
    }

    /// Returns the positions of all processes as seen from `block`.
    fn all_within(&self, block: usize, state: &View<'_, At<B::Line>>) -> Vec<Within<B::Line>> {
        let all = state.processes.iter().enumerate();
        all.map(|(p, loc)| self.within(block, p, loc)).collect()
    }

    /// Returns whether `block` is further in than `stage` on the route of `p`, which has lost `lost` gates. On the way
    /// in, `p` has not reached such a block yet. On the way out, `p` has already left it.
    fn is_further_in(&self, block: usize, p: Pid, lost: u8, stage: u8) -> bool {
        let route = self.route(p, lost);
        route.iter().position(|&b| b == block).is_some_and(|index| usize::from(stage) < index)
    }

    /// Returns the position of a process as seen from `block`.
    fn within(&self, block: usize, p: Pid, loc: &Loc<At<B::Line>>) -> Within<B::Line> {
        let at = match *loc {
            Loc::Remainder => return Within::Outside,
            Loc::Entry(at) | Loc::Critical(at) | Loc::Exit(at) => at,
        };
        let At::Block { lost, stage, line } = at else {
            return Within::Outside;
        };
        let Some(index) = self.route(p, lost).iter().position(|&b| b == block) else {
            return Within::Outside;
        };
        match index.cmp(&(stage as usize)) {
            core::cmp::Ordering::Less => Within::Inside,
            core::cmp::Ordering::Greater => Within::Outside,
            core::cmp::Ordering::Equal if matches!(loc, Loc::Critical(_)) => Within::Inside,
            core::cmp::Ordering::Equal => Within::At(line),
        }
    }
}

impl<B: Block> Algorithm for Arranged<B> {
    type State = At<B::Line>;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, _: Pid) -> Self::State {
        self.after_losing(0)
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Self::State) -> Next<Self::State> {
        match at {
            At::Gate(gate) => {
                let slow = m.test_and_set(self.gates[gate as usize]);
                Goto(if slow {
                    self.after_losing(gate + 1)
                } else {
                    At::Block { lost: gate, stage: 0, line: B::ENTRY }
                })
            }
            At::Block { lost, stage, line } => {
                let block = &self.blocks[self.block(p, lost, stage)];
                let last = self.route(p, lost).len() as u8 - 1;
                match block.step(m, p, line) {
                    Goto(line) => Goto(At::Block { lost, stage, line }),
                    Spin(line) => Spin(At::Block { lost, stage, line }),
                    Enter(_) if stage < last => {
                        Goto(At::Block { lost, stage: stage + 1, line: B::ENTRY })
                    }
                    Enter(_) => Enter(At::Block { lost, stage, line: B::EXIT }),
                    Leave if stage > 0 => Goto(At::Block { lost, stage: stage - 1, line: B::EXIT }),
                    Leave if (lost as usize) < self.gates.len() => Goto(At::Clear(lost)),
                    Leave => Leave,
                }
            }
            At::Clear(gate) => {
                m.write(self.gates[gate as usize], 0);
                Leave
            }
        }
    }

    fn waits(&self, _: Pid, at: Self::State) -> bool {
        // The paper names no doorway. This code chooses the longest possible doorway: everything before
        // the first line at which a process may have to wait. For that doorway, first-in-first-enabled
        // is weakest.
        matches!(at, At::Block { line, .. } if B::waits(line))
    }

    fn label(&self, p: Pid, at: Self::State) -> Label {
        match at {
            At::Gate(gate) => {
                Label { figure: "fig7", line: "1".into(), instance: format!("gate{gate}") }
            }
            At::Clear(gate) => {
                Label { figure: "fig7", line: "7".into(), instance: format!("gate{gate}") }
            }
            At::Block { lost, stage, line } => Label {
                figure: B::FIGURE,
                line: B::number(line).to_string(),
                instance: self.names[self.block(p, lost, stage)].clone(),
            },
        }
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn invariants(&self) -> &'static [&'static str] {
        B::INVARIANTS
    }

    fn broken_invariant(&self, state: &View<'_, Self::State>) -> Option<&'static str> {
        self.blocks.iter().enumerate().find_map(|(index, block)| {
            let processes = self.all_within(index, state);
            block.broken_invariant(&BlockView { processes: &processes, memory: state.memory })
        })
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        B::STATEMENTS
    }

    /// Evaluates the statement for every block.
    fn observe(&self, statement: &str, _: u32, step: &Transition<'_, Self::State>) -> Observed {
        let blocks = self.blocks.iter().enumerate();
        blocks.fold(Observed::default(), |all, (index, block)| {
            let [before, after] = [&step.before, &step.after].map(|s| self.all_within(index, s));
            let step = BlockStep {
                mover: step.mover,
                before: BlockView { processes: &before, memory: step.before.memory },
                after: BlockView { processes: &after, memory: step.after.memory },
            };
            all.any(block.observe(statement, &step))
        })
    }

    fn instances(&self, _: &str) -> usize {
        self.blocks.len()
    }

    /// The paper assumes that at most k-1 processes fail, where k is the number of processes that the block lets
    /// through.
    fn survives(&self, _: &str, block: usize) -> usize {
        self.widths[block] - 1
    }

    fn condition(
        &self,
        statement: &str,
        block: usize,
        side: Side,
        p: Pid,
        state: &View<'_, Self::State>,
    ) -> bool {
        let loc = state.processes[p];
        if statement == B::LEAVES_OUTER {
            return match (side, loc) {
                (Side::If, Loc::Exit(At::Block { lost, stage, .. })) => {
                    self.is_further_in(block, p, lost, stage)
                }
                (Side::If, Loc::Exit(At::Clear(lost))) => self.route(p, lost).contains(&block),
                (Side::If, _) => false,
                (Side::Then, loc) => loc == Loc::Remainder,
            };
        }
        match (side, loc) {
            (Side::If, Loc::Entry(At::Block { lost, stage, .. })) => {
                self.is_further_in(block, p, lost, stage)
            }
            (Side::If, _) => false,
            (Side::Then, Loc::Entry(_)) => self.within(block, p, &loc) == Within::At(B::ENTRY),
            (Side::Then, _) => false,
        }
    }
}
