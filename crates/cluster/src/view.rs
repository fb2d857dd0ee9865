//! A hall as one transaction saw it. These types do not depend on the store.

use std::collections::{BTreeMap, HashSet};

use hallpass_algorithms::halls::cluster::ClaimState;

use crate::{
    records::{ClaimRecord, Door, ExpiryRecord},
    slot_set::SlotSet,
};

pub(crate) use crate::store::{LeaseId, Revision};

/// The number of bits of the revision in a token. At a million revisions a second, they last for eight years.
const REVISION_BITS: u32 = 48;

/// Returns the epoch of a token: its upper bits.
pub(crate) fn epoch(token: u64) -> u64 {
    token >> REVISION_BITS
}

/// Returns the token of this epoch and revision.
pub(crate) fn token_of(epoch: u64, revision: Revision) -> u64 {
    epoch << REVISION_BITS | revision.unsigned_abs()
}

/// The claim that makes a request.
#[derive(Clone, Copy)]
pub(crate) struct ClaimRef<'a> {
    pub record: &'a ClaimRecord,
    pub lease: LeaseId,
    /// The slots that the claim had when it was last seen.
    pub slots: SlotSet,
}

/// A claim in the queue.
#[derive(Clone, Debug)]
pub(crate) struct Waiter {
    /// The revision in which the claim was created: its position in the queue.
    pub created: Revision,
    pub lease: LeaseId,
    pub record: ClaimRecord,
}

/// The claim to which a slot is assigned.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    /// The revision in which the record of the slot was last written: when the slot was assigned, or when its claim
    /// was created again. It identifies the claim that has to be gone before the slot may be reassigned.
    pub version: Revision,
    pub record: ClaimRecord,
}

impl Owner {
    pub(crate) fn token(&self) -> u64 {
        token(&self.record, self.version)
    }
}

/// Returns the token of a claim that has a slot. `version` is the [version](Owner::version) of the slot.
pub(crate) fn token(record: &ClaimRecord, version: Revision) -> u64 {
    record.token.unwrap_or_else(|| token_of(record.epoch, version))
}

/// The door of a hall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SeenDoor {
    pub door: Door,
    /// The revision in which the door was created. It identifies the hall: if a hall is removed and created again,
    /// this revision is a different one.
    pub created: Revision,
    /// The revision in which the door was last written.
    pub modified: Revision,
}

/// A hall as one transaction saw it.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub revision: Revision,
    /// The number of times that this client had noticed, by then, that the store had lost its history.
    pub generation: u64,
    pub door: Option<SeenDoor>,
    pub slots: BTreeMap<usize, Owner>,
    /// The ids of the claims that have a slot.
    pub inside: HashSet<String>,
    /// The head of the queue.
    pub first: Option<Waiter>,
    /// Expiries that any machine has recorded, by its own clock.
    pub expiries: Vec<ExpiryRecord>,
    /// The state of the claim that made the request.
    pub own: OwnClaim,
}

/// The state of the claim that made a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OwnClaim {
    /// The claim does not exist.
    Outside,
    /// This transaction has removed the claim.
    Released,
    /// The claim is in the queue.
    Waiting { created: Revision },
    /// The claim has all slots that it takes.
    Inside {
        slots: SlotSet,
        /// The [version](Owner::version) of the slots. All of them were assigned in one transaction.
        version: Revision,
        token: u64,
    },
    /// The claim is gone, but its slots are still assigned to it: its owner may create it again.
    Detached { slots: SlotSet, version: Revision, token: u64 },
}

impl OwnClaim {
    pub(crate) fn is_inside(self) -> bool {
        matches!(self, OwnClaim::Inside { .. })
    }

    pub(crate) fn state(self) -> ClaimState {
        match self {
            OwnClaim::Outside | OwnClaim::Released | OwnClaim::Detached { .. } => {
                ClaimState::Absent
            }
            OwnClaim::Waiting { .. } => ClaimState::Waiting,
            OwnClaim::Inside { slots, .. } => ClaimState::Holding(slots.first().unwrap_or(0)),
        }
    }
}

impl View {
    /// Returns a view that shows one claim and nothing else.
    pub(crate) fn of_claim(own: OwnClaim, revision: Revision, generation: u64) -> View {
        View {
            revision,
            generation,
            door: None,
            slots: BTreeMap::new(),
            inside: HashSet::new(),
            first: None,
            expiries: Vec::new(),
            own,
        }
    }

    /// Returns the number of slots: 0 if the hall is closed or was removed.
    pub(crate) fn size(&self) -> usize {
        self.door.map_or(0, |seen| seen.door.size())
    }

    /// Returns the revision that identifies the hall, or `None` if the view shows no hall.
    pub(crate) fn hall(&self) -> Option<Revision> {
        self.door.map(|seen| seen.created)
    }

    /// Returns the epoch of the hall.
    pub(crate) fn epoch(&self) -> u64 {
        self.door.map_or(0, |seen| seen.door.epoch)
    }

    /// Returns a token that is at least as large as those of all passes up to this view.
    pub(crate) fn largest_token(&self) -> u64 {
        token_of(self.epoch(), self.revision)
    }

    /// Returns the smallest slot that is assigned to no claim.
    pub(crate) fn free(&self) -> Option<usize> {
        self.free_slots(1).and_then(SlotSet::first)
    }

    /// Returns the smallest `take` slots that are assigned to no claim; `None` if there are fewer.
    pub(crate) fn free_slots(&self, take: usize) -> Option<SlotSet> {
        let free = (0..self.size()).filter(|slot| !self.slots.contains_key(slot));
        let slots: SlotSet = free.take(take).collect();
        (slots.len() == take).then_some(slots)
    }

    /// Iterates over the stale slots. A stale slot is assigned to a claim that no longer exists.
    pub(crate) fn stale(&self) -> impl Iterator<Item = (usize, &Owner)> {
        let gone = |owner: &Owner| !self.inside.contains(&owner.record.id);
        self.slots.iter().filter(move |(_, owner)| gone(owner)).map(|(slot, owner)| (*slot, owner))
    }
}
