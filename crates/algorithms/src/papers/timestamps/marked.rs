//! What the lab needs to follow timestamps through a system's registers and private states.
//!
//! With [mark bits](super::Rules::MARK_BITS) a label carries a mark through every register and
//! private state it passes. A new label has the mark [`fresh`]; once it is written, the lab
//! gives it a number of its own, in place. So it knows which of several timestamps with the same
//! label a Scan has seen, without any ghost state of its own in the machine.

use super::{All, Collect, Timestamps, labels::Stamp};
use crate::framework::memory::{Pid, Word};

/// The mark of a label that nobody has written yet, of so many bits.
pub const fn fresh(mark_bits: u32) -> u64 {
    (1 << mark_bits) - 1
}

/// A function on the timestamps of processes.
pub type Renew<'a> = &'a mut dyn FnMut(Pid, Stamp) -> Stamp;

/// A system whose timestamps are [`Stamp`]s, open to the lab.
pub trait Marked: Timestamps<Stamp = Stamp> {
    /// Bits of marks.
    const MARK_BITS: u32;

    /// Where a process stands in the Scan with which Label begins; none after it.
    fn inner_scan(at: Self::Labelling) -> Option<Self::Scanning<All<Stamp>>>;

    /// Renews every timestamp in a place of Label of process `p`.
    fn renew_label(p: Pid, at: Self::Labelling, renew: Renew<'_>) -> Self::Labelling;

    /// Renews every timestamp in a place of Scan of process `p`.
    fn renew_scan(
        p: Pid,
        at: Self::Scanning<All<Stamp>>,
        renew: Renew<'_>,
    ) -> Self::Scanning<All<Stamp>>;

    /// Renews every timestamp in the registers.
    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>);
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
