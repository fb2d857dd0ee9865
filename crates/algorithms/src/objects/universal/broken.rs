//! Variants that are wrong on purpose. The lab must reject each, and say why.

/// What the lines make sure of. A wrong variant leaves one out.
pub trait Rules {
    /// Lines R3 and A4: who guards a copy looks whether it is still the head.
    const VALIDATES: bool = true;
    /// Line G2: what others guard is not written.
    const GUARDS: bool = true;
    /// Line G3: answers that have not been fetched are not written over.
    const KEEPS_ANSWERS: bool = true;
    /// Line G3: nor is one's own.
    const KEEPS_OWN: bool = true;
    /// Line F1: the head's answers are assigned before it is replaced.
    const ASSIGNS: bool = true;
    /// Lines P2, B5 and B6: operations that others read are not written over.
    const MARKS: bool = true;
    /// Line P4: an answer to an old request is not taken for one to a new request.
    const NUMBERS: bool = true;
    /// Line B3: the others' operations are done too.
    const HELPS: bool = true;
    /// Line U1: what was not installed is not taken for what was.
    const SPOILS: bool = true;
}

/// All of it.
#[derive(Clone, Copy, Debug)]
pub struct Sound;
impl Rules for Sound {}

macro_rules! mistakes {
    ($($(#[$doc:meta])* $name:ident, $rule:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Rules for $name {
            const $rule: bool = false;
        }
    )*};
}

mistakes! {
    /// Guards without looking again.
    Hasty, VALIDATES;
    /// Does not look at guards.
    Unguarded, GUARDS;
    /// Writes over answers.
    Unpinned, KEEPS_ANSWERS;
    /// Writes over its own answer.
    Careless, KEEPS_OWN;
    /// Replaces a head whose answers are not assigned.
    Hurried, ASSIGNS;
    /// Reads the others' operations without a mark.
    Unmarked, MARKS;
    /// Numbers requests modulo 2.
    Untagged, NUMBERS;
    /// Helps nobody.
    Selfish, HELPS;
    /// Takes what it did not install for what was installed.
    Forgetful, SPOILS;
}
