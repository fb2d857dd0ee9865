//! The [`Environment`] of one process during one step, on a modelled state. It also detects races.
//!
//! Words are atomic, but copies of the object and buffers of operations are not. On real memory, reading or
//! writing a copy takes time. So each access to a copy takes two steps in the model: one for its beginning, and
//! one for its end. An access of another process in between is a race, unless both accesses only read. The lines
//! of the processes show which accesses are under way, so the state needs no extra fields for this.

use hallpass_algorithms::{
    Op, Word,
    objects::universal::{Environment, Helped, Intent, Line, Request},
};

use super::{
    object::{Operation, SmallObject},
    observe::Violation,
    state::{CopyState, SharedState, StoredAnswer, held, read, written},
};
use crate::linear::Specification;

/// An access, recorded so that a run can be printed.
#[derive(Clone, Debug)]
pub struct Access {
    /// The variable.
    pub what: String,
    /// The value before the access.
    pub old: Word,
    /// The value after the access.
    pub new: Word,
}

/// The shared state, as one process accesses it in one step.
pub struct ModelEnvironment<'a> {
    pub(super) shared: &'a mut SharedState,
    /// The lines of all processes before the step. A line is `None` between two operations.
    pub(super) lines: &'a [Option<Line>],
    pub(super) object: &'a SmallObject,
    pub(super) me: usize,
    pub(super) intent: Intent,
    /// The operation that `me` executes.
    pub(super) which: u8,
    /// The answer that `me` has kept.
    pub(super) kept: Option<u8>,
    pub(super) violation: Option<Violation>,
    /// Whether it is a violation to write a copy that another process holds, even if that process does not
    /// read it at the moment.
    pub(super) strict: bool,
    /// The accesses, if they are recorded.
    pub(super) log: Option<Vec<Access>>,
}

impl ModelEnvironment<'_> {
    fn note(&mut self, what: impl FnOnce() -> String, old: Word, new: Word) {
        if let Some(log) = &mut self.log {
            log.push(Access { what: what(), old, new });
        }
    }

    /// Records a violation. The first one counts.
    fn record(&mut self, violation: Violation) {
        self.violation = self.violation.or(Some(violation));
    }

    /// Returns the other processes that execute an operation, with their lines.
    fn others(&self) -> impl Iterator<Item = (usize, Line)> + '_ {
        let lines = self.lines.iter().enumerate().filter(|&(process, _)| process != self.me);
        lines.filter_map(|(process, line)| line.map(|line| (process, line)))
    }

    /// Checks that no other process writes the copy that this process reads.
    fn reads(&mut self, copy: usize) {
        if self.others().any(|(_, at)| written(at) == Some(copy)) {
            self.record(Violation::Race);
        }
    }

    /// Checks that no other process reads, writes or (with `strict`) holds the copy that this process begins to write.
    fn writes(&mut self, copy: usize) {
        if self.others().any(|(_, at)| written(at) == Some(copy) || read(at) == Some(copy)) {
            self.record(Violation::Race);
        }
        if self.strict && self.others().any(|(_, at)| held(at, false) == Some(copy)) {
            self.record(Violation::Held);
        }
    }

    fn copy(&mut self, copy: usize) -> &mut CopyState {
        &mut self.shared.copies[copy]
    }

    fn buffer(&self, process: usize, buffer: usize) -> usize {
        process * self.lines.len() + buffer
    }

    fn operation(&self) -> Operation {
        Operation { process: self.me as u8, which: self.which }
    }
}

macro_rules! word {
    ($environment:ident, $op:ident, $word:expr, $($what:tt)*) => {{
        let word = &mut $word;
        let old = *word;
        *word = $op.leaves(old);
        let new = *word;
        $environment.note(|| format!($($what)*), old, new);
        old
    }};
}

impl Environment for ModelEnvironment<'_> {
    fn k(&self) -> usize {
        self.lines.len()
    }

    fn head(&mut self, op: Op) -> Word {
        word!(self, op, self.shared.head, "head")
    }
    fn flips(&mut self, op: Op) -> Word {
        word!(self, op, self.shared.flips, "flips")
    }
    fn request(&mut self, process: usize, op: Op) -> Word {
        word!(self, op, self.shared.requests[process], "request[{process}]")
    }
    fn guard(&mut self, process: usize, op: Op) -> Word {
        word!(self, op, self.shared.guards[process], "guard[{process}]")
    }
    fn mark(&mut self, process: usize, op: Op) -> Word {
        word!(self, op, self.shared.marks[process], "mark[{process}]")
    }
    fn taken(&mut self, copy: usize, op: Op) -> Word {
        let mut word = Word::from(self.shared.taken >> copy & 1);
        let old = word!(self, op, word, "taken[{copy}]");
        self.shared.taken = self.shared.taken & !(1 << copy) | ((word as u16) << copy);
        old
    }

    fn served(&mut self, copy: usize) -> u64 {
        self.reads(copy);
        let served = self.copy(copy).served;
        self.note(|| format!("copy {copy}.served"), served.into(), served.into());
        served.into()
    }
    fn previous(&mut self, copy: usize) -> usize {
        self.reads(copy);
        let previous = self.copy(copy).previous;
        self.note(|| format!("copy {copy}.previous"), previous.into(), previous.into());
        previous.into()
    }
    fn helped(&mut self, copy: usize, index: usize) -> Option<Helped> {
        self.reads(copy);
        let answer = self.copy(copy).answers.get(index)?;
        Some(Helped { process: answer.process.into(), request: Request::unpack(answer.request) })
    }

    fn put_begins(&mut self, me: usize, buffer: usize) {
        let reads = |at| match at {
            Line::B8 { todo, request, .. } => {
                (todo.trailing_zeros() as usize, request.buffer) == (me, buffer)
            }
            _ => false,
        };
        if self.others().any(|(_, at)| reads(at)) {
            self.record(Violation::Race);
        }
    }
    fn put_ends(&mut self, me: usize, buffer: usize) {
        let (buffer, operation) = (self.buffer(me, buffer), self.operation());
        self.shared.buffers[buffer] = Some(operation);
    }

    fn copy_begins(&mut self, from: usize, copy: usize) {
        self.reads(from);
        self.writes(copy);
        if from == copy {
            self.record(Violation::Race); // the process would read and write the same copy
        }
    }
    fn copy_ends(&mut self, from: usize, copy: usize) {
        let (source, old) = (&self.shared.copies[from], &self.shared.copies[copy]);
        let is_next = old.version != 0 && old.version + 1 == source.version;
        let value = if usize::from(source.previous) == copy && is_next {
            // The old value lacks only the last batch of operations. So the batch is applied to it, as on real memory,
            // and the value of the source is not copied.
            old.value.map(|value| {
                source.batch.iter().fold(value, |value, operation| {
                    let (value, _) = self.object.apply(&value, operation);
                    value
                })
            })
        } else {
            source.value
        };
        self.shared.copies[copy] = CopyState {
            value,
            served: source.served,
            previous: from as u8,
            version: source.version + 1,
            batch: Vec::new(),
            answers: Vec::new(),
        };
    }

    fn serve_begins(&mut self, _copy: usize, owner: usize, request: Request) {
        let writes = |at| matches!(at, Line::P4 { buffer, .. } if buffer == request.buffer);
        if self.others().any(|(other, at)| other == owner && writes(at)) {
            self.record(Violation::Race);
        }
    }
    fn serve_ends(&mut self, me: usize, copy: usize, owner: usize, request: Request) {
        let operation = self.shared.buffers[self.buffer(owner, request.buffer)];
        let (object, intent) = (self.object, self.intent);
        let copy = self.copy(copy);
        copy.served = copy.served & !(1 << owner) | (request.parity() as u8) << owner;
        let done =
            copy.value.zip(operation).map(|(value, operation)| object.apply(&value, &operation));
        copy.value = done.map(|(value, _)| value);
        let answer = done.map(|(_, answer)| answer);
        copy.batch.extend(operation);
        if owner == me && intent == Intent::Apply {
            self.kept = answer;
        } else {
            copy.answers.push(StoredAnswer {
                process: owner as u8,
                request: request.pack(),
                answer: answer.unwrap_or_default(),
            });
        }
    }

    fn spoil(&mut self, copy: usize) {
        *self.copy(copy) = CopyState::default();
    }

    fn read_begins(&mut self, _me: usize, copy: usize) {
        self.reads(copy);
    }
    fn read_ends(&mut self, me: usize, copy: usize) {
        let answer = if matches!(self.lines[me], Some(Line::R5 { .. })) {
            let (object, operation) = (self.object, self.operation());
            self.copy(copy).value.map(|value| object.apply(&value, &operation).1)
        } else {
            let number = Request::unpack(self.shared.requests[me]).number;
            let is_mine = |answer: &&StoredAnswer| {
                usize::from(answer.process) == me
                    && Request::unpack(answer.request).number == number
            };
            self.copy(copy).answers.iter().find(is_mine).map(|answer| answer.answer)
        };
        match answer {
            Some(answer) => self.kept = Some(answer),
            None => self.record(Violation::Missing),
        }
    }

    fn published(&mut self, copy: usize) {
        if self.copy(copy).value.is_none() {
            self.record(Violation::Missing); // the value of the object is lost
        }
    }
}
