//! How PostgreSQL performs steps: reads the part of the hall that a step needs, and writes the difference.

use std::{
    collections::BTreeSet,
    ptr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use super::{
    copy::HallCopy,
    line::Line,
    load::{Loaded, load},
    scope::Scope,
    sql,
    store::PostgresStore,
    timelines::next_revision,
    write::Write,
};
use crate::{
    failure::Failure,
    retry::lock,
    store::{Document, History, LeaseId, Op, Revision, Stamp, Step, StepResponse, Store},
};

/// The largest number of times that a step is tried. It starts over if another process has changed the hall in the
/// meantime.
const ATTEMPTS: u32 = 100;

/// If the first attempt ends with a conflict, the random pause after it is at most this long. If the attempt took
/// longer, the pause is at most as long as the attempt.
const SHORTEST_PAUSE: Duration = Duration::from_micros(500);
/// The longest pause after a conflict.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The state that this process keeps for a hall.
#[derive(Default)]
pub(super) struct Hall {
    pub history: Arc<History>,
    /// Held while a step of this process changes the hall, so that these steps do not make each other start over.
    turn: tokio::sync::Mutex<()>,
    /// The part of the hall that was loaded for the last step that only reads, until another step uses it. If it
    /// contains all that a step needs, the step only has to write. It may be old: the statement that writes has no
    /// effect if the hall has changed since.
    copy: Mutex<Option<HallCopy>>,
}

/// A change of a hall.
#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    Step(&'a Step),
    /// Ends a lease.
    Revoke(LeaseId),
    /// Ends the leases that are over.
    EndLeases,
}

/// A hall after a change.
pub(super) struct Changed {
    pub document: Document,
    response: Option<StepResponse>,
    /// The keys of the records that were written or deleted.
    pub keys: BTreeSet<Vec<u8>>,
    /// The leases that ended.
    pub leases: BTreeSet<LeaseId>,
}

impl PostgresStore {
    /// Performs a step that does not write.
    pub(super) async fn look(&self, hall: &str, step: &Step) -> Result<StepResponse, Failure> {
        let (known, scope) = (self.hall(hall), Scope::of_step(step));
        let begun = Instant::now();
        for attempt in 0..ATTEMPTS {
            let sent = known.history.sent();
            let scope = &scope;
            let proof = step.needs_consensus();
            let read = |line: Arc<Line>| async move { load(&line, hall, scope, proof).await };
            let mut loaded = self.database.attempt(read).await?;
            known.history.note_cluster(loaded.system)?;
            if !loaded.overdue.is_empty() {
                // The answer must not show records that vanish without a step.
                match self.change(hall, Change::EndLeases).await {
                    // In a slow network, even two attempts may take longer than `longest_step`, and both are allowed.
                    Ok(_) if attempt > 0 && begun.elapsed() >= self.longest_step => break,
                    Ok(_) => continue,
                    // This user may only read. So leave the records out of the answer.
                    Err(Failure::Denied(_)) => loaded.hide_overdue(),
                    Err(failure) => return Err(failure),
                }
            }
            let (mut response, _) = loaded.document.perform(step)?;
            response.generation = match proof {
                true => {
                    let lost = loaded.timelines.lack(sent.stamp, loaded.stamp());
                    known.history.note_answer(sent, loaded.stamp(), lost)
                }
                false => known.history.generation(),
            };
            *lock(&known.copy) = HallCopy::new(loaded, scope);
            return Ok(response);
        }
        Err(busy())
    }

    /// Changes a hall. Returns the answer to the step, if the change is a step.
    pub(super) async fn change(
        &self,
        hall: &str,
        change: Change<'_>,
    ) -> Result<Option<StepResponse>, Failure> {
        let known = self.hall(hall);
        let end = Instant::now() + self.longest_step;
        let mut turn = known.turn.lock().await;
        let whole = || Scope::all(&self.base(hall));
        let mut scope = match change {
            Change::Step(step) => Scope::of_step(step),
            Change::Revoke(lease) => Scope::of_lease(lease),
            Change::EndLeases => whole(),
        };
        let mut proof = false;
        let mut copy = known.take_copy(change);
        for attempt in 0..ATTEMPTS {
            let (begun, sent) = (Instant::now(), known.history.sent());
            let part = &scope;
            let read = |line: Arc<Line>| async move { load(&line, hall, part, proof).await };
            let (loaded, is_copy) = match copy.take() {
                Some(loaded) => (loaded, true),
                None => (self.database.attempt(read).await?, false),
            };
            known.history.note_cluster(loaded.system)?;
            let has_lease = |lease: &LeaseId| loaded.document.leases.contains(lease);
            let is_over = !loaded.overdue.is_empty() || !scope.leases.iter().all(has_lease);
            if is_over && !is_copy && !scope.all_leases {
                // The records of the leases that are over may be outside of the part that was loaded.
                scope = whole();
                continue;
            }
            let changed = perform(&loaded, change)?;
            let unchanged = changed.keys.is_empty() && changed.leases.is_empty();
            let revision = match (unchanged, proof) {
                (true, true) => loaded.document.revision,
                // Another process has ended the leases. The caller gets no answer, so no proof is needed.
                (true, false) if matches!(change, Change::EndLeases) => return Ok(None),
                // The answer needs a proof, although there is nothing to write.
                (true, false) => {
                    proof = true;
                    continue;
                }
                (false, _) if !loaded.exists => {
                    self.database.query(sql::CREATE_HALL, &[hall.into()]).await?;
                    continue;
                }
                (false, _) => match self.replace(hall, &loaded, &changed).await? {
                    Some(revision) => revision,
                    None if is_copy => continue,
                    None => {
                        // Other steps of this process may try during this pause.
                        drop(turn);
                        let pause = pause_after_conflict(attempt, begun.elapsed());
                        if Instant::now() + pause >= end {
                            break;
                        }
                        sleep(pause).await;
                        turn = known.turn.lock().await;
                        continue;
                    }
                },
            };
            let lost = loaded.timelines.lack(sent.stamp, loaded.stamp());
            let stamp = Stamp { revision, ..loaded.stamp() };
            let generation = known.history.note_answer(sent, stamp, lost);
            return Ok(changed.response.map(|mut response| {
                response.generation = generation;
                response.set_revision(revision);
                response
            }));
        }
        Err(busy())
    }

    /// Writes a change, if the hall is still as it was loaded. Returns the new revision; `None` if the hall or the
    /// connection has changed.
    async fn replace(
        &self,
        hall: &str,
        loaded: &Loaded,
        changed: &Changed,
    ) -> Result<Option<Revision>, Failure> {
        let write = Write::new(loaded, changed);
        let before = loaded.document.revision;
        let timeline = loaded.timeline;
        let leases: &Vec<_> = &changed.leases.iter().copied().collect();
        let write = &write;
        let run = |line: Arc<Line>| async move {
            // Another connection may lead to another server, where the same revision may be another state.
            if !ptr::eq(loaded.line.as_ptr(), &*line) {
                return Ok(Vec::new());
            }
            let parameters = &[
                hall.into(),
                before.into(),
                write.revision.into(),
                write.timelines.as_slice().into(),
                timeline.into(),
                write.deleted.as_slice().into(),
                write.keys.as_slice().into(),
                write.values.as_slice().into(),
                write.created.as_slice().into(),
                write.modified.as_slice().into(),
                write.leases.as_slice().into(),
                leases.as_slice().into(),
                write.channels.as_slice().into(),
                write.payloads.as_slice().into(),
                loaded.transaction.into(),
            ];
            line.query(sql::REPLACE, parameters).await
        };
        let rows = self.database.attempt(run).await?;
        let moved = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok((moved == 1).then_some(write.revision))
    }
}

impl Hall {
    /// Takes the copy, if it is enough for this change, and if this process has not seen a later state of the hall.
    fn take_copy(&self, change: Change<'_>) -> Option<Loaded> {
        let Change::Step(step) = change else { return None };
        let seen = self.history.sent().stamp;
        let is_enough =
            |copy: &mut HallCopy| copy.loaded.stamp() >= seen && copy.is_enough_for(step);
        Some(lock(&self.copy).take_if(is_enough)?.loaded)
    }
}

/// Performs a change on a copy of the hall.
fn perform(loaded: &Loaded, change: Change<'_>) -> Result<Changed, Failure> {
    let mut document = loaded.document.clone();
    // The first change on a new primary server has a revision far above the revisions of the old server.
    document.revision = next_revision(document.revision, loaded.timeline) - 1;
    let mut leases = loaded.overdue.clone();
    if let Change::Revoke(lease) = change {
        let is_bound = document.records.values().any(|kv| kv.lease == lease);
        leases.extend((is_bound || document.leases.contains(&lease)).then_some(lease));
    }
    let mut keys = document.end_leases(&leases);
    let response = match change {
        Change::Step(step) => {
            let (response, more) = document.perform(step)?;
            keys.extend(more);
            Some(response)
        }
        Change::Revoke(_) | Change::EndLeases => None,
    };
    Ok(Changed { document, response, keys, leases })
}

/// Performs a step and computes the parameters of the statement that writes it, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(super) fn rehearse(loaded: &Loaded, step: &Step) -> Option<StepResponse> {
    let changed = perform(loaded, Change::Step(step)).ok()?;
    let _ = Write::new(loaded, &changed);
    changed.response
}

/// Returns the pause after an attempt that failed because another process was faster. `attempt` counts from 0, and
/// `took` is the duration of the attempt.
///
/// Hundreds of processes may try at the same time, and only one of those that have loaded the same revision succeeds.
/// So the pause is random, and its range grows. The range also grows with the duration of an attempt: the more
/// processes try, and the slower the machine is, the longer an attempt takes.
fn pause_after_conflict(attempt: u32, took: Duration) -> Duration {
    let range = took.max(SHORTEST_PAUSE).saturating_mul(1 << attempt.min(6)).min(LONGEST_PAUSE);
    range.mul_f64(fastrand::f64())
}

pub(super) fn busy() -> Failure {
    Failure::Busy("other processes change the hall all the time".into())
}

/// Returns whether a step has an operation that writes, in either branch.
pub(super) fn may_write(step: &Step) -> bool {
    step.then.iter().chain(&step.otherwise).any(|op| match op {
        Op::Put { .. } | Op::Touch { .. } | Op::Delete(_) => true,
        Op::Range { .. } => false,
        Op::Nested(step) => may_write(step),
    })
}
