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
    /// Asks all members which cluster they belong to. `key` is a key that the user of this client may read.
    ///
    /// # Errors
    /// Returns an error if the members that answer belong to different clusters.
    pub(crate) async fn check_members(&self, key: String) -> Result<(), Failure> {
        if self.shared.members.count() == 1 {
            return Ok(());
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
        self.check_revisions(&members, &key).await?;
        self.check_leases(&members).await
    }

    /// Asks the members again that have a smaller revision than another one, now by consensus.
    async fn check_revisions(
        &self,
        members: &[(Line, Identity)],
        key: &str,
    ) -> Result<(), Failure> {
        let Some((ahead, latest)) = members.iter().max_by_key(|(_, it)| it.revision) else {
            return Ok(());
        };
        for (line, _) in members.iter().filter(|(_, it)| it.revision < latest.revision) {
            let Ok(now) = self.identify(line, key.into(), true).await else { continue };
            if now.revision < latest.revision {
                return self.note_twins(ahead, line, latest.cluster);
            }
        }
        Ok(())
    }

    /// Checks that the addresses that seem to lead to the same member know the same leases.
    async fn check_leases(&self, members: &[(Line, Identity)]) -> Result<(), Failure> {
        let mut groups: HashMap<u64, Vec<&Line>> = HashMap::new();
        members.iter().for_each(|(line, it)| groups.entry(it.member).or_default().push(line));
        for lines in groups.into_values() {
            let [first, others @ ..] = &lines[..] else { continue };
            if others.is_empty() {
                continue;
            }
            let Ok(lease) = self.grant_at(first, TTL).await else { continue };
            let mut stranger = None;
            for other in others {
                if self.lacks_lease(other, lease).await {
                    stranger = Some(other);
                }
            }
            let _ = self.revoke_at(first, lease).await;
            if let (Some(other), Some((_, it))) = (stranger, members.first()) {
                return self.note_twins(first, other, it.cluster);
            }
        }
        Ok(())
    }

    /// Returns whether the member certainly does not know the lease.
    async fn lacks_lease(&self, line: &Line, lease: i64) -> bool {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            match self.has_lease_at(line, lease).await {
                Ok(false) => {}
                Ok(true) | Err(_) => return false,
            }
        }
        true
    }

    fn note_twins(&self, one: &Line, other: &Line, cluster: u64) -> Result<(), Failure> {
        let [one, other] = [one, other].map(Line::member);
        let which = format!("although {one} and {other} have the same cluster id {cluster:x}");
        self.shared.history.note_mixture(&which)
    }
}
