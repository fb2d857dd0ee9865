//! Checks that all members belong to the same cluster.
//!
//! etcd computes the identities of a cluster and of its members from the peer addresses and the token of the cluster.
//! So two clusters that were started with the same addresses, such as the default `http://localhost:2380`, have the same
//! identities. Two facts show that they are different clusters:
//!
//! - One member has a smaller revision than another one had before, although it answers by consensus.
//! - Two addresses lead to the same member, by its identity, and a lease that was granted at one of them does not exist
//!   at the other. If two addresses of one member are in the URL, both know the lease.
//!
//! Members of a healthy cluster have different identities and usually the same revision, so the check costs one read at
//! each member.

use std::{collections::HashMap, time::Duration};

use tokio::{task::JoinSet, time::sleep};

use super::{Client, Failure, attempt::Line, txn::Identity};

/// How many times a member must answer that it does not know a lease. Behind a proxy, a single answer may come from a
/// leader that lags behind for a moment.
const ATTEMPTS: usize = 3;
const PAUSE: Duration = Duration::from_millis(50);

/// The ttl of the lease, in seconds. The lease only has to outlive the check.
const TTL: i64 = 30;

impl Client {
    /// Asks all members which cluster they belong to. `key` is a key that the user of this client may read. Returns
    /// whether all members have answered all questions.
    ///
    /// # Errors
    /// Returns an error if the members that answer belong to different clusters.
    pub(crate) async fn check_members(&self, key: String) -> Result<bool, Failure> {
        let count = self.shared.members.count();
        if count == 1 {
            return Ok(true);
        }
        let mut answers = JoinSet::new();
        for line in self.shared.members.lines() {
            let (client, key) = (self.clone(), key.clone());
            answers.spawn(async move {
                let identity = client.identify(&line, key, false).await;
                (line, identity)
            });
        }
        let mut members: Vec<(Line, Identity)> = Vec::new();
        while let Some(answer) = answers.join_next().await {
            if let Ok((line, Ok(identity))) = answer {
                self.shared.history.note_cluster(identity.cluster)?;
                members.push((line, identity));
            }
        }
        let revisions_known = self.check_revisions(&members, &key).await?;
        let leases_known = self.check_leases(&members).await?;
        Ok(members.len() == count && revisions_known && leases_known)
    }

    /// Asks the members again that have a smaller revision than another one, now by consensus. Returns whether all of
    /// them have answered.
    async fn check_revisions(
        &self,
        members: &[(Line, Identity)],
        key: &str,
    ) -> Result<bool, Failure> {
        let Some((ahead, latest)) = members.iter().max_by_key(|(_, it)| it.revision) else {
            return Ok(true);
        };
        let mut all_answered = true;
        for (line, _) in members.iter().filter(|(_, it)| it.revision < latest.revision) {
            let Ok(now) = self.identify(line, key.into(), true).await else {
                all_answered = false;
                continue;
            };
            if now.revision < latest.revision {
                self.note_twins(ahead, line, latest.cluster)?;
            }
        }
        Ok(all_answered)
    }

    /// Checks that the addresses that seem to lead to the same member know the same leases. Returns whether all of them
    /// have answered.
    async fn check_leases(&self, members: &[(Line, Identity)]) -> Result<bool, Failure> {
        let mut all_answered = true;
        let mut groups: HashMap<u64, Vec<&Line>> = HashMap::new();
        members.iter().for_each(|(line, it)| groups.entry(it.member).or_default().push(line));
        for lines in groups.into_values() {
            let [first, others @ ..] = &lines[..] else { continue };
            if others.is_empty() {
                continue;
            }
            let Ok(lease) = self.grant_at(first, TTL).await else {
                all_answered = false;
                continue;
            };
            let mut stranger = None;
            for other in others {
                match self.lacks_lease(other, lease).await {
                    Ok(true) => stranger = Some(other),
                    Ok(false) => {}
                    Err(_) => all_answered = false,
                }
            }
            let _ = self.revoke_at(first, lease).await;
            if let (Some(other), Some((_, it))) = (stranger, members.first()) {
                self.note_twins(first, other, it.cluster)?;
            }
        }
        Ok(all_answered)
    }

    /// Returns whether the member certainly does not know the lease.
    async fn lacks_lease(&self, line: &Line, lease: i64) -> Result<bool, Failure> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            if self.has_lease_at(line, lease).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn note_twins(&self, one: &Line, other: &Line, cluster: u64) -> Result<(), Failure> {
        let [one, other] = [one, other].map(Line::member);
        let which = format!("although {one} and {other} have the same cluster id {cluster:x}");
        self.shared.history.note_mixture(&which)
    }
}
