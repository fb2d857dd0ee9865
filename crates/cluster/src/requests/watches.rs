//! The two watches that a hall needs: one for the changes that concern a waiter, and one for arrivals in an empty
//! queue.

use super::{
    keys::Keys,
    read::{read_inside, read_waiter},
};
use crate::{
    Error,
    failure::Failure,
    store::{Event, KeyRange, Watch},
    view::{OwnClaim, Revision, Waiter},
};

/// Reports the changes that concern one waiter.
pub(crate) struct TurnWatch {
    watch: Watch,
    keys: TurnKeys,
}

/// The keys that concern one waiter.
struct TurnKeys {
    /// The key of the claim right before the waiter in the queue; `None` for the head of the queue.
    predecessor: Option<String>,
    /// The key that appears when the waiter gets a slot.
    inside: String,
}

/// What a change in the store means for a waiter.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum TurnChange {
    /// The claim of the waiter has a slot now.
    Inside(OwnClaim),
    /// A change that may concern the waiter.
    Other,
    /// The predecessor is gone, or the watch has ended. The waiter has to find out again which keys to watch.
    NewPredecessor,
}

impl TurnWatch {
    pub(super) fn new(watch: Watch, keys: &Keys, predecessor: Option<&str>, id: &str) -> Self {
        TurnWatch { watch, keys: TurnKeys::new(keys, predecessor, id) }
    }

    /// Returns the revision after which the watch reports all changes. The watch may also report some changes shortly
    /// before it.
    pub(crate) fn since(&self) -> Revision {
        self.watch.since
    }

    /// Waits for the next change. Changes up to `seen` are known already.
    pub(crate) async fn next(&mut self, seen: Revision) -> Result<TurnChange, Error> {
        self.keys.interpret(self.watch.changes.next().await, seen)
    }
}

/// Returns the ranges that show a waiter its turn. Only the head of the queue watches all claims that have a slot. So
/// the store reports each release to only a few waiters.
pub(super) fn turn_ranges(keys: &Keys, predecessor: Option<&str>, id: &str) -> Vec<KeyRange> {
    let door = KeyRange::one(keys.door());
    match predecessor {
        None => vec![door, keys.all_inside()],
        Some(other) => {
            let other = KeyRange::one(keys.waiting(other));
            vec![door, other, KeyRange::one(keys.inside(id))]
        }
    }
}

impl TurnKeys {
    fn new(keys: &Keys, predecessor: Option<&str>, id: &str) -> Self {
        TurnKeys { predecessor: predecessor.map(|id| keys.waiting(id)), inside: keys.inside(id) }
    }

    fn interpret(
        &self,
        events: Result<Vec<Event>, Failure>,
        seen: Revision,
    ) -> Result<TurnChange, Error> {
        let Ok(events) = events else { return Ok(TurnChange::NewPredecessor) };
        // A server of the store that lags behind may report changes that this waiter has seen already, so compare
        // revisions.
        let own =
            |event: &&Event| event.is_put_after(seen) && event.kv.key == self.inside.as_bytes();
        if let Some(event) = events.iter().find(own) {
            return Ok(TurnChange::Inside(read_inside(&event.kv)?));
        }
        let predecessor = self.predecessor.as_ref().map(String::as_bytes);
        let gone =
            |event: &Event| event.is_deleted_after(seen) && Some(&*event.kv.key) == predecessor;
        Ok(match events.iter().any(gone) {
            true => TurnChange::NewPredecessor,
            false => TurnChange::Other,
        })
    }
}

/// Reports arrivals in the queue.
pub(crate) struct ArrivalWatch(pub(super) Watch);

impl ArrivalWatch {
    /// Returns the revision after which the watch reports all arrivals. The watch may also report some arrivals shortly
    /// before it.
    pub(crate) fn since(&self) -> Revision {
        self.0.since
    }

    /// Waits for the next changes of the queue, and returns the first arrival after `seen` among them.
    pub(crate) async fn next(&mut self, seen: Revision) -> Result<Option<Waiter>, Failure> {
        let events = self.0.changes.next().await?;
        let arrival = events.iter().find(|event| event.is_put_after(seen));
        Ok(arrival.and_then(|event| read_waiter(&event.kv).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::KeyValue;

    fn event(key: &str, deleted: bool, mod_revision: Revision) -> Event {
        Event { deleted, kv: KeyValue { key: key.into(), mod_revision, ..KeyValue::default() } }
    }

    #[test]
    fn a_change_that_was_read_before_is_reported_as_other() {
        let keys = TurnKeys { predecessor: Some("queue/a".into()), inside: "inside/b".into() };
        let change = |event| keys.interpret(Ok(vec![event]), 10);
        let deleted = change(event("queue/a", true, 11)).expect("a plain event");
        assert_eq!(deleted, TurnChange::NewPredecessor);
        for old in [event("queue/a", true, 10), event("inside/b", false, 10)] {
            assert_eq!(change(old).expect("a plain event"), TurnChange::Other);
        }
        // A new key is read as a claim that has a slot. This key has no value to read.
        assert!(change(event("inside/b", false, 11)).is_err());
    }
}
