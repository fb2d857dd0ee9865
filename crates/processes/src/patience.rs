//! How long a passage waits, and what makes it give up.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use hallpass_common::Limit;

/// How long a passage waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience<'a> {
    pub limit: Limit,
    /// The passage gives up when it is woken and this flag is `true`.
    pub given_up: Option<&'a AtomicBool>,
    /// The passage gives up when it is woken and the hall has fewer slots than this.
    pub min_slots: usize,
}

impl Patience<'_> {
    /// The patience of a passage that does not wait.
    pub(crate) const NONE: Self = Patience { limit: Limit::Now, given_up: None, min_slots: 0 };
    /// The patience of a passage that waits without a limit.
    pub(crate) const ENDLESS: Self = Patience { limit: Limit::Never, given_up: None, min_slots: 0 };

    pub(crate) fn is_over(&self) -> bool {
        self.limit.is_over() || self.given_up.is_some_and(|given_up| given_up.load(SeqCst))
    }
}

impl From<Limit> for Patience<'_> {
    fn from(limit: Limit) -> Self {
        Patience { limit, given_up: None, min_slots: 0 }
    }
}
