//! Concurrent timestamp systems: they order processes, using only single-writer registers.
//!
//! A system offers two procedures. *Label* takes a new timestamp that is later than all timestamps that existed when
//! Label began. (A process that already has the latest timestamp keeps it.) *Scan* returns an order of all processes by
//! their timestamps. Both are step machines. So an algorithm can run on any system, and the lab can check any system
//! against UCTSS, the simplest one.
//!
//! | module | contents | Label and Scan cost | registers |
//! |---|---|---|---|
//! | [`unbounded`] | UCTSS, Figure 1 of Afek et al. | n + 1 and n | unbounded |
//! | [`linear`] | bounded labels over a weak snapshot | 6n and 3n up to 8 processes | O(n) bits |
//! | [`quadratic`] | bounded labels over an atomic snapshot | O(n^2) | O(n^2) bits, n at most 4 |
//!
//! [`labels`] contains the bounded labels, [`shape`] the format of registers, and [`marked`] the marks
//! by which the lab follows timestamps. [`wrong`] contains deliberately wrong labels, and UCTSS as printed.

use core::{fmt::Debug, hash::Hash};

use crate::framework::{
    changed::{Change, Changed},
    layout::Layout,
    memory::{Memory, Pid, Word},
    pids::Pids,
};

pub mod labels;
pub mod linear;
pub mod marked;
pub mod quadratic;
pub mod shape;
pub mod unbounded;
pub mod wrong;

#[cfg(test)]
mod tests;

pub use labels::{FiveDigits, Labels, Stamp};
pub use linear::Linear;
pub use marked::Marked;
pub use quadratic::Quadratic;
pub use shape::Shape;
pub use unbounded::Uctss;

/// A type that can be part of a private state.
pub trait Part: Copy + Eq + Hash + Debug + Send + Sync + 'static {}
impl<T: Copy + Eq + Hash + Debug + Send + Sync + 'static> Part for T {}

/// The result of a line of Label or Scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn<S, T> {
    /// Continue at this line.
    Goto(S),
    /// The procedure ends with this result.
    Done(T),
}

/// The data that a Scan collects while it reads the timestamps of the processes, one after another.
///
/// A Scan returns an order of all processes. [`All`] keeps the whole order. The algorithms in this crate
/// only need the processes before the scanner. [`Before`] keeps only these, so that the checker does not
/// distinguish states that differ only in unused information.
pub trait Collect<S>: Part {
    /// Starts a collection by process `p`, whose own timestamp is `own`.
    fn begin(p: Pid, own: S) -> Self;
    /// Adds the timestamp of `q`, seen by `p`.
    fn see<T: Timestamps<Stamp = S>>(self, p: Pid, q: Pid, stamp: S) -> Self;
    /// Returns the processes seen so far that are ordered before the scanner `p`.
    fn before<T: Timestamps<Stamp = S>>(&self, p: Pid) -> Pids;
    /// Applies `renew` to every collected timestamp.
    fn renew(&mut self, renew: impl FnMut(&mut S));
}

/// The processes that are ordered before the scanner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Before<S> {
    /// The scanner's own timestamp.
    pub own: S,
    /// The processes seen so far that are ordered before the scanner.
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

    fn before<T: Timestamps<Stamp = S>>(&self, _: Pid) -> Pids {
        self.before
    }

    fn renew(&mut self, mut renew: impl FnMut(&mut S)) {
        renew(&mut self.own);
    }
}

/// The maximum number of processes whose timestamps [`All`] holds.
pub const MAX_STAMPS: usize = 16;

/// The timestamps of all processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct All<S>([Option<S>; MAX_STAMPS]);

impl<S: Part> All<S> {
    /// Returns the timestamp of `q`, if it has been seen.
    pub fn stamp(&self, q: Pid) -> Option<S> {
        self.0[q]
    }

    /// Returns whether `i` and `j` have been seen and `i` is ordered before `j`.
    pub fn orders<T: Timestamps<Stamp = S>>(&self, i: Pid, j: Pid) -> bool {
        match (self.0[i], self.0[j]) {
            (Some(a), Some(b)) => T::precedes((a, i), (b, j)),
            _ => false,
        }
    }
}

impl<S: Part> Collect<S> for All<S> {
    fn begin(p: Pid, own: S) -> Self {
        let mut stamps = [None; MAX_STAMPS];
        stamps[p] = Some(own);
        All(stamps)
    }

    fn see<T: Timestamps<Stamp = S>>(mut self, _: Pid, q: Pid, stamp: S) -> Self {
        self.0[q] = Some(stamp);
        self
    }

    fn before<T: Timestamps<Stamp = S>>(&self, p: Pid) -> Pids {
        let before = (0..MAX_STAMPS).filter(|&q| q != p && self.orders::<T>(q, p));
        before.fold(Pids::NONE, Pids::with)
    }

    fn renew(&mut self, renew: impl FnMut(&mut S)) {
        self.0.iter_mut().flatten().for_each(renew);
    }
}

/// The procedure that a process is in, if any, with a value. The value can be the position of the process
/// in that procedure, or the result of a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InProcedure<L, S> {
    /// The process is in neither procedure.
    Neither,
    /// The process is in Label.
    Label(L),
    /// The process is in Scan.
    Scan(S),
}

/// The position of a process in the procedures of `T`.
pub type InProcedureOf<T> = InProcedure<<T as Timestamps>::Labelling, <T as Timestamps>::Scanning>;

/// The result of a line of `T`. A line of Label leads to another line of Label or to the end of Label. A
/// line of Scan leads to another line of Scan or to the end of Scan.
pub type TurnOf<T> = InProcedure<
    Turn<<T as Timestamps>::Labelling, ()>,
    Turn<<T as Timestamps>::Scanning, <T as Timestamps>::Collected>,
>;

/// A concurrent timestamp system for n processes.
///
/// A process runs at most one procedure at a time, and runs it to its end. It keeps no private state in
/// between.
pub trait Timestamps: Sized + Send + Sync + 'static {
    /// The maximum number of processes.
    const MAX_PROCESSES: usize = MAX_STAMPS;

    /// A timestamp. Two timestamps are compared together with the processes that hold them.
    type Stamp: Part;
    /// The position of a process in Label.
    type Labelling: Part;
    /// The position of a process in Scan.
    type Scanning: Part;
    /// The result of a Scan.
    type Collected: Collect<Self::Stamp>;

    /// Builds the system for `n` processes and declares its registers.
    fn new(layout: &mut Layout, n: usize) -> Self;

    /// Returns whether the first of two processes with these timestamps is ordered before the second.
    fn precedes(a: (Self::Stamp, Pid), b: (Self::Stamp, Pid)) -> bool;

    /// Returns the first line of Label.
    fn begin_label(&self, p: Pid) -> Self::Labelling;

    /// Executes a line of Label.
    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Self::Labelling)
    -> Turn<Self::Labelling, ()>;

    /// Returns the first line of Scan.
    fn begin_scan(&self, p: Pid) -> Self::Scanning;

    /// Executes a line of Scan.
    fn scan<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        at: Self::Scanning,
    ) -> Turn<Self::Scanning, Self::Collected>;

    /// Returns a short name of a line of Label.
    fn label_line(at: Self::Labelling) -> &'static str;

    /// Returns a short name of a line of Scan.
    fn scan_line(at: Self::Scanning) -> &'static str;

    /// Whether registers grow without bound.
    const UNBOUNDED: bool = false;

    /// Brings a state into its normal form. See [`Algorithm::normalize`](crate::Algorithm::normalize).
    /// `in_procedure` has one element for each process.
    fn normalize(&self, _in_procedure: &mut [InProcedureOf<Self>], _memory: &mut [Word]) {}
}

/// A timestamp system with changed lines. Lines of Label lead to `InProcedure::Label`, and lines of Scan
/// to `InProcedure::Scan`.
impl<T, C> Timestamps for Changed<T, C>
where
    T: Timestamps,
    C: for<'m> Change<T, InProcedureOf<T>, TurnOf<T>, dyn Memory + 'm> + 'static,
{
    const MAX_PROCESSES: usize = T::MAX_PROCESSES;
    const UNBOUNDED: bool = T::UNBOUNDED;

    type Stamp = T::Stamp;
    type Labelling = T::Labelling;
    type Scanning = T::Scanning;
    type Collected = T::Collected;

    fn new(layout: &mut Layout, n: usize) -> Self {
        Changed::new(T::new(layout, n))
    }

    fn precedes(a: (T::Stamp, Pid), b: (T::Stamp, Pid)) -> bool {
        T::precedes(a, b)
    }

    fn begin_label(&self, p: Pid) -> T::Labelling {
        self.original().begin_label(p)
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: T::Labelling) -> Turn<T::Labelling, ()> {
        match C::line(self.original(), m, p, InProcedure::Label(at)) {
            Some(InProcedure::Label(turn)) => turn,
            Some(_) => unreachable!("a line of Label leads to Label"),
            None => self.original().label(m, p, at),
        }
    }

    fn begin_scan(&self, p: Pid) -> T::Scanning {
        self.original().begin_scan(p)
    }

    fn scan<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        at: T::Scanning,
    ) -> Turn<T::Scanning, T::Collected> {
        match C::line(self.original(), m, p, InProcedure::Scan(at)) {
            Some(InProcedure::Scan(turn)) => turn,
            Some(_) => unreachable!("a line of Scan leads to Scan"),
            None => self.original().scan(m, p, at),
        }
    }

    fn label_line(at: T::Labelling) -> &'static str {
        T::label_line(at)
    }

    fn scan_line(at: T::Scanning) -> &'static str {
        T::scan_line(at)
    }

    fn normalize(&self, in_procedure: &mut [InProcedureOf<Self>], memory: &mut [Word]) {
        self.original().normalize(in_procedure, memory);
    }
}
