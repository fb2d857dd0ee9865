//! The four ways in which a hall assigns slots.

/// How a hall assigns slots: the policy, and where it keeps the slot numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// First in, first enabled. Each slot is a bit of the word. Most halls have this mode, and the fast path is
    /// optimised for it.
    Fair,
    /// Newcomers may overtake waiters. Each slot is a bit of the word.
    Barging,
    /// First in, first enabled. The word counts free slots; the slot numbers are in other words.
    FairWide,
    /// Newcomers may overtake waiters. The word counts free slots; the slot numbers are in other words.
    BargingWide,
}

impl Mode {
    pub(crate) const fn new(wide: bool, barging: bool) -> Self {
        match (wide, barging) {
            (false, false) => Mode::Fair,
            (false, true) => Mode::Barging,
            (true, false) => Mode::FairWide,
            (true, true) => Mode::BargingWide,
        }
    }

    pub(crate) const fn is_wide(self) -> bool {
        matches!(self, Mode::FairWide | Mode::BargingWide)
    }
}

/// Calls a method that is generic over pool and policy, with the pool and policy of this mode.
macro_rules! by_mode {
    ($mode:expr, $object:ident . $method:ident ($($argument:expr),* $(,)?)) => {{
        use hallpass_algorithms::halls::threads::{Barging, Bits, Count, Fair};
        match $mode {
            $crate::mode::Mode::Fair => $object.$method::<Bits, Fair>($($argument),*),
            $crate::mode::Mode::Barging => $object.$method::<Bits, Barging>($($argument),*),
            $crate::mode::Mode::FairWide => $object.$method::<Count, Fair>($($argument),*),
            $crate::mode::Mode::BargingWide => $object.$method::<Count, Barging>($($argument),*),
        }
    }};
}
pub(crate) use by_mode;
