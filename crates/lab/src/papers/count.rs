//! Counts at all sizes: from the atlas, or from the algorithm itself.

use super::{claims::Quantity, sizes::Sizes};
use crate::{
    Machine,
    atlas::{Listed, Model, Resilience},
    graph::Bound,
    machine,
    schedule::{Conventions, Finding, MemoryModel, Schedule},
    trace::Interpreter,
};

/// A count at a size.
#[derive(Clone, Debug)]
pub(super) struct Count<'a> {
    pub n: usize,
    pub k: usize,
    pub c: usize,
    pub value: Bound,
    /// Where it comes from; none if the algorithm itself was asked.
    pub model: Option<&'a Model>,
}

impl Count<'_> {
    pub fn size(&self) -> String {
        let Count { n, k, c, .. } = self;
        if c < n && self.model.is_some() {
            format!("({n},{k}) c={c}")
        } else {
            format!("({n},{k})")
        }
    }

    pub fn states(&self) -> Option<u64> {
        self.model?.states
    }

    pub fn add_to(&self, sizes: &mut Sizes) {
        match self.model {
            Some(model) => sizes.add(model),
            None => sizes.add_whole(self.n, self.k),
        }
    }
}

pub(super) fn words(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Cc => "CC",
        Quantity::Dsm => "DSM",
        Quantity::Exit => "steps of the exit",
        Quantity::Resilience => "resilience",
        Quantity::Solo => "accesses of an undisturbed entry",
        Quantity::Variables => "variables",
        Quantity::Bits => "bits",
    }
}

/// All counts there are.
pub(super) fn all<'a>(
    algorithm: &str,
    quantity: Quantity,
    models: &[&'a Model],
    least_k: Option<usize>,
) -> Vec<Count<'a>> {
    match quantity {
        Quantity::Solo | Quantity::Variables | Quantity::Bits => {
            asked(algorithm, quantity, least_k)
        }
        _ => models.iter().filter_map(|model| listed(model, quantity)).collect(),
    }
}

fn listed<'a>(model: &'a Model, quantity: Quantity) -> Option<Count<'a>> {
    let check = |listed| model.check.get(&listed);
    let value = match quantity {
        Quantity::Cc => model.rmr.cc.as_ref()?.worst?,
        Quantity::Dsm => model.rmr.dsm.as_ref()?.worst?,
        Quantity::Exit => check(Listed::Exit)?.bound?,
        Quantity::Resilience => match check(Listed::Starvation)?.resilience? {
            Resilience::Crashes(count) => Bound::Most(u32::try_from(count).ok()?),
            Resilience::Unlimited => Bound::Unbounded,
        },
        _ => return None,
    };
    Some(Count { n: model.n, k: model.k, c: model.contention(), value, model: Some(model) })
}

/// The most processes for which an algorithm is built only to be looked at.
const MOST: usize = 8;

fn asked<'a>(algorithm: &str, quantity: Quantity, least_k: Option<usize>) -> Vec<Count<'a>> {
    let sizes = (2..=MOST).flat_map(|n| (least_k.unwrap_or(1)..n).map(move |k| (n, k)));
    let count = |(n, k)| {
        // Not every size exists of every algorithm.
        let machine = machine::build(algorithm, n, k).ok()?;
        let value = match quantity {
            Quantity::Variables => machine.layout().decls().len(),
            Quantity::Bits => bits(&*machine),
            _ => solo(algorithm, &*machine)?,
        };
        Some(Count { n, k, c: 1, value: Bound::Most(u32::try_from(value).ok()?), model: None })
    };
    sizes.filter_map(count).collect()
}

fn bits(machine: &dyn Machine) -> usize {
    let bits = |values: usize| values.next_power_of_two().trailing_zeros() as usize;
    machine.layout().decls().iter().map(|decl| bits(decl.domain.len())).sum()
}

/// Shared accesses of process 0 until it is in, while nobody else moves.
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
