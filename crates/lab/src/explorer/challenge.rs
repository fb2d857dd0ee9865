//! Challenges: the wrong variants as exercises. Make the violation happen, in as few steps as you can.

use std::sync::OnceLock;

use hallpass_algorithms::registry::{ENTRIES, Standing};
use serde_json::{Value, json};

use super::{
    answers::{Answers, Goal},
    chart::Chart,
    subject::Subject,
};
use crate::{
    atlas::{Listed, Manifest},
    catalogue::author,
    schedule::MemoryModel,
    space::violation,
    store::Id,
};

/// A wrong variant and the property that the player has to break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// The identifier of the variant.
    pub algorithm: String,
    /// The number of processes.
    pub n: usize,
    /// The largest number of processes in the critical section at once.
    pub k: usize,
    /// The property to break: its name on the command line.
    pub property: &'static str,
}

/// The maximum number of states of a model that is offered as an exercise. The limit is low, so that the checker
/// soon knows the smallest number of steps.
const MOST_STATES: u64 = 2_000_000;

impl Challenge {
    /// Returns all challenges, in the order of the registry. Among the models of a wrong variant that the
    /// [atlas](crate::atlas) has without store buffers, the challenge is the smallest one that violates a promise. A
    /// variant has no challenge if this model is too large, or if the violated property is strong FIFE, a bound or a
    /// range.
    pub fn all() -> &'static [Challenge] {
        static ALL: OnceLock<Vec<Challenge>> = OnceLock::new();
        ALL.get_or_init(|| {
            Manifest::standard().map_or_else(|_| Vec::new(), |all| Self::of_atlas(&all))
        })
    }

    fn of_atlas(manifest: &Manifest) -> Vec<Challenge> {
        let wrong = ENTRIES.iter().filter(|entry| entry.standing != Standing::Sound);
        wrong
            .filter_map(|entry| {
                let (model, listed) = manifest.rejection(entry.id)?;
                let property = match listed {
                    Listed::Exclusion | Listed::Names | Listed::Invariants => listed,
                    Listed::Deadlock | Listed::Starvation | Listed::Fife => listed,
                    _ => return None,
                };
                model.states.is_some_and(|states| states <= MOST_STATES).then(|| Challenge {
                    algorithm: entry.id.to_string(),
                    n: model.n,
                    k: model.k,
                    property: property.name(),
                })
            })
            .collect()
    }

    /// Returns the challenge of a subject, if the subject is a wrong variant that has one. The task does not depend on
    /// the size: a subject that is larger or smaller than the model in the atlas has the same task.
    pub fn of(subject: &Subject) -> Option<Challenge> {
        let all = (subject.memory() == MemoryModel::Sequential).then(Challenge::all)?;
        let own = all.iter().find(|challenge| challenge.algorithm == subject.name())?;
        let machine = subject.machine();
        Some(Challenge { n: machine.n(), k: machine.k(), ..own.clone() })
    }

    /// Returns a sentence that says what to do.
    pub fn task(&self) -> String {
        let k = self.k;
        match self.property {
            "exclusion" => {
                format!("Bring {} processes into their critical sections at the same time", k + 1)
            }
            "names" => "Bring two processes into their critical sections with the same slot".into(),
            "invariants" => format!("Break an invariant of {}", author(&self.algorithm)),
            "deadlock" => "Block all processes: make a loop in which some process tries to enter its critical section and none does".into(),
            "starvation" => "Starve a process: make a loop in which it keeps taking steps and never enters its critical section".into(),
            _ => "Let a process enter its critical section while one that came earlier can be kept out forever".into(),
        }
    }

    /// Returns the goals that solve the challenge.
    fn goals(&self, chart: &Chart) -> Vec<Goal> {
        match self.property {
            "exclusion" => vec![Goal::Safety(violation::EXCLUSION)],
            "names" => vec![Goal::Safety(violation::NAMES)],
            "invariants" => (violation::FIRST_INVARIANT..u64::BITS).map(Goal::Safety).collect(),
            "deadlock" => vec![Goal::Deadlock],
            "starvation" => (0..chart.n).map(Goal::Starve).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the smallest number of steps that the checker knows, counting one round of a loop. If the task is to
    /// starve a process, at most `crashes` processes may stop.
    pub fn best(&self, chart: &Chart, answers: &Answers, crashes: usize) -> Option<usize> {
        let allowed = match self.property {
            "starvation" => crashes,
            _ => 0,
        };
        let best = |goal: Goal| {
            let near = |root: Id| answers.near(root, goal).map(|near| (near.stopped, near.steps));
            let root =
                (0..chart.roots).filter(|&root| near(root).is_some()).min_by_key(|&r| near(r))?;
            if answers.near(root, goal)?.stopped as usize > allowed {
                return None;
            }
            let way = answers.way(chart, root, goal)?;
            Some(way.steps.len() + way.cycle.len())
        };
        self.goals(chart).into_iter().filter_map(best).min()
    }

    /// Returns whether the view of a node solves the challenge.
    pub fn is_solved_by(&self, view: &Value) -> bool {
        let broken = |name: &str| {
            let facts = view["facts"].as_array().into_iter().flatten();
            let known = ["exclusion", "names", "range"];
            facts.filter(|fact| fact["status"] == "broken").any(|fact| {
                let fact = fact["name"].as_str().unwrap_or_default();
                fact == name || name == "invariants" && !known.contains(&fact)
            })
        };
        let repeats = &view["loop"];
        match self.property {
            "deadlock" => {
                repeats["deadlock"] == true
                    && repeats["stopped"].as_array().is_some_and(|stopped| stopped.is_empty())
            }
            "starvation" => repeats["violates"] == true,
            "fife" => !view["overtaken"].is_null(),
            name => broken(name),
        }
    }

    /// Returns the challenge as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "algorithm": self.algorithm, "n": self.n, "k": self.k, "property": self.property,
            "task": self.task(),
        })
    }
}
