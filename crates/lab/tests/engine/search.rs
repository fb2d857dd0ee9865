//! Compares the search that keeps only a set of states with the exploration that numbers them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::support::{State, W, answer, sequential};
use hallpass_lab::{
    atlas::{AtlasModel, Listed, Manifest},
    check::{Property, Question, Verdict, check},
    compact::Memory,
    explore::{Ended, Limits, explore},
    machine::build,
    schedule::MemoryModel,
    search::{Searched, cheapest_trap, run_to, search, search_and_number},
    space::{Initial, Normal, Quotient, Sequential, Space, Symmetry, violation},
    tables::Tables,
    trace,
};

use crate::common::resources;

/// Variants that violate exclusion.
const WRONG: [(&str, usize, usize); 4] = [
    ("am-fig3:no-outer", 3, 1),
    ("am-fig8:no-outer", 3, 1),
    ("omori-gtex:leaf-as-inner", 3, 1),
    ("etcd-expiry:trusting", 2, 1),
];

fn limits(stop: &AtomicBool, threads: usize) -> Limits<'_> {
    Limits { states: 1 << 26, bytes: 4 << 30, threads, stop, progress: &|_| () }
}

/// Compares both explorations of `space`, and returns the search.
fn compare(space: &dyn Space<W>, threads: usize, name: &str) -> Searched<W> {
    let stop = AtomicBool::new(false);
    let limits = limits(&stop, threads);
    let explored = explore(space, &limits);
    let searched = search(space, &limits);
    assert_eq!(searched.ended, Ended::Complete, "{name}");
    assert_eq!(searched.states, explored.states, "{name}");
    assert_eq!(searched.transitions, explored.transitions, "{name}");
    assert_eq!(searched.depth, explored.depth, "{name}");
    assert_eq!(searched.roots, u64::from(explored.roots()), "{name}");
    for bit in [violation::EXCLUSION, violation::NAMES, violation::RANGE] {
        let length = explored.violating(bit).map(|id| explored.path(space, id).1.len());
        let level = searched.violating(bit).map(|violating| violating.level as usize);
        assert_eq!(level, length, "{name}: violation {bit}");
    }
    searched
}

/// Checks that [`run_to`] returns a run of `space` to a state with the violation, and that the run has the length that
/// the search has found.
fn check_run(space: &dyn Space<W>, searched: &Searched<W>, bit: u32) {
    let stop = AtomicBool::new(false);
    let violating = searched.violating(bit).expect("the variant is wrong");
    for threads in [1, 2] {
        let (start, steps) = run_to(space, &violating, &limits(&stop, threads)).unwrap();
        assert_eq!(steps.len(), violating.level as usize);
        assert!(space.initial().any(|state| state == start));
        let mut now = start;
        for (agent, next) in steps {
            let mut found = false;
            space.successors(&now, &mut |mover, to| found |= (mover, to) == (agent, next));
            assert!(found, "the run makes steps of the space");
            now = next;
        }
        assert_eq!(space.canonical(now), violating.state);
        assert_ne!(space.violations(&now) >> bit & 1, 0);
    }
}

#[test]
fn the_search_finds_the_same_states_as_the_exploration() {
    for (id, n, k) in [
        ("am-fig3", 3, 1),
        ("am-fig3", 4, 3),
        ("omori-excl", 3, 2),
        ("hall", 2, 1),
        ("etcd-mortal", 3, 2),
    ] {
        let machine = build(id, n, k).unwrap();
        let tables = Tables::new(&*machine).unwrap();
        for threads in [1, 3] {
            compare(&sequential(&tables), threads, id);
        }
    }
}

#[test]
fn the_search_follows_normal_forms() {
    let machine = build("choi", 3, 1).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let space = Sequential { normal: Normal::of(&*machine, &tables), ..sequential(&tables) };
    assert_eq!(compare(&space, 2, "choi").states, 8725);
}

#[test]
fn the_search_merges_renamed_states() {
    let machine = build("am-fig3", 4, 3).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let symmetry = Symmetry::new(&*machine, &tables, 0).unwrap();
    compare(&Quotient { space: sequential(&tables), symmetry: &symmetry }, 2, "am-fig3");
}

#[test]
fn the_search_finds_a_shortest_run_without_parents() {
    for (id, n, k) in WRONG {
        let machine = build(id, n, k).unwrap();
        let tables = Tables::new(&*machine).unwrap();
        let space = sequential(&tables);
        let searched = compare(&space, 2, id);
        check_run(&space, &searched, violation::EXCLUSION);
        let Some(symmetry) = Symmetry::new(&*machine, &tables, 0) else { continue };
        let quotient = Quotient { space, symmetry: &symmetry };
        let searched = compare(&quotient, 1, id);
        check_run(&quotient, &searched, violation::EXCLUSION);
    }
}

#[test]
fn the_search_stops_at_its_limits() {
    let machine = build("am-fig3", 5, 3).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let space = sequential(&tables);
    let stop = AtomicBool::new(false);
    for (states, threads) in [(0, 1), (1, 1), (1000, 1), (200_000, 1), (200_000, 2)] {
        let searched = search::<W>(&space, &Limits { states, ..limits(&stop, threads) });
        assert_eq!(searched.ended, Ended::States);
        assert_eq!(searched.states, states);
    }
    for bytes in [0, 1 << 20, 8 << 20] {
        let searched = search::<W>(&space, &Limits { bytes, ..limits(&stop, 2) });
        assert_eq!(searched.ended, Ended::Memory);
        assert!(searched.bytes <= bytes);
    }
}

#[test]
fn the_search_stops_when_it_is_told_to() {
    let machine = build("am-fig3", 5, 3).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let space = sequential(&tables);
    let stop = AtomicBool::new(false);
    let progress = |progress: hallpass_lab::explore::Progress| {
        if progress.states > 100_000 {
            stop.store(true, Relaxed);
        }
    };
    let searched = search::<W>(&space, &Limits { progress: &progress, ..limits(&stop, 2) });
    assert_eq!(searched.ended, Ended::Stopped);
    assert!(searched.states > 100_000);
    assert!(!searched.is_whole());
}

/// Asks for exclusion and starvation.
fn question(id: &str, n: usize, k: usize) -> Question {
    Question::everything(id, n, k).only(vec![Property::Exclusion, Property::Starvation])
}

#[test]
fn starvation_without_a_graph_agrees_with_the_graph() {
    for (id, n, k) in [
        ("am-fig2", 3, 2),
        ("am-fig3", 3, 1),
        ("am-fig3", 3, 2),
        ("omori-naive", 3, 2),
        ("omori-excl", 3, 1),
        ("choi", 3, 1),
        ("zehavi", 2, 1),
        ("hall", 2, 1),
        ("hall:no-count", 2, 1),
        ("hall-barging", 2, 1),
        ("shared:no-ring", 2, 1),
        ("etcd", 3, 2),
        ("etcd-mortal", 3, 1),
        ("etcd:quiet", 2, 1),
    ] {
        let question = question(id, n, k);
        let stored = answer(&question);
        let compact = answer(&Question { compact: true, ..question });
        assert_eq!(compact.states, stored.states, "{id}");
        assert_eq!(compact.verdict(), stored.verdict(), "{id}");
        let [stored, compact] =
            [stored, compact].map(|report| report.outcome(Property::Starvation).clone());
        assert_eq!(compact.verdict, stored.verdict, "{id}");
        assert_eq!(compact.resilience, stored.resilience, "{id}");
        let stem =
            |run: &Option<hallpass_lab::schedule::Schedule>| run.as_ref().map(|run| run.stem.len());
        assert_eq!(stem(&compact.run), stem(&stored.run), "{id}: the path to the loop is shortest");
        if let Some(run) = compact.run {
            trace::confirm(&run).unwrap();
        }
    }
}

#[test]
fn a_check_of_exclusion_takes_little_memory_unless_the_model_is_small() {
    let exclusion =
        |id, n, k| answer(&Question::everything(id, n, k).only(vec![Property::Exclusion]));
    let large = exclusion("am-fig3-fast", 5, 4);
    assert_eq!(large.states, 1_234_520);
    assert!(large.bytes_per_state < 6.0, "{}", large.bytes_per_state);
    let small = exclusion("am-fig3:no-outer", 3, 1);
    let compact = answer(&Question { compact: true, ..small.question.clone() });
    assert_eq!(compact.states, small.states);
    let [small, compact] =
        [small, compact].map(|report| report.outcome(Property::Exclusion).clone());
    let length = |outcome: &hallpass_lab::check::Outcome| outcome.run.as_ref().unwrap().stem.len();
    assert_eq!(length(&compact), length(&small), "both runs are shortest");
}

#[test]
fn the_compact_check_refuses_what_it_does_not_support() {
    let stop = AtomicBool::new(false);
    let refuse = |question: Question| {
        let question = Question { compact: true, ..question };
        check(&question, &resources(1 << 20, 1 << 30, &stop)).map(|_| ()).unwrap_err().to_string()
    };
    let bypass = Question::everything("am-fig3", 3, 1).only(vec![Property::Bypass]);
    assert!(refuse(bypass).contains("every property except bypass"));
    let renamed = Question { symmetry: true, ..Question::everything("am-fig3", 3, 1) };
    assert!(refuse(renamed).contains("leave out --symmetry"));
    let buffers = Question { memory: MemoryModel::StoreBuffers, ..question("am-fig3", 2, 1) };
    assert!(refuse(buffers).contains("leave out --tso or --compact"));
    assert!(refuse(question("am-fig3", 9, 8)).contains("at most 8 processes, got 9"));
    let smallest =
        Question { symmetry: true, initial: Initial::Smallest, ..question("am-fig3", 3, 1) };
    assert!(refuse(smallest).contains("leave out --symmetry"));
    let uneven = Question { symmetry: true, ..question("am-fig8", 3, 1) };
    assert!(refuse(uneven).contains("distinguishes processes by their numbers"));
}

#[test]
fn starvation_up_to_renaming_agrees_with_the_graph_on_every_small_symmetric_model() {
    const MAX_STATES: u64 = 25_000;
    let manifest = Manifest::standard().expect("the built-in manifest");
    let is_small = |model: &&AtlasModel| {
        model.check.contains_key(&Listed::Starvation)
            && model.states.is_some_and(|states| states <= MAX_STATES)
            && (model.memory, model.initial) == (MemoryModel::Sequential, Initial::All)
            && model.n <= 8
    };
    let (mut compared, mut violated) = (0, 0);
    for model in manifest.models.iter().filter(is_small) {
        if !build(&model.algorithm, model.n, model.k).unwrap().is_symmetric() {
            continue;
        }
        let name = model.id();
        let question = model.check_question().only(vec![Property::Starvation]);
        let full = answer(&question);
        let merged = answer(&Question { compact: true, symmetry: true, ..question });
        assert!(merged.states <= full.states, "{name}");
        let [full, merged] =
            [full, merged].map(|report| report.outcome(Property::Starvation).clone());
        assert_eq!(merged.verdict, full.verdict, "{name}");
        assert_eq!(merged.resilience, full.resilience, "{name}");
        if let Some(run) = &merged.run {
            trace::confirm(run).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        compared += 1;
        violated += usize::from(merged.verdict == Verdict::Violated);
    }
    assert!(compared >= 40 && violated >= 5, "{violated} of {compared} are violated");
}

/// Counts the states whose steps are computed, and stops when the count reaches `stop_after`.
struct Counted<'a> {
    space: Sequential<'a>,
    count: AtomicU64,
    stop_after: u64,
    stop: &'a AtomicBool,
}

impl Space<W> for Counted<'_> {
    fn agents(&self) -> usize {
        Space::<W>::agents(&self.space)
    }

    fn word_bits(&self) -> [u32; W] {
        self.space.word_bits()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = State> + '_> {
        self.space.initial()
    }

    fn successors(&self, state: &State, each: &mut dyn FnMut(usize, State)) {
        if self.count.fetch_add(1, Relaxed) + 1 == self.stop_after {
            self.stop.store(true, Relaxed);
        }
        self.space.successors(state, each);
    }
}

/// Decides starvation, and stops when the steps of `stop_after` states are computed. Returns the number of states whose
/// steps are computed, and why the decision ended early, if it did.
fn count_until_stopped(tables: &Tables, stop_after: u64) -> (u64, Option<Ended>) {
    let stop = AtomicBool::new(false);
    let space =
        Counted { space: sequential(tables), count: AtomicU64::new(0), stop_after, stop: &stop };
    let memory = Memory::new(4 << 30);
    let limits = limits(&stop, 2);
    let (_, states) = search_and_number(&space, &limits, &memory);
    let trap = states.and_then(|states| {
        cheapest_trap(&space, tables, &states, (&[0], false), &limits, &memory, &|_| ())?
            .map_or(Ok(()), |trap| trap.lasso.map(|_| ()))
    });
    (space.count.into_inner(), trap.err())
}

/// The parts are the search, the numbering of the states, and the decision of starvation.
#[test]
fn every_part_of_the_compact_check_stops_soon_when_it_is_told_to() {
    /// The number of states that two threads may still expand after the stop: each thread finishes its part.
    const SOON: u64 = 4096;
    let machine = build("am-fig3-fast", 4, 3).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let (all, ended) = count_until_stopped(&tables, u64::MAX);
    assert_eq!(ended, None);
    for tenth in 1..10 {
        let stop_after = all * tenth / 10;
        let (count, ended) = count_until_stopped(&tables, stop_after);
        assert_eq!(ended, Some(Ended::Stopped), "after {stop_after} of {all}");
        assert!(count < stop_after + SOON, "after {stop_after} of {all}: {count}");
    }
}

/// A check that would take more memory than allowed ends with a partial verdict that names the limit.
#[test]
fn the_compact_check_stays_within_its_memory() {
    let stop = AtomicBool::new(false);
    let question = Question { compact: true, ..question("am-fig3", 4, 2) };
    let report = check(&question, &resources(1 << 26, 1200 << 10, &stop)).unwrap();
    let outcome = report.outcome(Property::Starvation);
    assert_eq!(outcome.verdict, Verdict::Partial);
    assert!(outcome.note.as_ref().unwrap().contains("--memory"), "{outcome:?}");
}
