//! Views as steps of a store: the operations that read a view, and the interpretation of the answer.

use std::collections::{BTreeMap, HashSet};

use super::keys::{Keys, last};
use crate::{
    Error,
    records::{self, ClaimRecord, Door},
    store::{Answer, KeyValue, Op, StepResponse},
    view::{ClaimRef, OwnClaim, Owner, Revision, SeenDoor, View, Waiter, token},
};

/// Returns the operations that read a whole view. `id` identifies the claim that makes the request.
pub(super) fn ops(keys: &Keys, id: Option<&str>) -> Vec<Op> {
    let mut ops = vec![
        Op::get(keys.door()),
        Op::list(keys.slots()),
        Op::keys(keys.all_inside()),
        Op::oldest(keys.queue()),
        Op::list(keys.all_gone()),
    ];
    ops.extend(id.into_iter().flat_map(|id| own_ops(keys, id)));
    ops
}

/// Returns a step that reads a whole view and changes nothing, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(crate) fn step_to_read(base: &str, id: &str) -> crate::store::Step {
    let then = ops(&Keys::new(base.into()), Some(id));
    crate::store::Step { when: Vec::new(), then, otherwise: Vec::new() }
}

/// Interprets the answer to the operations that [`ops()`](ops) returns. They are the last operations of the
/// step; the parameter `ops` is their number.
pub(crate) fn read(response: &StepResponse, ops: usize, id: Option<&str>) -> Result<View, Error> {
    let answers = &response.answers;
    let [door, slots, inside, first, expiries, own @ ..] =
        &answers[answers.len().saturating_sub(ops)..]
    else {
        return Err(too_short());
    };
    let owner = |kv: &KeyValue| -> Result<(usize, Owner), Error> {
        let record: ClaimRecord = records::read(&kv.key, &kv.value)?;
        let slot = last(&kv.key)
            .parse()
            .map_err(|_| damaged(kv, "its key does not end with a slot number"))?;
        Ok((slot, Owner { version: kv.mod_revision, record }))
    };
    let slots: BTreeMap<_, _> = slots.kvs().iter().map(owner).collect::<Result<_, _>>()?;
    let own = match read_own(own)? {
        own @ OwnClaim::Inside { slots: held, version, .. } => {
            let version_of = |slot| slots.get(&slot).map(|owner: &Owner| owner.version);
            match held.iter().all(|slot| version_of(slot) == Some(version)) {
                true => own,
                // Another process has removed or replaced the record of a slot of this claim.
                false => OwnClaim::Outside,
            }
        }
        OwnClaim::Outside => {
            let is_mine = |owner: &&Owner| id == Some(owner.record.id.as_str());
            detached(slots.values().filter(is_mine).map(|owner| (owner.version, &owner.record)))
        }
        own => own,
    };
    Ok(View {
        revision: response.revision,
        generation: response.generation,
        door: read_door(door)?,
        slots,
        inside: claims_inside(inside),
        first: first.first().map(read_waiter).transpose()?,
        // An expiry record that cannot be read is ignored. The process then waits as if nobody had seen the expiry.
        expiries: expiries
            .kvs()
            .iter()
            .filter_map(|kv| records::read(&kv.key, &kv.value).ok())
            .collect(),
        own,
    })
}

/// Returns the operations that read the records that a holder needs for leaving: the door, the head of the queue, the
/// claim of the holder and its slots. The step that leaves may write a record below `inside/` for the head, so these
/// operations also read which claims have a slot. A store that keeps what it reads then needs only one more request for
/// that step.
pub(super) fn ops_to_leave(keys: &Keys, own: ClaimRef<'_>) -> Vec<Op> {
    let [waiting, inside] = own_ops(keys, &own.record.id);
    let slot = own.slots.iter().map(|slot| Op::get(keys.slot(slot)));
    let all_inside = Op::keys(keys.all_inside());
    let door = [Op::get(keys.door()), Op::oldest(keys.queue()), all_inside, waiting, inside];
    door.into_iter().chain(slot).collect()
}

/// Interprets the answer to [`ops_to_leave`].
pub(crate) fn read_to_leave(response: &StepResponse, id: &str) -> Result<View, Error> {
    let [door, first, all_inside, waiting, inside, slots @ ..] = &response.answers[..] else {
        return Err(too_short());
    };
    let mut own = read_own(&[waiting.clone(), inside.clone()])?;
    if !slots.is_empty() {
        own = with_slot_records(own, slots.iter().map(Answer::first), id)?;
    }
    Ok(View {
        revision: response.revision,
        generation: response.generation,
        door: read_door(door)?,
        slots: BTreeMap::new(),
        inside: claims_inside(all_inside),
        expiries: Vec::new(),
        first: first.first().map(read_waiter).transpose()?,
        own,
    })
}

/// Reads a claim in the queue from its record.
pub(crate) fn read_waiter(kv: &KeyValue) -> Result<Waiter, Error> {
    let record = records::read(&kv.key, &kv.value)?;
    Ok(Waiter { created: kv.create_revision, lease: kv.lease, record })
}

/// Reads a claim that has a slot, from the record of the claim.
pub(crate) fn read_inside(kv: &KeyValue) -> Result<OwnClaim, Error> {
    let record: ClaimRecord = records::read(&kv.key, &kv.value)?;
    let (slots, version) = (record.held(), kv.mod_revision);
    if slots.is_empty() {
        return Err(damaged(kv, "it has no slot"));
    }
    Ok(OwnClaim::Inside { slots, version, token: token(&record, version) })
}

/// Returns the state of the claim `id`. `own` is the state that the claim's keys below `queue/` and `inside/` show.
/// `records` are the records of the slots that the claim had; there is at least one.
pub(crate) fn with_slot_records<'a>(
    own: OwnClaim,
    mut records: impl Iterator<Item = Option<&'a KeyValue>>,
    id: &str,
) -> Result<OwnClaim, Error> {
    match own {
        OwnClaim::Inside { version, .. } => {
            let mut all = records.map(|record| record.map(|kv| kv.mod_revision));
            match all.all(|found| found == Some(version)) {
                true => Ok(own),
                // Another process has removed or replaced the record of a slot of this claim.
                false => Ok(OwnClaim::Outside),
            }
        }
        OwnClaim::Outside => {
            let read = |kv: &KeyValue| -> Result<(Revision, ClaimRecord), Error> {
                Ok((kv.mod_revision, records::read(&kv.key, &kv.value)?))
            };
            let found = records.by_ref().flatten().map(read).collect::<Result<Vec<_>, _>>()?;
            let mine = found.iter().filter(|(_, record)| record.id == id);
            Ok(detached(mine.map(|(version, record)| (*version, record))))
        }
        own => Ok(own),
    }
}

/// Returns the state of a claim that is gone. `slots` are the versions and the records of the slots that are assigned
/// to it. A claim that has lost one of its slots cannot be created again.
fn detached<'a>(slots: impl Iterator<Item = (Revision, &'a ClaimRecord)>) -> OwnClaim {
    let slots: Vec<_> = slots.collect();
    match slots[..] {
        [(version, record), ..] if slots.len() == record.held().len() => {
            let token = token(record, version);
            OwnClaim::Detached { slots: record.held(), version, token }
        }
        _ => OwnClaim::Outside,
    }
}

/// Returns the ids of the claims that have a slot.
fn claims_inside(answer: &Answer) -> HashSet<String> {
    answer.kvs().iter().map(|kv| last(&kv.key)).collect()
}

/// Returns the operations that read the state of the claim `id`.
fn own_ops(keys: &Keys, id: &str) -> [Op; 2] {
    [Op::get(keys.waiting(id)), Op::get(keys.inside(id))]
}

/// Interprets the answer to [`own_ops`].
fn read_own(answers: &[Answer]) -> Result<OwnClaim, Error> {
    let kv = |at: usize| answers.get(at).and_then(|answer: &Answer| answer.first());
    if let Some(kv) = kv(1) {
        return read_inside(kv);
    }
    Ok(kv(0).map_or(OwnClaim::Outside, |kv| OwnClaim::Waiting { created: kv.create_revision }))
}

fn read_door(answer: &Answer) -> Result<Option<SeenDoor>, Error> {
    let read = |kv: &KeyValue| {
        let door: Door = records::read(&kv.key, &kv.value)?;
        Ok(SeenDoor { door, created: kv.create_revision, modified: kv.mod_revision })
    };
    answer.first().map(read).transpose()
}

fn damaged(kv: &KeyValue, why: &str) -> Error {
    Error::Damaged { key: String::from_utf8_lossy(&kv.key).into_owned(), why: why.into() }
}

fn too_short() -> Error {
    let why = "an answer has too few parts".into();
    Error::System { doing: "read the hall", why }
}
