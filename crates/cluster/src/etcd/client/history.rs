//! The history of the cluster, as far as this client has seen it.
//!
//! A cluster that is restored from a backup, or wiped, counts revisions again from an earlier one. An answer by
//! consensus shows everything that was acknowledged before the request was sent. So if the revision of an answer is
//! smaller than a revision that this client had seen when it sent the request, history was lost. Members of another
//! cluster have another identity.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinSet};

use super::{Client, Failure};

/// The history that this client has seen.
#[derive(Default)]
pub(super) struct History {
    seen: Mutex<Seen>,
    /// How often history was lost.
    generation: watch::Sender<u64>,
}

#[derive(Default)]
struct Seen {
    /// The identity of the cluster, once a member has answered.
    cluster: Option<u64>,
    generation: u64,
    /// The largest revision of this generation.
    revision: i64,
    /// The time at which this client noticed that history was lost.
    lost: Option<Instant>,
    /// The reason why the members do not belong to one cluster; `None` while no such reason is known.
    mixed: Option<String>,
    /// Whether all members were asked which cluster they belong to.
    checked: bool,
}

/// The history that a client had seen when it sent a request.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    generation: u64,
    revision: i64,
}

impl History {
    /// Returns the history seen so far, for a request that is about to be sent.
    pub(super) fn sent(&self) -> Sent {
        let seen = self.lock();
        Sent { generation: seen.generation, revision: seen.revision }
    }

    /// Notes the identity of the cluster that a member belongs to.
    ///
    /// # Errors
    /// Returns an error if another member belongs to another cluster.
    pub(super) fn note_cluster(&self, cluster: u64) -> Result<(), Failure> {
        let mut seen = self.lock();
        let first = *seen.cluster.get_or_insert(cluster);
        if first != cluster {
            let why = "the members belong to different clusters";
            let advice = "name members of one cluster only";
            seen.mixed = Some(format!("{why}, {first:x} and {cluster:x}: {advice}"));
        }
        drop(seen);
        self.check()
    }

    /// Returns whether all members were asked before, and records that they are asked now.
    fn is_checked(&self) -> bool {
        std::mem::replace(&mut self.lock().checked, true)
    }

    /// Fails if the members are known to belong to different clusters.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.lock().mixed.clone().map_or(Ok(()), |why| Err(Failure::OtherCluster(why)))
    }

    /// Notes an answer by consensus, and returns its generation. A request that wrote something has got a new
    /// revision.
    pub(super) fn note(&self, sent: Sent, revision: i64, wrote: bool) -> u64 {
        let mut seen = self.lock();
        if sent.generation != seen.generation {
            // The loss was noticed while the request was under way. The answer may be from before or after it.
            return sent.generation;
        }
        if revision < sent.revision + i64::from(wrote) {
            seen.generation += 1;
            seen.revision = revision;
            seen.lost = Some(Instant::now());
            self.generation.send_replace(seen.generation);
        } else {
            seen.revision = seen.revision.max(revision);
        }
        seen.generation
    }

    /// Returns how often history was lost.
    pub(super) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Waits until history was lost more than `generation` times.
    pub(super) async fn await_loss(&self, generation: u64) {
        // The sender lives as long as this future.
        let _ = self.generation.subscribe().wait_for(|now| *now > generation).await;
    }

    /// Returns how long ago this client noticed that history was lost; `None` if it was never lost.
    pub(super) fn since_loss(&self) -> Option<Duration> {
        self.lock().lost.map(|lost| lost.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// Asks all members, once, which cluster they belong to. `key` is a key that this user may read.
    ///
    /// # Errors
    /// Returns an error if the members that answer belong to different clusters.
    pub(crate) async fn check_members(&self, key: String) -> Result<(), Failure> {
        if self.shared.members.count() == 1 || self.shared.history.is_checked() {
            return Ok(());
        }
        let mut answers = JoinSet::new();
        for line in self.shared.members.lines() {
            let (client, key) = (self.clone(), key.clone());
            answers.spawn(async move { client.cluster_of(&line, key).await });
        }
        while let Some(answer) = answers.join_next().await {
            if let Ok(Ok(cluster)) = answer {
                self.shared.history.note_cluster(cluster)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_older_than_its_request_proves_that_history_was_lost() {
        let history = History::default();
        let early = history.sent();
        assert_eq!(history.note(history.sent(), 10, true), 0);
        // A late answer to an early request proves nothing.
        assert_eq!(history.note(early, 5, false), 0);
        assert!(history.since_loss().is_none());
        let before = history.sent();
        assert_eq!(history.note(history.sent(), 9, false), 1);
        assert!(history.since_loss().is_some());
        // The same loss is noticed only once, and revisions are compared from there on.
        assert_eq!(history.note(before, 9, false), 0);
        assert_eq!(history.note(history.sent(), 9, false), 1);
        // A write whose revision is not larger than the largest one seen shows that history was lost.
        assert_eq!(history.note(history.sent(), 9, true), 2);
    }

    #[test]
    fn members_of_another_cluster_are_refused() {
        let history = History::default();
        assert!(history.note_cluster(1).is_ok() && history.note_cluster(1).is_ok());
        assert!(matches!(history.note_cluster(2), Err(Failure::OtherCluster(_))));
    }
}
