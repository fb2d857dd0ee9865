//! The most own steps that an operation takes, over all interleavings.
//!
//! All interleavings include those in which all others stop for ever, anywhere, or are infinitely
//! quicker; so a bound here is wait-freedom, and nothing about crashes needs to be modelled. A step is
//! one access to a word, or the begin or the end of one to goods.

use hallpass_algorithms::objects::universal::Errand;

use super::space::{Runs, WORDS};
use crate::{
    explore::Explored,
    graph::{Bound, Graph, Heaviest},
    space::Agent,
    store::Id,
};

/// The most steps.
#[derive(Clone, Debug)]
pub struct Most {
    /// Of an operation that changes the object; none if nobody began one.
    pub change: Option<Bound>,
    /// Of one that looks at it.
    pub look: Option<Bound>,
    /// A run that takes steps without end: up to its first state, and around.
    pub lasso: Option<(Id, Vec<Agent>, Vec<Agent>)>,
}

/// Finds them.
pub fn most(runs: &Runs, found: &Explored<WORDS>, graph: &Graph) -> Most {
    let mut most = Most { change: None, look: None, lasso: None };
    for me in 0..runs.toy.k {
        let is_mine = |agent: Agent| runs.agent(agent).0 == me;
        let is_busy = |id: Id| runs.errand(&found.store.get(id), me).is_some();
        let busy: Vec<bool> = found.ids().map(is_busy).collect();
        let weight = |_: Id, agent: Agent| u32::from(is_mine(agent));
        let heaviest = Heaviest::new(graph, &|id: Id| busy[id as usize], weight);
        for id in found.ids().filter(|&id| !busy[id as usize]) {
            for (agent, to) in graph.edges(id).filter(|&(agent, _)| is_mine(agent)) {
                let bound = match heaviest.from(to) {
                    Bound::Most(rest) => Bound::Most(rest + 1),
                    Bound::Unbounded => Bound::Unbounded,
                };
                let of = match runs.toy.errand(runs.agent(agent).1) {
                    Errand::Change => &mut most.change,
                    Errand::Look => &mut most.look,
                };
                *of = (*of).max(Some(bound));
                if bound == Bound::Unbounded && most.lasso.is_none() {
                    let (path, cycle) = heaviest.path(graph, weight, to);
                    most.lasso = Some((to, path, cycle));
                }
            }
        }
    }
    most
}
