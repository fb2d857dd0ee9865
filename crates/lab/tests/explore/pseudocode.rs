//! Checks at small sizes that every line at which a process can be has a text, and that every text belongs to such a
//! line. For models whose tables are too large, random runs show the lines.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::AtomicBool},
};

use hallpass_algorithms::{
    Label, Pid,
    registry::{ENTRIES, NAMES},
};
use hallpass_lab::{
    explorer::pseudocode::{CRITICAL, REMAINDER, figures, of_source},
    machine::{self, Local, Machine},
    schedule::{Conventions, MemoryModel},
    tables::{Budget, Tables},
    trace::Interpreter,
};

use super::random_play::smallest;

/// Returns the sizes at which lines are collected: small ones, which compile fast, and those at which all lines occur.
fn sizes() -> Vec<(String, usize, usize)> {
    let mut sizes: Vec<(String, usize, usize)> = ENTRIES
        .iter()
        .map(|entry| {
            let (n, k) = smallest(entry);
            (entry.id.to_string(), n, k)
        })
        .collect();
    for (id, n, k) in [
        ("am-fig3", 3, 2),
        ("am-fig3-fast", 4, 2),
        ("choi", 3, 2),
        ("hall-wide", 3, 2),
        ("hall-wide-groups", 3, 2),
    ] {
        sizes.push((id.to_string(), n, k));
    }
    for id in ["am-fig3", "choi", "afek", "bakery"] {
        let (n, k) = if id == "bakery" { (2, 1) } else { (3, 2) };
        sizes.push((format!("{id}{NAMES}"), n, k));
    }
    sizes
}

#[test]
fn every_line_has_a_text_and_every_text_has_a_line() {
    let stop = AtomicBool::new(false);
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut met: BTreeSet<(String, String)> = BTreeSet::new();
    for (id, n, k) in sizes() {
        let figures = figures(&id).unwrap_or_else(|error| panic!("{error}"));
        for figure in &figures {
            let own = |at: &str| {
                !at.is_empty() && !at.starts_with('(') && at != REMAINDER && at != CRITICAL
            };
            let lines = figure.lines.iter().map(|line| line.at.clone()).filter(|at| own(at));
            texts.entry(figure.name.clone()).or_default().extend(lines);
        }
        let machine: Arc<dyn Machine> = machine::build(&id, n, k).unwrap().into();
        let budget = Budget { bytes: 256 << 20, stop: &stop };
        let states: Vec<(Pid, Local)> = match Tables::within(&*machine, &[], budget) {
            Ok(tables) => {
                (0..n).flat_map(|p| tables.codes[p].iter().map(move |&at| (p, at))).collect()
            }
            Err(_) => states_of_runs(&machine),
        };
        for (p, at) in states {
            let Some(label) = machine.position(p, at).label else { continue };
            let found = figures.iter().find_map(|figure| Some(&figure.lines[figure.line(&label)?]));
            let line = found.unwrap_or_else(|| panic!("{id}: no text for {label}"));
            assert_ne!(line.change, Some("dropped"), "{id}: a process is at dropped line {label}");
            met.insert((label.figure.to_string(), line.at.clone()));
        }
    }
    for (figure, lines) in texts {
        for line in lines {
            assert!(
                met.contains(&(figure.clone(), line.clone())),
                "{figure}: no process is ever at line {line}"
            );
        }
    }
}

/// Returns the private states that occur in some random runs, for a model whose tables are too large for this test.
fn states_of_runs(machine: &Arc<dyn Machine>) -> Vec<(Pid, Local)> {
    const RUNS: u64 = 50;
    const STEPS: usize = 500;
    let rules = Conventions::default();
    let mut states = BTreeSet::new();
    for seed in 0..RUNS {
        let initial = machine.layout().first_initial();
        let mut run = Interpreter::on(machine.clone(), MemoryModel::Sequential, initial, &rules);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..STEPS {
            let p = random.usize(..machine.n());
            if run.step(p).is_err() {
                break;
            }
            states.insert((p, run.state().processes[p]));
        }
    }
    states.into_iter().collect()
}

/// The private variables that need no meaning, because the page does not list them. `line` is the line of the process.
/// `exit` is the private state with which the exit section begins.
const SHOWN_OTHERWISE: [&str; 2] = ["line", "exit"];

/// Returns the names of the private variables that occur in a long run.
fn private_variables(id: &str, n: usize, k: usize) -> BTreeSet<String> {
    const STEPS: usize = 2000;
    let machine: Arc<dyn Machine> = machine::build(id, n, k).unwrap().into();
    let initial = machine.layout().first_initial();
    let rules = Conventions::default();
    let mut run = Interpreter::on(machine.clone(), MemoryModel::Sequential, initial, &rules);
    let mut random = fastrand::Rng::with_seed(3);
    let mut found = BTreeSet::new();
    for _ in 0..STEPS {
        let p = random.usize(..n);
        // A wrong variant may leave a range, and then no step is defined.
        if run.step(p).is_err() {
            break;
        }
        let variables = machine.variables(run.state().processes[p]);
        found.extend(variables.into_iter().map(|(name, _)| name));
    }
    found
}

#[test]
fn every_private_variable_has_a_meaning() {
    let mut unexplained = BTreeSet::new();
    for (id, n, k) in sizes() {
        let figures = figures(&id).unwrap();
        let explained = |name: &str| {
            let mut private = figures.iter().flat_map(|figure| &figure.private);
            private.any(|[names, _]| names.split(", ").any(|other| other == name))
        };
        let own = private_variables(&id, n, k).into_iter();
        let own = own.filter(|name| !SHOWN_OTHERWISE.contains(&name.as_str()));
        unexplained.extend(own.filter(|name| !explained(name)).map(|name| format!("{id}: {name}")));
    }
    assert!(unexplained.is_empty(), "without a meaning: {unexplained:#?}");
}

const PROCEDURES: &str = "algorithm twice

shared
  X: bool = false

procedure look
  1: if X then skip end
end

procedure set
  1: look()
  2: X := true     // sets it
end

passage
  doorway
  1: look()
  3: set()
  set()
  inside: critical
  4: X := false
end
";

#[test]
fn the_lines_of_procedures_of_a_file_are_found() {
    let figure = of_source("twice", "twice.kx", PROCEDURES);
    let text = |line: &str| {
        let label = Label { figure: "twice", line: line.into(), instance: "x=1".into() };
        figure.line(&label).map(|index| figure.lines[index].text.trim().to_string())
    };
    assert_eq!(text("1.1").as_deref(), Some("if X then skip end"));
    assert_eq!(text("3.1.1").as_deref(), Some("if X then skip end"));
    assert_eq!(text("3.2").as_deref(), Some("X := true     // sets it"));
    // Line 2 of `set`, called without a label.
    assert_eq!(text("2").as_deref(), Some("X := true     // sets it"));
    assert_eq!(text("4").as_deref(), Some("X := false"));
    assert_eq!(text("5"), None);
    let at = |at: &str| figure.lines.iter().find(|line| line.at == at).map(|line| line.text.trim());
    assert_eq!(at(CRITICAL), Some("inside: critical"));
    assert_eq!(at(REMAINDER), Some("passage"));
    assert!(figure.lines.iter().all(|line| line.at != "X"), "a declaration is not a line");
}

#[test]
fn a_wrong_variant_shows_which_lines_it_changes() {
    let wrong = figures("am-fig3:no-second-look").unwrap();
    let fig3 = wrong.iter().find(|figure| figure.name == "fig3").unwrap();
    let changed: Vec<(&str, &str)> =
        fig3.lines.iter().filter_map(|line| Some((line.at.as_str(), line.change?))).collect();
    assert_eq!(changed, [("4", "dropped")]);
    let sound = figures("am-fig3").unwrap();
    assert!(sound.iter().flat_map(|figure| &figure.lines).all(|line| line.change.is_none()));
}
