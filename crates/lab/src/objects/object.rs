//! Small objects to share. They have few values, so that all runs can be explored. Their answers reveal
//! the order in which operations took effect.

use hallpass_algorithms::objects::universal::Intent;

use crate::linear::Specification;

/// The type of a small object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ObjectKind {
    /// A counter. Operations: add one and return the old value; read.
    Counter,
    /// A register. Operations: write the process's own number; write 0 if the register has this number; read.
    Register,
    /// A queue of at most two numbers. Operations: put the process's own number; take the oldest; read
    /// the oldest.
    Queue,
    /// A stack of at most two numbers. Operations: put the process's own number; take the youngest; read
    /// the youngest.
    Stack,
}

impl ObjectKind {
    /// All types.
    pub const ALL: [ObjectKind; 4] =
        [ObjectKind::Counter, ObjectKind::Register, ObjectKind::Queue, ObjectKind::Stack];

    /// Returns the name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Counter => "counter",
            ObjectKind::Register => "register",
            ObjectKind::Queue => "queue",
            ObjectKind::Stack => "stack",
        }
    }

    /// Returns the names of the operations. The last operation only reads the object. Each other operation changes the
    /// object for some values.
    pub fn operations(self) -> &'static [&'static str] {
        match self {
            ObjectKind::Counter => &["add", "look"],
            ObjectKind::Register => &["write", "cas", "look"],
            ObjectKind::Queue | ObjectKind::Stack => &["put", "take", "look"],
        }
    }
}

/// An operation of a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operation {
    /// The process that requests the operation.
    pub process: u8,
    /// The index in [`ObjectKind::operations`].
    pub which: u8,
}

/// A small object that `k` processes share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmallObject {
    /// The type of the object.
    pub kind: ObjectKind,
    /// The number of processes.
    pub k: usize,
}

/// The counter counts modulo this number. In the wrong variant `untagged`, a process can get the answer to an earlier
/// request of its own: the one before its last request. If the counter counted modulo 3, an operation of another process
/// that is under way could explain this answer, and a search that shows the violation would need ten times as many
/// states.
const MODULUS: u8 = 4;

impl SmallObject {
    /// The initial value of every object.
    pub const INITIAL: u8 = 0;

    /// Returns whether an operation changes the object or only reads it.
    pub fn intent(&self, which: usize) -> Intent {
        if which + 1 == self.kind.operations().len() { Intent::Read } else { Intent::Apply }
    }

    /// Formats an operation with its arguments.
    pub fn show(&self, operation: Operation) -> String {
        let name = self.kind.operations()[operation.which as usize];
        match (self.kind, operation.which) {
            (ObjectKind::Register, 0) | (ObjectKind::Queue | ObjectKind::Stack, 0) => {
                format!("{name}({})", operation.process + 1)
            }
            (ObjectKind::Register, 1) => format!("{name}({}, 0)", operation.process + 1),
            _ => name.into(),
        }
    }
}

impl Specification for SmallObject {
    type State = u8;
    type Op = Operation;
    type Ret = u8;

    fn apply(&self, &state: &u8, operation: &Operation) -> (u8, u8) {
        use ObjectKind::{Counter, Queue, Register, Stack};
        let own = operation.process + 1;
        // A queue or stack is a number in this base. The lowest digit is the oldest number, and a digit
        // 0 means no number.
        let base = self.k as u8 + 1;
        match (self.kind, operation.which) {
            (Counter, 0) => ((state + 1) % MODULUS, state),
            (Register, 0) => (own, 0),
            (Register, 1) if state == own => (0, 1),
            (Register, 1) => (state, 0),
            (Counter | Register, _) => (state, state),
            (_, 0) if state == 0 => (own, 1),
            (_, 0) if state < base => (state + own * base, 1),
            (_, 0) => (state, 0),
            (Queue, 1) => (state / base, state % base),
            (Stack, 1) if state < base => (0, state),
            (Stack, 1) => (state % base, state / base),
            (Queue, _) => (state, state % base),
            (Stack, _) => (state, if state < base { state } else { state / base }),
        }
    }
}
