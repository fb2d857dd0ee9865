//! The registers in which a [`Linear`](super::Linear) system keeps labels, announcements and copies.

use super::{HAND_BITS, MAX_BITS};

/// The form of the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Label, announcements and copies of a process in one register.
    Whole,
    /// The label in one register, announcements and copies in others, for at most this many readers each.
    Split(usize),
    /// All in one register for each group of at most this many readers; the label is written to one
    /// register after another. Wrong; see [`wrong`](super::wrong).
    Grouped(usize),
}

/// Chooses the form of the registers.
pub trait Registers: Send + Sync + 'static {
    /// The form for `n` processes with labels of this many bits.
    fn form(n: usize, label_bits: u32) -> Form;
}

/// One register for each process if everything fits, split registers otherwise.
pub struct Fitting;

impl Registers for Fitting {
    fn form(n: usize, label_bits: u32) -> Form {
        if label_bits + HAND_BITS * (n as u32 - 1) <= MAX_BITS {
            Form::Whole
        } else {
            Form::Split((MAX_BITS / HAND_BITS) as usize)
        }
    }
}

/// Split registers for any number of processes.
pub struct SplitBy<const READERS: usize>;

impl<const READERS: usize> Registers for SplitBy<READERS> {
    fn form(_: usize, _: u32) -> Form {
        Form::Split(READERS)
    }
}
