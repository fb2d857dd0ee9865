//! Reads a hall from the database.

use std::collections::BTreeSet;

use super::{line::Line, sql, timelines::Timelines, values::Row};
use crate::{
    failure::Failure,
    store::{Document, KeyRange, KeyValue, LeaseId, Op, Order, Revision, Stamp, Txn, When},
};

/// A hall as one statement saw it.
pub(super) struct Loaded {
    pub document: Document,
    /// Whether the hall has a row.
    pub exists: bool,
    /// The identity of the server.
    pub system: u64,
    pub timeline: i64,
    pub timelines: Timelines,
    /// The leases of the hall that are over and have not ended yet.
    pub overdue: BTreeSet<LeaseId>,
}

impl Loaded {
    pub(super) fn stamp(&self) -> Stamp {
        Stamp { epoch: self.timeline.unsigned_abs(), revision: self.document.revision }
    }
}

/// The records to read.
#[derive(Default)]
pub(super) struct Scope {
    all: bool,
    first: Vec<String>,
    after: Vec<String>,
    below: Vec<Revision>,
    direction: Vec<i64>,
    count: Vec<Option<i64>>,
}

impl Scope {
    /// All records below this prefix, and all leases.
    pub(super) fn all(base: &str) -> Scope {
        let mut scope = Scope { all: true, ..Scope::default() };
        scope.add(&KeyRange::prefix(base), Order::Keys);
        scope
    }

    /// The records that a step reads. The step must not write.
    pub(super) fn of(step: &Txn) -> Scope {
        let mut scope = Scope::default();
        scope.add_step(step);
        scope
    }

    fn add_step(&mut self, step: &Txn) {
        for When { range, .. } in &step.when {
            self.add(range, Order::Keys);
        }
        for op in step.then.iter().chain(&step.otherwise) {
            match op {
                Op::Range { range, order, .. } => self.add(range, *order),
                Op::Nested(step) => self.add_step(step),
                Op::Put { .. } | Op::Touch { .. } | Op::Delete(_) => {}
            }
        }
    }

    fn add(&mut self, range: &KeyRange, order: Order) {
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        self.first.push(text(&range.key));
        self.after.push(match range.end.as_slice() {
            // The first key after a single key. No key has such a character.
            [] => format!("{}\u{1}", text(&range.key)),
            end => text(end),
        });
        let (below, direction, count) = match order {
            Order::Keys => (Revision::MAX, 1, None),
            Order::Oldest => (Revision::MAX, 1, Some(1)),
            Order::YoungestBefore(revision) => (revision, -1, Some(1)),
        };
        self.below.push(below);
        self.direction.push(direction);
        self.count.push(count);
    }
}

/// Reads a hall. With `proof`, the answer proves that the server was the primary server at that moment.
pub(super) async fn load(
    line: &Line,
    hall: &str,
    scope: &Scope,
    proof: bool,
) -> Result<Loaded, Failure> {
    let rows = line
        .query(
            sql::LOAD,
            &[
                hall.into(),
                proof.into(),
                scope.all.into(),
                scope.first.as_slice().into(),
                scope.after.as_slice().into(),
                scope.below.as_slice().into(),
                scope.direction.as_slice().into(),
                scope.count.as_slice().into(),
            ],
        )
        .await?;
    let mut loaded = Loaded {
        document: Document::default(),
        exists: false,
        system: 0,
        timeline: 0,
        timelines: Timelines::default(),
        overdue: BTreeSet::new(),
    };
    for row in &rows {
        read_row(row, &mut loaded)?;
    }
    // The hall was not changed in this timeline yet.
    let (timeline, revision) = (loaded.timeline, loaded.document.revision);
    loaded.timelines.enter(timeline, revision);
    Ok(loaded)
}

/// Columns of [`sql::LOAD`].
const KEY: usize = 1;
const CREATED: usize = 3;
const LEASE: usize = 5;

fn read_row(row: &Row, loaded: &mut Loaded) -> Result<(), Failure> {
    let damaged = |what: &str| Failure::Refused(format!("the table {what} has an invalid row"));
    match row.int(0)? {
        0 => {
            loaded.system = row.text(KEY)?.parse().map_err(|_| damaged("pg_control_system"))?;
            loaded.timeline = row.int(CREATED)?;
        }
        1 => {
            loaded.timelines =
                Timelines::parse(row.text(KEY)?).ok_or_else(|| damaged("hallpass.halls"))?;
            loaded.document.revision = row.int(CREATED)?;
            // hallpass does not write such a number. It would leave no room for larger ones.
            if !(0..Revision::MAX / 2).contains(&loaded.document.revision) {
                return Err(damaged("hallpass.halls"));
            }
            loaded.exists = true;
        }
        2 => {
            let kv = read_record(row, KEY)?;
            loaded.document.records.insert(kv.key.clone(), kv);
        }
        _ => {
            let lease = row.int(LEASE)?;
            loaded.document.leases.insert(lease);
            if row.int(CREATED)? == 1 {
                loaded.overdue.insert(lease);
            }
        }
    }
    Ok(())
}

/// Reads a record from the columns key, value, created, modified and lease, which begin at `at`.
pub(super) fn read_record(row: &Row, at: usize) -> Result<KeyValue, Failure> {
    Ok(KeyValue {
        key: row.text(at)?.into(),
        value: row.text(at + 1)?.into(),
        create_revision: row.int(at + 2)?,
        mod_revision: row.int(at + 3)?,
        lease: row.int(at + 4)?,
    })
}
