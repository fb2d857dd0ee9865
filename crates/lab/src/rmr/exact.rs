//! Finds the worst passage over all schedules.

use std::time::Instant;

use hallpass_algorithms::{Pid, Section};

use super::{CostModel, Figure, Question, Report, caches::Caches, promise};
use crate::{
    check::{Error, Resources, check_initial, compile, with_words},
    explore::{Ended, Explored, explore},
    graph::{Bound, Graph, Heaviest},
    machine::Machine,
    schedule::{CacheAtStart, Finding, MemoryModel, Schedule},
    space::{Agent, Initial, Normal, SafetyFlags, Sequential, Space},
    standing::{Standing, States},
    store::Id,
    tables::{Access, Tables},
};

/// Counts the remote references of the worst passage over all schedules, including those with mishaps, such
/// as a killed process.
///
/// # Errors
/// Fails if the algorithm does not exist at this size or is too large to explore, or if the question is
/// invalid.
pub fn exact(question: &Question, resources: &Resources<'_>) -> Result<Report, Error> {
    let (machine, tables) = compile(&question.algorithm, question.n, question.k, resources)?;
    crate::check::check_contention(question.contention, question.n)?;
    check_initial(&tables, question.initial, resources.bytes)?;
    Ok(with_words!(tables.words, run(&*machine, &tables, question, resources)))
}

fn run<const W: usize>(
    machine: &dyn Machine,
    tables: &Tables,
    question: &Question,
    resources: &Resources<'_>,
) -> Report {
    let begun = Instant::now();
    let (contention, initial) = (question.contention, question.initial);
    let space = Sequential {
        tables,
        contention,
        initial,
        normal: Normal::of(machine, tables),
        // A mishap of one process may leave a state in which the passage of another process is more
        // expensive.
        mishaps: tables.has_mishaps(),
        flags: SafetyFlags::default(),
        invariants: None,
        every_step: false,
    };
    (resources.phase)("exploring");
    let explored = explore::<W>(&space, &resources.limits());
    let used = explored.bytes + explored.graph_bytes(Space::<W>::agents(&space));
    if used > resources.bytes || explored.ended == Ended::Stopped {
        return nothing(question, &explored, begun);
    }
    (resources.phase)("building the graph");
    let graph = explored.graph(&space, resources.threads);
    let resources = &resources.less(used);
    let states = States { tables, explored: &explored, settled: None };
    let count =
        Count { machine, question, resources, space: &space, graph: &graph, states: &states };
    let (cc, dsm) = (count.figure(CostModel::Cc), count.figure(CostModel::Dsm));
    Report {
        question: question.clone(),
        states: explored.states,
        ended: explored.ended,
        seconds: begun.elapsed().as_secs_f64(),
        cc,
        dsm,
    }
}

/// Returns a report without figures. It is used if the graph does not fit in memory, or if the
/// exploration was stopped.
fn nothing<const W: usize>(question: &Question, explored: &Explored<W>, begun: Instant) -> Report {
    let figure = |model| Figure {
        worst: Bound::Most(0),
        exact: false,
        claim: promise(question, model),
        run: None,
    };
    Report {
        question: question.clone(),
        states: explored.states,
        ended: if explored.is_complete() { Ended::Memory } else { explored.ended },
        seconds: begun.elapsed().as_secs_f64(),
        cc: figure(CostModel::Cc),
        dsm: figure(CostModel::Dsm),
    }
}

struct Count<'a, const W: usize> {
    machine: &'a dyn Machine,
    question: &'a Question,
    resources: &'a Resources<'a>,
    space: &'a Sequential<'a>,
    graph: &'a Graph,
    states: &'a States<'a, W>,
}

/// A worst passage of one process.
struct Passage {
    bound: Bound,
    exact: bool,
    run: Schedule,
}

impl<const W: usize> Count<'_, W> {
    fn explored(&self) -> &Explored<W> {
        self.states.explored
    }

    fn figure(&self, model: CostModel) -> Figure {
        let alike = self.machine.is_symmetric() && self.question.initial == Initial::All;
        let observed = if alike { 1 } else { self.question.n };
        let mut worst: Option<Passage> = None;
        let mut exact = self.explored().is_whole();
        for process in 0..observed {
            (self.resources.phase)(&format!("{model:?} references of process {process}"));
            let passage = match model {
                CostModel::Dsm => self.dsm(process),
                CostModel::Cc => self.cc(process),
            };
            exact &= passage.as_ref().is_some_and(|passage| passage.exact);
            worst = match (worst, passage) {
                (Some(old), Some(new)) if new.bound <= old.bound => Some(old),
                (old, new) => new.or(old),
            };
        }
        Figure {
            worst: worst.as_ref().map_or(Bound::Most(0), |passage| passage.bound),
            exact,
            claim: promise(self.question, model),
            run: worst.map(|passage| passage.run),
        }
    }

    /// Finds the worst passage with distributed shared memory. An access counts unless the variable is
    /// in the memory of the process.
    fn dsm(&self, process: Pid) -> Option<Passage> {
        let tables = self.states.tables;
        let decls = self.machine.layout().decls();
        let weight = |node: Id, agent: Agent| {
            let row = tables.row(&self.explored().store.get(node), process);
            let remote =
                row.access != Access::None && decls[row.var as usize].home != Some(process);
            u32::from(agent == process && remote)
        };
        let part = |node: Id| self.states.section(node, process) != Section::Remainder;
        let heaviest = Heaviest::new(self.graph, &part, weight);
        let starts = self.explored().ids().filter(|&id| self.states.begins(id, process));
        let (bound, start) = worst_start(&heaviest, starts)?;
        let (path, cycle) = heaviest.path(self.graph, weight, start);
        let run = self.schedule(CostModel::Dsm, process, bound, start, path, cycle);
        Some(Passage { bound, exact: true, run })
    }

    /// Finds the worst passage with cache-coherent memory. A read counts unless the process has a valid
    /// copy.
    fn cc(&self, process: Pid) -> Option<Passage> {
        let caches = Caches::new(self.graph, self.states, process, self.question.conventions)?;
        // The other half of the memory is for the graph.
        let limits = self.resources.less(self.resources.bytes / 2).limits();
        let cached = explore::<1>(&caches, &limits);
        if cached.bytes + cached.graph_bytes(self.graph.agents) > self.resources.bytes {
            return None;
        }
        let graph = cached.graph(&caches, self.resources.threads);
        let id = |node: Id| Caches::<W>::id(&cached.store.get(node));
        let weight = |node: Id, agent: Agent| {
            u32::from(agent == process && caches.is_remote(&cached.store.get(node), agent))
        };
        let part = |node: Id| self.states.section(id(node), process) != Section::Remainder;
        let heaviest = Heaviest::new(&graph, &part, weight);
        let starts = cached.ids().filter(|&node| self.states.begins(id(node), process));
        let (bound, start) = worst_start(&heaviest, starts)?;
        let (mut path, cycle) = heaviest.path(&graph, weight, start);
        let mut from = id(start);
        if self.question.conventions.cache == CacheAtStart::Warm {
            let (root, steps) = cached.path(&caches, start);
            from = Caches::<W>::id(&root);
            path = steps.into_iter().map(|(agent, _)| agent).chain(path).collect();
        }
        let run = self.schedule(CostModel::Cc, process, bound, from, path, cycle);
        Some(Passage { bound, exact: cached.is_complete(), run })
    }

    fn schedule(
        &self,
        model: CostModel,
        process: Pid,
        bound: Bound,
        from: Id,
        path: Vec<Agent>,
        cycle: Vec<Agent>,
    ) -> Schedule {
        let (start, steps) = self.explored().path(self.space, from);
        let count = match bound {
            Bound::Most(count) => Some(count),
            Bound::Unbounded => None,
        };
        let conventions = self.question.conventions;
        Schedule {
            algorithm: self.question.algorithm.clone(),
            n: self.question.n,
            k: self.question.k,
            memory: MemoryModel::Sequential,
            initial: self.states.tables.memory(&start),
            stem: steps.iter().map(|&(agent, _)| agent).chain(path).collect(),
            cycle,
            finding: Finding::Rmr { model, process, count, conventions },
        }
    }
}

/// Returns the start with the heaviest path. If there are several, returns the first.
fn worst_start(heaviest: &Heaviest, starts: impl Iterator<Item = Id>) -> Option<(Bound, Id)> {
    let mut worst: Option<(Bound, Id)> = None;
    for start in starts {
        let bound = heaviest.from(start);
        if worst.is_none_or(|(most, _)| bound > most) {
            worst = Some((bound, start));
        }
    }
    worst
}
