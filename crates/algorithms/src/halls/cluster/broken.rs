//! Variants that are wrong on purpose. The checker must reject each, and say why.

/// What the protocol makes sure of. A wrong variant leaves one out.
pub trait Rules: Send + Sync + 'static {
    /// A stale slot is given on only once its holder must be out.
    const WAITS: bool = true;
    /// Line E1: who finds others waiting takes no slot.
    const QUEUES: bool = true;
    /// Line E1: who has a claim makes no other.
    const CLAIMS_ONCE: bool = true;
    /// Lines E3 and X2: a slot is given to nobody who does not wait.
    const ASKS_RECEIVER: bool = true;
    /// Line E4: who gives up looks whether it was given a slot.
    const LOOKS_BACK: bool = true;
    /// Line X1: who leaves looks whether others wait.
    const HANDS_OVER: bool = true;
    /// Line X3: who frees a slot that others wait for tells them all.
    const TELLS_ALL: bool = true;
    /// Lines X2 and X3: who leaves gives away nothing but what is its own.
    const OWNS: bool = true;
    /// The first in line is told when a claim inside is gone.
    const WATCHES_INSIDE: bool = true;
    /// Who waits is told when the claim before it is gone.
    const WATCHES_BEFORE: bool = true;
}

/// All of it.
pub struct Sound;
impl Rules for Sound {}

macro_rules! mistakes {
    ($($(#[$doc:meta])* $name:ident, $rule:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Rules for $name {
            const $rule: bool = false;
        }
    )*};
}

mistakes! {
    /// Believes that a lease ends when its holder does.
    Trusting, WAITS;
    /// Overtakes who waits.
    Barging, QUEUES;
    /// Claims again when it has not heard the answer.
    Twice, CLAIMS_ONCE;
    /// Gives a slot to one that has gone.
    Blind, ASKS_RECEIVER;
    /// Gives up without a look whether it was given a slot.
    Careless, LOOKS_BACK;
    /// Frees its slot, whoever waits.
    Selfish, HANDS_OVER;
    /// Frees a slot that others wait for, and tells the first of them alone.
    Quiet, TELLS_ALL;
    /// Gives away a slot that it has lost.
    Generous, OWNS;
    /// Waits to be given a slot, and looks after nobody.
    Idle, WATCHES_INSIDE;
    /// Does not notice that it is the first in line now.
    Dreaming, WATCHES_BEFORE;
}
