//! Formats sizes in a few words: `n ≤ 3, (4,2), (4,3)`.

use std::collections::BTreeMap;

use crate::{atlas::AtlasModel, space::Initial};

/// The part of a size that is covered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Extent {
    contention: usize,
    /// Whether every initial value that the paper leaves open is covered.
    every_start: bool,
}

/// The covered sizes, each with its covered part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Sizes(BTreeMap<(usize, usize), Extent>);

impl Sizes {
    pub fn add(&mut self, model: &AtlasModel) {
        let every_start = model.initial == Initial::All;
        self.insert(model.n, model.k, Extent { contention: model.contention(), every_start });
    }

    /// Adds a size that is covered completely.
    pub fn add_whole(&mut self, n: usize, k: usize) {
        self.insert(n, k, Extent { contention: n, every_start: true });
    }

    fn insert(&mut self, n: usize, k: usize, new: Extent) {
        let old = self.0.entry((n, k)).or_insert(new);
        *old = (*old).max(new);
    }

    /// Returns the sizes that are in both sets, each with the part that both cover.
    pub fn common(&self, other: &Sizes) -> Sizes {
        let both = self.0.iter().filter_map(|(size, extent)| {
            let other = other.0.get(size)?;
            let contention = extent.contention.min(other.contention);
            let every_start = extent.every_start && other.every_start;
            Some((*size, Extent { contention, every_start }))
        });
        Sizes(both.collect())
    }

    /// Formats the sizes: `n ≤ 3` if all sizes with k < n ≤ 3 are covered, then the other sizes.
    pub fn text(&self) -> String {
        // If all sizes are without contention, the text has `c = 1` once at its end, and not for
        // each size.
        let alone = !self.0.is_empty() && self.0.values().all(|extent| extent.contention == 1);
        let whole =
            |n: usize, extent: &Extent| extent.every_start && (alone || extent.contention == n);
        let seen = |n, k| self.0.get(&(n, k)).is_some_and(|extent| whole(n, extent));
        let mut full = 1;
        while (1..=full).all(|k| seen(full + 1, k)) {
            full += 1;
        }
        let mut parts = Vec::new();
        if full >= 2 {
            parts.push(if full == 2 { "(2,1)".into() } else { format!("n ≤ {full}") });
        }
        for (&(n, k), extent) in self.0.iter().filter(|((n, _), _)| *n > full) {
            let mut part = format!("({n},{k})");
            if !extent.every_start {
                part.push('°');
            }
            if extent.contention < n && !alone {
                part.push_str(&format!(" c ≤ {}", extent.contention));
            }
            parts.push(part);
        }
        if alone {
            parts.push("c = 1".into());
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, Sizes};

    #[test]
    fn sizes_with_every_k_are_written_as_one_range() {
        let mut sizes = Sizes::default();
        for (n, k) in [(2, 1), (3, 1), (3, 2), (4, 2)] {
            sizes.add_whole(n, k);
        }
        sizes.insert(4, 1, Extent { contention: 2, every_start: false });
        assert_eq!(sizes.text(), "n ≤ 3, (4,1)° c ≤ 2, (4,2)");
        let mut sizes = Sizes::default();
        sizes.add_whole(2, 1);
        assert_eq!(sizes.text(), "(2,1)");
        sizes.add_whole(4, 1);
        assert_eq!(sizes.text(), "(2,1), (4,1)");
        let mut sizes = Sizes::default();
        sizes.insert(2, 1, Extent { contention: 1, every_start: true });
        assert_eq!(sizes.text(), "(2,1), c = 1");
    }
}
