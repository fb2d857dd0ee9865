//! Finds how many of its own steps a process takes at most in an operation, over all interleavings.
//!
//! The interleavings include those in which all other processes stop forever, at any line, and those in which
//! the other processes are arbitrarily faster. So a bound over all interleavings proves wait-freedom, and crashes
//! need no separate model. A step is one access to a word, or the beginning or the end of an access to a copy or
//! a buffer.

use hallpass_algorithms::objects::universal::Intent;

use super::space::{Runs, WORDS};
use crate::{
    explore::Explored,
    graph::{Bound, Graph, Heaviest},
    space::Agent,
    store::Id,
};

/// How many of its own steps a process takes at most in an operation.
#[derive(Clone, Debug)]
pub struct StepBounds {
    /// The bound for operations that are applied, or `None` if no process began one.
    pub apply: Option<Bound>,
    /// The bound for reads, or `None` if no process began one.
    pub read: Option<Bound>,
    /// A run in which an operation never ends: the state after the first step of the operation, the path to a
    /// cycle, and the cycle.
    pub lasso: Option<(Id, Vec<Agent>, Vec<Agent>)>,
}

/// Finds the bounds in the graph of all steps.
pub fn step_bounds(runs: &Runs, found: &Explored<WORDS>, graph: &Graph) -> StepBounds {
    let mut bounds = StepBounds { apply: None, read: None, lasso: None };
    for me in 0..runs.object.k {
        let is_mine = |agent: Agent| runs.agent(agent).0 == me;
        let is_inside = |id: Id| runs.intent(&found.store.get(id), me).is_some();
        let inside: Vec<bool> = found.ids().map(is_inside).collect();
        let weight = |_: Id, agent: Agent| u32::from(is_mine(agent));
        let heaviest = Heaviest::new(graph, &|id: Id| inside[id as usize], weight);
        for id in found.ids().filter(|&id| !inside[id as usize]) {
            for (agent, to) in graph.edges(id).filter(|&(agent, _)| is_mine(agent)) {
                let bound = match heaviest.from(to) {
                    Bound::Most(rest) => Bound::Most(rest + 1),
                    Bound::Unbounded => Bound::Unbounded,
                };
                let max = match runs.object.intent(runs.agent(agent).1) {
                    Intent::Apply => &mut bounds.apply,
                    Intent::Read => &mut bounds.read,
                };
                *max = (*max).max(Some(bound));
                if bound == Bound::Unbounded && bounds.lasso.is_none() {
                    let (path, cycle) = heaviest.path(graph, weight, to);
                    bounds.lasso = Some((to, path, cycle));
                }
            }
        }
    }
    bounds
}
