//! What a system of labels may do differently: nothing, for those that are meant to be right. What
//! a [wrong variant](super::wrong) does differently is all that stands there.

use super::labels;

/// The shape of the registers in which a [`Linear`](super::Linear) system keeps labels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Label, announcements and copies of a process in one register.
    Whole,
    /// The label in one register, announcements and copies in others, so many readers in each.
    Split(usize),
    /// All in one register for each group of so many readers, the label written to one after
    /// another. Wrong.
    Grouped(usize),
}

/// What a writer says of a copy to a reader whose colour has changed between its two looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Otherwise {
    /// That there is none.
    None,
    /// What it said before. Right as well: the reader avoids that colour.
    Same,
    /// That there is one for the colour of the first look. Wrong.
    Made,
}

/// Parts of the algorithms, each of which a variant can leave out.
pub trait Rules: Send + Sync + 'static {
    /// The variant's name in messages.
    const NAME: &'static str;
    /// Bits of a [mark](labels::Stamp::mark) with each label, for the lab.
    const MARK_BITS: u32 = 0;
    /// The registers' form; without one, that which costs least at this number of processes.
    const FORM: Option<Form> = None;
    /// Digits before the cycle of three.
    const CHAIN: u64 = labels::CHAIN;
    /// Whether Label takes a new label at all, or always the first.
    const RENEW: bool = true;
    /// Whether Label writes even if its timestamp is the latest: to check a snapshot alone.
    const ALWAYS: bool = false;
    /// Whether a scan is more than reading one label after the other.
    const SNAPSHOT: bool = true;
    /// Linear: whether a writer announces the colours it has seen.
    const ANNOUNCE: bool = true;
    /// Linear: whether a reader takes the copy that was made for it.
    const COPY: bool = true;
    /// Linear: whether a reader avoids colours that are announced or copied.
    const AVOID: bool = true;
    /// Linear: whether a writer reads the colours again.
    const AGAIN: bool = true;
    /// Linear: what a writer says of a copy when it finds another colour.
    const OTHERWISE: Otherwise = Otherwise::None;
    /// Quadratic: whether a scanner that cannot finish borrows the view of a writer; else it takes
    /// the labels as they are.
    const BORROW: bool = true;
    /// Quadratic: whether a writer's toggle changes.
    const TOGGLE: bool = true;
    /// Quadratic: whether a writer answers the scanners' handshakes.
    const SHAKE: bool = true;
}

/// All parts.
pub struct Sound;

impl Rules for Sound {
    const NAME: &'static str = "sound";
}
