//! Marks on timestamps. With them, the lab follows timestamps through the registers and private states
//! of a system.
//!
//! With [mark bits](Labels::MARK_BITS), a label carries a mark through every register and private state.
//! A new label has the mark [`fresh`]. When the label is written, the lab replaces this mark with a
//! distinct number. So the lab can tell which of several timestamps with the same label a Scan has seen.
//! The step machine needs no extra state for this.

use core::marker::PhantomData;

use super::{
    All, Collect, InProcedureOf, Timestamps, TurnOf,
    labels::{FiveDigits, Labels, Stamp},
};
use crate::framework::{
    changed::{Change, Changed},
    memory::{Memory, Pid, Word},
};

/// The number of bits of a mark. This is more than enough for the timestamps of one process that exist
/// at one time.
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

/// A choice of labels that always takes the first label, even for the process that already has the latest one. So
/// every call of the procedure Label writes a label, and the lab can check the snapshot separately from the labels.
pub struct AlwaysFirst;

impl Labels for AlwaysFirst {
    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        FiveDigits::precedes(a, b)
    }

    fn next(_: usize, _: Pid, _: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        Some(Stamp::FIRST)
    }
}

/// Returns the mark of a label that has not been written yet. The mark has this many bits.
pub const fn fresh(mark_bits: u32) -> u64 {
    (1 << mark_bits) - 1
}

/// A function that replaces the timestamp of a process.
pub type Renew<'a> = &'a mut dyn FnMut(Pid, Stamp) -> Stamp;

/// A system whose timestamps are [`Stamp`]s that the lab can replace.
pub trait Marked: Timestamps<Stamp = Stamp, Collected = All<Stamp>> {
    /// The number of bits of a mark.
    const MARK_BITS: u32;

    /// Returns the position in the Scan within Label, or `None` if Label is at another line.
    fn inner_scan(at: Self::Labelling) -> Option<Self::Scanning>;

    /// Replaces every timestamp in a position of process `p` in Label.
    fn renew_label(p: Pid, at: Self::Labelling, renew: Renew<'_>) -> Self::Labelling;

    /// Replaces every timestamp in a position of process `p` in Scan.
    fn renew_scan(p: Pid, at: Self::Scanning, renew: Renew<'_>) -> Self::Scanning;

    /// Replaces every timestamp in the registers.
    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>);
}

impl<T, C> Marked for Changed<T, C>
where
    T: Marked,
    C: for<'m> Change<T, InProcedureOf<T>, TurnOf<T>, dyn Memory + 'm> + 'static,
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
    /// Replaces every timestamp.
    #[must_use]
    pub fn renewed(mut self, renew: Renew<'_>) -> Self {
        for (q, stamp) in self.0.iter_mut().enumerate() {
            *stamp = stamp.map(|stamp| renew(q, stamp));
        }
        self
    }
}

/// Returns the whole view `stamps`, as process `p` collects it.
pub(super) fn collect<T, C>(p: Pid, n: usize, stamps: impl Fn(Pid) -> Stamp) -> C
where
    T: Timestamps<Stamp = Stamp>,
    C: Collect<Stamp>,
{
    let others = (0..n).filter(|&q| q != p);
    others.fold(C::begin(p, stamps(p)), |seen, q| seen.see::<T>(p, q, stamps(q)))
}
