//! A tournament of groups, each of them a small EXCL.
//! Omori et al. 2002, procedures (n, k)-GTEX and gcheck.
//!
//! A complete binary tree of depth bl = floor(log2(n/(k+1))) halves the processes from node to
//! node, the lower half one larger if need be. From the leaf of its own up to the root, a process
//! goes through the competitions (p, q) of each node, p = 0 at the leaf, q = 1, 2, ...
//!
//! level(i): (0, 0), or the competition i has come to, ordered as pairs are.
//! turn(x, q): who of the group of x came last to its q-th competition, at first anybody of it.
//!
//! - Lemma 5: a leaf has k+1 to 2k+2 processes.
//! - Lemma 6: at most 2k-q winners at the q-th competition of an inner node; at a leaf x, as many as
//!   in EXCL: |G_x|-q.
//!
//! The paper's bound on steps while at most k compete (section 7) counts one competition a node and
//! not k: for k > 1 a process that meets nobody already takes longer.
//!
//! Differs from the paper: it describes n = 2^bl 2k only and leaves the rest to the reader. Here a
//! leaf x has |G_x|-k competitions, of which the q-th asks for at most |G_x|-q-1 others: for a leaf
//! of 2k processes that is the paper's. The range of level(i) has (0, 0), which the paper leaves
//! out although it starts there. `gcheck` reads turn(g(i, bl-p), q) as the procedure around it
//! does; it prints turn(p, q), which is not declared (see [`wrong::gtex_printed`]).
//!
//! [`wrong::gtex_printed`]: super::wrong::gtex_printed

use alloc::{format, string::String, vec, vec::Vec};
use core::ops::Range;

use super::ladder::{Competition, Ladder};
use crate::framework::{
    layout::{Decl, Init, Kind, Layout},
    memory::{Pid, Var, Word},
};

/// A node of the tournament tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its label: which way to turn at each node from the root on, 0 or 1.
    pub x: String,
    /// G_x.
    pub group: Range<Pid>,
}

/// The depth of the tree.
pub fn bl(n: usize, k: usize) -> usize {
    (n / (k + 1)).ilog2() as usize
}

/// The nodes by depth, each depth from left to right.
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

/// How a leaf competes, where the variants of [`wrong`](super::wrong) differ.
pub(super) struct Shape {
    /// How many entrants a leaf of this size counts with.
    pub leaf: fn(size: usize, k: usize) -> usize,
    /// Whether the root competes, where it is not a leaf.
    pub root: bool,
    /// Whether each node has turns of its own.
    pub turn_per_node: bool,
}

/// The algorithm as it is meant.
pub(super) const MEANT: Shape = Shape { leaf: |size, _| size, root: true, turn_per_node: true };

/// (n, k)-GTEX.
pub fn gtex(n: usize, k: usize) -> Ladder {
    shaped(n, k, MEANT)
}

pub(super) fn shaped(n: usize, k: usize, shape: Shape) -> Ladder {
    let tree = tree(n, k);
    let depth = tree.len() - 1;
    let entrants = |p: usize, node: &Node| {
        if p == 0 { (shape.leaf)(node.group.len(), k) } else { 2 * k }
    };
    let most = tree[depth].iter().map(|leaf| entrants(0, leaf) - k).max().unwrap_or(0).max(k);
    let width = most as Word + 1; // of a level's second number

    let mut layout = Layout::default();
    let mut competitions: Vec<Competition> = Vec::new();
    let mut ways = vec![Vec::new(); n];
    for p in 0..=depth - usize::from(depth > 0 && !shape.root) {
        let nodes = &tree[depth - p];
        let mut shared: Vec<Var> = Vec::new(); // the turns of this depth, if nodes share them
        for node in nodes {
            let entrants = entrants(p, node);
            let x = if node.x.is_empty() { "λ" } else { &node.x };
            for q in 1..=entrants - k {
                let name = format!("{x},{q}");
                let turn = shared
                    .get(q - 1)
                    .copied()
                    .unwrap_or_else(|| layout.add(turn(n, p, q, node, &name, shape.turn_per_node)));
                if !shape.turn_per_node && shared.len() < q {
                    shared.push(turn);
                }
                for i in node.group.clone() {
                    ways[i].push(competitions.len());
                }
                competitions.push(Competition {
                    level: p as Word * width + q as Word,
                    turn,
                    group: node.group.clone(),
                    crowd: entrants - q,
                    winners: entrants - q,
                    name,
                });
            }
        }
    }
    let level = layout.array(n, |i| {
        let own = ways[i].iter().map(|&index: &usize| competitions[index].level);
        let domain = [0].into_iter().chain(own).collect();
        let kind = Kind::Pair { width };
        Decl::listed(format!("level({i})"), kind, domain, Init::Is(0)).at(i).waited_on()
    });
    Ladder { n, k, figure: "gtex", lemma: &["Lemma 6"], layout, level, competitions, ways }
}

fn turn(n: usize, p: usize, q: usize, node: &Node, name: &str, per_node: bool) -> Decl {
    let (name, writers) = match per_node {
        true => (format!("turn({name})"), node.group.clone()),
        false => (format!("turn({p},{q})"), 0..n),
    };
    let domain = writers.map(|i| i as Word).collect();
    Decl::listed(name, Kind::Pid, domain, Init::Open).waited_on()
}
