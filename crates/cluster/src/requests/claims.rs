//! Requests about a single claim.

use super::{HallStore, read};
use crate::{
    failure::StoreError,
    records::{self, ClaimRecord},
    view::{ClaimRef, OwnClaim, Revision, View},
};

impl HallStore {
    /// Reads the state of a claim with plain reads instead of a step, because older versions of etcd refuse every step
    /// while they have no space. The view shows only this claim.
    pub(super) async fn claim_alone(&self, own: ClaimRef<'_>) -> Result<View, StoreError> {
        let id = &own.record.id;
        // The order of these reads matters. If the claim is not in the queue, the second read shows whether it has
        // a slot or is gone.
        let waiting = self.store.read(&self.name, self.keys.waiting(id)).await?;
        let inside = self.store.read(&self.name, self.keys.inside(id)).await?;
        let (revision, generation) = (inside.revision, inside.generation);
        let mut claim = match (&inside.kv, &waiting.kv) {
            (Some(kv), _) => read::read_inside(kv)?,
            (None, Some(kv)) => OwnClaim::Waiting { created: kv.create_revision },
            (None, None) => OwnClaim::Outside,
        };
        if let OwnClaim::Inside { slots, .. } = claim {
            let mut records = Vec::new();
            for slot in slots.iter() {
                records.push(self.store.read(&self.name, self.keys.slot(slot)).await?.kv);
            }
            claim = read::with_slot_records(claim, records.iter().map(Option::as_ref), id)?;
        }
        Ok(View::of_claim(claim, revision, generation))
    }

    /// Creates a claim again after its lease has ended, while its slots are still assigned to it. Returns the records
    /// that a holder needs for leaving.
    pub(crate) async fn attach(
        &self,
        own: ClaimRef<'_>,
        hall: Revision,
        was: OwnClaim,
    ) -> Result<View, StoreError> {
        let OwnClaim::Detached { slots, version, token } = was else {
            return self.exit_view(own).await;
        };
        let slot = slots.first().unwrap_or(0);
        // The record of a slot shows since when the claim has had its slots.
        let record = self.store.read(&self.name, self.keys.slot(slot)).await?.kv;
        let record =
            record.map(|kv| records::read::<ClaimRecord>(&kv.key, &kv.value)).transpose()?;
        let since = record.map_or(own.record.since, |record| record.since);
        let record = ClaimRecord { token: Some(token), since, ..own.record.clone() };
        let step = self.attachment(own, hall, (slots, version), &record.with_slots(slots));
        self.step(step).await?;
        self.exit_view(own).await
    }
}
