//! The cells of a block that a process waits on, and the cells that a leaving process updates. Choi
//! 2011, Section 2.4, with properties (P1) to (P6) of Section 3.1.
//!
//! Numbers below k are written with ceil(log2 k) bits, most significant bit first.
//!
//! - Release-Set(j) contains each prefix of j, padded with zeros.
//! - Wait-Set(j) contains j, k-1, and each prefix of j followed by a one and padded with zeros, if this
//!   number is in j..k-1.
//!
//! Take i < j, and the first bit in which they differ: it is 0 in i and 1 in j. Their common prefix, followed by a one
//! and zeros, is in Wait-Set(i) and in Release-Set(j). So a process that releases up to j reaches every
//! process that waits at i (P4). It reaches a lower i at a lower cell or at the same cell (P5).
//!
//! Differences from the paper, whose definition violates (P4):
//!
//! - The paper prints a binary length of ceil(log2 k) - 1. This is too short for k - 1, and the proof
//!   of Lemma 1 has ceil(log2 k) bits. ([`Form::PrintedLength`] takes the low bits.)
//! - For k > 1, the Wait-Set(0) of the paper does not contain 0, because every number of the definition
//!   contains a 1 bit. The proof of (P4) says that j is in Wait-Set(j), which holds for every other j.
//!   ([`Form::PrintedCells`])
//! - Lemma 1 says that the sets of i < j have exactly one element in common. This is wrong for j = k-1,
//!   because k-1 may be a second common element. It is also wrong for i = 0, if 0 is in Wait-Set(0).
//!   No proof needs the lemma: (P5) is about the smallest element.
//! - The proof of (P1) has w <= i and must have w >= i.

use alloc::vec::Vec;

/// A definition of the sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The sets that the proofs need.
    Meant,
    /// The sets as printed.
    Printed,
    /// The sets with the printed binary length, but with j in Wait-Set(j).
    PrintedLength,
    /// The sets with all bits, but without 0 in Wait-Set(0), as printed.
    PrintedCells,
}

/// The sets of every j below k, each in ascending order.
#[derive(Clone, Debug)]
pub struct Sets {
    /// Wait-Set(j).
    pub wait: Vec<Vec<u8>>,
    /// Release-Set(j).
    pub release: Vec<Vec<u8>>,
}

/// Returns the smallest d with 2^d >= k.
pub const fn ceil_log2(k: usize) -> u32 {
    k.next_power_of_two().trailing_zeros()
}

impl Sets {
    /// Builds the sets for blocks of k cells.
    pub fn new(k: usize, form: Form) -> Self {
        let bits = match form {
            Form::Meant | Form::PrintedCells => ceil_log2(k),
            Form::Printed | Form::PrintedLength => ceil_log2(k).saturating_sub(1),
        };
        let own = matches!(form, Form::Meant | Form::PrintedLength);
        let wait = (0..k).map(|j| wait_set(k, bits, own, j)).collect();
        Sets { wait, release: (0..k).map(|j| release_set(bits, j)).collect() }
    }
}

/// Returns the first `length` bits of the low `bits` bits of `j`, padded with zeros.
fn prefix(j: usize, bits: u32, length: u32) -> usize {
    (j & ((1 << bits) - 1)) >> (bits - length) << (bits - length)
}

fn wait_set(k: usize, bits: u32, own: bool, j: usize) -> Vec<u8> {
    let pattern = |b: usize| b & ((1 << bits) - 1);
    let longer = |length| prefix(j, bits, length) | 1 << (bits - length - 1);
    let is_longer = |b: usize| (0..bits).any(|length| pattern(b) == longer(length));
    (j..k).filter(|&b| is_longer(b) || b == k - 1 || own && b == j).map(|b| b as u8).collect()
}

fn release_set(bits: u32, j: usize) -> Vec<u8> {
    let mut set: Vec<u8> = (0..=bits).map(|length| prefix(j, bits, length) as u8).collect();
    set.dedup(); // a longer prefix gives the same number or a larger one
    set
}

#[cfg(test)]
mod tests {
    use alloc::collections::{BTreeMap, BTreeSet};

    use super::*;

    const MAX_K: usize = 256;

    fn common(wait: &[u8], release: &[u8]) -> Vec<u8> {
        wait.iter().copied().filter(|w| release.contains(w)).collect()
    }

    /// Returns the properties that the sets for k violate.
    fn violated(k: usize, form: Form) -> BTreeSet<&'static str> {
        let Sets { wait, release } = Sets::new(k, form);
        let mut violated = BTreeSet::new();
        let mut must = |property, holds: bool| {
            if !holds {
                violated.insert(property);
            }
        };
        for (i, (wait, release)) in wait.iter().zip(&release).enumerate() {
            must("P1", wait.iter().chain(release).all(|&b| (b as usize) < k));
            must("P2", wait.iter().all(|&w| w as usize >= i));
            must("P3", release.iter().all(|&r| r as usize <= i));
            must("own", wait.contains(&(i as u8)) && release.contains(&(i as u8)));
        }
        for (j, release) in release.iter().enumerate() {
            let first: Vec<Option<u8>> =
                wait[..=j].iter().map(|wait| common(wait, release).first().copied()).collect();
            must("P4", first.iter().all(Option::is_some));
            // An empty set has no smallest element to compare.
            let first: Vec<u8> = first.into_iter().flatten().collect();
            must("P5", first.is_sorted());
            must("Lemma 1", wait[..j].iter().all(|wait| common(wait, release).len() == 1));
        }
        violated
    }

    fn smallest(form: Form, property: &str) -> Option<usize> {
        (1..=MAX_K).find(|&k| violated(k, form).contains(property))
    }

    #[test]
    fn the_corrected_sets_have_all_properties_except_lemma_1() {
        for k in 1..=MAX_K {
            let violated = violated(k, Form::Meant);
            assert!(violated.is_subset(&["Lemma 1"].into()), "k = {k}: {violated:?}");
        }
    }

    #[test]
    fn the_sets_have_logarithmic_size() {
        for k in 1..=MAX_K {
            let Sets { wait, release } = Sets::new(k, Form::Meant);
            let largest = |sets: &[Vec<u8>]| sets.iter().map(Vec::len).max().unwrap();
            let log = ceil_log2(k) as usize;
            // Release-Set(j) has an element for each 1 bit of j, and 0.
            assert!((0..k).all(|j| release[j].len() == j.count_ones() as usize + 1), "k = {k}");
            assert_eq!(largest(&release), k.ilog2() as usize + 1, "k = {k}");
            // Wait-Set(0) is the largest set: 0, the powers of two, and k-1 if it is not among them.
            let extra = usize::from(k > 2 && !(k - 1).is_power_of_two());
            assert_eq!(largest(&wait), 1 + log + extra, "k = {k}");
            assert_eq!(wait[0].len(), largest(&wait), "k = {k}");
            // Every Wait-Set ends with the last cell, and every Release-Set begins with the first cell.
            assert!(wait.iter().all(|set| set.last() == Some(&(k as u8).wrapping_sub(1))));
            assert!(release.iter().all(|set| set[0] == 0));
        }
    }

    #[test]
    fn lemma_1_is_wrong_in_every_form() {
        // i = 1, j = 3, k = 4: both 2 and 3 are common.
        let Sets { wait, release } = Sets::new(4, Form::PrintedCells);
        assert_eq!(common(&wait[1], &release[3]), [2, 3]);
        assert_eq!(smallest(Form::PrintedCells, "Lemma 1"), Some(4));
        assert_eq!(smallest(Form::Meant, "Lemma 1"), Some(2));
    }

    #[test]
    fn the_printed_sets_violate_p4() {
        for form in [Form::Printed, Form::PrintedLength, Form::PrintedCells] {
            let mut smallest = BTreeMap::new();
            for k in (1..=MAX_K).rev() {
                smallest.extend(violated(k, form).into_iter().map(|property| (property, k)));
            }
            smallest.retain(|property, _| property.starts_with('P'));
            assert_eq!(smallest, [("P4", 2)].into(), "{form:?}");
        }
        // If all bits are used, only the sets of 0 have no common element. This holds for every k from 2
        // on.
        for k in 2..=MAX_K {
            let Sets { wait, release } = Sets::new(k, Form::PrintedCells);
            for (j, release) in release.iter().enumerate() {
                for (i, wait) in wait[..=j].iter().enumerate() {
                    let meets = !common(wait, release).is_empty();
                    assert_eq!(meets, (i, j) != (0, 0), "k = {k}, i = {i}, j = {j}");
                }
            }
        }
    }
}
