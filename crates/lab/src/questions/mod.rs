//! Questions about whole runs: the statements of a paper about steps and progress, first come first
//! served, time in rounds, and remote references on average.
//!
//! [`ask`] explores an algorithm once and answers every question on the graph of all steps. The
//! definitions are in `docs/lab.md`.
//!
//! | question | module |
//! |---|---|
//! | a statement of the paper, by its name | `statements`, `progress` |
//! | `fcfs` | `order` |
//! | `rounds`, `sections` | `time` |
//! | `amortised-cc`, `amortised-dsm` | `average`, `ratio` |
//! | `exit-steps`, `doorway-steps`, `super-cc-2` | `recovery` |

mod average;
mod order;
mod progress;
mod ratio;
mod recovery;
mod report;
mod statements;
mod time;

use std::{borrow::Cow, collections::BTreeMap, time::Instant};

use hallpass_algorithms::{Pid, RunStatement, Section};

pub use ratio::Ratio;
pub use report::{Answer, Answered, Report};

use crate::{
    check::{Error, Resources, check_contention, check_initial, compile, with_words},
    explore::{Explored, explore},
    graph::Graph,
    machine::Machine,
    schedule::{Conventions, CostModel, Finding, MemoryModel, Schedule},
    space::{Agent, Initial, Normal, SafetyFlags, Sequential, Space},
    standing::States,
    store::Id,
    tables::Tables,
};

/// A question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Whether a statement of the paper holds, by its name.
    Statement(String),
    /// Whether a process that leaves its doorway before another process leaves its remainder always enters before that
    /// process.
    Fcfs,
    /// The time of the longest entry section, if every step and every critical section takes at most one
    /// unit of time.
    Rounds,
    /// The time of the longest entry section, if every critical section takes at most one unit of time, and
    /// steps take none.
    Sections,
    /// The largest number of remote references per passage, on average over a long run.
    Amortised(CostModel),
    /// The largest number of a process's own steps in an exit section, while others may be killed.
    ExitSteps,
    /// The largest number of a process's own steps in a doorway, while others may be killed.
    DoorwaySteps,
    /// The largest number of remote references of a super-passage with cache-coherent memory. During the super-passage,
    /// processes are killed at most this many times. (A super-passage is a sequence of passages of one process. Each
    /// passage but the last ends by the death of the process.)
    SuperPassage(u32),
}

/// The name of a question about super-passages, without the number of deaths.
const SUPER: &str = "super-cc-";

impl Asked {
    /// The questions that every algorithm has.
    const COMMON: [Asked; 7] = [
        Asked::Fcfs,
        Asked::Rounds,
        Asked::Sections,
        Asked::Amortised(CostModel::Cc),
        Asked::Amortised(CostModel::Dsm),
        Asked::ExitSteps,
        Asked::DoorwaySteps,
    ];

    /// Returns the name on the command line, in the atlas and in JSON.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Asked::Statement(name) => name,
            Asked::Fcfs => "fcfs",
            Asked::Rounds => "rounds",
            Asked::Sections => "sections",
            Asked::Amortised(CostModel::Cc) => "amortised-cc",
            Asked::Amortised(CostModel::Dsm) => "amortised-dsm",
            Asked::ExitSteps => "exit-steps",
            Asked::DoorwaySteps => "doorway-steps",
            Asked::SuperPassage(deaths) => return Cow::Owned(format!("{SUPER}{deaths}")),
        })
    }

    /// Returns whether the question is defined if processes can be killed.
    fn allows_mishaps(&self) -> bool {
        !matches!(self, Asked::Rounds | Asked::Sections | Asked::Amortised(_))
    }

    /// Returns the question of this name. A name that is neither that of a common question nor `super-cc-` with a
    /// number is the name of a statement.
    pub fn from_name(name: &str) -> Self {
        let deaths = name.strip_prefix(SUPER).and_then(|deaths| deaths.parse().ok());
        let common = Self::COMMON.into_iter().find(|asked| asked.name() == name);
        common
            .or(deaths.map(Asked::SuperPassage))
            .unwrap_or_else(|| Asked::Statement(name.to_string()))
    }
}

/// The questions about an algorithm.
#[derive(Clone, Debug)]
pub struct Questions {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// The number of processes.
    pub n: usize,
    /// The number of processes that may be in their critical sections at once.
    pub k: usize,
    /// The number of processes that may be outside their remainder at once.
    pub contention: usize,
    /// The initial states.
    pub initial: Initial,
    /// For the questions `rounds` and `sections`: the number of processes that may stop.
    pub crashes: usize,
    /// The rules for counting remote references.
    pub conventions: Conventions,
    /// The questions. If there are none, all questions that apply are asked, except [`Asked::SuperPassage`].
    pub asked: Vec<Asked>,
}

/// Answers the questions.
///
/// # Errors
/// Fails if the algorithm does not exist at this size, is too large to explore, or has no statement of this name,
/// or if a question does not apply to the algorithm.
pub fn ask(questions: &Questions, resources: &Resources<'_>) -> Result<Report, Error> {
    let Questions { algorithm, n, k, .. } = questions;
    let (machine, tables) = compile(algorithm, *n, *k, resources)?;
    check_contention(questions.contention, *n)?;
    check_initial(&tables, questions.initial, resources.bytes)?;
    if questions.crashes > *n {
        return Err(Error::Question(format!(
            "at most n = {n} processes can stop, got {}",
            questions.crashes
        )));
    }
    let asked = all_or(&questions.asked, &*machine, &tables);
    asked.iter().try_for_each(|asked| check_exists(algorithm, asked, &*machine, &tables))?;
    let questions = Questions { asked, ..questions.clone() };
    Ok(with_words!(tables.words, run(&*machine, &tables, questions, resources)))
}

/// Returns the questions, or every question that the algorithm has if there are none.
fn all_or(asked: &[Asked], machine: &dyn Machine, tables: &Tables) -> Vec<Asked> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let statements = machine.run_statements().iter();
    let statements = statements.map(|statement| Asked::Statement(statement.name.to_string()));
    let applies = |asked: &Asked| asked.allows_mishaps() || !tables.has_mishaps();
    statements.chain(Asked::COMMON.into_iter().filter(applies)).collect()
}

fn check_exists(
    algorithm: &str,
    asked: &Asked,
    machine: &dyn Machine,
    tables: &Tables,
) -> Result<(), Error> {
    match asked {
        Asked::Statement(name) if statement(machine, name).is_none() => {
            let known = machine.run_statements().iter().map(|statement| statement.name.into());
            let known: Vec<_> = known.chain(Asked::COMMON.iter().map(Asked::name)).collect();
            Err(Error::Question(format!(
                "{algorithm} has no question `{name}`; its questions are: {}",
                known.join(", ")
            )))
        }
        asked if !asked.allows_mishaps() && tables.has_mishaps() => Err(Error::Question(format!(
            "{algorithm} has mishaps, for which `{}` is not defined: leave it out",
            asked.name()
        ))),
        _ => Ok(()),
    }
}

fn statement(machine: &dyn Machine, name: &str) -> Option<RunStatement> {
    machine.run_statements().iter().find(|statement| statement.name == name).copied()
}

/// Everything that the answers need: the explored states, and the graph of all steps.
struct Subject<'a, const W: usize> {
    machine: &'a dyn Machine,
    questions: &'a Questions,
    resources: &'a Resources<'a>,
    space: &'a Sequential<'a>,
    states: &'a States<'a, W>,
    /// The graph of all steps. Agents from n on are the mishaps of the processes.
    graph: &'a Graph,
    /// The graph of the steps of processes.
    steps: &'a Graph,
}

fn run<const W: usize>(
    machine: &dyn Machine,
    tables: &Tables,
    questions: Questions,
    resources: &Resources<'_>,
) -> Report {
    let begun = Instant::now();
    let space = Sequential {
        tables,
        contention: questions.contention,
        initial: questions.initial,
        normal: Normal::of(machine, tables),
        mishaps: tables.has_mishaps(),
        flags: SafetyFlags::default(),
        invariants: None,
        every_step: false,
    };
    (resources.phase)("exploring");
    let explored: Explored<W> = explore(&space, &resources.limits());
    let agents = Space::<W>::agents(&space);
    // Besides the graph, memory holds the graph of the steps of processes, and the result of one search for components.
    let used = explored.bytes + explored.graph_bytes(2 * agents);
    let mut answers = BTreeMap::new();
    let why = match explored.ended {
        _ if used > resources.bytes => Some("the graph does not fit in memory"),
        _ if !explored.is_whole() => Some("not all states were explored"),
        _ => None,
    };
    if let Some(why) = why {
        let partial = |asked: &Asked| (asked.name().to_string(), Answered::partial(why));
        answers.extend(questions.asked.iter().map(partial));
    } else {
        (resources.phase)("building the graph");
        let graph = explored.graph(&space, resources.threads);
        let of_processes = (agents > questions.n).then(|| graph.of_first(questions.n));
        let subject = Subject {
            machine,
            questions: &questions,
            resources: &resources.less(used),
            space: &space,
            states: &States { tables, explored: &explored, settled: None },
            graph: &graph,
            steps: of_processes.as_ref().unwrap_or(&graph),
        };
        for asked in &questions.asked {
            (resources.phase)(&asked.name());
            answers.insert(asked.name().to_string(), subject.answer(asked));
        }
    }
    Report {
        states: explored.states,
        ended: explored.ended,
        seconds: begun.elapsed().as_secs_f64(),
        answers,
        questions,
    }
}

impl<const W: usize> Subject<'_, W> {
    fn answer(&self, asked: &Asked) -> Answered {
        match asked {
            Asked::Statement(name) => {
                let statement = statement(self.machine, name).expect("it was checked before");
                self.statement(statement)
            }
            Asked::Fcfs => self.fcfs(),
            Asked::Rounds => self.rounds(),
            Asked::Sections => self.sections(),
            Asked::Amortised(model) => self.amortised(*model),
            Asked::ExitSteps => self.own_steps(Section::Exit),
            Asked::DoorwaySteps => self.own_steps(Section::Doorway),
            Asked::SuperPassage(deaths) => self.super_passage(*deaths),
        }
    }

    fn explored(&self) -> &Explored<W> {
        self.states.explored
    }

    fn tables(&self) -> &Tables {
        self.states.tables
    }

    /// Returns whether the result for one process holds for all.
    fn alike(&self) -> bool {
        self.machine.is_symmetric() && self.questions.initial == Initial::All
    }

    /// Returns the processes to observe: all, or only one if all are alike.
    fn observed(&self) -> Vec<Pid> {
        if self.alike() { vec![0] } else { (0..self.questions.n).collect() }
    }

    /// Returns the run that goes to the state `to` on a shortest path, and then takes the steps `then` and
    /// `cycle`.
    fn schedule(&self, to: Id, then: &[Agent], cycle: Vec<Agent>, finding: Finding) -> Schedule {
        let (start, steps) = self.explored().path(self.space, to);
        Schedule {
            algorithm: self.questions.algorithm.clone(),
            n: self.questions.n,
            k: self.questions.k,
            memory: MemoryModel::Sequential,
            initial: self.tables().memory(&start),
            stem: steps.iter().map(|&(agent, _)| agent).chain(then.iter().copied()).collect(),
            cycle,
            finding,
        }
    }
}
