//! The history of the store, as far as this process has seen it.
//!
//! If a store is restored from a backup or wiped, its revision number goes back to a smaller one. An answer by
//! consensus shows everything that was acknowledged before the request was sent. So if the [stamp](Stamp) of an answer
//! is smaller than a stamp that this process had seen when it sent the request, history was lost.
//!
//! A cluster usually has its own identity. Then this process also notices servers that belong to different clusters.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::Revision;
use crate::failure::Failure;

/// The position of an answer in the history of the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Stamp {
    /// The part of the history, such as the timeline of a database. Later parts have larger numbers. 0 if the store
    /// does not number the parts of its history.
    pub epoch: u64,
    pub revision: Revision,
}

/// The history that this process has seen.
#[derive(Default)]
pub(crate) struct History {
    seen: Mutex<Seen>,
    /// The number of times that history was lost.
    generation: watch::Sender<u64>,
}

#[derive(Default)]
struct Seen {
    /// The identity of the cluster, once a server has answered.
    cluster: Option<u64>,
    generation: u64,
    /// The largest stamp of this generation.
    stamp: Stamp,
    /// The time at which this process, or an earlier one, noticed the latest loss of history.
    lost: Option<Instant>,
    /// The reason why the servers do not belong to one cluster; `None` while no such reason is known.
    mixed: Option<String>,
}

/// The history that this process had seen when it sent a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    generation: u64,
    /// The largest stamp that was seen.
    pub stamp: Stamp,
}

impl History {
    /// Returns the history seen so far, for a request that is about to be sent.
    pub(crate) fn sent(&self) -> Sent {
        let seen = self.lock();
        Sent { generation: seen.generation, stamp: seen.stamp }
    }

    /// Notes the identity of the cluster that a server belongs to.
    ///
    /// # Errors
    /// Returns an error if servers of different clusters have answered.
    pub(crate) fn note_cluster(&self, cluster: u64) -> Result<(), Failure> {
        let mut seen = self.lock();
        let first = *seen.cluster.get_or_insert(cluster);
        drop(seen);
        match first == cluster {
            true => self.check(),
            false => self.note_mixture(&format!("{first:x} and {cluster:x}")),
        }
    }

    /// Notes that the servers belong to different clusters. `which` names the clusters.
    ///
    /// # Errors
    /// Returns an error with the reason.
    pub(crate) fn note_mixture(&self, which: &str) -> Result<(), Failure> {
        let why = "the servers belong to different clusters";
        let advice = "name servers of one cluster only";
        self.lock().mixed = Some(format!("{why}, {which}: {advice}"));
        self.check()
    }

    /// Fails if the servers are known to belong to different clusters.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.lock().mixed.clone().map_or(Ok(()), |why| Err(Failure::OtherCluster(why)))
    }

    /// Notes an answer by consensus, and returns its generation. If the request wrote something, the revision of the
    /// answer must be larger than every revision seen when the request was sent.
    pub(crate) fn note(&self, sent: Sent, stamp: Stamp, wrote: bool) -> u64 {
        let least = Stamp { revision: sent.stamp.revision + i64::from(wrote), ..sent.stamp };
        self.note_answer(sent, stamp, stamp < least)
    }

    /// Notes an answer by consensus, and whether it proves that the store has lost history that this process had seen
    /// when it sent the request. Returns the generation of the answer.
    pub(crate) fn note_answer(&self, sent: Sent, stamp: Stamp, lost: bool) -> u64 {
        let mut seen = self.lock();
        if sent.generation != seen.generation {
            // A loss was noticed while the request was under way. The answer may be from before or after the loss.
            return sent.generation;
        }
        if lost {
            seen.generation += 1;
            seen.stamp = stamp;
            seen.lost = Some(Instant::now());
            self.generation.send_replace(seen.generation);
        } else {
            seen.stamp = seen.stamp.max(stamp);
        }
        seen.generation
    }

    /// Returns the number of times that history was lost.
    pub(crate) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Notes that history was lost before this process started, and how long ago this was noticed.
    pub(crate) fn note_earlier_loss(&self, ago: Duration) {
        let now = Instant::now();
        let noticed = now.checked_sub(ago).unwrap_or(now);
        let mut seen = self.lock();
        seen.lost = Some(seen.lost.map_or(noticed, |lost| lost.max(noticed)));
    }

    /// Returns the identity of the cluster, once a server has answered.
    pub(crate) fn cluster(&self) -> Option<u64> {
        self.lock().cluster
    }

    /// Waits until history has been lost more than `generation` times.
    pub(crate) async fn await_loss(&self, generation: u64) {
        // The sender lives as long as this future.
        let _ = self.generation.subscribe().wait_for(|now| *now > generation).await;
    }

    /// Returns how long ago this process, or an earlier one, noticed the latest loss of history; `None` if no loss is
    /// known.
    pub(crate) fn since_loss(&self) -> Option<Duration> {
        self.lock().lost.map(|lost| lost.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_older_than_its_request_proves_that_history_was_lost() {
        let history = History::default();
        let at = |revision| Stamp { epoch: 0, revision };
        let early = history.sent();
        assert_eq!(history.note(history.sent(), at(10), true), 0);
        // A late answer to an early request proves nothing.
        assert_eq!(history.note(early, at(5), false), 0);
        assert!(history.since_loss().is_none());
        let before = history.sent();
        assert_eq!(history.note(history.sent(), at(9), false), 1);
        assert!(history.since_loss().is_some());
        // The same loss is counted only once. Later answers are compared with the revision after the loss.
        assert_eq!(history.note(before, at(9), false), 0);
        assert_eq!(history.note(history.sent(), at(9), false), 1);
        // A write whose revision is not larger than the largest one seen shows that history was lost.
        assert_eq!(history.note(history.sent(), at(9), true), 2);
    }

    #[test]
    fn an_answer_of_an_earlier_epoch_proves_that_history_was_lost() {
        let history = History::default();
        let at = |epoch, revision| Stamp { epoch, revision };
        assert_eq!(history.note(history.sent(), at(1, 10), true), 0);
        // A later epoch may have a smaller revision.
        assert_eq!(history.note(history.sent(), at(2, 5), false), 0);
        assert_eq!(history.note(history.sent(), at(1, 10), false), 1);
    }

    #[test]
    fn members_of_another_cluster_are_refused() {
        let history = History::default();
        assert!(history.note_cluster(1).is_ok() && history.note_cluster(1).is_ok());
        assert!(matches!(history.note_cluster(2), Err(Failure::OtherCluster(_))));
    }
}
