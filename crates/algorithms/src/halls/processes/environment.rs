//! The environment of the step machine: the shared state that its lines read and write. A process *registers* under an
//! index before its first passage. From then on, the card and the bell with this index are its own. The [parent
//! module](super) explains the algorithm.

use core::{fmt::Debug, hash::Hash};

use crate::framework::memory::{Op, Word};

/// The kernel's report on the process that is registered under an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Life<I> {
    /// No process is registered under this index.
    Nobody,
    /// The process lives.
    Alive,
    /// A process with this identity is registered, and it is dead.
    Dead(I),
}

/// The state of a hall, as a process sees it. Each call is one access.
///
/// In the lab, the state consists of declared variables. Natively, it consists of words of a mapped file and of a
/// pipe for each bell. Through this pipe, the kernel also reports whether the owner of the bell lives.
pub trait Environment {
    /// A value that distinguishes the owner of a card from all earlier owners.
    type Identity: Copy + Eq + Hash + Debug;
    /// The processes that a sleeping waiter watches.
    type WatchSet: Copy + Eq + Hash + Debug;

    /// Returns the number of processes. Every process index is less than this number.
    fn processes(&self) -> usize;

    /// Returns the number of slots that `me` wants in its passage. This number does not change during the passage.
    fn wants(&self, me: usize) -> usize;
    /// Returns the number of slots that the hall has or had. The number of every held slot is less.
    fn slots(&self) -> usize;

    /// Accesses the [`Size`](super::Size) of the hall.
    fn size(&mut self, op: Op) -> Word;
    /// Accesses the next ticket.
    fn next(&mut self, op: Op) -> Word;
    /// Accesses `quiet`: no process waits with a ticket before this one.
    fn quiet(&mut self, op: Op) -> Word;
    /// Accesses the [`Card`](super::Card) of a process.
    fn card(&mut self, process: usize, op: Op) -> Word;
    /// Accesses the [`Tag`](super::Tag) of a slot.
    fn slot(&mut self, slot: usize, op: Op) -> Word;
    /// Accesses the tag of the waiter that was chosen last to get slots (see the [parent module](super)).
    fn head(&mut self, op: Op) -> Word;
    /// Accesses the index of the process that `process` follows. An index that no process has means that
    /// `process` follows no other process.
    fn link(&mut self, process: usize, op: Op) -> Word;

    /// Accesses the flag that shows whether another process may follow `process`.
    fn followed(&mut self, process: usize, op: Op) -> Word;

    /// Rings the bell of a process. This wakes the process now, or the next time it tries to sleep.
    fn ring(&mut self, process: usize);
    /// Tells a waiter that is awake that it was given a slot. This is only a hint. Without it, the waiter notices a
    /// little later.
    fn nudge(&mut self, process: usize);
    /// Returns whether the bell of `me` was rung since the last call.
    fn rung(&mut self, me: usize) -> bool;
    /// Returns whether the time limit of `me` has passed, so that it gives up.
    fn expired(&mut self, me: usize) -> bool;

    /// Finds out whether a process lives.
    fn life(&mut self, process: usize) -> Life<Self::Identity>;
    /// Registers `me` if no process is registered under its index. Returns whether it registered `me`.
    fn register(&mut self, me: usize) -> bool;
    /// Removes the registration of the dead process with this identity.
    fn unregister(&mut self, process: usize, dead: Self::Identity);

    /// Returns the empty set.
    fn watch_nobody(&mut self) -> Self::WatchSet;
    /// Adds a process that [`life`](Environment::life) has just found alive.
    fn watch(&mut self, watch: Self::WatchSet, process: usize) -> Self::WatchSet;
    /// Returns the first process of the set, from `process` on, that may be dead, or `None` if there is none.
    fn next_watched(&mut self, watch: Self::WatchSet, process: usize) -> Option<usize>;
}
