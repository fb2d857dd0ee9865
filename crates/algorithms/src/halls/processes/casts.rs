//! What happens in a model besides passages: deaths, time-outs, and changes of the hall.

/// An assumption about the processes of a model, or an event. In a model without assumptions and events, no process
/// dies or gives up, and each process makes any number of passages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// Any process except the manager may die, even in its remainder. It comes back as another process.
    Mortal,
    /// The clock may expire at any time, and may be reset at any time. A waiter that finds it expired gives up.
    Timeout,
    /// Each process makes one passage. This limit lets the lab explore more processes.
    Once,
    /// The manager removes the last slot at some time, and later adds it again.
    Resize,
    /// The manager closes the hall at some time.
    Close,
}

/// A set of [`Cast`]s, as in `Cast::Mortal | Cast::Once`.
///
/// If it contains `Timeout`, `Resize` or `Close`, the last process is the *manager*, which takes no slots. In each
/// of its passages, the manager makes the clock expire or resets it (`Timeout`), and then resizes or closes the hall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Casts(u32);

set_of_casts!();

impl Casts {
    /// Returns whether the last process is the manager.
    pub(super) const fn has_manager(self) -> bool {
        self.has(Cast::Timeout) || self.has(Cast::Resize) || self.has(Cast::Close)
    }
}
