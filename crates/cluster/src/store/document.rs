//! The records of a hall as one document, on which a step is a plain function.
//!
//! To perform steps, a store needs only this function, and an atomic way to replace a whole hall if no other process
//! has changed the hall in the meantime.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Answer, Condition, KeyRange, KeyValue, LeaseId, Op, Order, Revision, Step, StepResponse, When,
};
use crate::failure::Failure;

/// The records of a hall, and the leases that they may name.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Document {
    /// The revision of the last step that wrote.
    pub revision: Revision,
    pub records: BTreeMap<Vec<u8>, KeyValue>,
    pub leases: BTreeSet<LeaseId>,
}

impl Document {
    /// Performs a step. Returns the answer and the keys that the step wrote or deleted. If the step writes nothing, the
    /// revision stays.
    ///
    /// # Errors
    /// [`Failure::LeaseGone`] if a record should be bound to a lease that does not exist, and [`Failure::Refused`] if a
    /// record to write again does not exist. After an error, a part of the step may have been performed, so the caller
    /// must drop the document.
    pub(crate) fn perform(
        &mut self,
        step: &Step,
    ) -> Result<(StepResponse, BTreeSet<Vec<u8>>), Failure> {
        let mut changed = BTreeSet::new();
        let revision = self.revision + 1;
        let mut response = self.branch(step, revision, &mut changed)?;
        if !changed.is_empty() {
            self.revision = revision;
        }
        response.set_revision(self.revision);
        Ok((response, changed))
    }

    /// Ends leases, and deletes their records. Returns the keys of these records.
    pub(crate) fn end_leases(&mut self, ended: &BTreeSet<LeaseId>) -> BTreeSet<Vec<u8>> {
        self.leases.retain(|lease| !ended.contains(lease));
        let is_bound = |kv: &KeyValue| kv.lease != 0 && ended.contains(&kv.lease);
        let bound = self.records.values().filter(|kv| is_bound(kv));
        let keys: BTreeSet<_> = bound.map(|kv| kv.key.clone()).collect();
        self.records.retain(|key, _| !keys.contains(key));
        self.revision += i64::from(!keys.is_empty());
        keys
    }

    fn branch(
        &mut self,
        step: &Step,
        revision: Revision,
        changed: &mut BTreeSet<Vec<u8>>,
    ) -> Result<StepResponse, Failure> {
        let succeeded = step.when.iter().all(|when| self.holds(when));
        let ops = if succeeded { &step.then } else { &step.otherwise };
        let answers = ops.iter().map(|op| self.operate(op, revision, changed));
        let answers = answers.collect::<Result<_, _>>()?;
        Ok(StepResponse { revision, generation: 0, succeeded, answers })
    }

    /// Returns whether a condition holds.
    pub(crate) fn holds(&self, when: &When) -> bool {
        let mut found = self.range(&when.range);
        match when.condition {
            Condition::Absent => found.next().is_none(),
            Condition::Present => found.next().is_some(),
            Condition::Created(at) => found.next().is_some_and(|kv| kv.create_revision == at),
            Condition::Modified(at) => found.next().is_some_and(|kv| kv.mod_revision == at),
        }
    }

    fn operate(
        &mut self,
        op: &Op,
        revision: Revision,
        changed: &mut BTreeSet<Vec<u8>>,
    ) -> Result<Answer, Failure> {
        Ok(match op {
            Op::Put { key, value, lease } => {
                self.put(key, value.clone(), *lease, revision)?;
                changed.insert(key.clone());
                Answer::Put
            }
            Op::Touch { key } => {
                let Some(kv) = self.records.get(key) else {
                    return Err(Failure::Refused("a record to write again does not exist".into()));
                };
                let value = kv.value.clone();
                self.put(key, value, 0, revision)?;
                changed.insert(key.clone());
                Answer::Put
            }
            Op::Delete(range) => {
                let keys: Vec<_> = self.range(range).map(|kv| kv.key.clone()).collect();
                keys.iter().for_each(|key| drop(self.records.remove(key)));
                let count = keys.len() as i64;
                changed.extend(keys);
                Answer::Deleted(count)
            }
            Op::Range { range, order, keys_only, .. } => {
                let mut kvs = self.read(range, *order);
                if *keys_only {
                    kvs.iter_mut().for_each(|kv| kv.value.clear());
                }
                Answer::Range(kvs)
            }
            Op::Nested(step) => Answer::Step(self.branch(step, revision, changed)?),
        })
    }

    fn put(
        &mut self,
        key: &[u8],
        value: Vec<u8>,
        lease: LeaseId,
        revision: Revision,
    ) -> Result<(), Failure> {
        if lease != 0 && !self.leases.contains(&lease) {
            return Err(Failure::LeaseGone);
        }
        let create_revision = self.records.get(key).map_or(revision, |kv| kv.create_revision);
        let kv =
            KeyValue { key: key.into(), value, create_revision, mod_revision: revision, lease };
        self.records.insert(key.into(), kv);
        Ok(())
    }

    fn read(&self, range: &KeyRange, order: Order) -> Vec<KeyValue> {
        let all = self.range(range);
        match order {
            Order::Keys => all.cloned().collect(),
            Order::Oldest => all.min_by_key(|kv| kv.create_revision).cloned().into_iter().collect(),
            Order::YoungestBefore(revision) => {
                let earlier = all.filter(|kv| kv.create_revision < revision);
                earlier.max_by_key(|kv| kv.create_revision).cloned().into_iter().collect()
            }
        }
    }

    fn range<'a>(&'a self, range: &'a KeyRange) -> impl Iterator<Item = &'a KeyValue> {
        let from = self.records.range(range.key.clone()..);
        from.map(|(_, kv)| kv).take_while(|kv| range.contains(&kv.key))
    }
}

impl StepResponse {
    /// Sets the revision of the answer and of all nested answers.
    pub(crate) fn set_revision(&mut self, revision: Revision) {
        self.revision = revision;
        for answer in &mut self.answers {
            if let Answer::Step(response) = answer {
                response.set_revision(revision);
            }
        }
    }
}
