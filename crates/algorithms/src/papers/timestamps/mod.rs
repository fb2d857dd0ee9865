//! Concurrent timestamp systems: who came before whom, from single-writer registers.
//!
//! A system offers two procedures. *Label* takes a new timestamp, later than all that were there
//! when it began. *Scan* returns an order of all processes by their timestamps. Both are step
//! machines, so that an algorithm can run on any system, and the lab can check any system against
//! the simplest one.
//!
//! | module | what it is | Label and Scan cost | registers |
//! |---|---|---|---|
//! | [`unbounded`] | UCTSS, Figure 1 of Afek et al. | n + 1 and n | unbounded |
//! | [`linear`] | bounded labels over a weak snapshot | 6n and 3n up to 8 processes | O(n) bits |
//! | [`quadratic`] | bounded labels over an atomic snapshot | O(n^2) | O(n^2) bits, n at most 4 |

use core::{fmt::Debug, hash::Hash};

use crate::framework::{
    layout::Layout,
    memory::{Memory, Pid, Word},
    pids::Pids,
};

pub mod labels;
pub mod linear;
pub mod marked;
pub mod quadratic;
pub mod rules;
pub mod shape;
pub mod unbounded;
pub mod wrong;

#[cfg(test)]
mod tests;

pub use labels::Stamp;
pub use linear::Linear;
pub use marked::Marked;
pub use quadratic::Quadratic;
pub use rules::{Form, Rules, Sound};
pub use shape::Shape;
pub use unbounded::Uctss;

/// What can be part of a private state.
pub trait Part: Copy + Eq + Hash + Debug + Send + Sync + 'static {}
impl<T: Copy + Eq + Hash + Debug + Send + Sync + 'static> Part for T {}

/// Where a step inside Label or Scan leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn<S, T> {
    /// On to this line.
    Goto(S),
    /// The procedure is finished.
    Done(T),
}

/// What a Scan makes of the timestamps it sees, one process after another.
///
/// A Scan returns an order of all processes, and that is what [`All`] keeps. The algorithms here
/// only ask who is before the scanner: [`Before`] keeps that and nothing else, which spares the
/// checker the states that differ in what nobody looks at.
pub trait Collect<S>: Part {
    /// Process `p` begins with its own timestamp.
    fn begin(p: Pid, own: S) -> Self;
    /// It sees the timestamp of `q`.
    fn see<T: Timestamps<Stamp = S>>(self, p: Pid, q: Pid, stamp: S) -> Self;
}

/// The processes that are ordered before the scanner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Before<S> {
    /// The scanner's own timestamp.
    pub own: S,
    /// Who is before it, of those seen so far.
    pub before: Pids,
}

impl<S: Part> Collect<S> for Before<S> {
    fn begin(_: Pid, own: S) -> Self {
        Before { own, before: Pids::NONE }
    }

    fn see<T: Timestamps<Stamp = S>>(self, p: Pid, q: Pid, stamp: S) -> Self {
        if T::precedes((stamp, q), (self.own, p)) {
            return Before { before: self.before.with(q), ..self };
        }
        self
    }
}

/// The most processes whose timestamps [`All`] holds.
pub const MOST_STAMPS: usize = 16;

/// Every timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct All<S>([Option<S>; MOST_STAMPS]);

impl<S: Part> All<S> {
    /// The timestamp of `q`, if it has been seen.
    pub fn stamp(&self, q: Pid) -> Option<S> {
        self.0[q]
    }

    /// Whether `i` is ordered before `j`; both have been seen.
    pub fn orders<T: Timestamps<Stamp = S>>(&self, i: Pid, j: Pid) -> bool {
        match (self.0[i], self.0[j]) {
            (Some(a), Some(b)) => T::precedes((a, i), (b, j)),
            _ => false,
        }
    }
}

impl<S: Part> Collect<S> for All<S> {
    fn begin(p: Pid, own: S) -> Self {
        let mut stamps = [None; MOST_STAMPS];
        stamps[p] = Some(own);
        All(stamps)
    }

    fn see<T: Timestamps<Stamp = S>>(mut self, _: Pid, q: Pid, stamp: S) -> Self {
        self.0[q] = Some(stamp);
        self
    }
}

/// Where a process stands in a system, for whoever normalizes a whole state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inside<L, S> {
    /// In neither procedure.
    Neither,
    /// In Label.
    Label(L),
    /// In Scan.
    Scan(S),
}

/// Where a process stands in `T` when its Scans ask who is before it.
pub type InsideOf<T> = Inside<
    <T as Timestamps>::Labelling,
    <T as Timestamps>::Scanning<Before<<T as Timestamps>::Stamp>>,
>;

/// A concurrent timestamp system for n processes.
///
/// A process runs at most one procedure at a time, to its end, and keeps nothing in between.
pub trait Timestamps: Sized + Send + Sync + 'static {
    /// Its name in messages.
    const NAME: &'static str;
    /// The most processes it can be built for.
    const MOST_PROCESSES: usize = MOST_STAMPS;

    /// One timestamp. Two are compared together with the processes that hold them.
    type Stamp: Part;
    /// Where a process stands in Label.
    type Labelling: Part;
    /// Where a process stands in Scan.
    type Scanning<C: Collect<Self::Stamp>>: Part;

    /// Declares the registers.
    fn new(layout: &mut Layout, n: usize) -> Self;

    /// Whether the first of two processes with these timestamps is ordered before the second.
    fn precedes(a: (Self::Stamp, Pid), b: (Self::Stamp, Pid)) -> bool;

    /// The first line of Label.
    fn begin_label(&self, p: Pid) -> Self::Labelling;

    /// Executes a line of Label.
    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Self::Labelling)
    -> Turn<Self::Labelling, ()>;

    /// The first line of Scan.
    fn begin_scan<C: Collect<Self::Stamp>>(&self, p: Pid) -> Self::Scanning<C>;

    /// Executes a line of Scan.
    fn scan<M: Memory, C: Collect<Self::Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Self::Scanning<C>,
    ) -> Turn<Self::Scanning<C>, C>;

    /// What a line of Label does, in a word or two.
    fn label_line(at: Self::Labelling) -> &'static str;

    /// What a line of Scan does, in a word or two.
    fn scan_line<C: Collect<Self::Stamp>>(at: Self::Scanning<C>) -> &'static str;

    /// Whether registers grow without bound.
    const UNBOUNDED: bool = false;

    /// See [`Algorithm::normalize`](crate::Algorithm::normalize); one entry per process.
    fn normalize(&self, _inside: &mut [InsideOf<Self>], _memory: &mut [Word]) {}
}
