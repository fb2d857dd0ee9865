//! A copy of a part of a hall, for the next step of this process.
//!
//! A holder reads the hall before it leaves. So this process often has all the records that its next step needs, and the
//! step only has to write. The copy may be old. This does no harm, because the statement that writes has no effect if
//! the hall has changed since the copy was read, or if a lease is over by now.

use super::{
    load::Loaded,
    scope::{Scope, Selection},
};
use crate::store::{KeyRange, Op, Revision, Step};

#[cfg(test)]
mod tests;

/// A part of a hall, as this process read it last.
pub(super) struct HallCopy {
    pub loaded: Loaded,
    /// The ranges whose records are all in the copy. A range is a pair: its first key, and the first key after it.
    complete: Vec<(String, String)>,
}

impl HallCopy {
    /// Returns a copy of the part of a hall that was loaded for `scope`. Returns `None` if a lease is over, because its
    /// records are about to vanish.
    pub(super) fn new(mut loaded: Loaded, scope: &Scope) -> Option<HallCopy> {
        if !loaded.overdue.is_empty() {
            return None;
        }
        // The statement that writes checks again that these leases exist.
        let document = &mut loaded.document;
        document.leases.extend(document.records.values().map(|kv| kv.lease));
        let selections = scope.selections.iter().filter(|one| is_whole(one, &loaded));
        let complete = selections.map(|one| (one.first.clone(), one.after.clone())).collect();
        Some(HallCopy { loaded, complete })
    }

    /// Returns whether the copy contains everything that the step reads, writes and names in its conditions. Returns
    /// `false` if a condition does not hold: the step then has to read the hall as it is now.
    pub(super) fn is_enough_for(&self, step: &Step) -> bool {
        let document = &self.loaded.document;
        step.when.iter().all(|when| self.has(&when.range) && document.holds(when))
            && step.then.iter().all(|op| self.is_enough_for_op(op))
    }

    fn is_enough_for_op(&self, op: &Op) -> bool {
        match op {
            Op::Put { key, lease, .. } => {
                let leases = &self.loaded.document.leases;
                self.has(&KeyRange::one(key.clone())) && (*lease == 0 || leases.contains(lease))
            }
            Op::Touch { key } => self.loaded.document.records.contains_key(key),
            Op::Delete(range) | Op::Range { range, .. } => self.has(range),
            // The operations before it may change which branch it executes.
            Op::Nested(step) => {
                step.when.iter().all(|when| self.has(&when.range))
                    && step.then.iter().chain(&step.otherwise).all(|op| self.is_enough_for_op(op))
            }
        }
    }

    /// Returns whether all records of the range are in the copy.
    fn has(&self, range: &KeyRange) -> bool {
        let is_in = |(first, after): &(String, String)| {
            let (first, after) = (first.as_bytes(), after.as_bytes());
            match &*range.end {
                [] => (first..after).contains(&&*range.key),
                // A range without end.
                [0] => false,
                end => first <= &*range.key && end <= after,
            }
        };
        let is_one = range.end.is_empty();
        is_one && self.loaded.document.records.contains_key(&range.key)
            || self.complete.iter().any(is_in)
    }
}

/// Returns whether all records of the selected range were loaded. A selection with a largest number of records has all
/// of them if it has fewer records than this number.
fn is_whole(selection: &Selection, loaded: &Loaded) -> bool {
    let Selection { first, after, below, count, .. } = selection;
    let range = first.clone().into_bytes()..after.clone().into_bytes();
    let found = loaded.document.records.range(range).count();
    *below == Revision::MAX && count.is_none_or(|count| (found as i64) < count)
}
