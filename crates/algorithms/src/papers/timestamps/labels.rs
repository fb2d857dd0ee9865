//! Bounded labels: a finite set in which there is always a label later than all labels in use. The
//! labels follow Dolev & Shavit, "Bounded concurrent time-stamp systems are constructible", 1989.
//!
//! For n processes, a label has n - 1 digits from 1 to 5, initially all 1. The first digit in which two labels
//! differ determines their order. Equal labels are ordered by process. The digits 1 and 2 come before 3, 4 and
//! 5, and 1 before 2. The digits 3, 4 and 5 form a cycle: 3 < 4 < 5 < 3. So this relation does not order
//! all labels. But among the labels that are in use at one time, no three ever form a cycle.
//! [`Stamp::later`] ensures this, and the lab checks it. The reason: `later` limits how many processes may have labels
//! with the same leading digits. With each further leading digit, the limit is smaller by one. So a process
//! takes the third digit of the cycle only after the process that had the first digit has another digit.
//!
//! A label is packed into 3(n - 1) bits, with the first digit in the most significant bits. Each digit
//! is stored minus one, so that 0 is the initial label.

use alloc::string::String;
use core::fmt::Write as _;

use crate::framework::memory::Pid;

/// The maximum number of processes.
pub const MAX_PROCESSES: usize = 16;

const DIGIT_BITS: u32 = 3;
const DIGIT: u64 = (1 << DIGIT_BITS) - 1;

/// The bit position of a [mark](Stamp::mark), above all digits.
const MARK_AT: u32 = 56;

/// The number of digit values that come before the cycle of three: the digits 1 and 2.
pub const CHAIN: u64 = 2;

/// Returns the number of bits of a label for `n` processes.
pub const fn bits(n: usize) -> u32 {
    DIGIT_BITS * (n as u32 - 1)
}

/// A label, and a mark that only the lab uses. The mark distinguishes two timestamps of one process that
/// have the same label. Without [mark bits](Labels::MARK_BITS), it is always 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stamp(u64);

impl Stamp {
    /// The initial label of every process.
    pub const FIRST: Stamp = Stamp(0);

    /// Returns the label with these packed digits.
    pub const fn from_label(label: u64) -> Self {
        Stamp(label)
    }

    /// Returns the packed digits.
    pub const fn label(self) -> u64 {
        self.0 & ((1 << MARK_AT) - 1)
    }

    /// Returns the mark, the bits above all digits.
    pub const fn mark(self) -> u64 {
        self.0 >> MARK_AT
    }

    /// Returns the same label with another mark.
    #[must_use]
    pub const fn marked(self, mark: u64) -> Self {
        Stamp(self.label() | mark << MARK_AT)
    }

    /// Returns whether the first label is ordered before the second. The first `chain` digit values come
    /// before the cycle.
    pub fn precedes(chain: u64, a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        let (x, y) = (a.0.label(), b.0.label());
        if x == y {
            return a.1 < b.1;
        }
        let at = (63 - (x ^ y).leading_zeros()) / DIGIT_BITS * DIGIT_BITS;
        let (x, y) = (x >> at & DIGIT, y >> at & DIGIT);
        if x >= chain && y >= chain { next(chain, x) == y } else { x < y }
    }

    /// Returns the label that process `i` of `n` takes when it sees these labels. It is later than all
    /// of them. Returns `None` if the process already has the latest label.
    pub fn later(chain: u64, n: usize, i: Pid, view: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        let later =
            |a: Pid, b: Pid| if Self::precedes(chain, (view(a), a), (view(b), b)) { b } else { a };
        let latest = (1..n).fold(0, later);
        if latest == i {
            return None;
        }
        let top = view(latest).label();
        // The first digit position that is too crowded: the other processes that share the digits of the latest
        // label up to and including this position are more than the positions after it.
        let position = (1..n).find(|&position| {
            let below = DIGIT_BITS * (n - 1 - position) as u32;
            let alike = |&j: &Pid| j != i && view(j).label() >> below == top >> below;
            (0..n).filter(alike).count() >= n - position
        });
        let below = DIGIT_BITS * (n - 1 - position.unwrap_or(n - 1)) as u32;
        let digit = top >> below & DIGIT;
        let before = top >> below >> DIGIT_BITS << DIGIT_BITS;
        Some(Stamp((before | next(chain, digit)) << below))
    }

    /// Unpacks a field of a register: a label for `n` processes, and a mark of `mark_bits` bits.
    pub(super) fn unpack(field: u64, n: usize, mark_bits: u32) -> Self {
        let label = field & ((1 << bits(n)) - 1);
        let mark = field >> bits(n) & ((1 << mark_bits) - 1);
        Stamp(label | mark << MARK_AT)
    }

    /// Packs the label and the mark into a field of a register.
    pub(super) fn pack(self, n: usize) -> u64 {
        self.label() | self.mark() << bits(n)
    }
}

/// A set of labels: their order, and the label that a process takes next.
pub trait Labels: Send + Sync + 'static {
    /// The number of bits of the [mark](Stamp::mark) of each label. Only the lab uses marks.
    const MARK_BITS: u32 = 0;

    /// Returns whether the first of two processes with these labels is ordered before the second.
    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool;

    /// Returns the label that process `i` of `n` takes when it sees these labels, or `None` if it keeps
    /// its own label.
    fn next(n: usize, i: Pid, view: impl Fn(Pid) -> Stamp) -> Option<Stamp>;
}

/// The labels that the [module](self) describes, with digits from 1 to 5.
pub struct FiveDigits;

impl Labels for FiveDigits {
    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        Stamp::precedes(CHAIN, a, b)
    }

    fn next(n: usize, i: Pid, view: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        Stamp::later(CHAIN, n, i, view)
    }
}

/// Returns the digit after `digit` in the cycle of three digits that starts at `chain`.
const fn next(chain: u64, digit: u64) -> u64 {
    if digit == chain + 2 { chain } else { digit + 1 }
}

/// Formats a packed label of this many digits.
pub fn show(label: u64, digits: u8) -> String {
    let mut out = String::new();
    for place in (0..u32::from(digits)).rev() {
        let _ = write!(out, "{}", (label >> (DIGIT_BITS * place) & DIGIT) + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn label(digits: &[u64]) -> Stamp {
        Stamp(digits.iter().fold(0, |label, digit| label << DIGIT_BITS | (digit - 1)))
    }

    #[test]
    fn digits_are_a_chain_and_a_cycle() {
        let before = |a, b| Stamp::precedes(CHAIN, (label(&[a]), 1), (label(&[b]), 0));
        for (a, b) in
            [(1, 2), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5), (5, 3)]
        {
            assert!(before(a, b) && !before(b, a), "{a} {b}");
        }
        assert!(!before(3, 3)); // equal labels are ordered by process
    }

    #[test]
    fn the_first_different_digit_decides_the_order() {
        let before = |a: &[u64], b: &[u64]| Stamp::precedes(CHAIN, (label(a), 0), (label(b), 1));
        assert!(before(&[3, 5, 5], &[4, 1, 1]));
        assert!(before(&[5, 1, 1], &[3, 5, 1]));
        assert!(before(&[2, 5, 4], &[2, 3, 1]));
        assert_eq!(label(&[2, 5, 4]).label(), 0o143);
        assert_eq!(show(0o143, 3), "254");
    }

    #[test]
    fn each_new_label_is_later_than_all_labels_in_use() {
        for n in 2..=MAX_PROCESSES {
            let mut held: Vec<Stamp> = (0..n).map(|_| Stamp::FIRST).collect();
            for round in 0..200 {
                let i = (round * 7 + round / n) % n;
                if let Some(new) = Stamp::later(CHAIN, n, i, |j| held[j]) {
                    held[i] = new;
                }
                for j in (0..n).filter(|&j| j != i) {
                    assert!(Stamp::precedes(CHAIN, (held[j], j), (held[i], i)), "n={n} {round}");
                }
            }
        }
    }

    #[test]
    fn fields_keep_label_and_mark() {
        let stamp = label(&[2, 5, 4]).marked(5);
        assert_eq!(Stamp::unpack(stamp.pack(4), 4, 3), stamp);
        assert_eq!((stamp.mark(), stamp.marked(0)), (5, label(&[2, 5, 4])));
    }
}
