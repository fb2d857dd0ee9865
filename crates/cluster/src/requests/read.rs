//! Views as steps of a store: the operations that read a view, and the interpretation of the answer.

use std::collections::{BTreeMap, HashSet};

use super::keys::{Keys, last};
use crate::{
    Error,
    records::{self, ClaimRecord, Door},
    store::{Answer, KeyValue, Op, TxnResponse},
    view::{ClaimRef, OwnClaim, Owner, SeenDoor, View, Waiter, token},
};

/// Returns the operations that read a whole view. `id` is the claim that makes the request.
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

/// Interprets the answer to [`ops`], which are the last `ops` operations of the transaction.
pub(crate) fn read(response: &TxnResponse, ops: usize, id: Option<&str>) -> Result<View, Error> {
    let answers = &response.answers;
    let [door, slots, inside, first, expiries, own @ ..] =
        &answers[answers.len().saturating_sub(ops)..]
    else {
        return Err(too_short());
    };
    let owner = |kv: &KeyValue| -> Result<(usize, Owner), Error> {
        let record: ClaimRecord = records::read(&kv.key, &kv.value)?;
        let slot = last(&kv.key).parse().map_err(|_| damaged(kv, "it is no slot"))?;
        Ok((slot, Owner { version: kv.mod_revision, record }))
    };
    let slots: BTreeMap<_, _> = slots.kvs().iter().map(owner).collect::<Result<_, _>>()?;
    let own = match read_own(own)? {
        OwnClaim::Inside { slot, version, .. } => match slots.get(&slot) {
            Some(owner) if owner.version == version => with_slot(slot, owner, true),
            // Another process has removed or replaced the record of the slot of this claim.
            _ => OwnClaim::Outside,
        },
        OwnClaim::Outside => {
            let mine = slots.iter().find(|(_, owner)| id == Some(owner.record.id.as_str()));
            mine.map_or(OwnClaim::Outside, |(slot, owner)| with_slot(*slot, owner, false))
        }
        own => own,
    };
    Ok(View {
        revision: response.revision,
        generation: response.generation,
        door: read_door(door)?,
        slots,
        inside: inside.kvs().iter().map(|kv| last(&kv.key)).collect(),
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

/// Returns the operations that read the records that a holder needs for leaving: the door, the head of the queue, its
/// claim and its slot.
pub(super) fn ops_to_leave(keys: &Keys, own: ClaimRef<'_>) -> Vec<Op> {
    let [waiting, inside] = own_ops(keys, &own.record.id);
    let slot = own.slot.map(|slot| Op::get(keys.slot(slot)));
    let door = [Op::get(keys.door()), Op::oldest(keys.queue()), waiting, inside];
    door.into_iter().chain(slot).collect()
}

/// Interprets the answer to [`ops_to_leave`].
pub(crate) fn read_to_leave(response: &TxnResponse, id: &str) -> Result<View, Error> {
    let [door, first, waiting, inside, slot @ ..] = &response.answers[..] else {
        return Err(too_short());
    };
    let mut own = read_own(&[waiting.clone(), inside.clone()])?;
    if let Some(slot) = slot.first() {
        own = with_slot_record(own, slot.first(), id)?;
    }
    Ok(View {
        revision: response.revision,
        generation: response.generation,
        door: read_door(door)?,
        slots: BTreeMap::new(),
        inside: HashSet::new(),
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
    let slot = record.slot.ok_or_else(|| damaged(kv, "it has no slot"))?;
    let version = kv.mod_revision;
    Ok(OwnClaim::Inside { slot, version, token: token(&record, version) })
}

/// Returns the state of the claim `id`. `own` is its state by its own keys. The other argument is the record of
/// the slot that it had.
pub(crate) fn with_slot_record(
    own: OwnClaim,
    slot: Option<&KeyValue>,
    id: &str,
) -> Result<OwnClaim, Error> {
    match (own, slot) {
        (OwnClaim::Inside { version, .. }, Some(kv)) if kv.mod_revision == version => Ok(own),
        // Another process has removed or replaced the record of the slot of this claim.
        (OwnClaim::Inside { .. }, _) => Ok(OwnClaim::Outside),
        (OwnClaim::Outside, Some(kv)) => {
            let record: ClaimRecord = records::read(&kv.key, &kv.value)?;
            let (mine, version) = (record.id == id, kv.mod_revision);
            let token = token(&record, version);
            let slot = record.slot.filter(|_| mine);
            Ok(slot.map_or(own, |slot| OwnClaim::Detached { slot, version, token }))
        }
        _ => Ok(own),
    }
}

/// Returns the state of the claim that a slot is assigned to. `exists` says whether the claim itself exists.
fn with_slot(slot: usize, owner: &Owner, exists: bool) -> OwnClaim {
    let (version, token) = (owner.version, owner.token());
    match exists {
        true => OwnClaim::Inside { slot, version, token },
        false => OwnClaim::Detached { slot, version, token },
    }
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
