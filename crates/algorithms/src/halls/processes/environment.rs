//! What the lines read and write.

use core::{fmt::Debug, hash::Hash};

use crate::framework::memory::{Op, Word};

/// Whether a process's process lives, as the kernel tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Life<I> {
    /// There is no such process.
    Nobody,
    /// It lives.
    Alive,
    /// This one was the process, and has died.
    Dead(I),
}

/// The state of a hall, as a process sees it. Each call is one access.
///
/// In the lab these are declared variables; natively they are words of a mapped file, except that a
/// bell is a pipe, and that the kernel tells by that pipe whether its owner lives.
pub trait Environment {
    /// Tells one owner of a card from all that had it before.
    type Identity: Copy + Eq + Hash + Debug;
    /// Whom a sleeper watches.
    type WatchSet: Copy + Eq + Hash + Debug;

    /// How many members there may be.
    fn processes(&self) -> usize;

    /// How many slots there are; none once the hall is closed.
    fn size(&mut self) -> usize;
    /// The next ticket.
    fn next(&mut self, op: Op) -> Word;
    /// All tickets before this one have been served.
    fn quiet(&mut self, op: Op) -> Word;
    /// A process's [`Card`](super::Card).
    fn card(&mut self, process: usize, op: Op) -> Word;
    /// A slot's [`Tag`](super::Tag).
    fn slot(&mut self, slot: usize, op: Op) -> Word;
    /// Whom a process follows: that one's number of members if nobody.
    fn link(&mut self, process: usize, op: Op) -> Word;

    /// Wakes a process, now or the next time it lies down.
    fn ring(&mut self, process: usize);
    /// Whether `me` was rung for since it last asked.
    fn rung(&mut self, me: usize) -> bool;
    /// Whether it is time for `me` to give up.
    fn expired(&mut self, me: usize) -> bool;

    /// Whether this process lives.
    fn life(&mut self, process: usize) -> Life<Self::Identity>;
    /// Takes the place of a process where there is none; says whether it did.
    fn register(&mut self, me: usize) -> bool;
    /// Makes room for another after `dead`.
    fn unregister(&mut self, process: usize, dead: Self::Identity);

    /// Nobody is watched.
    fn watch_nobody(&mut self) -> Self::WatchSet;
    /// `process` as well, of whom [`life`](Environment::life) has just told that it lives.
    fn watch(&mut self, watch: Self::WatchSet, process: usize) -> Self::WatchSet;
    /// The first to look after among those that are watched, from `process` on.
    fn next_watched(&mut self, watch: Self::WatchSet, process: usize) -> Option<usize>;
}
