//! Checks statements of Omori et al. that need no exploration: the shape of the tree, the size of the
//! memory, the length of a passage, and the two examples.

use hallpass_algorithms::{
    Algorithm, Kind, Loc, Memory, Next, Op, Pid, Var, Word,
    papers::omori::{
        Ladder, excl, gtex,
        gtex::{bl, tree},
        ladder::Line,
    },
};

/// Returns every size with at most this many processes.
fn sizes(max_n: usize) -> impl Iterator<Item = (usize, usize)> {
    (2..=max_n).flat_map(|n| (1..n).map(move |k| (n, k)))
}

/// Returns t if n = 2^t * 2k. The paper describes GTEX only for these sizes.
fn described(n: usize, k: usize) -> Option<u32> {
    let t = (n / (2 * k)).checked_ilog2()?;
    ((2 * k) << t == n).then_some(t)
}

#[test]
fn example_2_is_the_tree_for_17_processes() {
    let tree = tree(17, 3);
    let shown: Vec<Vec<_>> = tree
        .iter()
        .map(|nodes| nodes.iter().map(|node| (node.x.as_str(), node.group.clone())).collect())
        .collect();
    assert_eq!(bl(17, 3), 2);
    assert_eq!(shown[0], [("", 0..17)]);
    assert_eq!(shown[1], [("0", 0..9), ("1", 9..17)]);
    assert_eq!(shown[2], [("00", 0..5), ("01", 5..9), ("10", 9..13), ("11", 13..17)]);
    // g(5, t) is the node of depth t to which 5 belongs.
    let g = |t: usize| tree[t].iter().find(|node| node.group.contains(&5)).unwrap().x.as_str();
    assert_eq!([g(2), g(1), g(0)], ["01", "0", ""]);
}

#[test]
fn lemma_5_leaves_have_k_plus_1_to_2k_plus_2_processes() {
    for (n, k) in sizes(64) {
        let tree = tree(n, k);
        assert_eq!(tree.len(), bl(n, k) + 1);
        for (depth, nodes) in tree.iter().enumerate() {
            assert_eq!(nodes.len(), 1 << depth, "n={n} k={k}");
            let everybody: Vec<Pid> = nodes.iter().flat_map(|node| node.group.clone()).collect();
            assert_eq!(everybody, (0..n).collect::<Vec<_>>(), "n={n} k={k}");
        }
        for leaf in &tree[bl(n, k)] {
            let size = leaf.group.len();
            assert!((k + 1..=2 * k + 2).contains(&size), "n={n} k={k}: {leaf:?}");
            assert!([n >> bl(n, k), n.div_ceil(1 << bl(n, k))].contains(&size), "n={n} k={k}");
        }
    }
    // Both ends of the range occur.
    assert_eq!(tree(7, 1)[1].iter().map(|leaf| leaf.group.len()).collect::<Vec<_>>(), [4, 3]);
    assert_eq!(tree(4, 1)[1].iter().map(|leaf| leaf.group.len()).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn excl_and_gtex_have_2n_minus_k_variables() {
    for (n, k) in sizes(32) {
        for algorithm in [excl(n, k), gtex(n, k)] {
            let decls = algorithm.layout().decls();
            let turns = decls.iter().filter(|decl| matches!(decl.kind, Kind::Pid));
            assert_eq!(turns.count(), n - k, "n={n} k={k}");
            assert_eq!(decls.len(), 2 * n - k, "n={n} k={k}");
        }
    }
}

#[test]
fn variables_have_as_many_values_as_section_7_says() {
    for (n, k) in sizes(32) {
        for decl in excl(n, k).layout().decls() {
            let values = if matches!(decl.kind, Kind::Pid) { n } else { n - k + 1 };
            assert_eq!(decl.domain.listed().len(), values, "n={n} k={k} {}", decl.name);
        }
        let Some(t) = described(n, k) else { continue };
        assert_eq!(bl(n, k), t as usize);
        for decl in gtex(n, k).layout().decls() {
            let values = match decl.name.strip_prefix("turn(") {
                None => k * (t as usize + 1) + 1, // k log(n/k) + 1
                // A node of depth p has n/2^p processes. The paper prints 2^p but calculates with n/2^p.
                Some(name) => match name.split(',').next() {
                    Some("λ") | None => n,
                    Some(x) => n >> x.len(),
                },
            };
            assert_eq!(decl.domain.listed().len(), values, "n={n} k={k} {}", decl.name);
        }
    }
}

/// Shared memory for a single thread.
struct Plain(Vec<Word>);

impl Memory for Plain {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

/// An algorithm with its processes and their memory.
struct Run {
    algorithm: Ladder,
    memory: Plain,
    at: Vec<Loc<Line>>,
}

impl Run {
    fn new(algorithm: Ladder) -> Self {
        let at = (0..algorithm.n()).map(|p| Loc::Entry(algorithm.begin(p))).collect();
        Run { memory: Plain(algorithm.layout().first_initial()), at, algorithm }
    }

    fn step(&mut self, p: Pid) {
        let at = match self.at[p] {
            Loc::Entry(at) | Loc::Critical(at) | Loc::Exit(at) => at,
            Loc::Remainder => panic!("{p} is in its remainder"),
        };
        self.at[p] = match self.algorithm.step(&mut self.memory, p, at) {
            Next::Goto(next) | Next::Spin(next) => Loc::Entry(next),
            Next::Enter(exit) => Loc::Critical(exit),
            Next::Leave => Loc::Remainder,
        };
    }

    /// Lets `p` take steps until `there` holds, and returns the number of these steps.
    fn until(&mut self, p: Pid, there: impl Fn(Loc<Line>) -> bool) -> usize {
        let mut steps = 0;
        while !there(self.at[p]) {
            self.step(p);
            steps += 1;
            assert!(steps < 100_000, "process {p} does not reach the expected position");
        }
        steps
    }
}

fn is_in(at: Loc<Line>) -> bool {
    matches!(at, Loc::Critical(_))
}

#[test]
fn example_1_is_a_run_of_excl() {
    let mut run = Run::new(excl(4, 2));
    let looks =
        |level| move |at| matches!(at, Loc::Entry(Line::L4 { s, crowded: true }) if s + 1 == level);
    let comes_to = |level| move |at| matches!(at, Loc::Entry(Line::L1 { s }) if s + 1 == level);
    for p in 0..4 {
        run.until(p, |at| matches!(at, Loc::Entry(Line::L3 { .. }))); // all have written turn(1)
    }
    for p in 0..3 {
        run.until(p, looks(1));
        run.step(p); // turn(1) is not p
        assert!(comes_to(2)(run.at[p]));
    }
    for p in [2, 0, 1] {
        run.until(p, |at| matches!(at, Loc::Entry(Line::L3 { s: 1, .. })));
    }
    for p in [0, 2] {
        run.until(p, looks(2));
        run.step(p); // turn(2) is 1
        assert!(is_in(run.at[p]));
    }
    run.until(1, looks(2));
    for _ in 0..50 {
        run.step(1);
        run.step(3);
        assert!(
            !is_in(run.at[1]) && !is_in(run.at[3]),
            "two processes are in the critical section"
        );
    }
    run.until(0, |at| at == Loc::Remainder);
    run.until(1, is_in);
}

#[test]
fn a_process_that_runs_alone_takes_the_stated_number_of_steps() {
    let alone = |algorithm| Run::new(algorithm).until(0, is_in);
    for (n, k) in sizes(32) {
        assert_eq!(alone(excl(n, k)), (n - k) * (n + 2), "n={n} k={k}");
        let Some(t) = described(n, k) else { continue };
        // Section 7 adds up 2 + 2k * 2^p over the nodes of a path, but each node has k competitions. For
        // k > 1, even a process that runs alone exceeds this bound.
        let a_node = |p: u32| 2 + ((2 * k) << p);
        let steps: usize = (0..=t).map(|p| k * a_node(p)).sum();
        let printed = 2 * (t as usize + 1) + 2 * (n - k) + 1;
        assert_eq!(alone(gtex(n, k)), steps, "n={n} k={k}");
        assert_eq!(steps <= printed, k == 1, "n={n} k={k}");
    }
}
