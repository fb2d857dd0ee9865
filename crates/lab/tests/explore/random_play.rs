//! Plays every entry of the registry at random. Checks that the session (the tree of runs in the explorer) agrees with
//! the tables on every step, and with a fresh interpreter at the end of the run. A few entries are too large for
//! tables.

use std::env;

use hallpass_algorithms::registry::{ENTRIES, Entry, NAMES};
use hallpass_lab::{
    explorer::session::{Action, Session},
    schedule::{Conventions, Finding},
    space::{Initial, Normal, SafetyFlags, Sequential, Space},
    tables::{Budget, Tables},
    trace::Interpreter,
};

use super::subject;

/// Returns the number of steps of each run. CI plays 10,000.
fn steps() -> usize {
    env::var("HALLPASS_PLAY_STEPS").map_or(120, |steps| steps.parse().unwrap())
}

/// Returns the smallest size at which an algorithm exists.
pub fn smallest(entry: &Entry) -> (usize, usize) {
    (1 + entry.min_gap.max(1), 1)
}

/// A run on the tables: the space, and the current state.
struct Walk<'a, const W: usize> {
    space: Sequential<'a>,
    state: [u64; W],
}

impl<const W: usize> Walk<'_, W> {
    /// Makes a step. Returns whether the agent can take one.
    fn step(&mut self, agent: usize) -> bool {
        let mut next = None;
        self.space.successors(&self.state, &mut |mover, state: [u64; W]| {
            if mover == agent {
                next = Some(state);
            }
        });
        next.map(|state| self.state = state).is_some()
    }
}

fn play_with_tables<const W: usize>(id: &str, session: &mut Session, tables: &Tables) {
    let machine = session.subject().machine().clone();
    let space = Sequential {
        tables,
        contention: tables.n,
        initial: Initial::Smallest,
        normal: Normal::of(&*machine, tables),
        mishaps: tables.has_mishaps(),
        flags: SafetyFlags::default(),
        invariants: None,
        every_step: false,
    };
    let state = Space::<W>::initial(&space).next().unwrap();
    let mut walk = Walk::<W> { space, state };
    play(id, session, |agent, session, node| {
        let moved = walk.step(agent);
        let out_of_range = tables.out_of_range.get(&walk.state) != 0;
        let Some(node) = node else {
            return;
        };
        // A mishap that changes nothing is a step of the interpreter and not one of the tables.
        if !moved || out_of_range {
            return;
        }
        let expected = session.normal_state(node).unwrap();
        assert_eq!(tables.private(&walk.state), expected.processes, "{id}: private states");
        assert_eq!(tables.memory(&walk.state), expected.memory, "{id}: memory");
    });
}

/// Plays at random. Calls `after` with each agent and the node that its step leads to.
fn play(id: &str, session: &mut Session, mut after: impl FnMut(usize, &Session, Option<u32>)) {
    let mut random = fastrand::Rng::with_seed(7);
    let (n, agents) = (session.subject().machine().n(), session.subject().agents());
    let mut node = session.start(&session.subject().machine().layout().first_initial()).unwrap();
    for _ in 0..steps() {
        // Agents from n on are mishaps, such as the death of a process. They are rarer than steps, so that passages
        // make progress.
        let agent =
            if agents > n && random.u8(..) < 8 { n + random.usize(..n) } else { random.usize(..n) };
        match session.act(node, Action::Step(agent)) {
            Ok(next) => {
                node = next;
                after(agent, session, Some(node));
            }
            Err(why) if why.contains("has no mishap") => {}
            Err(why) => {
                after(agent, session, None);
                assert!(why.contains("outside its declared range"), "{id}: {why}");
                break;
            }
        }
    }
    // The same run on a fresh interpreter, from its schedule.
    let schedule = session.schedule(node, Finding::Played { stopped: vec![] }).unwrap();
    let mut fresh = Interpreter::new(&schedule, &Conventions::default())
        .unwrap_or_else(|error| panic!("{id}: {error}"));
    for &agent in &schedule.stem {
        fresh.step(agent).unwrap();
    }
    // Private states are numbered in the order in which a step machine meets them, so the test compares memory and
    // positions.
    assert_eq!(fresh.state().memory, memory(session, node), "{id}");
    let view = session.view(node).unwrap();
    for p in 0..n {
        let label = fresh.stand(p).label.map(|label| label.line);
        assert_eq!(view["processes"][p]["label"]["line"].as_str(), label.as_deref(), "{id}");
    }
}

fn memory(session: &mut Session, node: u32) -> Vec<i64> {
    let state = session.state(node).unwrap();
    state.memory.clone()
}

fn play_entry(id: &str, n: usize, k: usize) -> bool {
    let mut session = Session::new(subject(id, n, k));
    let machine = session.subject().machine().clone();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let budget = Budget { bytes: 256 << 20, stop: &stop };
    match Tables::within(&*machine, &[], budget) {
        Ok(tables) => {
            match tables.words {
                1 => play_with_tables::<1>(id, &mut session, &tables),
                2 => play_with_tables::<2>(id, &mut session, &tables),
                _ => play_with_tables::<4>(id, &mut session, &tables),
            }
            true
        }
        Err(_) => {
            play(id, &mut session, |_, _, _| ());
            false
        }
    }
}

#[test]
fn random_play_of_every_entry_agrees_with_the_interpreter_and_the_tables() {
    let mut with_tables = 0;
    for entry in ENTRIES {
        let (n, k) = smallest(entry);
        with_tables += usize::from(play_entry(entry.id, n, k));
    }
    for id in ["am-fig3", "choi", "afek", "zehavi", "omori-excl"] {
        with_tables += usize::from(play_entry(&format!("{id}{NAMES}"), 3, 2));
    }
    // Timestamps of bounded systems take too many values to list.
    assert!(with_tables >= ENTRIES.len() - 4, "{with_tables} of {}", ENTRIES.len());
}
