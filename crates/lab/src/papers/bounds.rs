//! Compares counts with the bounds of a statement.

use std::cmp::Reverse;

use super::{
    count::{self, Count, Origin},
    formula::{At, evaluate},
    judge::{Piece, Run, Shows, Verdict},
    sizes::Sizes,
    statements::{Bound, Quantity},
};
use crate::graph;

/// A number that the lab counted, and the bound that the paper states for it.
struct BoundedCount<'a> {
    count: &'a Count<'a>,
    bound: Option<u64>,
}

impl BoundedCount<'_> {
    fn exceeds(&self) -> bool {
        match (self.count.value, self.bound) {
            (graph::Bound::Most(value), Some(bound)) => u64::from(value) > bound,
            (graph::Bound::Unbounded, _) => true,
            (graph::Bound::Most(_), None) => false,
        }
    }

    /// Returns the difference between the bound and the count, or `None` if the count exceeds the bound
    /// or there is no bound.
    fn slack(&self) -> Option<u64> {
        match self.count.value {
            graph::Bound::Most(value) => self.bound?.checked_sub(value.into()),
            graph::Bound::Unbounded => None,
        }
    }

    /// Returns the share of the bound that the count reaches, in thousandths.
    fn share(&self) -> u64 {
        match (self.count.value, self.bound) {
            (graph::Bound::Most(value), Some(bound)) => u64::from(value) * 1000 / bound.max(1),
            _ => u64::MAX,
        }
    }

    /// Returns the rank of a count. The count with the highest rank is shown: the largest count, at the
    /// smallest size.
    fn rank(&self) -> (graph::Bound, Reverse<(usize, usize)>) {
        (self.count.value, Reverse((self.count.n, self.count.k)))
    }

    fn text(&self) -> String {
        let value = match self.count.value {
            graph::Bound::Most(value) => value.to_string(),
            graph::Bound::Unbounded => "∞".into(),
        };
        let of = self.bound.map(|bound| format!(" of {bound}")).unwrap_or_default();
        format!("{value}{of}{}", self.count.size())
    }
}

pub(super) fn counted(
    algorithm: &str,
    quantity: Quantity,
    bound: &Bound,
    counts: &[Count<'_>],
) -> Piece {
    let formula = bound.formula();
    // Reading the statement file has already checked its formulas.
    let at = |count: &Count<'_>| evaluate(formula?, At { n: count.n, k: count.k, c: count.c }).ok();
    let bounded: Vec<BoundedCount<'_>> =
        counts.iter().map(|count| BoundedCount { count, bound: at(count) }).collect();
    let mut sizes = Sizes::default();
    counts.iter().for_each(|count| count.add_to(&mut sizes));
    let over = bounded.iter().filter(|bounded| bounded.exceeds());
    let over = over.min_by_key(|bounded| (bounded.count.n, bounded.count.states()));
    let (verdict, text) = match bounded.as_slice() {
        [] => (Some(Verdict::Unmeasured), count::words(quantity).into()),
        bounded => found(quantity, bound, bounded, over),
    };
    let shows = match quantity {
        Quantity::Cc => Some(Shows::Cc),
        Quantity::Dsm => Some(Shows::Dsm),
        _ => None,
    };
    // A run found by a search is shown only if it reaches or exceeds the bound.
    let searched = |bounded: &&BoundedCount<'_>| matches!(bounded.count.origin, Origin::Replay(_));
    let reached = bounded.iter().filter(searched).find(|bounded| bounded.slack() == Some(0));
    let run = over.or(reached).filter(|_| *bound != Bound::Measured).zip(shows);
    let run = run.and_then(|(bounded, shows)| match &bounded.count.origin {
        Origin::Atlas(model) => Some(Run::Found((*model).clone(), shows)),
        Origin::Replay(run) => Some(Run::Given(run.clone(), shows)),
        Origin::Algorithm => None,
    });
    Piece { verdict, text, sizes, run, algorithm: algorithm.into() }
}

/// Returns the verdict on counts, and a remark. `over` is a count that exceeds its bound.
fn found(
    quantity: Quantity,
    bound: &Bound,
    bounded: &[BoundedCount<'_>],
    over: Option<&BoundedCount<'_>>,
) -> (Option<Verdict>, String) {
    let tight = bounded
        .iter()
        .filter(|bounded| bounded.slack() == Some(0))
        .max_by_key(|bounded| bounded.rank());
    let near = bounded.iter().max_by_key(|bounded| (bounded.share(), bounded.rank()));
    let most = bounded.iter().max_by_key(|bounded| bounded.rank());
    let what = count::words(quantity);
    let show = |bounded: Option<&BoundedCount<'_>>| {
        format!("{what} {}", bounded.map(BoundedCount::text).unwrap_or_default())
    };
    let (verdict, text) = match bound {
        Bound::Measured => return (None, format!("{} (the most)", show(most))),
        // This is about every size: no number of stopped processes can starve another process.
        Bound::Unbounded if quantity == Quantity::Resilience => {
            let all = bounded.iter().all(BoundedCount::exceeds);
            (if all { Verdict::Confirmed } else { Verdict::Refuted }, show(most))
        }
        Bound::Unbounded if over.is_some() => (Verdict::Confirmed, show(over)),
        Bound::Unbounded => (Verdict::Refuted, show(most)),
        _ if over.is_some() => (Verdict::Refuted, format!("**{}**", show(over))),
        Bound::Finite => (Verdict::Confirmed, format!("{} (the most)", show(most))),
        Bound::Within(_) => (Verdict::Confirmed, show(near)),
        Bound::Is(formula) if bounded.iter().all(|bounded| bounded.slack() == Some(0)) => {
            (Verdict::Confirmed, format!("{what} {}", formula.trim().replace('*', "·")))
        }
        Bound::Is(_) => (Verdict::Refuted, format!("**{}**", show(near))),
        Bound::AtMost(_) if tight.is_some() => {
            (Verdict::Confirmed, format!("{}, tight", show(tight)))
        }
        Bound::AtMost(_) => (Verdict::NotTight, show(near)),
    };
    (Some(verdict), text)
}
