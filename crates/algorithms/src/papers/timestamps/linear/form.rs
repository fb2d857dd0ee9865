//! The registers in which a [`Linear`](super::Linear) system keeps labels, announcements and copies. The [parent
//! module](super) explains these.

use super::{HAND_BITS, MAX_BITS};

/// The form of the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One register for each process holds its label, announcements and copies.
    Whole,
    /// One register holds the label. Others hold the announcements and copies, each for at most this
    /// many readers.
    Split(usize),
    /// One register for each group of at most this many readers holds everything. A process writes the
    /// label to one register after another. This form is wrong; see [`wrong`](super::wrong).
    Grouped(usize),
}

/// Chooses the form of the registers.
pub trait Registers: Send + Sync + 'static {
    /// Returns the form for `n` processes with labels of this many bits.
    fn form(n: usize, label_bits: u32) -> Form;
}

/// Chooses one register for each process if everything fits, and split registers otherwise.
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

/// Chooses split registers for any number of processes.
pub struct SplitBy<const READERS: usize>;

impl<const READERS: usize> Registers for SplitBy<READERS> {
    fn form(_: usize, _: u32) -> Form {
        Form::Split(READERS)
    }
}
