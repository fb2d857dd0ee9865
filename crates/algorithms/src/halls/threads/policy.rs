//! The policies of a hall: whether newcomers may overtake waiters. The *server* is the caller that gives slots to the
//! waiters (see the [parent module](super)).

/// Decides whether a newcomer may overtake waiters.
pub trait Policy: Send + Sync + 'static {
    /// Whether any number of newcomers may overtake a waiter.
    const BARGES: bool;
    /// Whether a limited number of newcomers may overtake a waiter.
    const BYPASSES: bool = false;
}

/// The policy of a hall in which no newcomer overtakes a waiter. It gives FIFE: see the [parent module](super).
pub struct Fair;

impl Policy for Fair {
    const BARGES: bool = false;
}

/// The policy of a hall in which a newcomer may take a free slot ahead of the queue. The server lets
/// one waiter at a time try again, and this waiter competes with newcomers for the slot.
pub struct Barging;

impl Policy for Barging {
    const BARGES: bool = true;
}

/// The policy of a hall in which a newcomer may take a free slot ahead of the queue while there is
/// [credit](super::overtake).
pub struct Bypass;

impl Policy for Bypass {
    const BARGES: bool = false;
    const BYPASSES: bool = true;
}
