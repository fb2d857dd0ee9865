//! Decides two kinds of statements about steps. A statement of the kind `Always` holds if no step contradicts it.
//! A statement of the kind `Sometimes` holds if some run shows it.
//!
//! The graph is explored once more, and each state also has the history that the statement needs. A statement is
//! evaluated on the state before a step and on the state after it. The state after the step is not brought into its
//! normal form: a normal form replaces numbers such as timestamps by smaller ones, and the statement compares the
//! numbers of both states.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hallpass_algorithms::{Observed, RunStatement, StatementKind};

use super::{Answer, Answered, Subject};
use crate::{
    explore::explore,
    machine::{Numeric, NumericStep},
    schedule::Finding,
    space::{Agent, Sequential, Space},
    store::Id,
};

/// The history after a step that contradicts or shows the statement.
const FOUND: u64 = u32::MAX as u64;
const HISTORY_SHIFT: u32 = 32;

fn id_of(state: &[u64; 1]) -> Id {
    state[0] as Id
}

fn with_history(id: Id, observed: Observed) -> [u64; 1] {
    let history = if observed.found { FOUND } else { u64::from(observed.history) };
    [history << HISTORY_SHIFT | u64::from(id)]
}

/// The states, extended by the history of a statement.
struct Histories<'a, const W: usize> {
    subject: &'a Subject<'a, W>,
    /// The steps without normal forms.
    raw: Sequential<'a>,
    statement: &'static str,
    /// Whether the statement says something about some step.
    applies: AtomicBool,
}

impl<const W: usize> Histories<'_, W> {
    fn observe(
        &self,
        history: u32,
        mover: Option<usize>,
        before: &[u64],
        after: &[u64],
    ) -> Observed {
        let tables = self.subject.tables();
        let [old, new] = [before, after].map(|state| (tables.private(state), tables.memory(state)));
        let step = NumericStep {
            mover,
            before: Numeric { processes: &old.0, memory: &old.1 },
            after: Numeric { processes: &new.0, memory: &new.1 },
        };
        let observed = self.subject.machine.observe(self.statement, history, step);
        if observed.applies {
            self.applies.store(true, Relaxed);
        }
        observed
    }
}

impl<const W: usize> Space<1> for Histories<'_, W> {
    fn agents(&self) -> usize {
        self.subject.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        let explored = self.subject.explored();
        Box::new((0..explored.roots()).map(|id| {
            let state = explored.store.get(id);
            with_history(id, self.observe(0, None, &state, &state))
        }))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let history = state[0] >> HISTORY_SHIFT;
        if history == FOUND {
            return;
        }
        let (id, n) = (id_of(state), self.subject.questions.n);
        let before = self.subject.explored().store.get(id);
        self.raw.successors(&before, &mut |agent, after: [u64; W]| {
            let Some(to) = self.subject.graph.target(id, agent) else { return };
            let mover = (agent < n).then_some(agent);
            each(agent, with_history(to, self.observe(history as u32, mover, &before, &after)));
        });
    }

    fn violations(&self, state: &[u64; 1]) -> u64 {
        u64::from(state[0] >> HISTORY_SHIFT == FOUND)
    }
}

impl<const W: usize> Subject<'_, W> {
    pub(super) fn statement(&self, statement: RunStatement) -> Answered {
        match statement.kind {
            StatementKind::Always | StatementKind::Sometimes => self.observed_step(statement),
            StatementKind::LeadsTo => self.leads_to(statement.name),
            StatementKind::Enabled => self.is_enabled_if_and_only_if(statement.name),
        }
    }

    fn observed_step(&self, statement: RunStatement) -> Answered {
        let raw = Sequential {
            tables: self.tables(),
            contention: self.space.contention,
            initial: self.space.initial,
            normal: None,
            mishaps: self.space.mishaps,
            flags: self.space.flags,
            invariants: None,
            every_step: false,
        };
        let histories = Histories {
            subject: self,
            raw,
            statement: statement.name,
            applies: AtomicBool::new(false),
        };
        let explored = explore::<1>(&histories, &self.resources.limits());
        let run = explored.violating(0).map(|id| {
            let (start, steps) = explored.path(&histories, id);
            let steps: Vec<Agent> = steps.iter().map(|&(agent, _)| agent).collect();
            let finding = Finding::Statement { name: statement.name.to_string() };
            self.schedule(id_of(&start), &steps, Vec::new(), finding)
        });
        let answer = match (statement.kind, &run) {
            (StatementKind::Sometimes, Some(_)) => Answer::Holds,
            (_, Some(_)) => Answer::Violated,
            (_, None) if !explored.is_complete() => {
                return Answered::partial("not all histories were explored");
            }
            (StatementKind::Sometimes, None) => Answer::Violated,
            (_, None) if histories.applies.load(Relaxed) => Answer::Holds,
            (_, None) => Answer::Vacuous,
        };
        Answered { answer, note: None, run }
    }
}
