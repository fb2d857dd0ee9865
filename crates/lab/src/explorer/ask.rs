//! Questions to the checker about one state. The answer is a run from this state: a shortest way to a violation of FIFE
//! (first in, first enabled), a run in which a process is overtaken most often, or a run in which the passage of a
//! process costs the most.

use hallpass_algorithms::{Pid, Section};

use super::{
    answers::{Answers, Way},
    chart::{Chart, Sections},
    moment::Moment,
    subject::Subject,
};
use crate::{
    bypass::Victim,
    explore::{Ended, Limits, explore},
    fife::{self, FIRST_WAITS, IN_ORDER, OVERTAKEN, Pair, SECOND_WAITS},
    graph::{Bound, Graph, Heaviest},
    schedule::{CacheAtStart, CostModel, FailedRmw, WriterCopy},
    space::{Agent, Space},
    standing::Standing as _,
    store::Id,
    tables::Access,
};

/// A space that starts in one given state.
struct FromHere<'a> {
    space: &'a dyn Space<1>,
    start: u64,
}

impl Space<1> for FromHere<'_> {
    fn agents(&self) -> usize {
        self.space.agents()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        Box::new(std::iter::once([self.start]))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        self.space.successors(state, each);
    }

    fn violations(&self, state: &[u64; 1]) -> u64 {
        self.space.violations(state)
    }
}

/// The answer if the limits were reached before anything was found.
pub(super) const TOO_MANY: &str =
    "nothing was found, but there are too many runs from here to examine them all";

/// Returns a pair `(first, second)` such that `first` came before `second` and can still be kept out, although `second`
/// is in its critical section.
pub(super) fn overtaken(moment: &Moment, answers: &Answers, id: Id) -> Option<(Pid, Pid)> {
    let n = moment.stands.len();
    let pairs = (0..n).flat_map(|first| (0..n).map(move |second| (first, second)));
    pairs.into_iter().find(|&(first, second)| {
        moment.ahead[first] >> second & 1 == 1
            && moment.stands[second].section == Section::Critical
            && answers.can_be_kept_out(id, first)
    })
}

/// Returns a shortest way from the state `id` to a violation of FIFE: a process is in its critical section, and a
/// process that came earlier can be kept out forever. The way ends with a loop that keeps the earlier process out.
/// `Ok(None)` means that there is no such way. The error means that the limits were reached before a way was found.
pub(super) fn way_to_overtaking(
    chart: &Chart,
    answers: &Answers,
    moment: &Moment,
    id: Id,
    limits: &Limits<'_>,
) -> Result<Option<Way>, String> {
    let filtered: Option<Graph> = (answers.stopped != 0).then(|| chart.without(answers.stopped));
    let graph = filtered.as_ref().unwrap_or(&chart.graph);
    let waits = |p: Pid| moment.stands[p].section == Section::Waiting;
    let mut is_complete = true;
    let mut best: Option<(Vec<Agent>, Id, Pid)> = None;
    for first in 0..chart.n {
        for second in (0..chart.n).filter(|&second| second != first) {
            let pair: Pair<'_, Sections> = Pair {
                graph,
                standing: &chart.sections,
                roots: chart.roots,
                first,
                second,
                first_kept_out: answers.kept_out(first),
                second_kept_out: answers.kept_out(second),
            };
            let history = [
                (waits(first), FIRST_WAITS),
                (waits(second), SECOND_WAITS),
                (moment.ahead[first] >> second & 1 == 1, IN_ORDER),
            ];
            let bits =
                history.into_iter().filter(|(holds, _)| *holds).fold(0, |all, (_, bit)| all | bit);
            let here = FromHere { space: &pair, start: u64::from(id) | bits };
            let histories = explore::<1>(&here, limits);
            is_complete &= histories.is_complete();
            let Some(found) = histories.violating(OVERTAKEN) else { continue };
            let (start, steps) = histories.path(&here, found);
            if best.as_ref().is_none_or(|(way, ..)| steps.len() < way.len()) {
                let end = steps.last().map_or(start, |&(_, state)| state);
                let agents = steps.iter().map(|&(agent, _)| agent).collect();
                best = Some((agents, fife::id_of(&end), first));
            }
        }
    }
    let Some((mut steps, end, first)) = best else {
        return if is_complete { Ok(None) } else { Err(TOO_MANY.into()) };
    };
    let kept_out = answers.kept_out(first);
    let (rest, cycle) = kept_out.evidence(answers.graph(chart), &chart.sections, end);
    let shown_after = Some(steps.len());
    steps.extend(rest);
    Ok(Some(Way { steps, cycle, shown_after }))
}

/// Returns a run from the state `id` in which `victim` is overtaken most often.
pub(super) fn most_overtaken(
    chart: &Chart,
    answers: &Answers,
    moment: &Moment,
    (id, victim): (Id, Pid),
    limits: &Limits<'_>,
) -> Worst {
    let history: Victim<'_, Sections> = Victim {
        graph: answers.graph(chart),
        standing: &chart.sections,
        roots: chart.roots,
        victim,
        kept_out: answers.kept_out(victim),
    };
    let waits = moment.stands[victim].section == Section::Waiting;
    let start = history.with_history(id, waits.then_some(moment.ahead[victim]));
    let found = history.most_in(&FromHere { space: &history, start }, limits);
    let way = found.run.map_or_else(Way::default, |run| Way {
        steps: run.stem,
        cycle: run.cycle,
        shown_after: None,
    });
    let exact = found.ended == Ended::Complete && chart.covers_all_runs;
    Worst { count: found.bound, way, exact }
}

/// The passage of one process, with its cache. A state is one word: the number of the explored state in the low 32
/// bits, then the valid copies, and the bit [`BEGUN`].
struct Passage<'a> {
    chart: &'a Chart,
    graph: &'a Graph,
    subject: &'a Subject,
    process: Pid,
    model: CostModel,
    /// For each variable, its bit; `None` if the process never reads the variable.
    bits: Vec<Option<u32>>,
}

const FIRST_COPY: u32 = 32;
const MOST_COPIES: u32 = 30;
/// The bit of a state that is set if the process has left its remainder.
const BEGUN: u64 = 1 << 62;

impl Passage<'_> {
    fn id(word: u64) -> Id {
        word as u32
    }

    fn section(&self, word: u64) -> Section {
        self.chart.sections.section(Self::id(word), self.process)
    }

    fn is_over(&self, word: u64) -> bool {
        word & BEGUN != 0 && self.section(word) == Section::Remainder
    }

    fn bit(&self, var: usize) -> u64 {
        self.bits[var].map_or(0, |bit| 1 << (FIRST_COPY + bit))
    }

    /// Returns whether the next access of `p` counts as a write, and the bit for the copy of its variable. Returns
    /// `None` if the step accesses no variable.
    fn access(&self, id: Id, p: Pid) -> Option<(bool, u64)> {
        let (access, var, failed) = self.chart.access(id, p);
        let harmless = failed && self.subject.conventions().failed_rmw == FailedRmw::Read;
        match access {
            Access::None => None,
            Access::Read => Some((false, self.bit(var))),
            Access::Write | Access::ReadModifyWrite => Some((!harmless, self.bit(var))),
        }
    }

    /// Returns whether the agent's step is a remote reference of the process.
    fn is_remote(&self, word: u64, agent: Agent) -> bool {
        if agent != self.process {
            return false;
        }
        if self.model == CostModel::Dsm {
            let (access, var, _) = self.chart.access(Self::id(word), agent);
            let home = self.subject.machine().layout().decls()[var].home;
            return access != Access::None && home != Some(self.process);
        }
        self.access(Self::id(word), agent).is_some_and(|(writes, bit)| writes || word & bit == 0)
    }

    fn copies_after(&self, word: u64, agent: Agent) -> u64 {
        let copies = word & !u64::from(u32::MAX) & !BEGUN;
        if self.model == CostModel::Dsm {
            return 0;
        }
        if let Some(p) = agent.checked_sub(self.chart.n) {
            let Some(mishap) = self.subject.machine().mishap(p) else { return copies };
            let found = self.chart.memory(Self::id(word))[mishap.var.index()];
            let changes = mishap.op.leaves(found) != found;
            return if changes { copies & !self.bit(mishap.var.index()) } else { copies };
        }
        match (self.access(Self::id(word), agent), agent == self.process) {
            (None, _) | (Some((false, _)), false) => copies,
            (Some((false, bit)), true) => copies | bit,
            (Some((true, bit)), false) => copies & !bit,
            (Some((true, bit)), true) => match self.subject.conventions().writer_copy {
                WriterCopy::AsItWas => copies,
                WriterCopy::Gained => copies | bit,
                WriterCopy::Lost => copies & !bit,
            },
        }
    }
}

impl Space<1> for Passage<'_> {
    fn agents(&self) -> usize {
        self.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        Box::new(std::iter::empty())
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let word = state[0];
        if self.is_over(word) {
            return;
        }
        for (agent, to) in self.graph.edges(Self::id(word)) {
            let begins = self.section(word) == Section::Remainder
                && self.chart.sections.section(to, self.process) != Section::Remainder;
            let cold = self.subject.conventions().cache == CacheAtStart::Cold;
            let copies = if begins && cold { 0 } else { self.copies_after(word, agent) };
            let begun = if begins { BEGUN } else { word & BEGUN };
            each(agent, [u64::from(to) | copies | begun]);
        }
    }
}

/// The run that is worst for a process.
pub(super) struct Worst {
    /// The number of remote references from the given state to the end of the passage, or the number of overtakings.
    pub count: Bound,
    pub way: Way,
    /// Whether all continuations were examined.
    pub exact: bool,
}

/// Returns a run from the state `id` that costs `process` the most remote references until its passage ends.
pub(super) fn most_expensive(
    subject: &Subject,
    chart: &Chart,
    answers: &Answers,
    moment: &Moment,
    (id, process, model): (Id, Pid, CostModel),
    limits: &Limits<'_>,
) -> Result<Worst, String> {
    let filtered: Option<Graph> = (answers.stopped != 0).then(|| chart.without(answers.stopped));
    let graph = filtered.as_ref().unwrap_or(&chart.graph);
    let mut bits = vec![None; subject.machine().layout().decls().len()];
    let mut count = 0;
    for id in 0..chart.states() as Id {
        let (access, var, _) = chart.access(id, process);
        if matches!(access, Access::Read | Access::ReadModifyWrite) && bits[var].is_none() {
            bits[var] = Some(count);
            count += 1;
        }
    }
    if count > MOST_COPIES {
        return Err(format!(
            "process {process} reads {count} variables, and copies of at most {MOST_COPIES} can be followed"
        ));
    }
    let passage = Passage { chart, graph, subject, process, model, bits };
    let begun = moment.stands[process].section != Section::Remainder;
    let copies = match model {
        CostModel::Dsm => 0,
        CostModel::Cc => (0..passage.bits.len())
            .filter(|&var| moment.snapshot.has_copy(process, var))
            .fold(0, |copies, var| copies | passage.bit(var)),
    };
    let start = u64::from(id) | copies | if begun { BEGUN } else { 0 };
    let space = FromHere { space: &passage, start };
    let explored = explore::<1>(&space, limits);
    let product = explored.graph(&space, limits.threads);
    let word = |node: Id| explored.store.get(node)[0];
    let weight = |node: Id, agent: Agent| u32::from(passage.is_remote(word(node), agent));
    let part = |node: Id| !passage.is_over(word(node));
    let heaviest = Heaviest::new(&product, &part, weight);
    let (steps, cycle) = heaviest.path(&product, weight, 0);
    let exact = explored.is_complete() && chart.covers_all_runs;
    Ok(Worst { count: heaviest.from(0), way: Way { steps, cycle, shown_after: None }, exact })
}
