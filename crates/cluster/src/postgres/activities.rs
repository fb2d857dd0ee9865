//! What this process uses its connection for: to enter a hall, to wait, or to hold a slot.

use crate::store::Activity;

/// Counts the passages of this process that wait or hold a slot.
#[derive(Default)]
pub(super) struct Activities {
    /// The number of claims that have waited for some time, and will probably wait longer.
    waiting: usize,
    /// The number of passes.
    holding: usize,
    pub(super) need: Need,
    /// The number of changes of `need`.
    pub(super) changes: u64,
}

impl Activities {
    /// Returns whether this process has a pass.
    pub(super) fn is_holding(&self) -> bool {
        self.holding > 0
    }

    /// Notes that an activity begins or ends. Returns whether this changes `need`.
    pub(super) fn note(&mut self, activity: Activity, begins: bool) -> bool {
        let count = match activity {
            Activity::Waiting => &mut self.waiting,
            Activity::Holding => &mut self.holding,
        };
        *count = if begins { *count + 1 } else { count.saturating_sub(1) };
        // A process that holds a pass must not depend on another process, even if it waits for another pass.
        let need = match (self.holding, self.waiting) {
            (0, 0) => self.need,
            (0, _) => Need::Resting,
            _ => Need::Holding,
        };
        let changed = need != self.need;
        self.need = need;
        self.changes += u64::from(changed);
        changed
    }
}

/// The reason why this process needs a connection.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Need {
    /// The process is new. It uses the connection of another process if there is one.
    #[default]
    Entering,
    /// The process only waits. It uses the connection of another process, or shares its own.
    Resting,
    /// The process has a slot, or leaves. It uses its own connection.
    Holding,
}
