//! What the lines read and write.

use core::{fmt::Debug, hash::Hash};

use super::lines::Line;
use crate::framework::memory::{Op, Word};

/// The state of a hall, as one who makes a passage sees it.
///
/// In the lab these are declared variables, and a waiter is a process; natively they are atomics, the
/// queue is a list that only whoever serves touches, with a stack before it on which everybody can
/// push, and a waiter is a node on its thread's stack. Each call is one access.
pub trait Desk {
    /// A waiter.
    type Who: Copy + Eq + Hash + Debug;

    /// The word: how many wait, and what is free.
    fn word(&mut self, op: Op) -> Word;
    /// Whether somebody serves, and whether there is news for it.
    fn lock(&mut self, op: Op) -> Word;
    /// The [`Terms`](super::Terms).
    fn terms(&mut self, op: Op) -> Word;

    /// Who has waited longest.
    fn head(&mut self) -> Option<Self::Who>;
    /// Puts `who` at the end of the queue. Everybody may call this; the rest only whoever serves.
    fn push(&mut self, who: Self::Who);
    /// Takes the head off the queue.
    fn pop(&mut self);
    /// Takes `who` out of the queue.
    fn remove(&mut self, who: Self::Who);

    /// What `who` was given.
    fn grant(&mut self, who: Self::Who, op: Op) -> Word;
    /// Wakes `who`, now or the next time it lies down.
    fn ring(&mut self, who: Self::Who);
    /// Whether `who` was rung for since it last asked.
    fn rung(&mut self, who: Self::Who) -> bool;
    /// Whether a sleeper may wake up without having been rung for.
    fn sleeps_lightly(&self) -> bool;
    /// Whether it is time to give up.
    fn expired(&mut self) -> bool;

    /// How many slots `who` asks for.
    fn needs(&self, who: Self::Who) -> u32;
    /// Whether `who`, which waits, can be asked to serve.
    fn may_serve(&self, who: Self::Who) -> bool;
    /// How many grants one serves before it asks another to go on.
    fn patience(&self) -> u32;
}

/// A line of a passage on this desk.
pub type LineOn<D> = Line<<D as Desk>::Who>;
