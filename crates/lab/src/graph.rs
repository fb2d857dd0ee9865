//! Finds strongly connected components and longest paths in an explored graph.
//!
//! A graph is stored as an array: nodes are numbers from 0 on, and each node has at most one edge for each
//! agent. Components are listed with targets before sources. So code that goes through them in this order
//! has computed the results of all successors before it needs them.

mod paths;

use crate::{
    space::Agent,
    store::{Id, NONE},
};

pub use paths::{Bound, Heaviest, shortest};
pub(crate) use paths::{HeaviestFrom, heaviest_path, shortest_within};

/// The graph of all steps. For each state and agent, it has the state to which the agent's step leads.
pub struct Graph {
    /// The number of agents.
    pub agents: usize,
    /// The target of each edge, at index `node * agents + agent`, or [`NONE`] if there is no edge.
    pub targets: Vec<Id>,
}

impl Graph {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.targets.len() / self.agents
    }

    /// Returns whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the graph that has only the edges of the first `agents` agents.
    pub fn of_first(&self, agents: usize) -> Graph {
        let edges = self.targets.chunks(self.agents);
        Graph { agents, targets: edges.flat_map(|edges| &edges[..agents]).copied().collect() }
    }

    /// Returns the target of the step of `agent` from `node`.
    #[inline]
    pub fn target(&self, node: Id, agent: Agent) -> Option<Id> {
        match self.targets[node as usize * self.agents + agent] {
            NONE => None,
            target => Some(target),
        }
    }

    /// Returns the agents that can take a step from `node`, each with its target.
    #[inline]
    pub fn edges(&self, node: Id) -> impl Iterator<Item = (Agent, Id)> + '_ {
        self.targets[node as usize * self.agents..][..self.agents]
            .iter()
            .enumerate()
            .filter(|&(_, &target)| target != NONE)
            .map(|(agent, &target)| (agent, target))
    }
}

/// The edges of a graph, stored or computed.
pub trait Edges {
    /// Calls `each` with the agents that can take a step from `node`, each with its target.
    fn for_each_edge(&self, node: Id, each: &mut dyn FnMut(Agent, Id));
}

impl Edges for Graph {
    fn for_each_edge(&self, node: Id, each: &mut dyn FnMut(Agent, Id)) {
        self.edges(node).for_each(|(agent, to)| each(agent, to));
    }
}

/// A part of a graph: some of its nodes, and some of the edges between them.
pub trait Part {
    /// Returns whether the node belongs to the part.
    fn node(&self, node: Id) -> bool;
    /// Returns whether the edge belongs to the part. Callers ask only about edges with both ends in the part.
    fn edge(&self, _from: Id, _agent: Agent, _to: Id) -> bool {
        true
    }
}

impl<F: Fn(Id) -> bool> Part for F {
    fn node(&self, node: Id) -> bool {
        self(node)
    }
}

/// The strongly connected components of a part. Each component comes before the components from which it
/// can be reached.
pub struct Components {
    of: Vec<u32>,
    members: Vec<Id>,
    starts: Vec<u32>,
}

impl Components {
    /// Returns the number of components.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Returns the nodes of a component.
    pub fn members(&self, component: u32) -> &[Id] {
        let (from, to) = (self.starts[component as usize], self.starts[component as usize + 1]);
        &self.members[from as usize..to as usize]
    }

    /// Returns the node's component, or [`NONE`] outside the part.
    #[inline]
    pub fn of(&self, node: Id) -> u32 {
        self.of[node as usize]
    }
}

/// Finds the strongly connected components of `part`.
///
/// This is Pearce's variant of Tarjan's algorithm ("A space-efficient algorithm for finding strongly connected
/// components", 2016). It keeps one number for each node. At first, this number is the position of the node in the
/// order of visits. While the component of the node is unknown, the number becomes the smallest such position that the
/// search has found from the node. Once the component is known, the number is that of the component. Component numbers
/// count down from the top, so they are larger than all positions.
pub fn components(graph: &Graph, part: &impl Part) -> Components {
    const UNSEEN: u32 = 0;
    let mut number = vec![UNSEEN; graph.len()];
    let mut next = 1u32;
    let mut found = Components { of: Vec::new(), members: Vec::new(), starts: vec![0] };
    let mut waiting: Vec<Id> = Vec::new();
    // A node, the agent whose edge is followed, and whether the node may still be the root of its
    // component.
    let mut calls: Vec<(Id, u8, bool)> = Vec::new();
    for start in 0..graph.len() as Id {
        if number[start as usize] != UNSEEN || !part.node(start) {
            continue;
        }
        number[start as usize] = next;
        next += 1;
        calls.push((start, 0, true));
        while let Some((node, agent, root)) = calls.last_mut() {
            let from = *node;
            if (*agent as usize) < graph.agents {
                let mover = *agent as usize;
                let target = graph
                    .target(from, mover)
                    .filter(|&to| to != from && part.node(to) && part.edge(from, mover, to));
                match target {
                    // The search comes back to this edge after it has visited the target.
                    Some(to) if number[to as usize] == UNSEEN => {
                        number[to as usize] = next;
                        next += 1;
                        calls.push((to, 0, true));
                    }
                    Some(to) if number[to as usize] < number[from as usize] => {
                        number[from as usize] = number[to as usize];
                        *root = false;
                    }
                    _ => *agent += 1,
                }
                continue;
            }
            let is_root = *root;
            calls.pop();
            if !is_root {
                waiting.push(from);
                continue;
            }
            let component = NONE - 1 - found.count();
            let first = number[from as usize];
            while let Some(node) = waiting.pop_if(|node| number[*node as usize] >= first) {
                number[node as usize] = component;
                found.members.push(node);
            }
            number[from as usize] = component;
            found.members.push(from);
            next = first;
            found.starts.push(found.members.len() as u32);
        }
    }
    number.iter_mut().for_each(|number| {
        *number = if *number == UNSEEN { NONE } else { NONE - 1 - *number };
    });
    found.of = number;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a graph with two agents. For each node, `edges` has the targets of both agents. [`NONE`] means that
    /// there is no edge.
    fn graph(edges: &[[Id; 2]]) -> Graph {
        Graph { agents: 2, targets: edges.concat() }
    }

    #[test]
    fn components_are_listed_with_targets_before_sources() {
        // 0 <-> 1 -> 2 -> 3 <-> 4, and 5 with a loop.
        let graph = graph(&[[1, NONE], [0, 2], [3, NONE], [4, NONE], [3, NONE], [5, NONE]]);
        let found = components(&graph, &|_| true);
        assert_eq!(found.count(), 4);
        assert_eq!(found.of(0), found.of(1));
        assert_eq!(found.of(3), found.of(4));
        assert!(found.of(3) < found.of(2) && found.of(2) < found.of(0));
        assert_eq!(found.members(found.of(5)), [5]);
    }

    #[test]
    fn a_part_leaves_out_nodes_and_edges() {
        let graph = graph(&[[1, NONE], [2, NONE], [0, NONE]]);
        assert_eq!(components(&graph, &|_| true).count(), 1);
        assert_eq!(components(&graph, &|node| node != 1).count(), 2);
        struct NoEdgeBack;
        impl Part for NoEdgeBack {
            fn node(&self, _: Id) -> bool {
                true
            }
            fn edge(&self, from: Id, _: Agent, _: Id) -> bool {
                from != 2
            }
        }
        assert_eq!(components(&graph, &NoEdgeBack).count(), 3);
    }
}
