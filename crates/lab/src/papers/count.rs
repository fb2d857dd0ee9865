//! The counts for which statements give bounds, for each n and k. Examples are the numbers of remote references and of
//! variables. A count comes from the atlas, from a replayed run, or from the algorithm itself.

use hallpass_algorithms::registry;

use super::{
    sizes::Sizes,
    statements::{Evidence, Quantity},
};
use crate::{
    Machine,
    atlas::{AtlasModel, Listed, Resilience},
    graph::Bound,
    machine,
    questions::Asked,
    schedule::{Conventions, Finding, MemoryModel, Schedule},
    trace::{self, Interpreter},
};

/// The count of one quantity for given n and k, with at most `c` processes outside their remainder.
#[derive(Clone, Debug)]
pub(super) struct Count<'a> {
    pub n: usize,
    pub k: usize,
    pub c: usize,
    pub value: Bound,
    pub origin: Origin<'a>,
}

/// The source of a count.
#[derive(Clone, Debug)]
pub(super) enum Origin<'a> {
    Atlas(&'a AtlasModel),
    /// A run that shows at least this count.
    Replay(Box<Schedule>),
    /// The algorithm itself, without an exploration.
    Algorithm,
}

impl Count<'_> {
    pub fn size(&self) -> String {
        let Count { n, k, c, .. } = self;
        // Without contention, the count is the same for every n and k. So the text omits the size.
        match &self.origin {
            Origin::Atlas(_) if *c == 1 => String::new(),
            Origin::Atlas(_) if c < n => format!(" at ({n},{k}) c = {c}"),
            Origin::Replay(_) => format!(" at ({n},{k}), found by a search"),
            _ => format!(" at ({n},{k})"),
        }
    }

    pub fn states(&self) -> Option<u64> {
        match self.origin {
            Origin::Atlas(model) => model.states,
            _ => None,
        }
    }

    pub fn add_to(&self, sizes: &mut Sizes) {
        match self.origin {
            Origin::Atlas(model) => sizes.add(model),
            Origin::Algorithm => sizes.add_whole(self.n, self.k),
            // A single run does not cover all runs of a size.
            Origin::Replay(_) => {}
        }
    }
}

pub(super) fn words(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Cc => "CC",
        Quantity::Dsm => "DSM",
        Quantity::Exit => "exit steps",
        Quantity::Resilience => "resilience",
        Quantity::Solo => "accesses without contention",
        Quantity::Variables => "variables",
        Quantity::Bits => "bits",
        Quantity::Rounds => "rounds",
        Quantity::Sections => "critical sections",
    }
}

/// Returns the counts of `quantity` for `algorithm`, at the sizes that the evidence covers.
pub(super) fn all<'a>(
    algorithm: &str,
    quantity: Quantity,
    models: &[&'a AtlasModel],
    evidence: &Evidence,
) -> Vec<Count<'a>> {
    match quantity {
        Quantity::Solo | Quantity::Variables | Quantity::Bits => {
            asked(algorithm, quantity, evidence)
        }
        _ => models.iter().filter_map(|model| listed(model, quantity)).collect(),
    }
}

fn listed<'a>(model: &'a AtlasModel, quantity: Quantity) -> Option<Count<'a>> {
    let check = |listed| model.check.get(&listed);
    let value = match quantity {
        Quantity::Cc => model.rmr.cc.as_ref()?.worst?,
        Quantity::Dsm => model.rmr.dsm.as_ref()?.worst?,
        Quantity::Exit => check(Listed::Exit)?.bound?,
        Quantity::Rounds => answered(model, &Asked::Rounds)?,
        Quantity::Sections => answered(model, &Asked::Sections)?,
        Quantity::Resilience => match check(Listed::Starvation)?.resilience? {
            Resilience::Crashes(count) => Bound::Most(u32::try_from(count).ok()?),
            Resilience::Unlimited => Bound::Unbounded,
        },
        _ => return None,
    };
    let origin = Origin::Atlas(model);
    Some(Count { n: model.n, k: model.k, c: model.contention(), value, origin })
}

/// Returns the expected answer to a question, if it is a number.
fn answered(model: &AtlasModel, asked: &Asked) -> Option<Bound> {
    let answer = model.ask.get(&*asked.name())?;
    match answer.parse() {
        Ok(number) => Some(Bound::Most(number)),
        Err(_) => (*answer == Bound::Unbounded.to_string()).then_some(Bound::Unbounded),
    }
}

/// Reads the count that a replay string shows. The algorithm's code confirms the run.
pub(super) fn replayed(replay: &str) -> Result<(Quantity, Count<'static>), String> {
    let schedule = trace::decode(replay).map_err(|error| error.to_string())?;
    trace::confirm(&schedule)
        .map_err(|why| format!("`{replay}` does not show its finding: {why}"))?;
    let Finding::Rmr { model, count, .. } = &schedule.finding else {
        return Err(format!("`{replay}` does not show remote references"));
    };
    let quantity = match model {
        registry::CostModel::Cc => Quantity::Cc,
        registry::CostModel::Dsm => Quantity::Dsm,
    };
    let (n, k, value) = (schedule.n, schedule.k, count.map_or(Bound::Unbounded, Bound::Most));
    Ok((quantity, Count { n, k, c: n, value, origin: Origin::Replay(Box::new(schedule)) }))
}

/// The maximum number of processes for which an algorithm is built to count its variables, bits or
/// accesses.
const MOST: usize = 8;

fn asked<'a>(algorithm: &str, quantity: Quantity, evidence: &Evidence) -> Vec<Count<'a>> {
    let sizes = (2..=MOST).flat_map(|n| (1..n).map(move |k| (n, k)));
    let sizes = sizes.filter(|&(n, k)| evidence.is_about(n, k));
    let count = |(n, k)| {
        // Some algorithms do not exist at all sizes.
        let machine = machine::build(algorithm, n, k).ok()?;
        let value = match quantity {
            Quantity::Variables => Some(machine.layout().decls().len()),
            Quantity::Bits => bits(&*machine),
            _ => Some(solo(algorithm, &*machine)?),
        };
        Some(Count {
            n,
            k,
            c: 1,
            value: value.map_or(Some(Bound::Unbounded), |value| {
                Some(Bound::Most(value.try_into().ok()?))
            })?,
            origin: Origin::Algorithm,
        })
    };
    sizes.filter_map(count).collect()
}

/// Returns the number of bits of all variables, or `None` if a variable is unbounded.
fn bits(machine: &dyn Machine) -> Option<usize> {
    machine.layout().decls().iter().map(|decl| decl.bits().map(|bits| bits as usize)).sum()
}

/// Counts the shared accesses of process 0 until it enters, while no other process takes a step.
fn solo(algorithm: &str, machine: &dyn Machine) -> Option<usize> {
    let schedule = Schedule {
        algorithm: algorithm.into(),
        n: machine.n(),
        k: machine.k(),
        memory: MemoryModel::Sequential,
        initial: machine.layout().first_initial(),
        stem: Vec::new(),
        cycle: Vec::new(),
        finding: Finding::Exclusion,
    };
    let mut interpreter = Interpreter::new(&schedule, &Conventions::default()).ok()?;
    let mut accesses = 0;
    for _ in 0..100_000 {
        let step = interpreter.step(0).ok()?;
        accesses += usize::from(step.access.is_some());
        if step.after.section == hallpass_algorithms::Section::Critical {
            return Some(accesses);
        }
    }
    None
}
