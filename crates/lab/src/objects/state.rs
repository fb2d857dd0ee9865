//! The state of a model: the atomic words, the copies that they protect, and the line of each process. The
//! [construction](hallpass_algorithms::objects::universal) explains the words, such as guards and marks.

use hallpass_algorithms::{
    Word,
    objects::universal::{Answer, Intent, Line, NONE, Request, copies},
};

use super::object::{Operation, SmallObject};

/// An answer in a copy. It is for the process that made the request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StoredAnswer {
    /// The process that made the request.
    pub process: u8,
    /// The packed request.
    pub request: Word,
    /// The answer itself.
    pub answer: u8,
}

impl StoredAnswer {
    /// A placeholder for an answer that no process will fetch. The normal form of a state replaces such an answer, but
    /// does not remove it from the list, because line F1 takes a step for each answer.
    pub const SPENT: StoredAnswer = StoredAnswer { process: 0, request: 0, answer: 0 };
}

/// A copy of the object.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CopyState {
    /// The value of the object, or `None` if it is unknown or will not be read.
    pub value: Option<u8>,
    /// The parities of the requests that the copy has served.
    pub served: u8,
    /// The copy from which this copy was made.
    pub previous: u8,
    /// One more than the version of the copy from which this copy was made, or 0 for no version.
    pub version: u32,
    /// The operations that were applied since the copy was made.
    pub batch: Vec<Operation>,
    /// The answers that the copy holds.
    pub answers: Vec<StoredAnswer>,
}

/// The state that processes share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharedState {
    /// The copy that is currently the object.
    pub head: Word,
    /// The parities of all requests.
    pub flips: Word,
    /// The packed requests.
    pub requests: Vec<Word>,
    /// The guards, each as 1 + the guarded copy.
    pub guards: Vec<Word>,
    /// The packed marks.
    pub marks: Vec<Word>,
    /// The copies that are taken, one bit each.
    pub taken: u16,
    /// The copies of the object.
    pub copies: Vec<CopyState>,
    /// The operation in each buffer. Each process has k buffers.
    pub buffers: Vec<Option<Operation>>,
}

/// The private state of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProcessState {
    /// The number of operations that the process may still begin, or `None` for no limit.
    pub left: Option<u8>,
    /// The operation that the process executes, or `None` between two operations.
    pub ongoing: Option<Ongoing>,
}

/// An operation that a process executes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ongoing {
    /// The next line.
    pub at: Line,
    /// Whether the operation changes the object or only reads it.
    pub intent: Intent,
    /// The index of the operation, until it has been written to a buffer.
    pub which: u8,
    /// The answer that the process has kept for itself.
    pub kept: Option<u8>,
}

/// The whole state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ModelState {
    /// The shared part.
    pub shared: SharedState,
    /// The private state of each process.
    pub processes: Vec<ProcessState>,
}

impl SharedState {
    /// Returns the state before the first step. Copy 0 is the object, and the other copies are empty.
    pub fn new(k: usize) -> Self {
        let mut copies = vec![CopyState::default(); copies(k)];
        copies[0] =
            CopyState { value: Some(SmallObject::INITIAL), version: 1, ..CopyState::default() };
        SharedState {
            head: 0,
            flips: 0,
            requests: vec![Request::INITIAL.pack(); k],
            guards: vec![NONE; k],
            marks: vec![NONE; k],
            taken: 1,
            copies,
            buffers: vec![None; k * k],
        }
    }

    /// Counts the copies that are not free: those that are taken, guarded, or hold an answer that is
    /// still to be fetched.
    pub fn in_use(&self) -> u32 {
        let mut used = self.taken;
        for (&guard, &request) in self.guards.iter().zip(&self.requests) {
            if guard != NONE {
                used |= 1 << (guard - 1);
            }
            if let Answer::In(copy) = Request::unpack(request).answer {
                used |= 1 << copy;
            }
        }
        used.count_ones()
    }
}

impl ModelState {
    /// Returns the state before the first step. `operations` contains the maximum number of operations
    /// of each process.
    pub fn new(operations: &[Option<u8>]) -> Self {
        let idle = |&left: &Option<u8>| ProcessState { left, ongoing: None };
        let processes = operations.iter().map(idle).collect();
        ModelState { shared: SharedState::new(operations.len()), processes }
    }

    /// Returns the next line of a process, or `None` between two operations.
    pub fn line(&self, process: usize) -> Option<Line> {
        self.processes[process].ongoing.map(|ongoing| ongoing.at)
    }
}

/// Returns the copy that a process at this line holds. The process has found this copy to be the head,
/// and may still read or replace it. With `hasty`, a process also holds a copy that it has not found to be the head.
pub fn held(at: Line, hasty: bool) -> Option<usize> {
    use Line::*;
    match at {
        R2 { h, .. } | R3 { h, .. } | A3 { h, .. } | A4 { h, .. } => hasty.then_some(h),
        R4 { h } | R5 { h } => Some(h),
        F1 { h, .. } | G1 { h, .. } | G2 { h, .. } | G3 { h, .. } | G4 { h, .. } => Some(h),
        B1 { h, .. } | B2 { h, .. } | B3 { h, .. } | B4 { h, .. } | B5 { h, .. } => Some(h),
        B6 { h, .. } | B7 { h, .. } | B8 { h, .. } | I1 { h, .. } => Some(h),
        _ => None,
    }
}

/// Returns the copy that a process at this line writes.
pub fn written(at: Line) -> Option<usize> {
    use Line::*;
    match at {
        B2 { c, .. } | B3 { c, .. } | B4 { c, .. } | B5 { c, .. } | B6 { c, .. } => Some(c),
        B7 { c, .. } | B8 { c, .. } | I1 { c, .. } | U1 { c } => Some(c),
        _ => None,
    }
}

/// Returns the copy that a process at this line has begun to read.
pub fn read(at: Line) -> Option<usize> {
    match at {
        Line::R5 { h } | Line::B2 { h, .. } => Some(h),
        Line::C2 { c, .. } => Some(c),
        _ => None,
    }
}
