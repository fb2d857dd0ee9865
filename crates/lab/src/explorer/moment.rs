//! One state of a run, with the facts about it that depend on the run before it.

use std::{cell::OnceCell, hash::BuildHasher};

use hallpass_algorithms::{Pid, Section};

use super::{
    loops::Loop,
    session::{Action, NodeId},
};
use crate::trace::{RunState, Snapshot, Stand, Step};

/// A state of a run, and the facts about it that depend on the run before it.
#[derive(Clone)]
pub(super) struct Moment {
    pub snapshot: Snapshot,
    /// The processes that have stopped forever.
    pub stopped: u64,
    /// The remote references of each process in its current passage: cache-coherent, distributed.
    pub counts: Vec<[u32; 2]>,
    /// For each process p in its waiting room, the processes that entered their doorways after p had left its own. So p
    /// came before them.
    pub ahead: Vec<u64>,
    /// The position of each process.
    pub stands: Vec<Stand>,
    /// The state that the checker has in place of the state of `snapshot`. The checker makes each step from a
    /// normal form, and then brings the result into normal form. The result may differ from the normal form of
    /// `snapshot` itself, but behaves the same.
    pub normal: RunState,
    /// The hash of `normal`, which makes loops quick to find.
    pub hash: u64,
}

/// A node of the tree of played runs. A root of the tree is an initial state.
pub(super) struct Node {
    pub parent: Option<NodeId>,
    pub action: Option<Action>,
    pub step: Option<Step>,
    pub moment: Moment,
    pub children: Vec<NodeId>,
    /// The number of steps from the root.
    pub steps: u32,
    /// The loop that ends at this node. Empty until a caller asks for it.
    pub repeats: OnceCell<Option<Box<Loop>>>,
}

impl Node {
    pub fn new(
        from: Option<(NodeId, Action)>,
        step: Option<Step>,
        moment: Moment,
        steps: u32,
    ) -> Self {
        let (parent, action) = from.unzip();
        let (children, repeats) = (Vec::new(), OnceCell::new());
        Node { parent, action, step, moment, children, steps, repeats }
    }
}

pub(super) fn hash(state: &RunState) -> u64 {
    foldhash::fast::FixedState::default().hash_one(state)
}

/// Returns [`Moment::ahead`] after a step. `first` is ahead of `second` from the moment at which `second` leaves its
/// remainder while `first` is in its waiting room. This ends when `first` leaves its waiting room, or when `second`
/// returns to its remainder.
pub(super) fn ahead(before: &Moment, stands: &[Stand]) -> Vec<u64> {
    let waits = |p: Pid| stands[p].section == Section::Waiting;
    let outside = |stand: &Stand| stand.section != Section::Remainder;
    (0..stands.len())
        .map(|first| {
            if !waits(first) {
                return 0;
            }
            (0..stands.len())
                .filter(|&second| second != first && outside(&stands[second]))
                .filter(|&second| {
                    !outside(&before.stands[second]) || before.ahead[first] >> second & 1 == 1
                })
                .fold(0, |set, second| set | 1 << second)
        })
        .collect()
}
