//! Leases: they end if nobody keeps them alive, and what is bound to them goes with them.

use super::{
    Client, Failure,
    messages::{
        LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse,
        LeaseRevokeRequest, LeaseRevokeResponse,
    },
};

const GRANT: &str = "/etcdserverpb.Lease/LeaseGrant";
const REVOKE: &str = "/etcdserverpb.Lease/LeaseRevoke";
const KEEP_ALIVE: &str = "/etcdserverpb.Lease/LeaseKeepAlive";

/// A lease that was granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lease {
    pub id: i64,
    /// In seconds; etcd may give more than was asked for.
    pub ttl: i64,
}

impl Client {
    pub(crate) async fn grant(&self, ttl_seconds: i64) -> Result<Lease, Failure> {
        let request = LeaseGrantRequest { ttl: ttl_seconds };
        let granted: LeaseGrantResponse = self.unary(GRANT, request).await?;
        if granted.error.is_empty() {
            Ok(Lease { id: granted.id, ttl: granted.ttl })
        } else {
            Err(Failure::Refused(granted.error))
        }
    }

    /// False: the lease is gone.
    pub(crate) async fn keep_alive(&self, id: i64) -> Result<bool, Failure> {
        // A stream for each call: it costs what a plain call does, and nothing is left to go stale.
        self.attempt(|line| async move {
            let once = tokio_stream::once(LeaseKeepAliveRequest { id });
            let mut answers = line.stream::<_, LeaseKeepAliveResponse>(KEEP_ALIVE, once).await?;
            match answers.message().await? {
                Some(answer) => Ok(answer.ttl > 0),
                None => Err(Failure::Unreachable("the stream of keep-alives ended".into())),
            }
        })
        .await
    }

    /// Ends a lease; well if it is gone already.
    pub(crate) async fn revoke(&self, id: i64) -> Result<(), Failure> {
        match self.unary::<_, LeaseRevokeResponse>(REVOKE, LeaseRevokeRequest { id }).await {
            Ok(_) | Err(Failure::LeaseGone) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}
