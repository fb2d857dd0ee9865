//! Longest and shortest paths in a graph.

use std::fmt;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::{Components, Edges, Graph, Part, components};
use crate::{
    explore::Ended,
    space::Agent,
    store::{Id, NONE},
};

/// A bound on the weight of a path. The weight counts, for example, steps, overtakings or remote references.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// The maximum weight.
    Most(u32),
    /// There is no bound, because some cycle has weight.
    Unbounded,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Most(most) => most.fmt(f),
            Bound::Unbounded => f.write_str("unbounded"),
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Bound::Most(most) => serializer.serialize_u32(*most),
            Bound::Unbounded => serializer.collect_str(self),
        }
    }
}

/// The heaviest paths of a [part](Part) of the graph. A path ends where it leaves the part. The weight includes the edge
/// that leaves.
pub struct Heaviest {
    components: Components,
    /// For each component, the weight of the heaviest path that starts in it.
    from: Vec<Bound>,
}

impl Heaviest {
    /// Computes the heaviest path from every component.
    pub fn new(graph: &Graph, part: &impl Part, weight: impl Fn(Id, Agent) -> u32) -> Self {
        let components = components(graph, part);
        let mut from: Vec<Bound> = Vec::with_capacity(components.count() as usize);
        for component in 0..components.count() {
            let mut most = Bound::Most(0);
            for &node in components.members(component) {
                for (agent, to) in graph.edges(node) {
                    let weight = weight(node, agent);
                    let beyond = match components.of(to) {
                        NONE => Bound::Most(0),
                        same if same == component && weight > 0 => Bound::Unbounded,
                        same if same == component => continue,
                        other => from[other as usize],
                    };
                    most = most.max(match beyond {
                        Bound::Most(rest) => Bound::Most(rest + weight),
                        Bound::Unbounded => Bound::Unbounded,
                    });
                }
            }
            from.push(most);
        }
        Heaviest { components, from }
    }

    /// Returns the weight of the heaviest path from `node`.
    pub fn from(&self, node: Id) -> Bound {
        match self.components.of(node) {
            NONE => Bound::Most(0),
            component => self.from[component as usize],
        }
    }

    /// Returns a heaviest path from `node` to the point where it leaves the part, or where nothing with weight follows. If
    /// there is no bound, returns a path to a cycle with weight, and that cycle.
    pub fn path(
        &self,
        graph: &Graph,
        weight: impl Fn(Id, Agent) -> u32,
        node: Id,
    ) -> (Vec<Agent>, Vec<Agent>) {
        heaviest_path(graph, self, weight, node, usize::MAX).expect("there is no limit")
    }
}

/// The weights of the heaviest paths of a part.
pub(crate) trait HeaviestFrom {
    /// Returns the component of `node`, or [`NONE`] outside the part.
    fn component(&self, node: Id) -> u32;
    /// Returns the weight of the heaviest path from a component.
    fn of_component(&self, component: u32) -> Bound;

    /// Returns the weight of the heaviest path from `node`.
    fn of_node(&self, node: Id) -> Bound {
        match self.component(node) {
            NONE => Bound::Most(0),
            component => self.of_component(component),
        }
    }
}

impl HeaviestFrom for Heaviest {
    fn component(&self, node: Id) -> u32 {
        self.components.of(node)
    }

    fn of_component(&self, component: u32) -> Bound {
        self.from[component as usize]
    }
}

/// Returns a heaviest path from `node` to the point where it leaves the part, or where nothing with weight follows. If
/// there is no bound, returns a path to a cycle with weight, and that cycle.
///
/// # Errors
/// Fails if a search within a component visits more than `most` nodes.
pub(crate) fn heaviest_path(
    graph: &impl Edges,
    heaviest: &impl HeaviestFrom,
    weight: impl Fn(Id, Agent) -> u32,
    mut node: Id,
    most: usize,
) -> Result<(Vec<Agent>, Vec<Agent>), Ended> {
    let mut path = Vec::new();
    loop {
        let component = heaviest.component(node);
        if component == NONE {
            return Ok((path, Vec::new()));
        }
        let inside = |to: Id| heaviest.component(to) == component;
        let best = heaviest.of_component(component);
        // The search looks for the nearest node of the component from which an edge continues a
        // heaviest path.
        let goes_on = |from: Id| {
            let mut found = None;
            graph.for_each_edge(from, &mut |agent, to| {
                let weight = weight(from, agent);
                let continues = match (best, heaviest.of_node(to)) {
                    (Bound::Unbounded, _) if inside(to) => weight > 0,
                    (_, _) if inside(to) => false,
                    (Bound::Most(all), Bound::Most(rest)) => rest + weight == all,
                    (all, rest) => all == rest,
                };
                if continues && found.is_none() {
                    found = Some((agent, to));
                }
            });
            found
        };
        let found = shortest_within(graph, node, inside, |at| goes_on(at).is_some(), most)?;
        let Some((steps, at)) = found else {
            // No edge leaves the component, and no edge in it has weight.
            return Ok((path, Vec::new()));
        };
        path.extend(steps);
        let (agent, to) = goes_on(at).expect("just found");
        if inside(to) {
            let (back, _) = shortest_within(graph, to, inside, |node| node == at, most)?
                .expect("the component is strongly connected");
            return Ok((path, std::iter::once(agent).chain(back).collect()));
        }
        path.push(agent);
        node = to;
    }
}

/// Returns a shortest path from `start` to a `goal`, and that goal. All nodes of the path after `start` satisfy
/// `inside`.
pub fn shortest(
    graph: &impl Edges,
    start: Id,
    inside: impl Fn(Id) -> bool,
    goal: impl Fn(Id) -> bool,
) -> Option<(Vec<Agent>, Id)> {
    shortest_within(graph, start, inside, goal, usize::MAX).expect("there is no limit")
}

/// Returns what [`shortest`] returns.
///
/// # Errors
/// Fails if the search visits more than `most` nodes.
pub(crate) fn shortest_within(
    graph: &impl Edges,
    start: Id,
    inside: impl Fn(Id) -> bool,
    goal: impl Fn(Id) -> bool,
    most: usize,
) -> Result<Option<(Vec<Agent>, Id)>, Ended> {
    let mut seen: IndexMap<Id, (usize, Agent), foldhash::fast::FixedState> = IndexMap::default();
    seen.insert(start, (0, 0));
    let mut index = 0;
    while let Some((&node, _)) = seen.get_index(index) {
        if goal(node) {
            let mut steps = Vec::new();
            let mut back = index;
            while back != 0 {
                let (_, &(parent, agent)) = seen.get_index(back).expect("it was seen");
                steps.push(agent);
                back = parent;
            }
            steps.reverse();
            return Ok(Some((steps, node)));
        }
        graph.for_each_edge(node, &mut |agent, to| {
            if inside(to) && seen.len() <= most {
                seen.entry(to).or_insert((index, agent));
            }
        });
        if seen.len() > most {
            return Err(Ended::Memory);
        }
        index += 1;
    }
    Ok(None)
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
    fn the_heaviest_path_goes_through_weightless_cycles() {
        // Agent 0 moves between 0 and 1, without weight. Agent 1 moves from 1 to 2, and from 2 to 3.
        // Node 3 is outside the part.
        let graph = graph(&[[1, NONE], [0, 2], [NONE, 3], [NONE, NONE]]);
        let weight = |_: Id, agent: Agent| agent as u32;
        let heaviest = Heaviest::new(&graph, &|node| node < 3, weight);
        assert_eq!(heaviest.from(0), Bound::Most(2));
        assert_eq!(heaviest.path(&graph, weight, 0), (vec![0, 1, 1], vec![]));
    }

    #[test]
    fn a_cycle_with_weight_has_no_bound() {
        let graph = graph(&[[1, NONE], [NONE, 2], [1, NONE]]);
        let weight = |_: Id, agent: Agent| agent as u32;
        let heaviest = Heaviest::new(&graph, &|_| true, weight);
        assert_eq!(heaviest.from(0), Bound::Unbounded);
        assert_eq!(heaviest.path(&graph, weight, 0), (vec![0], vec![1, 0]));
    }
}
