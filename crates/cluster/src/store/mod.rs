//! The interface between the protocol and the external engine that keeps the halls.
//!
//! A [`Store`] is one engine: etcd, PostgreSQL, or the memory of this process. Everything else in this crate exists
//! once, above this trait: claims, how they are confirmed, tokens, hand-over, waiting, reaping, resizing and status.
//!
//! A store keeps *records*: keys with a value, the [revisions](Revision) in which the record was created and last
//! written, and possibly a lease. It must guarantee the following:
//!
//! 1. **A step is atomic.** [`step`](Store::step) checks conditions on the records of one hall and then reads and
//!    writes them, as if nothing happened in between. Every step that writes has a larger revision than all steps
//!    before it.
//! 2. **A late step does nothing harmful.** A step may take effect after its sender has given up on it. Its conditions
//!    name revisions, so it does nothing if the records have changed in the meantime. A record with a lease can only be
//!    written while the lease exists, and a lease that has ended never exists again.
//! 3. **An answer is up to date.** An answer shows everything that was acknowledged before the step was sent. A server
//!    that was replaced by another one must not answer. So if an answer shows the claim of a holder, the claim still
//!    existed when the step was sent: it proves that the holder may continue. Only a step that reads
//!    [without consensus](Op::without_consensus) may show an older state.
//! 4. **A watch does not skip changes silently.** A [`Watch`] starts now, and reports all changes after the revision
//!    that it names. If it may have missed a change, it fails, and its owner reads the hall again. It may report a
//!    change twice or late.
//! 5. **A lease is a hint.** The records of a lease vanish some time after its owner stops renewing it. They may also
//!    vanish too early. The protocol is safe in both cases.
//! 6. **A lost history is noticed.** Every answer has a [`Stamp`]: an epoch and a revision. If an answer by consensus
//!    has a smaller stamp than an answer that arrived before the request was sent, the store has lost history. This
//!    process then loses all passes that it has. The store calls [`History::note`] or [`History::note_answer`] for each
//!    answer by consensus, and puts the generation that this returns into the answer. The code above the trait does the
//!    rest.
//!
//! No step has more than [`MAX_PARTS`] conditions, or operations in one branch.
//!
//! # Adding a store
//!
//! 1. Add a folder with the options of the store and a type that implements the trait. `memory/` is the smallest
//!    example. A store that can replace a hall only as a whole keeps it as a [`Document`]: this type performs a step on
//!    its own, so the store only has to load, compare and swap.
//! 2. Add a variant to [`StoreOptions`](crate::StoreOptions), a line to each `match` on it in `options.rs`, and its URL
//!    to `StoreOptions::parse`.
//! 3. Add its URL to `urls` in `store/tests.rs`, which tests these guarantees, and a type for it to
//!    `tests/conformance.rs`, which tests halls.
//!
//! In the program `hallpass`, `location/args.rs` passes user, password and TLS options on to the options of the store.

mod document;
mod history;
mod range;
mod step;

#[cfg(test)]
pub(crate) mod tests;

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use crate::{Error, failure::Failure};

pub(crate) use document::Document;
pub(crate) use history::{History, Stamp};
pub(crate) use range::KeyRange;
pub(crate) use step::{
    Answer, Condition, KeyRead, KeyValue, MAX_PARTS, Op, Order, Step, StepResponse, When,
};

/// A number that the store gives to a step that writes. Later steps get larger numbers.
pub(crate) type Revision = i64;

/// Identifies a lease of the store. 0 means no lease.
pub(crate) type LeaseId = i64;

/// The future result of a request to a store.
pub(crate) type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Where a store is, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The name of the engine, such as `etcd`.
    pub engine: &'static str,
    /// The addresses of its servers.
    pub endpoints: String,
}

/// A long activity of a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// The passage has waited in the queue for some time, and will probably wait longer.
    Waiting,
    /// The passage has a slot, or leaves.
    Holding,
}

/// An external engine that keeps halls. The [module](self) says what it must guarantee.
///
/// Each call makes one attempt, for a bounded time. Callers that may repeat a request use a
/// [`Retry`](crate::retry::Retry).
pub(crate) trait Store: Send + Sync + 'static {
    /// Returns where the store is, for messages.
    fn place(&self) -> Place;

    /// Returns the history that this process has seen. Halls share it if they share revisions.
    fn history(&self, hall: &str) -> Arc<History>;

    /// Returns the prefix of all keys of a hall.
    fn base(&self, hall: &str) -> String;

    /// Fails if this store cannot keep a hall of this name.
    fn check_name(&self, _hall: &str) -> Result<(), Error> {
        Ok(())
    }

    /// Fails if the servers of the store are known to belong to different clusters.
    fn check_servers<'a>(&'a self, _hall: &'a str) -> Reply<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Performs a step on the records of one hall.
    fn step<'a>(&'a self, hall: &'a str, step: Step) -> Reply<'a, StepResponse>;

    /// Reads one record, by consensus. A store that may be unable to write can override this with a request that it
    /// answers even then.
    fn read<'a>(&'a self, hall: &'a str, key: String) -> Reply<'a, KeyRead> {
        Box::pin(async move {
            let look = Step { then: vec![Op::get(key)], ..Step::default() };
            let StepResponse { revision, generation, answers, .. } = self.step(hall, look).await?;
            let kv = answers.first().and_then(Answer::first).cloned();
            Ok(KeyRead { kv, revision, generation })
        })
    }

    /// Watches the records of one hall in these ranges, from now on.
    fn watch<'a>(&'a self, hall: &'a str, ranges: Vec<KeyRange>) -> Reply<'a, Watch>;

    /// Grants a lease for records of this hall.
    fn grant<'a>(&'a self, hall: &'a str, ttl: Duration) -> Reply<'a, LeaseId>;

    /// Renews a lease. Returns `false` if the lease no longer exists.
    fn keep_alive<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, bool>;

    /// Ends a lease and deletes its records. Also succeeds if the lease is gone already.
    fn revoke<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, ()>;

    /// Returns how long ago each of these leases was granted or last renewed, as far as the store can tell. Leases that
    /// no longer exist are left out. The times are for display only: the store measures them by its own clock, and
    /// perhaps in whole seconds.
    fn renewal_ages<'a>(
        &'a self,
        hall: &'a str,
        leases: Vec<LeaseId>,
    ) -> Reply<'a, HashMap<LeaseId, Duration>>;

    /// Lists the names of the halls that exist: those with a [`Door`](crate::records::Door) record.
    fn names(&self) -> Reply<'_, Vec<String>>;

    /// Hints that an activity of this process begins or ends. A store may use fewer resources while the process does
    /// nothing but wait. May be called by any thread.
    fn note_activity(&self, _activity: Activity, _begins: bool) {}

    /// Writes one small record, to measure how long this takes.
    fn write(&self) -> Reply<'_, ()>;
}

/// Reports changes of records.
pub(crate) struct Watch {
    /// The watch reports all changes after this revision, and possibly some shortly before it.
    pub since: Revision,
    pub changes: Box<dyn Changes>,
}

/// The changes that a [`Watch`] reports. Dropping this value ends the watch.
pub(crate) trait Changes: Send {
    /// Waits for the next changes, at least one. After a failure, there are no more. A caller may drop the future and
    /// call again: no change is lost.
    fn next(&mut self) -> Reply<'_, Vec<Event>>;
}

/// A change of a record.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Event {
    pub deleted: bool,
    /// The record after the change; its `mod_revision` is that of the change. Of a deleted record, only the key and
    /// this revision are set.
    pub kv: KeyValue,
}

impl Event {
    /// Returns whether the record was written after this revision.
    pub(crate) fn is_put_after(&self, revision: Revision) -> bool {
        !self.deleted && self.kv.mod_revision > revision
    }

    /// Returns whether the record was deleted after this revision.
    pub(crate) fn is_deleted_after(&self, revision: Revision) -> bool {
        self.deleted && self.kv.mod_revision > revision
    }
}
