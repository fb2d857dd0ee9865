//! Finds the cycle of a graph with the largest ratio of two sums, exactly.

use std::fmt;

use crate::{
    graph::{Graph, Part, components},
    space::Agent,
    store::{Id, NONE},
};

/// A fraction in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// The numerator.
    pub over: u64,
    /// The denominator.
    pub under: u64,
}

impl Ratio {
    fn new(over: u64, under: u64) -> Self {
        let (mut a, mut b) = (over, under);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = a.max(1);
        Ratio { over: over / divisor, under: under / divisor }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.under {
            1 => self.over.fmt(f),
            under => write!(f, "{}/{under}", self.over),
        }
    }
}

/// The cost of a step, and whether it completes a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cost {
    pub references: u8,
    pub passage: bool,
}

/// The steps that complete no passage.
struct NoPassage<'a>(&'a Graph, &'a [Cost]);

impl Part for NoPassage<'_> {
    fn node(&self, _: Id) -> bool {
        true
    }

    fn edge(&self, from: Id, agent: Agent, _: Id) -> bool {
        !self.1[from as usize * self.0.agents + agent].passage
    }
}

/// Returns the largest ratio of references to passages over all cycles. Returns `None` if the ratio has no bound,
/// because some cycle makes a reference and completes no passage. `costs` has the cost of each edge, at the index that
/// the edge has in `graph.targets`.
///
/// This is Dinkelbach's method (1967). For a ratio r, a cycle has a larger ratio if and only if its sum is
/// positive when a reference counts 1 and a passage counts -r. Such a cycle is called positive. The search
/// begins with r = 0. As long as there is a positive cycle, r becomes the ratio of that cycle. All numbers
/// are whole, so the result is exact.
pub(super) fn largest(graph: &Graph, costs: &[Cost]) -> Option<Ratio> {
    let part = NoPassage(graph, costs);
    let found = components(graph, &part);
    let free = |node: Id, agent: Agent, to: Id| {
        let cost = costs[node as usize * graph.agents + agent];
        !cost.passage && cost.references > 0 && found.of(node) == found.of(to)
    };
    let mut nodes = 0..graph.len() as Id;
    if nodes.any(|node| graph.edges(node).any(|(agent, to)| free(node, agent, to))) {
        return None;
    }
    let cyclic = components(graph, &|_| true);
    let mut ratio = Ratio { over: 0, under: 1 };
    while let Some(better) =
        positive_cycle(graph, costs, ratio, |a, b| cyclic.of(a) == cyclic.of(b))
    {
        ratio = better;
    }
    Some(ratio)
}

/// Returns the ratio of a cycle whose ratio is larger than `than`. This is the algorithm of Bellman and
/// Ford. The parents that it records form a cycle only if that cycle is positive.
fn positive_cycle(
    graph: &Graph,
    costs: &[Cost],
    than: Ratio,
    inside: impl Fn(Id, Id) -> bool,
) -> Option<Ratio> {
    let mut value = vec![0i64; graph.len()];
    let mut parent: Vec<(Id, Agent)> = vec![(NONE, 0); graph.len()];
    loop {
        let mut changed = false;
        for from in 0..graph.len() as Id {
            for (agent, to) in graph.edges(from).filter(|&(_, to)| inside(from, to)) {
                let cost = costs[from as usize * graph.agents + agent];
                let weight = i64::from(cost.references) * than.under as i64
                    - i64::from(cost.passage) * than.over as i64;
                if value[from as usize] + weight > value[to as usize] {
                    value[to as usize] = value[from as usize] + weight;
                    parent[to as usize] = (from, agent);
                    changed = true;
                }
            }
        }
        if !changed {
            return None;
        }
        if let Some(on_cycle) = cycle_of_parents(&parent) {
            return Some(ratio_of_cycle(graph, costs, &parent, on_cycle));
        }
    }
}

/// Returns a node on a cycle of parents.
fn cycle_of_parents(parent: &[(Id, Agent)]) -> Option<Id> {
    let mut visited_by = vec![NONE; parent.len()];
    for start in 0..parent.len() as Id {
        let mut node = start;
        while node != NONE && visited_by[node as usize] == NONE {
            visited_by[node as usize] = start;
            node = parent[node as usize].0;
        }
        if node != NONE && visited_by[node as usize] == start {
            return Some(node);
        }
    }
    None
}

fn ratio_of_cycle(graph: &Graph, costs: &[Cost], parent: &[(Id, Agent)], start: Id) -> Ratio {
    let (mut references, mut passages, mut node) = (0, 0, start);
    loop {
        let (from, agent) = parent[node as usize];
        let cost = costs[from as usize * graph.agents + agent];
        references += u64::from(cost.references);
        passages += u64::from(cost.passage);
        node = from;
        if node == start {
            return Ratio::new(references, passages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a graph with two agents from `(target, references, passage)`.
    fn graph(edges: &[[(Id, u8, bool); 2]]) -> (Graph, Vec<Cost>) {
        let targets = edges.iter().flatten().map(|edge| edge.0).collect();
        let cost = |edge: &(Id, u8, bool)| Cost { references: edge.1, passage: edge.2 };
        (Graph { agents: 2, targets }, edges.iter().flatten().map(cost).collect())
    }

    const NO: (Id, u8, bool) = (NONE, 0, false);

    #[test]
    fn the_best_of_two_cycles_counts() {
        // 0 -> 1 -> 0 makes 3 references in 2 passages, 0 -> 2 -> 0 makes 1 in 1 passage, and 1 -> 1 only waits.
        let (graph, costs) = graph(&[
            [(1, 2, true), (2, 1, false)],
            [(0, 1, true), (1, 0, false)],
            [(0, 0, true), NO],
        ]);
        assert_eq!(largest(&graph, &costs).unwrap().to_string(), "3/2");
    }

    #[test]
    fn references_on_the_way_to_a_cycle_do_not_count() {
        let (graph, costs) = graph(&[[(1, 9, true), NO], [(1, 1, true), NO]]);
        assert_eq!(largest(&graph, &costs), Some(Ratio { over: 1, under: 1 }));
    }

    #[test]
    fn a_reference_on_a_cycle_without_a_passage_has_no_bound() {
        let (graph, costs) = graph(&[[(1, 0, false), (0, 0, true)], [(0, 1, false), NO]]);
        assert_eq!(largest(&graph, &costs), None);
        let waits = self::graph(&[[(0, 1, false), NO]]);
        assert_eq!(largest(&waits.0, &waits.1), None);
    }
}
