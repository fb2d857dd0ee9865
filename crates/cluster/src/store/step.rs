//! Steps: conditions, operations and their results.

use super::{KeyRange, LeaseId, Revision};

/// The largest number of conditions of a step, and of operations in one of its branches. This is the default limit of
/// etcd.
pub(crate) const MAX_PARTS: usize = 128;

/// A step. If all conditions in `when` hold, it performs all operations in `then`, otherwise all operations in
/// `otherwise`. It is atomic. No two operations of a step write the same record.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Step {
    pub when: Vec<When>,
    pub then: Vec<Op>,
    pub otherwise: Vec<Op>,
}

/// A condition on all records in a range.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct When {
    pub range: KeyRange,
    pub condition: Condition,
}

/// The requirement of a [`When`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// The range has no record.
    Absent,
    /// The record exists. The range has a single key.
    Present,
    /// The record exists and was created in this revision. The range has a single key.
    Created(Revision),
    /// The record exists and was last written in this revision. The range has a single key.
    Modified(Revision),
}

/// One operation of a step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op {
    /// Writes a record, bound to a lease. Lease 0 means none.
    Put { key: Vec<u8>, value: Vec<u8>, lease: LeaseId },
    /// Writes the present value of a record again, so that its watchers are notified. The record must exist. Its lease
    /// is removed.
    Touch { key: Vec<u8> },
    /// Deletes all records in a range.
    Delete(KeyRange),
    /// Reads the records in a range.
    Range {
        range: KeyRange,
        order: Order,
        keys_only: bool,
        /// Whether one server may answer from its own state. This is faster, but the answer may be outdated.
        local: bool,
    },
    /// Performs a step within this step.
    Nested(Step),
}

/// Which records of a range an operation reads, and in which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// All records, in the order of their keys.
    Keys,
    /// Only the record that was created first.
    Oldest,
    /// Only the last record that was created before this revision.
    YoungestBefore(Revision),
}

/// A record as the store returns it: key, value and revisions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeyValue {
    pub key: Vec<u8>,
    pub value: Vec<u8>,
    /// The revision in which the record was created.
    pub create_revision: Revision,
    /// The revision in which the record was last written.
    pub mod_revision: Revision,
    pub lease: LeaseId,
}

/// The result of a step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StepResponse {
    /// The revision of the store after the step.
    pub revision: Revision,
    /// How many times this process had noticed, by then, that the store has lost its history. 0 in nested steps.
    pub generation: u64,
    /// Whether all conditions in `when` held.
    pub succeeded: bool,
    /// The results of `then`, or of `otherwise`.
    pub answers: Vec<Answer>,
}

/// The result of an [`Op`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    Put,
    /// The number of deleted records.
    Deleted(i64),
    /// The records that were read.
    Range(Vec<KeyValue>),
    Step(StepResponse),
}

/// The state of a record at some moment after the request was sent.
pub(crate) struct KeyRead {
    pub kv: Option<KeyValue>,
    pub revision: Revision,
    /// How many times this process had noticed, by then, that the store has lost its history.
    pub generation: u64,
}

impl Step {
    /// Returns the largest number of conditions, or of operations in one branch, here or in a nested step.
    pub(crate) fn parts(&self) -> usize {
        let ops = self.then.iter().chain(&self.otherwise);
        let nested = ops.map(|op| if let Op::Nested(step) = op { step.parts() } else { 0 });
        let own = [self.when.len(), self.then.len(), self.otherwise.len()];
        own.into_iter().chain(nested).max().unwrap_or(0)
    }

    /// Returns whether the step needs consensus. It does, unless it has no conditions and all its operations are local
    /// reads.
    pub(crate) fn needs_consensus(&self) -> bool {
        !self.when.is_empty()
            || !self.then.iter().all(|op| matches!(op, Op::Range { local: true, .. }))
    }
}

impl When {
    pub(crate) fn absent(key: impl Into<Vec<u8>>) -> When {
        When::empty(KeyRange::one(key))
    }

    pub(crate) fn present(key: impl Into<Vec<u8>>) -> When {
        When { range: KeyRange::one(key), condition: Condition::Present }
    }

    /// Holds if the record exists and was created in that revision.
    pub(crate) fn created(key: impl Into<Vec<u8>>, revision: Revision) -> When {
        When { range: KeyRange::one(key), condition: Condition::Created(revision) }
    }

    /// Holds if the record exists and was last written in that revision.
    pub(crate) fn modified(key: impl Into<Vec<u8>>, revision: Revision) -> When {
        When { range: KeyRange::one(key), condition: Condition::Modified(revision) }
    }

    /// Holds if none of these records exists.
    pub(crate) fn empty(range: KeyRange) -> When {
        When { range, condition: Condition::Absent }
    }
}

impl Op {
    /// Writes a record, bound to a lease. Lease 0 means none.
    pub(crate) fn put(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>, lease: LeaseId) -> Op {
        Op::Put { key: key.into(), value: value.into(), lease }
    }

    /// Writes the present value of a record again, so that its watchers are notified. The record must exist.
    pub(crate) fn touch(key: impl Into<Vec<u8>>) -> Op {
        Op::Touch { key: key.into() }
    }

    pub(crate) fn delete(key: impl Into<Vec<u8>>) -> Op {
        Op::delete_range(KeyRange::one(key))
    }

    pub(crate) fn delete_range(range: KeyRange) -> Op {
        Op::Delete(range)
    }

    pub(crate) fn get(key: impl Into<Vec<u8>>) -> Op {
        Op::list(KeyRange::one(key))
    }

    /// Reads a range, in the order of the keys.
    pub(crate) fn list(range: KeyRange) -> Op {
        Op::range(range, Order::Keys, false)
    }

    /// Reads the keys of a range, without values.
    pub(crate) fn keys(range: KeyRange) -> Op {
        Op::range(range, Order::Keys, true)
    }

    /// Reads the record that was created first.
    pub(crate) fn oldest(range: KeyRange) -> Op {
        Op::range(range, Order::Oldest, false)
    }

    /// Reads the last record that was created before that revision.
    pub(crate) fn youngest_before(range: KeyRange, revision: Revision) -> Op {
        Op::range(range, Order::YoungestBefore(revision), false)
    }

    /// Makes this a read that one server answers from its own state. This is faster, but the answer may be outdated.
    pub(crate) fn without_consensus(mut self) -> Op {
        if let Op::Range { local, .. } = &mut self {
            *local = true;
        }
        self
    }

    pub(crate) fn nested(step: Step) -> Op {
        Op::Nested(step)
    }

    fn range(range: KeyRange, order: Order, keys_only: bool) -> Op {
        Op::Range { range, order, keys_only, local: false }
    }
}

impl StepResponse {
    /// Returns whether the step certainly made a new revision. A deletion that found no record makes none.
    pub(crate) fn has_written(&self) -> bool {
        self.answers.iter().any(|answer| match answer {
            Answer::Put => true,
            Answer::Deleted(count) => *count > 0,
            Answer::Range(_) => false,
            Answer::Step(response) => response.has_written(),
        })
    }
}

impl Answer {
    /// Returns the records of a read; none for other operations.
    pub(crate) fn kvs(&self) -> &[KeyValue] {
        match self {
            Answer::Range(kvs) => kvs,
            _ => &[],
        }
    }

    /// Returns the first record of a read.
    pub(crate) fn first(&self) -> Option<&KeyValue> {
        self.kvs().first()
    }

    /// Returns the number of records that were read or deleted.
    #[cfg(test)]
    pub(crate) fn count(&self) -> i64 {
        match self {
            Answer::Range(kvs) => kvs.len() as i64,
            Answer::Deleted(count) => *count,
            _ => 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn step(&self) -> Option<&StepResponse> {
        match self {
            Answer::Step(response) => Some(response),
            _ => None,
        }
    }
}
