//! A hall as one transaction has seen it.

use std::collections::{BTreeMap, HashSet};

use hallpass_algorithms::halls::cluster::Standing;

use crate::{
    Error,
    client::{Answer, KeyValue, Op, TxnResponse},
    keys::{Keys, last},
    records::{self, Claim, Door, Gone},
};

/// A claim that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiter {
    /// The revision in which it was made.
    pub made: i64,
    pub lease: i64,
    pub claim: Claim,
}

impl Waiter {
    pub(crate) fn read(kv: &KeyValue) -> Result<Self, Error> {
        let claim = records::read(&kv.key, &kv.value)?;
        Ok(Waiter { made: kv.create_revision, lease: kv.lease, claim })
    }
}

/// Whose a slot is.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    /// The revision in which it got it.
    pub token: i64,
    pub claim: Claim,
}

/// A hall as one transaction has seen it.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub revision: i64,
    /// How many may be in, and the revision in which that was said.
    pub door: Option<(Door, i64)>,
    pub slots: BTreeMap<usize, Owner>,
    /// The claims inside.
    pub inside: HashSet<String>,
    pub first: Option<Waiter>,
    /// What others have seen, by their clocks.
    pub gone: Vec<Gone>,
    pub me: Me,
}

/// Where my claim is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Me {
    Outside,
    /// Outside, and it was there until that transaction.
    Released,
    Waiting {
        made: i64,
    },
    Inside {
        slot: usize,
        token: i64,
    },
}

impl Me {
    pub(crate) fn standing(self) -> Standing {
        match self {
            Me::Outside | Me::Released => Standing::Outside,
            Me::Waiting { .. } => Standing::Waiting,
            Me::Inside { slot, .. } => Standing::Inside(slot),
        }
    }

    /// Asks where this claim is.
    pub(crate) fn ops(keys: &Keys, id: &str) -> [Op; 2] {
        [Op::get(keys.waiting(id)), Op::get(keys.inside(id))]
    }

    /// The answer to [`ops`](Me::ops).
    pub(crate) fn read(answers: &[Answer]) -> Result<Me, Error> {
        let kv = |at: usize| answers.get(at).and_then(|answer: &Answer| answer.first());
        if let Some(kv) = kv(1) {
            return Me::inside(kv);
        }
        Ok(kv(0).map_or(Me::Outside, |kv| Me::Waiting { made: kv.create_revision }))
    }

    /// One that has this key inside.
    pub(crate) fn inside(kv: &KeyValue) -> Result<Me, Error> {
        let claim: Claim = records::read(&kv.key, &kv.value)?;
        let slot = claim.slot.ok_or_else(|| Error::Damaged {
            key: String::from_utf8_lossy(&kv.key).into_owned(),
            why: "it has no slot".into(),
        })?;
        Ok(Me::Inside { slot, token: kv.create_revision })
    }
}

impl View {
    /// Asks for all that a view has.
    pub(crate) fn ops(keys: &Keys, id: Option<&str>) -> Vec<Op> {
        let mut ops = vec![
            Op::get(keys.door()),
            Op::list(keys.slots()),
            Op::keys(keys.all_inside()),
            Op::oldest(keys.queue()),
            Op::list(keys.all_gone()),
        ];
        ops.extend(id.into_iter().flat_map(|id| Me::ops(keys, id)));
        ops
    }

    /// The answer to [`ops`](View::ops), which come last in the transaction.
    pub(crate) fn read(response: &TxnResponse, ops: usize) -> Result<View, Error> {
        let answers = &response.answers;
        let [door, slots, inside, first, gone, me @ ..] =
            &answers[answers.len().saturating_sub(ops)..]
        else {
            return Err(short());
        };
        let owner = |kv: &KeyValue| -> Result<(usize, Owner), Error> {
            let claim: Claim = records::read(&kv.key, &kv.value)?;
            let slot = last(&kv.key).parse().map_err(|_| Error::Damaged {
                key: String::from_utf8_lossy(&kv.key).into_owned(),
                why: "it is no slot".into(),
            })?;
            Ok((slot, Owner { token: kv.mod_revision, claim }))
        };
        Ok(View {
            revision: response.revision,
            door: read_door(door)?,
            slots: slots.kvs().iter().map(owner).collect::<Result<_, _>>()?,
            inside: inside.kvs().iter().map(|kv| last(&kv.key)).collect(),
            first: first.first().map(Waiter::read).transpose()?,
            // What cannot be read was not seen.
            gone: gone
                .kvs()
                .iter()
                .filter_map(|kv| records::read(&kv.key, &kv.value).ok())
                .collect(),
            me: Me::read(me)?,
        })
    }

    /// Asks for as much of it as one needs to leave.
    pub(crate) fn ops_to_leave(keys: &Keys, id: &str) -> Vec<Op> {
        let [waiting, inside] = Me::ops(keys, id);
        vec![Op::get(keys.door()), Op::oldest(keys.queue()), waiting, inside]
    }

    /// The answer to [`ops_to_leave`](View::ops_to_leave).
    pub(crate) fn read_to_leave(response: &TxnResponse) -> Result<View, Error> {
        let [door, first, me @ ..] = &response.answers[..] else { return Err(short()) };
        Ok(View {
            revision: response.revision,
            door: read_door(door)?,
            slots: BTreeMap::new(),
            inside: HashSet::new(),
            gone: Vec::new(),
            first: first.first().map(Waiter::read).transpose()?,
            me: Me::read(me)?,
        })
    }

    /// How many may be in: none if it is closed or gone.
    pub(crate) fn size(&self) -> usize {
        self.door.map_or(0, |(door, _)| door.size())
    }

    /// The smallest slot that is nobody's.
    pub(crate) fn free(&self) -> Option<usize> {
        (0..self.size()).find(|slot| !self.slots.contains_key(slot))
    }

    /// Slots whose claim is gone.
    pub(crate) fn stale(&self) -> impl Iterator<Item = (usize, &Owner)> {
        let gone = |owner: &Owner| !self.inside.contains(&owner.claim.claim);
        self.slots.iter().filter(move |(_, owner)| gone(owner)).map(|(slot, owner)| (*slot, owner))
    }
}

fn read_door(answer: &Answer) -> Result<Option<(Door, i64)>, Error> {
    let read = |kv: &KeyValue| Ok((records::read(&kv.key, &kv.value)?, kv.mod_revision));
    answer.first().map(read).transpose()
}

fn short() -> Error {
    Error::Refused { why: "it answered less than it was asked".into() }
}
