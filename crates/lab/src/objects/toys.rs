//! Small objects to share: few values, so that all runs can be looked at, and answers that tell in
//! which order operations were done.

use hallpass_algorithms::objects::universal::Errand;

use crate::linear::Specification;

/// What kind of object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Add one (the old value is the answer), look.
    Counter,
    /// Write one's own name, compare-and-swap it to nothing, look.
    Register,
    /// Put one's own name in, take one out, look at the first; at most two are in it.
    Queue,
    /// The same, last in, first out.
    Stack,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Counter, Kind::Register, Kind::Queue, Kind::Stack];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Register => "register",
            Kind::Queue => "queue",
            Kind::Stack => "stack",
        }
    }

    /// The names of its operations; the last is the one that only looks.
    pub fn operations(self) -> &'static [&'static str] {
        match self {
            Kind::Counter => &["add", "look"],
            Kind::Register => &["write", "cas", "look"],
            Kind::Queue | Kind::Stack => &["put", "take", "look"],
        }
    }
}

/// An operation, and whose it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Deed {
    /// The participant.
    pub name: u8,
    /// Which of the kind's operations.
    pub which: u8,
}

/// An object of `k` participants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Toy {
    /// What kind.
    pub kind: Kind,
    /// How many participants there are.
    pub k: usize,
}

/// The counter begins again here. With 3, an answer to the request before last could be explained by
/// an operation under way, and `untagged` took ten times the states.
const TURN: u8 = 4;

impl Toy {
    /// What it is at first.
    pub const INITIAL: u8 = 0;

    /// Whether an operation changes the object.
    pub fn errand(&self, which: usize) -> Errand {
        if which + 1 == self.kind.operations().len() { Errand::Look } else { Errand::Change }
    }

    /// In words.
    pub fn show(&self, deed: Deed) -> String {
        let operation = self.kind.operations()[deed.which as usize];
        match (self.kind, deed.which) {
            (Kind::Register, 0) | (Kind::Queue | Kind::Stack, 0) => {
                format!("{operation}({})", deed.name + 1)
            }
            (Kind::Register, 1) => format!("{operation}({}, 0)", deed.name + 1),
            _ => operation.into(),
        }
    }
}

impl Specification for Toy {
    type State = u8;
    type Op = Deed;
    type Ret = u8;

    fn apply(&self, &state: &u8, deed: &Deed) -> (u8, u8) {
        let own = deed.name + 1;
        // Queues and stacks are numbers to this base: the lowest digit came first, 0 is nothing.
        let base = self.k as u8 + 1;
        match (self.kind, deed.which) {
            (Kind::Counter, 0) => ((state + 1) % TURN, state),
            (Kind::Register, 0) => (own, 0),
            (Kind::Register, 1) if state == own => (0, 1),
            (Kind::Register, 1) => (state, 0),
            (Kind::Counter | Kind::Register, _) => (state, state),
            (_, 0) if state == 0 => (own, 1),
            (_, 0) if state < base => (state + own * base, 1),
            (_, 0) => (state, 0),
            (Kind::Queue, 1) => (state / base, state % base),
            (Kind::Stack, 1) if state < base => (0, state),
            (Kind::Stack, 1) => (state % base, state / base),
            (Kind::Queue, _) => (state, state % base),
            (Kind::Stack, _) => (state, if state < base { state } else { state / base }),
        }
    }
}
