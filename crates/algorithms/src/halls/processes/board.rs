//! What the lines read and write.

use core::{fmt::Debug, hash::Hash};

use crate::framework::memory::{Op, Word};

/// Whether a member's process lives, as the kernel tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Life<I> {
    /// There is no such member.
    Nobody,
    /// It lives.
    Alive,
    /// This one was the member, and has died.
    Dead(I),
}

/// The state of a hall, as a member sees it. Each call is one access.
///
/// In the lab these are declared variables; natively they are words of a mapped file, except that a
/// bell is a pipe, and that the kernel tells by that pipe whether its owner lives.
pub trait Board {
    /// Tells one owner of a card from all that had it before.
    type Identity: Copy + Eq + Hash + Debug;
    /// Whom a sleeper watches.
    type Watch: Copy + Eq + Hash + Debug;

    /// How many members there may be.
    fn members(&self) -> usize;

    /// How many slots there are; none once the hall is closed.
    fn size(&mut self) -> usize;
    /// The next ticket.
    fn next(&mut self, op: Op) -> Word;
    /// All tickets before this one have been served.
    fn quiet(&mut self, op: Op) -> Word;
    /// A member's [`Card`](super::Card).
    fn card(&mut self, member: usize, op: Op) -> Word;
    /// A slot's [`Tag`](super::Tag).
    fn slot(&mut self, slot: usize, op: Op) -> Word;
    /// Whom a member follows: that one's number of members if nobody.
    fn link(&mut self, member: usize, op: Op) -> Word;

    /// Wakes a member, now or the next time it lies down.
    fn ring(&mut self, member: usize);
    /// Whether `me` was rung for since it last asked.
    fn rung(&mut self, me: usize) -> bool;
    /// Whether it is time for `me` to give up.
    fn expired(&mut self, me: usize) -> bool;

    /// Whether this member lives.
    fn life(&mut self, member: usize) -> Life<Self::Identity>;
    /// Takes the place of a member where there is none; says whether it did.
    fn claim(&mut self, me: usize) -> bool;
    /// Makes room for another after `dead`.
    fn bury(&mut self, member: usize, dead: Self::Identity);

    /// Nobody is watched.
    fn no_watch(&mut self) -> Self::Watch;
    /// `member` as well, of whom [`life`](Board::life) has just told that it lives.
    fn watch(&mut self, watch: Self::Watch, member: usize) -> Self::Watch;
    /// The first to look after among those that are watched, from `member` on.
    fn watched(&mut self, watch: Self::Watch, member: usize) -> Option<usize>;
}
