//! Wrong variants: what each does differently is all that stands here. The lab must reject each.
//! All carry marks, for the lab; so do the sound systems that the lab checks.

use core::marker::PhantomData;

use super::rules::{Form, Otherwise, Rules};

/// Bits of a mark: more than enough for the timestamps of a process that are anywhere at one time.
pub const MARK_BITS: u32 = 5;

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident, $id:literal, { $($part:ident : $type:ty = $value:expr),* };)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Rules for $name {
            const NAME: &'static str = $id;
            const MARK_BITS: u32 = MARK_BITS;
            $(const $part: $type = $value;)*
        }
    )*};
}

rules! {
    /// Nothing is different.
    Marked, "", {};
    /// Split registers, as many processes need them, with so many readers in a group.
    Split, "split", { FORM: Option<Form> = Some(Form::Split(12)) };
    /// The same with one reader in a group.
    SplitSingly, "split-singly", { FORM: Option<Form> = Some(Form::Split(1)) };
    /// A label is committed to one group of readers after another.
    Grouped, "grouped", { FORM: Option<Form> = Some(Form::Grouped(1)) };
    /// A writer does not announce the colours it has seen.
    NoAnnounce, "no-announce", { ANNOUNCE: bool = false };
    /// A reader takes the label, whatever copy was made for it.
    NoCopy, "no-copy", { COPY: bool = false };
    /// A reader takes the next colour, used or not.
    NoAvoid, "no-avoid", { AVOID: bool = false };
    /// A writer does not look at the colours a second time.
    NoAgain, "no-again", { AGAIN: bool = false };
    /// A writer that finds another colour leaves the copy as it was.
    SameCopy, "same-copy", { OTHERWISE: Otherwise = Otherwise::Same };
    /// A writer that finds another colour says that there is a copy for the first.
    NoNone, "no-none", { OTHERWISE: Otherwise = Otherwise::Made };
    /// Labels are read one after the other.
    Collected, "collect", { SNAPSHOT: bool = false, COPY: bool = false };
    /// Digits of 1 to 4.
    FourDigits, "four-digits", { CHAIN: u64 = 1 };
    /// Label always takes the first label.
    Constant, "constant", { RENEW: bool = false };
    /// A scanner does not borrow.
    NoBorrow, "no-borrow", { BORROW: bool = false };
    /// The toggle stays as it is.
    NoToggle, "no-toggle", { TOGGLE: bool = false };
    /// A writer does not answer handshakes.
    NoShake, "no-shake", { SHAKE: bool = false };
}

/// The same, but Label always writes: to check the snapshot under the labels alone.
pub struct Alone<R>(PhantomData<R>);

impl<R: Rules> Rules for Alone<R> {
    const NAME: &'static str = R::NAME;
    const MARK_BITS: u32 = R::MARK_BITS;
    const FORM: Option<Form> = R::FORM;
    const CHAIN: u64 = R::CHAIN;
    const RENEW: bool = false;
    const ALWAYS: bool = true;
    const SNAPSHOT: bool = R::SNAPSHOT;
    const ANNOUNCE: bool = R::ANNOUNCE;
    const COPY: bool = R::COPY;
    const AVOID: bool = R::AVOID;
    const AGAIN: bool = R::AGAIN;
    const OTHERWISE: Otherwise = R::OTHERWISE;
    const BORROW: bool = R::BORROW;
    const TOGGLE: bool = R::TOGGLE;
    const SHAKE: bool = R::SHAKE;
}
