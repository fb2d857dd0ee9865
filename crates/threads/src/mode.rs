//! The six ways in which a hall assigns slots.

/// The limit on overtaking that stands for no limit: a hall with this limit is a barging hall.
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// How a hall assigns slots: the policy, and where it keeps the slot numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nobody overtakes a waiter. Each slot is a bit of `word`. Most halls have this mode, and the fast path is
    /// optimised for it.
    Fair,
    /// Newcomers may overtake waiters. Each slot is a bit of `word`.
    Barging,
    /// A limited number of newcomers may overtake a waiter. Each slot is a bit of `word`.
    Bypass,
    /// Nobody overtakes a waiter. The first slots are bits of `word`. `word` also counts the other free slots; their
    /// numbers are in `SlotBits`.
    FairWide,
    /// Newcomers may overtake waiters. The slots are represented as in `FairWide`.
    BargingWide,
    /// A limited number of newcomers may overtake a waiter. The slots are represented as in `FairWide`.
    BypassWide,
}

impl Mode {
    pub(crate) const fn new(wide: bool, bypass: u32) -> Self {
        match (wide, bypass) {
            (false, 0) => Mode::Fair,
            (false, UNLIMITED) => Mode::Barging,
            (false, _) => Mode::Bypass,
            (true, 0) => Mode::FairWide,
            (true, UNLIMITED) => Mode::BargingWide,
            (true, _) => Mode::BypassWide,
        }
    }

    pub(crate) const fn is_wide(self) -> bool {
        matches!(self, Mode::FairWide | Mode::BargingWide | Mode::BypassWide)
    }
}

/// Calls a method that is generic over pool and policy, with the pool and policy of this mode.
macro_rules! by_mode {
    ($mode:expr, $object:ident . $method:ident ($($argument:expr),* $(,)?)) => {{
        use hallpass_algorithms::halls::threads::{Barging, Bits, Bypass, Fair, WideBits};
        match $mode {
            $crate::mode::Mode::Fair => $object.$method::<Bits, Fair>($($argument),*),
            $crate::mode::Mode::Barging => $object.$method::<Bits, Barging>($($argument),*),
            $crate::mode::Mode::Bypass => $object.$method::<Bits, Bypass>($($argument),*),
            $crate::mode::Mode::FairWide => $object.$method::<WideBits, Fair>($($argument),*),
            $crate::mode::Mode::BargingWide => $object.$method::<WideBits, Barging>($($argument),*),
            $crate::mode::Mode::BypassWide => $object.$method::<WideBits, Bypass>($($argument),*),
        }
    }};
}
pub(crate) use by_mode;
