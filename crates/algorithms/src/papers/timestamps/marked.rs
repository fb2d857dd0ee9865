//! What the lab needs to follow timestamps through a system's registers and private states.
//!
//! With [mark bits](Labels::MARK_BITS) a label carries a mark through every register and
//! private state it passes. A new label has the mark [`fresh`]; once it is written, the lab
//! gives it a number of its own, in place. So it knows which of several timestamps with the same
//! label a Scan has seen, without any ghost state of its own in the machine.

use core::marker::PhantomData;

use super::{
    All, Collect, InsideOf, Timestamps, TurnOf,
    labels::{FiveDigits, Labels, Stamp},
};
use crate::framework::{
    changed::{Change, Changed},
    memory::{Memory, Pid, Word},
};

/// Bits of a mark: more than enough for the timestamps of a process that are anywhere at one time.
pub const MARK_BITS: u32 = 5;

/// The labels of `L` with marks.
pub struct WithMarks<L = FiveDigits>(PhantomData<fn() -> L>);

impl<L: Labels> Labels for WithMarks<L> {
    const MARK_BITS: u32 = MARK_BITS;

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        L::precedes(a, b)
    }

    fn next(n: usize, i: Pid, view: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        L::next(n, i, view).map(|stamp| stamp.marked(fresh(MARK_BITS)))
    }
}

/// Always the first label, even for the process with the latest one: every Label writes, so that the
/// lab can check the snapshot under the labels alone.
pub struct AlwaysFirst;

impl Labels for AlwaysFirst {
    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        FiveDigits::precedes(a, b)
    }

    fn next(_: usize, _: Pid, _: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        Some(Stamp::FIRST)
    }
}

/// The mark of a label that nobody has written yet, of so many bits.
pub const fn fresh(mark_bits: u32) -> u64 {
    (1 << mark_bits) - 1
}

/// A function on the timestamps of processes.
pub type Renew<'a> = &'a mut dyn FnMut(Pid, Stamp) -> Stamp;

/// A system whose timestamps are [`Stamp`]s, open to the lab.
pub trait Marked: Timestamps<Stamp = Stamp, Collected = All<Stamp>> {
    /// Bits of marks.
    const MARK_BITS: u32;

    /// Where a process stands in the Scan with which Label begins; none after it.
    fn inner_scan(at: Self::Labelling) -> Option<Self::Scanning>;

    /// Renews every timestamp in a place of Label of process `p`.
    fn renew_label(p: Pid, at: Self::Labelling, renew: Renew<'_>) -> Self::Labelling;

    /// Renews every timestamp in a place of Scan of process `p`.
    fn renew_scan(p: Pid, at: Self::Scanning, renew: Renew<'_>) -> Self::Scanning;

    /// Renews every timestamp in the registers.
    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>);
}

impl<T, C> Marked for Changed<T, C>
where
    T: Marked,
    C: for<'m> Change<T, InsideOf<T>, TurnOf<T>, dyn Memory + 'm> + 'static,
{
    const MARK_BITS: u32 = T::MARK_BITS;

    fn inner_scan(at: T::Labelling) -> Option<T::Scanning> {
        T::inner_scan(at)
    }

    fn renew_label(p: Pid, at: T::Labelling, renew: Renew<'_>) -> T::Labelling {
        T::renew_label(p, at, renew)
    }

    fn renew_scan(p: Pid, at: T::Scanning, renew: Renew<'_>) -> T::Scanning {
        T::renew_scan(p, at, renew)
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        self.original().renew_memory(memory, renew);
    }
}

impl All<Stamp> {
    /// Renews every timestamp.
    #[must_use]
    pub fn renewed(mut self, renew: Renew<'_>) -> Self {
        for (q, stamp) in self.0.iter_mut().enumerate() {
            *stamp = stamp.map(|stamp| renew(q, stamp));
        }
        self
    }
}

/// The whole view `stamps`, as process `p` collects it.
pub(super) fn collect<T, C>(p: Pid, n: usize, stamps: impl Fn(Pid) -> Stamp) -> C
where
    T: Timestamps<Stamp = Stamp>,
    C: Collect<Stamp>,
{
    let others = (0..n).filter(|&q| q != p);
    others.fold(C::begin(p, stamps(p)), |seen, q| seen.see::<T>(p, q, stamps(q)))
}
