//! Checks the renaming of processes: step machines that declare symmetry have it, and the representatives of states are
//! correct. An *orbit* is a state with all its renamings. One of these states is the representative of the orbit.

use std::{collections::HashSet, fs, path::Path};

use super::support::{State, explore_all, explore_some, renamed, sequential, successors};
use hallpass_algorithms::registry;
use hallpass_lab::{
    Machine,
    buffers::{Buffers, CAPACITY},
    catalogue,
    explore::Explored,
    machine::build,
    space::{Initial, Normal, Quotient, Sequential, Space, StoreBuffers, Symmetry, violation},
    tables::Tables,
};

/// Returns about `count` of the states, evenly distributed.
fn some_of(explored: &Explored<{ super::support::W }>, count: usize) -> Vec<State> {
    let step = (explored.states as usize / count).max(1) | 1;
    explored.ids().step_by(step).map(|id| explored.store.get(id)).collect()
}

/// Returns all permutations of 0..n that keep the first `fixed` elements.
fn permutations(n: usize, fixed: usize) -> Vec<Vec<usize>> {
    let mut all = vec![(0..fixed).collect::<Vec<_>>()];
    for _ in fixed..n {
        let longer = |short: Vec<usize>| {
            let rest: Vec<usize> = (0..n).filter(|p| !short.contains(p)).collect();
            rest.into_iter().map(move |p| short.iter().copied().chain([p]).collect())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn transpositions(n: usize) -> Vec<Vec<usize>> {
    let moved = |to: &Vec<usize>| to.iter().enumerate().filter(|&(p, &q)| p != q).count() == 2;
    permutations(n, 0).into_iter().filter(moved).collect()
}

/// Explores `space` with and without symmetry and compares the results. The first `fixed` processes are not renamed.
/// Returns the numbers of states and orbits.
fn compare<S: Space<{ super::support::W }>>(
    machine: &dyn Machine,
    tables: &Tables,
    fixed: usize,
    space: S,
) -> (u64, u64) {
    let symmetry = Symmetry::new(machine, tables, fixed).expect("the machine is symmetric");
    let full = explore_all(&space);
    let states = full.ids().map(|id| full.store.get(id));
    let orbits: HashSet<State> = states.map(|state| symmetry.canonical(state)).collect();

    let quotient = Quotient { space, symmetry: &symmetry };
    let small = explore_all(&quotient);
    assert_eq!(small.states, orbits.len() as u64);
    assert!(small.ids().all(|id| orbits.contains(&small.store.get(id))));

    for state in some_of(&full, 300) {
        let canonical = symmetry.canonical(state);
        assert_eq!(symmetry.canonical(canonical), canonical);
        let renamings: HashSet<State> = permutations(tables.n, fixed)
            .iter()
            .map(|to| renamed(machine, tables, &state, to))
            .collect();
        assert!(renamings.contains(&canonical), "the representative is a renaming of the state");
        for renaming in renamings {
            assert_eq!(symmetry.canonical(renaming), canonical);
        }
    }
    (full.states, small.states)
}

/// The values n and k, the number of processes that are not renamed, the number of states, and
/// the number of orbits.
type Count = (usize, usize, usize, u64, u64);

fn check_counts(id: &str, counts: &[Count]) {
    for &(n, k, fixed, states, orbits) in counts {
        let machine = build(id, n, k).unwrap();
        let tables = Tables::new(&*machine).unwrap();
        let found = compare(&*machine, &tables, fixed, sequential(&tables));
        assert_eq!(found, (states, orbits), "{id} n={n} k={k} fixed={fixed}");
    }
}

#[test]
fn the_quotient_has_one_state_for_each_orbit() {
    check_counts(
        "am-fig2",
        &[(3, 1, 0, 98, 22), (3, 2, 1, 125, 72), (4, 2, 0, 652, 53), (4, 3, 1, 652, 173)],
    );
    check_counts(
        "am-fig3",
        &[
            (3, 1, 0, 11_436, 1_938),
            (3, 2, 1, 1_260, 655),
            (4, 2, 0, 321_208, 14_672),
            (4, 3, 0, 13_472, 788),
            (4, 3, 1, 13_472, 2_682),
        ],
    );
    // The file is the same step machine, so it has the same orbits.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery/papers/am_fig3.kx");
    let id = path.display().to_string();
    catalogue::load(&id).unwrap_or_else(|error| panic!("{error}"));
    check_counts(&id, &[(3, 1, 0, 11_436, 1_938), (4, 3, 1, 13_472, 2_682)]);
    check_counts("am-fig3-nested", &[(3, 1, 0, 23_916, 4_012), (4, 2, 0, 1_055_600, 45_876)]);
    check_counts("am-fig3+names", &[(3, 2, 0, 3_729, 652), (4, 3, 0, 115_120, 5_407)]);
}

#[test]
fn a_buffer_is_renamed_with_its_process() {
    let counts = [("am-fig3", 0, 81_774, 13_806), ("am-fig3-nested", 1, 194_028, 97_085)];
    for (id, fixed, states, orbits) in counts {
        let machine = build(id, 3, 1).unwrap();
        let (tables, buffers) = Buffers::compile(&*machine, CAPACITY).unwrap();
        let space = StoreBuffers { base: sequential(&tables), buffers: &buffers };
        assert_eq!(compare(&*machine, &tables, fixed, space), (states, orbits), "{id}");
    }
}

/// Loads every file of the gallery and returns their identifiers.
fn gallery() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let mut ids = Vec::new();
    for folder in [root.clone(), root.join("papers"), root.join("wrong")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path().display().to_string();
            if path.ends_with(".kx") {
                catalogue::load(&path).unwrap_or_else(|error| panic!("{error}"));
                ids.push(path);
            }
        }
    }
    ids
}

/// Returns every step machine for n and k that declares symmetry, files of the gallery included.
fn symmetric_machines(n: usize, k: usize) -> Vec<(String, Box<dyn Machine>)> {
    let names = |entry: &registry::Entry| entry.nameable.then(|| format!("{}+names", entry.id));
    registry::ENTRIES
        .iter()
        .flat_map(|entry| [Some(entry.id.to_string()), names(entry)])
        .flatten()
        .chain(if n < 4 { gallery() } else { Vec::new() })
        .filter_map(|id| build(&id, n, k).ok().map(|machine| (id, machine)))
        .filter(|(_, machine)| machine.is_symmetric())
        .collect()
}

/// Returns whether renaming maps the steps from `state` to the steps from the renamed state.
fn steps_commute<S: Space<{ super::support::W }>>(
    machine: &dyn Machine,
    tables: &Tables,
    space: &S,
    state: &State,
    to: &[usize],
) -> bool {
    let n = tables.n;
    // The agent of a buffer is renamed with its process.
    let agent = |a: usize| if a < n { to[a] } else { n + to[a - n] };
    let rename = |(a, next): (usize, State)| (agent(a), renamed(machine, tables, &next, to));
    let expected: HashSet<_> = successors(space, state).into_iter().map(rename).collect();
    let other = renamed(machine, tables, state, to);
    let found: HashSet<_> = successors(space, &other).into_iter().collect();
    found == expected
}

/// The maximum number of states from which the check of declared symmetry takes its sample. They are the states nearest
/// to the initial states.
const MOST_STATES: u64 = 50_000;

/// Checks a step machine that counts without bound, using the normal forms that are nearest to the initial
/// states.
fn check_unbounded(id: &str, machine: &dyn Machine) {
    let tables = Tables::new(machine).unwrap();
    let space = Sequential { normal: Normal::of(machine, &tables), ..sequential(&tables) };
    for state in some_of(&explore_some(&space, MOST_STATES), 200) {
        for to in transpositions(tables.n) {
            let same = steps_commute(machine, &tables, &space, &state, &to);
            assert!(same, "{id} n = {} {to:?} {state:?}", tables.n);
        }
    }
}

#[test]
fn machines_that_declare_symmetry_have_it() {
    let sizes = [(2, 1), (3, 1), (3, 2), (4, 3)];
    let mut seen = HashSet::new();
    for (id, machine) in sizes.into_iter().flat_map(|(n, k)| symmetric_machines(n, k)) {
        let size = (machine.n(), machine.k());
        if machine.is_unbounded() {
            check_unbounded(&id, &*machine);
            continue;
        }
        let (tables, buffers) = Buffers::compile(&*machine, CAPACITY).unwrap();
        let sequential = sequential(&tables);
        let initial: HashSet<State> = sequential.initial().collect();
        let states = some_of(&explore_some(&sequential, MOST_STATES), 200);
        let buffered =
            StoreBuffers { base: super::support::sequential(&tables), buffers: &buffers };
        let with_stores = if size.0 < 4 {
            some_of(&explore_some(&buffered, MOST_STATES), 100)
        } else {
            Vec::new()
        };
        for to in transpositions(size.0) {
            let rename = |state: &State| renamed(&*machine, &tables, state, &to);
            assert_eq!(
                initial.iter().map(rename).collect::<HashSet<_>>(),
                initial,
                "{id} {size:?}"
            );
            for state in &states {
                let same = steps_commute(&*machine, &tables, &sequential, state, &to);
                assert!(same, "{id} {size:?} {to:?} {state:?}");
            }
            for state in &with_stores {
                let same = steps_commute(&*machine, &tables, &buffered, state, &to);
                assert!(same, "{id} {size:?} {to:?} {state:?}, with buffers");
            }
        }
        seen.insert(id);
    }
    for id in ["am-fig2", "am-fig3", "am-fig3-nested", "am-fig3+names", "am-fig3:no-release"] {
        assert!(seen.contains(id), "{id} is symmetric but was not checked");
    }
}

#[test]
fn the_check_of_declared_symmetry_detects_an_order_among_processes() {
    let machine = build("am-fig3-tree", 3, 1).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let space = sequential(&tables);
    let states = some_of(&explore_all(&space), 100);
    // The first two processes share a leaf, and the third process has its own leaf.
    assert!(states.iter().all(|state| steps_commute(
        &*machine,
        &tables,
        &space,
        state,
        &[1, 0, 2]
    )));
    assert!(states.iter().any(|state| !steps_commute(
        &*machine,
        &tables,
        &space,
        state,
        &[2, 1, 0]
    )));
}

#[test]
fn a_machine_with_an_order_among_processes_has_no_symmetry() {
    for id in ["am-fig3-tree", "am-fig8", "am-fig9"] {
        let machine = build(id, 3, 1).unwrap();
        let tables = Tables::new(&*machine).unwrap();
        assert!(Symmetry::new(&*machine, &tables, 0).is_none(), "{id}");
    }
}

/// Checks that the paths of the quotient of `space()` are runs of `space()` itself. Checks the path to
/// the violation, and paths to some other states.
fn check_paths<S: Space<{ super::support::W }>>(
    space: impl Fn() -> S,
    symmetry: &Symmetry,
    bit: u32,
) {
    let full = explore_all(&space());
    let shortest =
        full.path(&space(), full.violating(bit).expect("a state has the violation")).1.len();

    let quotient = Quotient { space: space(), symmetry };
    let small = explore_all(&quotient);
    let violating = small.violating(bit).expect("a state has the violation");
    for id in small.ids().step_by(small.states as usize / 50 + 1).chain([violating]) {
        let (start, steps) = small.path(&quotient, id);
        assert!(
            space().initial().any(|state| state == start),
            "the run starts in an initial state"
        );
        let mut now = start;
        for &(agent, next) in &steps {
            assert!(
                successors(&space(), &now).contains(&(agent, next)),
                "each step is a step of the space"
            );
            now = next;
        }
        assert_eq!(symmetry.canonical(now), small.store.get(id));
        if id == violating {
            assert_ne!(space().violations(&now) & 1 << bit, 0);
            assert_eq!(steps.len(), shortest);
        }
    }
}

#[test]
fn a_path_is_a_real_run() {
    for (id, n, k, bit) in [
        ("am-fig3:no-outer", 3, 1, violation::EXCLUSION),
        ("am-fig3+names:never-freed", 3, 2, violation::NAMES),
        ("am-fig3:no-take", 4, 2, violation::RANGE),
    ] {
        let machine = build(id, n, k).unwrap();
        let tables = Tables::new(&*machine).unwrap();
        for (initial, fixed) in [(Initial::All, 0), (Initial::Smallest, 0), (Initial::Smallest, 1)]
        {
            let symmetry = Symmetry::new(&*machine, &tables, fixed).unwrap();
            check_paths(|| Sequential { initial, ..sequential(&tables) }, &symmetry, bit);
        }
    }
}

#[test]
fn a_path_through_buffers_is_a_real_run() {
    let machine = build("am-fig3", 3, 2).unwrap();
    let (tables, buffers) = Buffers::compile(&*machine, CAPACITY).unwrap();
    for fixed in 0..=2 {
        let symmetry = Symmetry::new(&*machine, &tables, fixed).unwrap();
        let space = || StoreBuffers { base: sequential(&tables), buffers: &buffers };
        check_paths(space, &symmetry, violation::EXCLUSION);
    }
}
