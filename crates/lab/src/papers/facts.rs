//! Checks statements about numbers and sets. These need no model. They are checked case by case, up to a
//! size.

use std::collections::BTreeSet;

/// The result of a computation.
pub(super) struct Fact {
    /// The cases that were checked.
    pub covers: &'static str,
    /// The first case that contradicts the statement.
    pub against: Option<String>,
}

/// Returns the computation of the fact with this name.
pub(super) fn find(name: &str) -> Option<fn() -> Fact> {
    Some(match name {
        "choi-p1" => || sets(|s| s.both().find(|x| *x >= s.k).map(|x| format!("{x}"))),
        "choi-p2" => || sets(|s| s.wait.iter().find(|w| **w < s.i).map(|w| format!("{w}"))),
        "choi-p3" => || sets(|s| s.release.iter().find(|r| **r > s.i).map(|r| format!("{r}"))),
        "choi-p4" => || pairs(|i, j, both| i <= j && both.is_empty()),
        "choi-lemma-1" => || pairs(|i, j, both| i < j && both.len() != 1),
        "choi-p5" => ordered,
        "choi-p6" => || sets(|s| s.too_large()),
        "choi-lemma-2" => parse_inverts,
        "omori-lemma-5" => {
            || groups(|n, k, size| !(k < size && size <= 2 * k + 2) || size < n >> levels(n, k))
        }
        "omori-lemma-8" => sums,
        "omori-turn-values" => turn_values,
        "omori-memory-more" => || memory_of_both(|excl, gtex| excl > gtex),
        "omori-memory-twice" => || memory_of_both(|excl, gtex| excl < 2 * gtex),
        "omori-excl-memory" => memory_of_excl,
        _ => return None,
    })
}

/// Choi's Wait-Set(i) and Release-Set(i) as printed, with as many bits as k - 1 needs.
struct Sets {
    k: usize,
    i: usize,
    wait: BTreeSet<usize>,
    release: BTreeSet<usize>,
}

fn bits(k: usize) -> u32 {
    k.next_power_of_two().trailing_zeros()
}

impl Sets {
    fn new(k: usize, i: usize) -> Self {
        // Both sets contain prefixes of i, padded with zeros. In the wait set, the first of the padding
        // bits is 1 instead, and only the numbers from i to k - 1 count. The wait set always contains k - 1.
        let kept = |dropped: u32| i >> dropped << dropped;
        let raised = (1..=bits(k)).map(|dropped| kept(dropped) | 1 << (dropped - 1));
        let wait = raised.filter(|b| (i..k).contains(b)).chain([k - 1]).collect();
        let release = (0..=bits(k)).map(kept).collect();
        Sets { k, i, wait, release }
    }

    fn both(&self) -> impl Iterator<Item = usize> {
        self.wait.iter().chain(&self.release).copied()
    }

    fn too_large(&self) -> Option<String> {
        let most = bits(self.k) as usize + 1;
        let size = self.wait.len().max(self.release.len());
        (size > most).then(|| format!("{size} elements"))
    }
}

const MOST_K: usize = 64;
const UP_TO_K: &str = "every k ≤ 64";

fn sets(wrong: impl Fn(&Sets) -> Option<String>) -> Fact {
    let all = (1..=MOST_K).flat_map(|k| (0..k).map(move |i| Sets::new(k, i)));
    let against = |s: Sets| Some(format!("k = {}, i = {}: {}", s.k, s.i, wrong(&s)?));
    Fact { covers: UP_TO_K, against: all.into_iter().find_map(against) }
}

fn shown(set: &BTreeSet<usize>) -> String {
    if set.is_empty() {
        return "nothing".into();
    }
    let elements: Vec<String> = set.iter().map(usize::to_string).collect();
    format!("{{{}}}", elements.join(", "))
}

/// Checks the common elements of Wait-Set(i) and Release-Set(j), for all pairs.
fn pairs(wrong: impl Fn(usize, usize, &BTreeSet<usize>) -> bool) -> Fact {
    let all = (1..=MOST_K).flat_map(|k| (0..k).flat_map(move |i| (0..k).map(move |j| (k, i, j))));
    let against = all.into_iter().find_map(|(k, i, j)| {
        let both = &Sets::new(k, i).wait & &Sets::new(k, j).release;
        let have = shown(&both);
        wrong(i, j, &both)
            .then(|| format!("k = {k}: Wait-Set({i}) and Release-Set({j}) have {have} in common"))
    });
    Fact { covers: UP_TO_K, against }
}

/// Checks for h < i <= j that the smallest common element of Wait-Set(h) and Release-Set(j) is at most
/// that of Wait-Set(i) and Release-Set(j), where both exist.
fn ordered() -> Fact {
    let all = (1..=MOST_K).flat_map(|k| (0..k).map(move |j| (k, j)));
    let against = all.into_iter().find_map(|(k, j)| {
        let release = Sets::new(k, j).release;
        let least: Vec<Option<usize>> =
            (0..=j).map(|i| (&Sets::new(k, i).wait & &release).first().copied()).collect();
        (0..=j).find_map(|i| {
            let here = least[i]?;
            let h = (0..i).find(|&h| least[h].is_some_and(|lower| lower > here))?;
            Some(format!("k = {k}, h = {h}, i = {i}, j = {j}"))
        })
    });
    Fact { covers: UP_TO_K, against }
}

/// Checks that parse(t) = (e, i, j) satisfies t = (e - 1) N + i k + j.
fn parse_inverts() -> Fact {
    let sizes = (1..=8).flat_map(|k| (k + 1..=16_usize).map(move |n| (k, n.next_multiple_of(k))));
    let against = sizes.into_iter().find_map(|(k, blocks)| {
        let wrong = |t: &usize| {
            let (e, f) = (t / blocks + 1, t % blocks);
            (e - 1) * blocks + f / k * k + t % k != *t
        };
        (0..256).find(wrong).map(|t| format!("k = {k}, N = {blocks}, t = {t}"))
    });
    Fact { covers: "k ≤ 8, n ≤ 16, t < 256", against }
}

/// Returns the depth of Omori's tournament tree: the largest d with 2^d (k + 1) <= n.
fn levels(n: usize, k: usize) -> u32 {
    (n / (k + 1)).checked_ilog2().unwrap_or(0)
}

/// Checks the sizes of the groups at the leaves of Omori's tournament tree.
fn groups(wrong: impl Fn(usize, usize, usize) -> bool) -> Fact {
    let all = (2..=256_usize).flat_map(|n| (1..n).map(move |k| (n, k)));
    let against = all.into_iter().find_map(|(n, k)| {
        let mut leaves = vec![n];
        for _ in 0..levels(n, k) {
            leaves = leaves.iter().flat_map(|&size| [size.div_ceil(2), size / 2]).collect();
        }
        let size = leaves.into_iter().find(|&size| wrong(n, k, size))?;
        Some(format!("n = {n}, k = {k}: a leaf with {size}"))
    });
    Fact { covers: "every k < n ≤ 256", against }
}

/// Checks that Omori's f_s(n, k), which is the sum of (2^k - 1) 2^(i (k+1)) for i = 0 to t, is at most
/// (n/k)^(k+1), with n = 2k 2^t.
fn sums() -> Fact {
    let all = (1..=6_u32).flat_map(|k| (0..=6_u32).map(move |t| (k, t)));
    let against = all.into_iter().find_map(|(k, t)| {
        let row = (1_u128 << k) - 1;
        let sum: u128 = (0..=t).map(|i| row << (i * (k + 1))).sum();
        (sum > 1 << ((t + 1) * (k + 1))).then(|| format!("k = {k}, t = {t}"))
    });
    Fact { covers: "k ≤ 6, t ≤ 6, constant 1", against }
}

/// Checks Omori's statement that the variable turn(x, q) takes 2^p values, where p is the depth of node x. There must
/// be as many values as the group of x has processes.
fn turn_values() -> Fact {
    let all = (1..=4_usize).flat_map(|k| (0..=4_u32).map(move |t| (k, t)));
    let against = all.into_iter().find_map(|(k, t)| {
        let n = (2 * k) << t;
        let p = (0..=t).find(|p| n >> p != 1 << p)?;
        Some(format!("n = {n}, k = {k}, p = {p}: {} values, not {}", n >> p, 1 << p))
    });
    Fact { covers: "k ≤ 4, n = 2k 2^t ≤ 32k", against }
}

/// Returns the number of bits of Omori's algorithm EXCL, by the formula of the paper.
fn excl_bits(n: usize, k: usize) -> u32 {
    (n - k) as u32 * bits(n) + n as u32 * bits(n - k + 1)
}

/// Returns the number of bits of Omori's algorithm GTEX for n = 2k 2^t. Each of the n level variables has k t + k + 1
/// values, and each of the k 2^p turn variables at depth p names one of n/2^p processes.
fn gtex_bits(k: usize, t: u32) -> u32 {
    let n = (2 * k) << t;
    let turns: u32 = (0..=t).map(|p| ((k << p) as u32) * bits(n >> p)).sum();
    n as u32 * bits(k * (t as usize + 1) + 1) + turns
}

/// Compares the bits of EXCL and GTEX.
fn memory_of_both(holds: impl Fn(u32, u32) -> bool) -> Fact {
    let all = (1..=4_usize).flat_map(|k| (1..=10_u32).map(move |t| (k, t)));
    let against = all.into_iter().find_map(|(k, t)| {
        let n = (2 * k) << t;
        let (excl, gtex) = (excl_bits(n, k), gtex_bits(k, t));
        let text = || format!("n = {n}, k = {k}: {excl} bits and {gtex} bits");
        (!holds(excl, gtex)).then(text)
    });
    Fact { covers: "k ≤ 4, n = 2k 2^t, 1 ≤ t ≤ 10", against }
}

/// Checks that EXCL takes at most (g + ⌈log₂(g + 1)⌉) n bits, where g = n - k is constant.
fn memory_of_excl() -> Fact {
    let all = (1..=8_usize).flat_map(|gap| (gap + 1..=1024).map(move |n| (gap, n)));
    let against = all.into_iter().find_map(|(gap, n)| {
        let (found, most) = (excl_bits(n, n - gap), (gap as u32 + bits(gap + 1)) * n as u32);
        (found > most).then(|| format!("n = {n}, k = {}: {found} bits", n - gap))
    });
    Fact { covers: "n − k ≤ 8, n ≤ 1024", against }
}

#[cfg(test)]
mod tests {
    use super::{Sets, find};

    #[test]
    fn sets_agree_with_the_figure_of_the_paper() {
        // Figure 3 of Choi: k = 33, w = 11, r = 19.
        let wait: Vec<usize> = Sets::new(33, 11).wait.into_iter().collect();
        assert_eq!(wait, [11, 12, 16, 32]);
        let release: Vec<usize> = Sets::new(33, 19).release.into_iter().collect();
        assert_eq!(release, [0, 16, 18, 19]);
    }

    #[test]
    fn facts_agree_with_calculations_by_hand() {
        for (name, holds) in [
            ("choi-p1", true),
            ("choi-p2", true),
            ("choi-p3", true),
            ("choi-p4", false),
            ("choi-p5", true),
            ("choi-p6", true),
            ("choi-lemma-1", false),
            ("choi-lemma-2", true),
            ("omori-lemma-5", true),
            ("omori-lemma-8", true),
            ("omori-turn-values", false),
            ("omori-memory-more", true),
            ("omori-memory-twice", false),
            ("omori-excl-memory", true),
        ] {
            let fact = find(name).unwrap()();
            assert_eq!(fact.against.is_none(), holds, "{name}: {:?}", fact.against);
        }
    }
}
