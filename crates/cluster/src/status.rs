//! Who holds, and who waits.

use std::time::SystemTime;

/// A hall at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub name: String,
    /// How many slots it has.
    pub slots: usize,
    /// Whether it is closed.
    pub closed: bool,
    /// Who holds a slot, by slot.
    pub holders: Vec<Participant>,
    /// Who waits, in the order in which they will get in.
    pub queue: Vec<Participant>,
}

/// One that holds or waits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Participant {
    /// The slot it holds; none while it waits.
    pub slot: Option<usize>,
    /// The token that came with the slot.
    pub token: Option<u64>,
    /// Its machine.
    pub host: String,
    /// Its process on that machine.
    pub pid: u32,
    /// Whose process it is.
    pub user: String,
    /// What it runs.
    pub command: String,
    /// Since when it holds the slot, or waits, by its machine's clock.
    pub since: SystemTime,
    /// Not so if it has vanished, and its slot is not yet somebody else's.
    pub alive: bool,
}
