//! The plan of an arrangement: its blocks, gates and routes, before any variable is declared.

use alloc::{format, string::String, vec, vec::Vec};
use core::ops::Range;

use super::Arranged;
use crate::{
    framework::{
        layout::{Decl, Layout},
        memory::Pid,
    },
    papers::anderson_moir::block::{Block, BlockInstance},
};

/// A block that is planned but not declared yet.
pub(in super::super) struct PlannedBlock {
    pub(in super::super) name: String,
    pub(in super::super) k: usize,
    pub(in super::super) instance: usize,
}

/// The blocks and gates of an arrangement that are planned but not declared yet.
pub(in super::super) struct Plan {
    pub(in super::super) blocks: Vec<PlannedBlock>,
    pub(super) gates: usize,
    pub(super) routes: Vec<Vec<Vec<usize>>>,
    pub(super) symmetric: bool,
}

impl Plan {
    pub(super) fn new(n: usize) -> Self {
        Plan { blocks: Vec::new(), gates: 0, routes: vec![Vec::new(); n], symmetric: true }
    }

    pub(super) fn block(&mut self, name: String, k: usize) -> usize {
        let instance = self.blocks.len();
        self.blocks.push(PlannedBlock { name, k, instance });
        instance
    }

    /// Adds levels that let through `outermost`, ..., `k` processes, outermost first.
    fn levels(&mut self, prefix: &str, outermost: usize, k: usize) -> Vec<usize> {
        (k..=outermost).rev().map(|level| self.block(format!("{prefix}{level}"), level)).collect()
    }

    /// Adds Figure 5 for the processes in `pids`. At most `size` of them are assumed to compete at the same
    /// time. Returns the route of each process.
    pub(super) fn tree(
        &mut self,
        name: &str,
        pids: Range<Pid>,
        size: usize,
        k: usize,
    ) -> Vec<Vec<usize>> {
        if size <= k {
            return vec![Vec::new(); pids.len()];
        }
        let left = size.div_ceil(2);
        let middle = pids.start + left;
        let mut routes = self.tree(&format!("{name}l"), pids.start..middle, left, k);
        routes.extend(self.tree(&format!("{name}r"), middle..pids.end, size - left, k));
        let building = self.levels(&format!("{name}."), 2 * k - 1, k);
        routes.iter_mut().for_each(|route| route.extend(&building));
        routes
    }

    /// Plans levels `outermost`, ..., k that every process passes. Correct only if `outermost` is n - 1.
    pub(in super::super) fn inductive(n: usize, k: usize, outermost: usize) -> Self {
        let mut plan = Plan::new(n);
        let route = plan.levels("", outermost, k);
        plan.routes.iter_mut().for_each(|routes| routes.push(route.clone()));
        plan
    }

    pub(in super::super) fn declare<B: Block>(self, n: usize, k: usize) -> Arranged<B> {
        let mut layout = Layout::default();
        let shared = B::share(&mut layout, n, self.blocks.len());
        let blocks = self
            .blocks
            .iter()
            .map(|PlannedBlock { name, k, instance }| {
                let (k, instance) = (*k, *instance);
                B::new(&mut layout, shared, BlockInstance { n, k, instance, name })
            })
            .collect();
        let gates = (0..self.gates)
            .map(|gate| layout.add(Decl::flag(format!("X.gate{gate}"), false)))
            .collect();
        Arranged {
            n,
            k,
            layout,
            blocks,
            widths: self.blocks.iter().map(|block| block.k).collect(),
            names: self.blocks.into_iter().map(|block| block.name).collect(),
            gates,
            routes: self.routes,
            symmetric: self.symmetric && B::SYMMETRIC,
        }
    }
}
