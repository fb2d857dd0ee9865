//! Sizes in few words: `n ≤ 3, (4,2), (4,3)`.

use std::collections::BTreeMap;

use crate::{atlas::AtlasModel, space::Initial};

/// How much of a size was looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Extent {
    contention: usize,
    /// With every initial value that the paper leaves open.
    every_start: bool,
}

/// The sizes something was looked at, and how much of each.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Sizes(BTreeMap<(usize, usize), Extent>);

impl Sizes {
    pub fn add(&mut self, model: &AtlasModel) {
        let every_start = model.initial == Initial::All;
        self.insert(model.n, model.k, Extent { contention: model.contention(), every_start });
    }

    /// A size at which nothing is left out.
    pub fn add_whole(&mut self, n: usize, k: usize) {
        self.insert(n, k, Extent { contention: n, every_start: true });
    }

    fn insert(&mut self, n: usize, k: usize, new: Extent) {
        let old = self.0.entry((n, k)).or_insert(new);
        *old = (*old).max(new);
    }

    /// The sizes in both, and of each what was looked at in both.
    pub fn common(&self, other: &Sizes) -> Sizes {
        let both = self.0.iter().filter_map(|(size, extent)| {
            let other = other.0.get(size)?;
            let contention = extent.contention.min(other.contention);
            let every_start = extent.every_start && other.every_start;
            Some((*size, Extent { contention, every_start }))
        });
        Sizes(both.collect())
    }

    /// `n ≤ 3` if every k below n was seen, then what else there is.
    pub fn text(&self) -> String {
        // A process on its own says little about n; it is said once.
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
    fn whole_triangles_are_taken_together() {
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
