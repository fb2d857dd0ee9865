//! Every line that a process can stand at has a text, and every text belongs to such a line.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
};

use hallpass_algorithms::registry::{ENTRIES, NAMES};
use hallpass_lab::{
    explorer::pseudocode::{CRITICAL, REMAINDER, figures},
    machine,
    tables::{Budget, Tables},
};

use super::random_play::smallest;

/// The sizes at which lines are collected: small ones, which compile soon, and those at which all lines occur.
fn sizes() -> Vec<(String, usize, usize)> {
    let mut sizes: Vec<(String, usize, usize)> = ENTRIES
        .iter()
        .map(|entry| {
            let (n, k) = smallest(entry);
            (entry.id.to_string(), n, k)
        })
        .collect();
    for (id, n, k) in
        [("am-fig3", 3, 2), ("am-fig3-fast", 4, 2), ("choi", 3, 2), ("hall-wide", 3, 2)]
    {
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
        let machine = machine::build(&id, n, k).unwrap();
        let budget = Budget { bytes: 256 << 20, stop: &stop };
        let Ok(tables) = Tables::within(&*machine, &[], budget) else { continue };
        for p in 0..n {
            for &at in &tables.codes[p] {
                let Some(label) = machine.position(p, at).label else { continue };
                let found =
                    figures.iter().find_map(|figure| Some(&figure.lines[figure.line(&label)?]));
                let line = found.unwrap_or_else(|| panic!("{id}: no text for {label}"));
                assert_ne!(
                    line.change,
                    Some("dropped"),
                    "{id}: a process stands at dropped line {label}"
                );
                met.insert((label.figure.to_string(), line.at.clone()));
            }
        }
    }
    for (figure, lines) in texts {
        for line in lines {
            assert!(
                met.contains(&(figure.clone(), line.clone())),
                "{figure}: no process stands at line {line}"
            );
        }
    }
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
