//! Reads a hall from the database.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
};

use super::{
    line::Line,
    scope::{Scope, Selection},
    sql,
    timelines::Timelines,
    values::Row,
};
use crate::{
    failure::Failure,
    store::{Document, KeyValue, LeaseId, Revision, Stamp},
};

/// A hall as one statement saw it.
pub(super) struct Loaded {
    /// The records and leases in the scope, and the leases that are over.
    pub document: Document,
    /// Whether the hall has a row.
    pub exists: bool,
    /// The identity of the server.
    pub system: u64,
    pub timeline: i64,
    pub timelines: Timelines,
    /// The leases of the hall whose time is over, and whose records no process has deleted yet.
    pub overdue: BTreeSet<LeaseId>,
    /// The number of the transaction that wrote the row of the hall. If someone restores the tables, a revision may
    /// come again, but not the transaction.
    pub transaction: i64,
    /// The connection on which the hall was read.
    pub line: Weak<Line>,
}

impl Loaded {
    pub(super) fn stamp(&self) -> Stamp {
        Stamp { epoch: self.timeline.unsigned_abs(), revision: self.document.revision }
    }

    /// Removes the records of leases that are over from this copy of the hall. The revision stays, because the store does
    /// not change.
    pub(super) fn hide_overdue(&mut self) {
        let revision = self.document.revision;
        self.document.end_leases(&self.overdue);
        self.document.revision = revision;
    }

    /// Counts leases that do not exist, but have records, as over. This happens only if an operator has deleted rows.
    /// Nobody could renew such a lease, and its records would stay permanently. Requires that all leases are loaded.
    fn end_missing_leases(&mut self) {
        let Document { records, leases, .. } = &self.document;
        let named = records.values().map(|kv| kv.lease).filter(|lease| *lease != 0);
        self.overdue.extend(named.filter(|lease| !leases.contains(lease)));
    }
}

/// Reads a part of a hall. With `proof`, the answer proves that the server was the primary server when it ran the
/// statement.
pub(super) async fn load(
    line: &Arc<Line>,
    hall: &str,
    scope: &Scope,
    proof: bool,
) -> Result<Loaded, Failure> {
    let columns = Columns::of(&scope.selections);
    let parameters = &[
        hall.into(),
        proof.into(),
        scope.all_leases.into(),
        columns.first.as_slice().into(),
        columns.after.as_slice().into(),
        columns.below.as_slice().into(),
        columns.direction.as_slice().into(),
        columns.count.as_slice().into(),
        scope.leases.as_slice().into(),
        scope.bound_to.as_slice().into(),
    ];
    let mut loaded = loaded(&line.query(sql::LOAD, parameters).await?)?;
    loaded.line = Arc::downgrade(line);
    if scope.all_leases {
        loaded.end_missing_leases();
    }
    Ok(loaded)
}

/// Reads the rows of [`sql::LOAD`].
pub(super) fn loaded(rows: &[Row]) -> Result<Loaded, Failure> {
    let mut loaded = Loaded {
        document: Document::default(),
        exists: false,
        system: 0,
        timeline: 0,
        timelines: Timelines::default(),
        overdue: BTreeSet::new(),
        transaction: 0,
        line: Weak::new(),
    };
    for row in rows {
        read_row(row, &mut loaded)?;
    }
    // If the hall was not changed in this timeline yet, its row does not list the timeline.
    let (timeline, revision) = (loaded.timeline, loaded.document.revision);
    loaded.timelines.enter(timeline, revision);
    Ok(loaded)
}

/// Selections, as the statement expects them: one list for each field.
#[derive(Default)]
struct Columns {
    first: Vec<String>,
    after: Vec<String>,
    below: Vec<Revision>,
    direction: Vec<i64>,
    count: Vec<Option<i64>>,
}

impl Columns {
    fn of(selections: &[Selection]) -> Columns {
        let mut columns = Columns::default();
        for Selection { first, after, below, direction, count } in selections.iter().cloned() {
            columns.first.push(first);
            columns.after.push(after);
            columns.below.push(below);
            columns.direction.push(direction);
            columns.count.push(count);
        }
        columns
    }
}

/// Columns of [`sql::LOAD`].
const KEY: usize = 1;
const CREATED: usize = 3;
const MODIFIED: usize = 4;
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
            // hallpass writes only revisions that are not negative and leave room for larger ones.
            if !(0..Revision::MAX / 2).contains(&loaded.document.revision) {
                return Err(damaged("hallpass.halls"));
            }
            loaded.transaction = row.int(MODIFIED)?;
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
