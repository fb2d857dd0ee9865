//! Which part of a hall a step needs.
//!
//! A hall may have hundreds of waiters, and most steps concern only a few records. So a step loads only the records
//! that it reads, writes or names in a condition. This is as safe as loading the whole hall: the statement that writes
//! has an effect only if the revision of the whole hall is unchanged. On the loaded part, a step must do the same as on
//! the whole hall. So the part includes:
//!
//! - all records of a range that the step lists or deletes, and all single records that it names;
//! - the first record of a range from which the step reads only the first record, and one more record for each record
//!   of this range that the step may delete before it reads;
//! - the leases to which the step binds records, and the leases that are over.

use crate::store::{Condition, KeyRange, LeaseId, Op, Order, Revision, Step, When};

/// The records and leases to load.
#[derive(Default)]
pub(super) struct Scope {
    /// Whether to load all leases.
    pub all_leases: bool,
    /// The leases to load, in addition to those that are over.
    pub leases: Vec<LeaseId>,
    /// Leases of which all records are loaded.
    pub bound_to: Vec<LeaseId>,
    pub selections: Vec<Selection>,
}

/// Records of one range, in the order of their creation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Selection {
    /// The first key.
    pub first: String,
    /// The first key after the range.
    pub after: String,
    /// The records must have been created before this revision.
    pub below: Revision,
    /// 1 for the oldest records first, -1 for the youngest.
    pub direction: i64,
    /// The largest number of records; `None` for all.
    pub count: Option<i64>,
}

impl Scope {
    /// Returns the scope of the whole hall, whose keys begin with `base`.
    pub(super) fn all(base: &str) -> Scope {
        let mut scope = Scope { all_leases: true, ..Scope::default() };
        scope.select(&KeyRange::prefix(base), Order::Keys, None);
        scope
    }

    /// Returns the scope of the part that a step needs.
    pub(super) fn of_step(step: &Step) -> Scope {
        let mut deletions = Vec::new();
        collect_deletions(step, &mut deletions);
        let mut scope = Scope::default();
        scope.add_step(step, &deletions);
        scope
    }

    /// Returns the scope of a lease and its records.
    pub(super) fn of_lease(lease: LeaseId) -> Scope {
        Scope { leases: vec![lease], bound_to: vec![lease], ..Scope::default() }
    }

    fn add_step(&mut self, step: &Step, deletions: &[KeyRange]) {
        for When { range, condition } in &step.when {
            match condition {
                // One record of the range is enough to decide the condition.
                Condition::Absent => self.select_first(range, Order::Oldest, deletions),
                Condition::Present | Condition::Created(_) | Condition::Modified(_) => {
                    self.select(range, Order::Keys, None);
                }
            }
        }
        for op in step.then.iter().chain(&step.otherwise) {
            match op {
                Op::Range { range, order: Order::Keys, .. } => {
                    self.select(range, Order::Keys, None);
                }
                Op::Range { range, order, .. } => self.select_first(range, *order, deletions),
                Op::Put { key, lease, .. } => {
                    self.select(&KeyRange::one(key.clone()), Order::Keys, None);
                    self.leases.extend((*lease != 0).then_some(lease));
                }
                Op::Touch { key } => self.select(&KeyRange::one(key.clone()), Order::Keys, None),
                Op::Delete(range) => self.select(range, Order::Keys, None),
                Op::Nested(step) => self.add_step(step, deletions),
            }
        }
    }

    /// Adds the first record of a range. The step may delete records of the range before it reads, so this adds one
    /// more record for each deletion of a single record, and all records if the step may delete several at once.
    fn select_first(&mut self, range: &KeyRange, order: Order, deletions: &[KeyRange]) {
        let deletions: Vec<_> =
            deletions.iter().filter(|deleted| deleted.overlaps(range)).collect();
        let is_one = |range: &KeyRange| range.end.is_empty();
        let count = match is_one(range) || !deletions.iter().all(|deleted| is_one(deleted)) {
            true => None,
            false => Some(1 + deletions.len() as i64),
        };
        self.select(range, order, count);
    }

    fn select(&mut self, range: &KeyRange, order: Order, count: Option<i64>) {
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        let first = text(&range.key);
        let after = match range.end.as_slice() {
            // No key contains this character. So a range that ends here contains no other key.
            [] => format!("{first}\u{1}"),
            end => text(end),
        };
        let (below, direction) = match order {
            Order::Keys | Order::Oldest => (Revision::MAX, 1),
            Order::YoungestBefore(revision) => (revision, -1),
        };
        let selection = Selection { first, after, below, direction, count };
        // Both branches of a step often read the same records.
        if !self.selections.contains(&selection) {
            self.selections.push(selection);
        }
    }
}

/// Collects the ranges that a step may delete.
fn collect_deletions(step: &Step, deletions: &mut Vec<KeyRange>) {
    for op in step.then.iter().chain(&step.otherwise) {
        match op {
            Op::Delete(range) => deletions.push(range.clone()),
            Op::Nested(step) => collect_deletions(step, deletions),
            Op::Put { .. } | Op::Touch { .. } | Op::Range { .. } => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::store::{Document, KeyValue};

    /// A hall with many waiters.
    pub(in super::super) fn hall(waiters: i64) -> Document {
        let mut document = Document { revision: 1000, ..Document::default() };
        let mut add = |key: String, revision, lease| {
            let kv = KeyValue {
                key: key.clone().into(),
                value: key.clone().into(),
                create_revision: revision,
                mod_revision: revision,
                lease,
            };
            document.records.insert(key.into(), kv);
        };
        add("h/door".into(), 1, 0);
        add("h/slots/0".into(), 2, 0);
        add("h/inside/a".into(), 2, 1);
        for number in 0..waiters {
            // The order of the keys is not the order of creation.
            let at = (number * 7) % waiters;
            add(format!("h/queue/{number:03}"), 10 + at, 100 + number);
        }
        document.leases =
            [1, 2].into_iter().chain((0..waiters).map(|number| 100 + number)).collect();
        document
    }

    /// Returns the part of a hall that the statement [`LOAD`](super::super::sql::LOAD) returns for a scope.
    pub(in super::super) fn part(hall: &Document, scope: &Scope) -> Document {
        let mut part = Document { revision: hall.revision, ..Document::default() };
        let is_named = |lease: &&LeaseId| scope.all_leases || scope.leases.contains(lease);
        part.leases = hall.leases.iter().filter(is_named).copied().collect();
        for selection in &scope.selections {
            let is_in = |kv: &&KeyValue| {
                let key = std::str::from_utf8(&kv.key).expect("text");
                (&*selection.first..&*selection.after).contains(&key)
                    && kv.create_revision < selection.below
            };
            let mut found: Vec<_> = hall.records.values().filter(is_in).cloned().collect();
            found.sort_by_key(|kv| kv.create_revision * selection.direction);
            let count = selection.count.map_or(found.len(), |count| count as usize);
            found.truncate(count);
            part.records.extend(found.into_iter().map(|kv| (kv.key.clone(), kv)));
        }
        let bound = |kv: &&KeyValue| scope.bound_to.contains(&kv.lease);
        part.records
            .extend(hall.records.values().filter(bound).map(|kv| (kv.key.clone(), kv.clone())));
        part
    }

    fn queue() -> KeyRange {
        KeyRange::prefix("h/queue/")
    }

    /// Steps as the protocol makes them, and some that it does not make.
    pub(in super::super) fn steps() -> Vec<Step> {
        let look = vec![
            Op::get("h/door"),
            Op::list(KeyRange::prefix("h/slots/")),
            Op::keys(KeyRange::prefix("h/inside/")),
            Op::oldest(queue()),
            Op::youngest_before(queue(), 15),
        ];
        let step = |when: Vec<When>, then: Vec<Op>, otherwise: Vec<Op>| Step {
            when,
            then: then.into_iter().chain(look.clone()).collect(),
            otherwise: otherwise.into_iter().chain(look.clone()).collect(),
        };
        let put = |key: &str, lease| Op::put(key, "new", lease);
        let join = Step {
            when: vec![When::absent("h/queue/new")],
            then: vec![put("h/queue/new", 2)],
            ..Step::default()
        };
        vec![
            step(vec![], vec![], vec![]),
            // A newcomer joins the queue.
            step(
                vec![When::empty(queue()), When::absent("h/slots/0")],
                vec![put("h/inside/new", 2)],
                vec![Op::nested(join)],
            ),
            // A holder gives its slot to the head of the queue.
            step(
                vec![When::modified("h/slots/0", 2), When::created("h/queue/000", 10)],
                vec![
                    put("h/inside/000", 100),
                    put("h/slots/0", 0),
                    Op::delete("h/queue/000"),
                    Op::delete("h/inside/a"),
                ],
                vec![],
            ),
            // Several waiters leave.
            step(vec![], vec![Op::delete("h/queue/000"), Op::delete("h/queue/002")], vec![]),
            // The whole queue, or a part of it, is removed.
            step(vec![], vec![Op::delete_range(queue())], vec![]),
            step(vec![], vec![Op::delete_range(KeyRange::prefix("h/queue/00"))], vec![]),
            // If there is one waiter, the queue is empty after the first operation.
            step(
                vec![],
                vec![
                    Op::delete("h/queue/000"),
                    Op::nested(Step {
                        when: vec![When::empty(queue())],
                        then: vec![Op::touch("h/door")],
                        otherwise: vec![put("h/slots/1", 0)],
                    }),
                ],
                vec![],
            ),
            // This lease does not exist.
            step(vec![], vec![put("h/queue/late", 77)], vec![]),
        ]
    }

    #[test]
    fn a_step_on_its_part_of_a_hall_does_the_same_as_on_the_whole_hall() {
        for waiters in [0, 1, 2, 3, 50] {
            for step in steps() {
                let mut whole = hall(waiters);
                let mut part = part(&whole, &Scope::of_step(&step));
                let (expected, found) = (whole.perform(&step), part.perform(&step));
                assert_eq!(found, expected, "{waiters} waiters: {step:?}");
                let Ok((_, changed)) = expected else { continue };
                assert_eq!(part.revision, whole.revision);
                for key in &changed {
                    assert_eq!(part.records.get(key), whole.records.get(key), "{step:?}");
                }
            }
        }
    }

    #[test]
    fn most_steps_need_the_same_few_records_however_many_wait() {
        let size = |waiters, step: &Step| part(&hall(waiters), &Scope::of_step(step)).records.len();
        for step in &steps()[..4] {
            assert!(size(200, step) <= 10, "{} records: {step:?}", size(200, step));
            assert_eq!(size(200, step), size(50, step), "{step:?}");
        }
    }

    #[test]
    fn the_part_of_a_lease_has_all_its_records() {
        let mut whole = hall(50);
        let mut part = part(&whole, &Scope::of_lease(120));
        assert_eq!(part.records.len(), 1);
        let ended = [120].into_iter().collect();
        assert_eq!(part.end_leases(&ended), whole.end_leases(&ended));
        assert_eq!(part.revision, whole.revision);
    }
}
