//! The subject of an explorer: an algorithm at one size, with everything that the page says about it.

use std::sync::Arc;

use hallpass_algorithms::{
    Algorithm, Init, Word,
    registry::{self, CostModel, Standing},
};
use hallpass_language::program::FAULT_VARIABLE;
use serde_json::{Value, json};

use super::pseudocode::{self, Figure};
use crate::{
    catalogue,
    check::{Property, Question},
    machine::{self, Machine},
    schedule::{Conventions, MemoryModel},
    trace::{Interpreter, words},
};

/// An algorithm at one size.
#[derive(Clone)]
pub struct Subject {
    name: String,
    title: String,
    machine: Arc<dyn Machine>,
    memory: MemoryModel,
    conventions: Conventions,
    /// The figures whose lines occur in a long random run.
    figures: Vec<Figure>,
}

impl Subject {
    /// Returns the algorithm `id` of the registry or of the [catalogue] for `n` processes, at most `k` of which may be
    /// in the critical section.
    ///
    /// # Errors
    /// Fails if the algorithm does not exist, or not at this size, or if it has more than 64
    /// [agents](Subject::agents). Also fails if `memory` asks for store buffers and the algorithm cannot run with them.
    pub fn registered(id: &str, n: usize, k: usize, memory: MemoryModel) -> Result<Self, String> {
        let machine = machine::build(id, n, k).map_err(|error| error.to_string())?;
        let Some(added) = catalogue::find(id) else {
            let (entry, _) = registry::entry(id).map_err(|error| error.to_string())?;
            let title = format!("{}, {}: {}", entry.paper, entry.figure, entry.title);
            return Self::new(id, title, machine.into(), memory, pseudocode::figures(id)?);
        };
        let mut subject = Self::new(id, added.about(), machine.into(), memory, Vec::new())?;
        if let (Some(source), Some(figure)) = (added.source(), subject.figures_met().first()) {
            subject.figures = vec![pseudocode::of_source(figure, id, &source)];
        }
        Ok(subject)
    }

    /// Returns an algorithm of any crate under a name of your choice. `figures` has the text of its lines; lines
    /// without a text are shown by their labels.
    ///
    /// # Errors
    /// Fails if the name is empty or contains characters other than letters, digits and `-_:+@`, or if the algorithm
    /// has more than 64 [agents](Subject::agents). Also fails if `memory` asks for store buffers and the algorithm
    /// cannot run with them.
    pub fn of<A: Algorithm + Send + Sync + 'static>(
        name: &str,
        algorithm: A,
        memory: MemoryModel,
        figures: Vec<Figure>,
    ) -> Result<Self, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_:+@".contains(c);
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(format!(
                "`{name}` cannot be the name of an algorithm: use letters, digits and -_:+@, because links \
                 contain the name"
            ));
        }
        let machine = machine::of(algorithm).into();
        Self::new(name, String::new(), machine, memory, figures)
    }

    fn new(
        name: &str,
        title: String,
        machine: Arc<dyn Machine>,
        memory: MemoryModel,
        figures: Vec<Figure>,
    ) -> Result<Self, String> {
        let has_mishaps = (0..machine.n()).any(|p| machine.mishap(p).is_some());
        if memory == MemoryModel::StoreBuffers && (machine.is_unbounded() || has_mishaps) {
            return Err(format!(
                "{name} counts without bound or has mishaps, and cannot run with store buffers: leave out --tso"
            ));
        }
        let conventions = Conventions::default();
        let mut subject =
            Subject { name: name.into(), title, machine, memory, conventions, figures };
        // Sets of agents are words of 64 bits.
        if subject.agents() > u64::BITS as usize {
            return Err(format!(
                "{name} has {} processes, store buffers and mishaps at this size, and the explorer follows at most 64: \
                 try a smaller n",
                subject.agents()
            ));
        }
        let met = subject.figures_met();
        subject.figures.retain(|figure| met.contains(&figure.name.as_str()));
        Ok(subject)
    }

    /// Returns the figures whose lines occur in a long random run.
    fn figures_met(&self) -> Vec<&'static str> {
        const STEPS: usize = 4000;
        let mut random = fastrand::Rng::with_seed(1);
        let mut run = self.interpreter(self.machine.layout().first_initial());
        let mut met = Vec::new();
        for _ in 0..STEPS {
            let agent = random.usize(..self.agents());
            // Agents that cannot take a step are skipped. After a variable has left its range, no agent can.
            let Ok(step) = run.step(agent) else { continue };
            let label = step.before.label.or(step.after.label);
            met.extend(label.map(|label| label.figure).filter(|figure| !met.contains(figure)));
        }
        met
    }

    /// Returns the name: the identifier in the registry, or the one given to [`Subject::of`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the step machine.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.machine
    }

    /// Returns whether stores take effect immediately or go through buffers.
    pub fn memory(&self) -> MemoryModel {
        self.memory
    }

    /// Returns the rules of counting remote references.
    pub fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// Returns the figures whose lines occur in a long random run.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Returns the number of agents: the processes, then their store buffers or mishaps. A
    /// [mishap](hallpass_algorithms::Mishap) is an event that can hit a process, such as its death.
    pub fn agents(&self) -> usize {
        let n = self.machine.n();
        let more = self.memory == MemoryModel::StoreBuffers
            || (0..n).any(|p| self.machine.mishap(p).is_some());
        if more { 2 * n } else { n }
    }

    /// Returns an interpreter with this initial memory.
    pub(super) fn interpreter(&self, initial: Vec<Word>) -> Interpreter {
        Interpreter::on(self.machine.clone(), self.memory, initial, &self.conventions)
    }

    /// Returns the question that the checker answers about this subject.
    pub(super) fn question(&self) -> Question {
        let mut question = Question::everything(&self.name, self.machine.n(), self.machine.k());
        question.memory = self.memory;
        question
    }

    /// Returns a key that distinguishes subjects.
    pub fn key(&self) -> String {
        let (n, k) = (self.machine.n(), self.machine.k());
        format!("{}.{n}.{k}.{}", self.name, self.memory.name())
    }

    /// Returns everything that the page says about the algorithm, apart from runs.
    pub fn to_json(&self) -> Value {
        let machine = &self.machine;
        let question = self.question();
        let entry = registry::entry(&self.name).ok().map(|(entry, _)| entry);
        let standing = entry.map(|entry| match entry.standing {
            Standing::Sound => "sound",
            Standing::Printed => "printed",
            Standing::Broken => "wrong",
        });
        let model = match entry.and_then(|entry| entry.bounds().next()).map(|bound| bound.model) {
            Some(CostModel::Dsm) => "dsm",
            _ => "cc",
        };
        let is_file = catalogue::find(&self.name).is_some_and(|added| added.source().is_some());
        let variables = machine.layout().decls().iter().map(|decl| {
            let choices: Vec<String> = match decl.init {
                Init::Open => decl.initial().iter().map(|&value| decl.show(value)).collect(),
                Init::Is(_) => Vec::new(),
            };
            // The compiler adds this variable to the algorithm of a file, to record mistakes of its lines.
            let hidden = decl.name == FAULT_VARIABLE && is_file;
            json!({ "name": decl.name, "home": decl.home, "initial": choices, "hidden": hidden })
        });
        let mishaps = (0..machine.n()).map(|p| machine.mishap(p).map(|mishap| mishap.name));
        json!({
            "key": self.key(),
            "algorithm": self.name,
            "title": self.title,
            "change": entry.filter(|entry| entry.standing != Standing::Sound).map(|entry| entry.title),
            "standing": standing,
            "n": machine.n(),
            "k": machine.k(),
            "memory": self.memory.name(),
            "memory_words": words::memory_model(self.memory),
            "rules": words::rules(&self.conventions),
            "cost_model": model,
            "crashes": question.crashes,
            "promises": question.promised.iter().map(|&p| Property::name(p)).collect::<Vec<_>>(),
            "variables": variables.collect::<Vec<_>>(),
            "invariants": machine.invariants(),
            "mishaps": mishaps.collect::<Vec<_>>(),
            "unbounded": machine.is_unbounded(),
            "figures": self.figures,
        })
    }
}
