//! A tournament of groups. Each group runs a small EXCL. Omori et al. 2002, procedures (n, k)-GTEX and
//! gcheck.
//!
//! A complete binary tree of depth bl = floor(log2(n/(k+1))) halves the group of processes at each node.
//! If the group has odd size, the lower half gets one process more. A process goes from its leaf up to
//! the root. At each node, it goes through the competitions (p, q), where p is the height of the node (0 at
//! a leaf) and q = 1, 2, ...
//!
//! - level(i): the competition (p, q) that i has reached, or (0, 0). Levels are compared by p, and then by q.
//! - turn(x, q): the last process that has reached the q-th competition of node x; initially any process of the group
//!   G_x of this node.
//!
//! - Lemma 5: a leaf has k+1 to 2k+2 processes.
//! - Lemma 6: there are at most 2k-q winners at the q-th competition of an inner node. At a leaf x,
//!   there are at most |G_x|-q. This is the bound of EXCL for |G_x| processes.
//!
//! The paper bounds the number of steps while at most k processes compete (Section 7). The bound counts one
//! competition per node instead of k. For k > 1, even a process that meets no other process takes more steps than the
//! bound allows.
//!
//! Differences from the paper:
//!
//! - The paper describes only n = 2^bl * 2k and leaves the rest to the reader. Here a leaf x has |G_x|-k
//!   competitions, and the q-th competition requires at most |G_x|-q-1 others. For a leaf of 2k
//!   processes, this is what the paper prints.
//! - The range of level(i) contains (0, 0). The paper omits this value, although level(i) starts with it.
//! - `gcheck` reads turn(g(i, bl-p), q), like the procedure that calls it. The paper prints turn(p, q),
//!   which is not declared (see [`wrong::gtex_printed`]).
//!
//! [`wrong::gtex_printed`]: super::wrong::gtex_printed

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::ops::Range;

use super::ladder::{Competition, Ladder};
use crate::framework::{
    layout::{Decl, Init, Kind, Layout},
    memory::{Pid, Var, Word},
};

/// A node of the tournament tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The label: the path from the root, 0 for the lower half and 1 for the upper half.
    pub x: String,
    /// The processes of the node, G_x.
    pub group: Range<Pid>,
}

impl Node {
    /// Returns the label as the paper writes it, λ for the root.
    fn label(&self) -> &str {
        if self.x.is_empty() { "λ" } else { &self.x }
    }
}

/// Returns the depth of the tree.
pub fn bl(n: usize, k: usize) -> usize {
    (n / (k + 1)).ilog2() as usize
}

/// Returns the nodes by depth. Within a depth, the nodes go from left to right.
pub fn tree(n: usize, k: usize) -> Vec<Vec<Node>> {
    let mut depths = vec![vec![Node { x: String::new(), group: 0..n }]];
    for depth in 0..bl(n, k) {
        let halves = |Node { x, group }: &Node| {
            let middle = group.start + group.len().div_ceil(2);
            [("0", group.start..middle), ("1", middle..group.end)]
                .map(|(turn, group)| Node { x: format!("{x}{turn}"), group })
        };
        let next = depths[depth].iter().flat_map(halves).collect();
        depths.push(next);
    }
    depths
}

/// How the group of a node competes.
pub(super) struct Group {
    /// The node's height above the leaves.
    pub(super) p: usize,
    pub(super) node: Node,
    /// The number of processes for which the competitions are built. The q-th competition has at most
    /// `entrants - q` winners.
    pub(super) entrants: usize,
    /// The name of the turn variables. Groups with the same name share their turn variables.
    pub(super) turns: String,
    /// The processes that write the turn variables.
    pub(super) writers: Range<Pid>,
}

/// Returns all groups, leaves first. Within a height, the groups go from left to right.
pub(super) fn groups(n: usize, k: usize) -> Vec<Group> {
    let heights = tree(n, k).into_iter().rev().enumerate();
    heights
        .flat_map(|(p, nodes)| {
            nodes.into_iter().map(move |node| Group {
                p,
                entrants: if p == 0 { node.group.len() } else { 2 * k },
                turns: node.label().to_string(),
                writers: node.group.clone(),
                node,
            })
        })
        .collect()
}

/// Builds (n, k)-GTEX.
pub fn gtex(n: usize, k: usize) -> Ladder {
    ladder(n, k, groups(n, k))
}

/// Builds the competitions of these groups, in the order of `groups`.
pub(super) fn ladder(n: usize, k: usize, groups: Vec<Group>) -> Ladder {
    let max_rounds = groups.iter().map(|group| group.entrants - k).max().unwrap_or(0).max(k);
    let width = max_rounds as Word + 1; // greater than the second number of any level

    let mut layout = Layout::default();
    let mut turns: BTreeMap<(String, usize), Var> = BTreeMap::new();
    let mut competitions: Vec<Competition> = Vec::new();
    let mut routes = vec![Vec::new(); n];
    for Group { p, node, entrants, turns: of, writers } in groups {
        for q in 1..=entrants - k {
            let turn = turns.entry((of.clone(), q)).or_insert_with(|| {
                let domain = writers.clone().map(|i| i as Word).collect();
                let name = format!("turn({of},{q})");
                layout.add(Decl::listed(name, Kind::Pid, domain, Init::Open).waited_on())
            });
            for i in node.group.clone() {
                routes[i].push(competitions.len());
            }
            competitions.push(Competition {
                level: p as Word * width + q as Word,
                turn: *turn,
                group: node.group.clone(),
                crowd: entrants - q,
                winners: entrants - q,
                name: format!("{},{q}", node.label()),
            });
        }
    }
    let level = layout.array(n, |i| {
        let own = routes[i].iter().map(|&index: &usize| competitions[index].level);
        let domain = [0].into_iter().chain(own).collect();
        let kind = Kind::Pair { width };
        Decl::listed(format!("level({i})"), kind, domain, Init::Is(0)).at(i).waited_on()
    });
    Ladder { n, k, figure: "gtex", lemma: &["Lemma 6"], layout, level, competitions, routes }
}
