//! Leases: they end unless they are renewed, and the keys bound to them are deleted with them.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};

use super::{
    Client, Failure,
    attempt::Line,
    messages::{
        LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse,
        LeaseRevokeRequest, LeaseRevokeResponse, LeaseTimeToLiveRequest, LeaseTimeToLiveResponse,
    },
};

const GRANT: &str = "/etcdserverpb.Lease/LeaseGrant";
const REVOKE: &str = "/etcdserverpb.Lease/LeaseRevoke";
const KEEP_ALIVE: &str = "/etcdserverpb.Lease/LeaseKeepAlive";
const TIME_TO_LIVE: &str = "/etcdserverpb.Lease/LeaseTimeToLive";

/// A lease that was granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lease {
    pub id: i64,
    /// The ttl in seconds. etcd may grant a longer ttl than was asked for.
    pub ttl: i64,
}

impl Client {
    /// Asks etcd for a new lease that ends `ttl_seconds` after its last renewal.
    pub(crate) async fn grant(&self, ttl_seconds: i64) -> Result<Lease, Failure> {
        let request = LeaseGrantRequest { ttl: ttl_seconds };
        let granted: LeaseGrantResponse = self.unary(GRANT, request).await?;
        if granted.error.is_empty() {
            Ok(Lease { id: granted.id, ttl: granted.ttl })
        } else {
            Err(Failure::Refused(granted.error))
        }
    }

    /// Renews a lease. Returns `false` if the lease no longer exists.
    pub(crate) async fn keep_alive(&self, id: i64) -> Result<bool, Failure> {
        // Each call opens a new stream. This costs as much as a plain call, and leaves no open stream that could break.
        self.attempt(|line| async move {
            // etcd's gRPC proxy drops a request when the stream of requests closes. So keep the stream open until the
            // answer arrives.
            let (_requests_open, more) = mpsc::channel(1);
            let once = tokio_stream::once(LeaseKeepAliveRequest { id });
            let requests = once.chain(ReceiverStream::new(more));
            let mut answers =
                line.stream::<_, LeaseKeepAliveResponse>(KEEP_ALIVE, requests).await?;
            match answers.message().await? {
                Some(answer) => Ok(answer.ttl > 0),
                None => Err(Failure::Unreachable("the stream of keep-alives ended".into())),
            }
        })
        .await
    }

    /// Returns how long ago a lease was last renewed, rounded up to whole seconds. Returns `None` if the lease no
    /// longer exists.
    pub(crate) async fn renewal_age(&self, id: i64) -> Result<Option<Duration>, Failure> {
        let request = LeaseTimeToLiveRequest { id };
        let found: LeaseTimeToLiveResponse = self.unary(TIME_TO_LIVE, request).await?;
        // If the lease is gone, the remaining time is -1.
        let exists = found.ttl >= 0;
        let age = Duration::from_secs(found.granted_ttl.saturating_sub(found.ttl).max(0) as u64);
        Ok(exists.then_some(age))
    }

    /// Asks this member for a new lease, and returns its id.
    pub(super) async fn grant_at(&self, line: &Line, ttl_seconds: i64) -> Result<i64, Failure> {
        let request = LeaseGrantRequest { ttl: ttl_seconds };
        let granted: LeaseGrantResponse = self.unary_at(line, GRANT, request).await?;
        match granted.error.is_empty() {
            true => Ok(granted.id),
            false => Err(Failure::Refused(granted.error)),
        }
    }

    /// Returns whether a lease exists, according to this member.
    pub(super) async fn has_lease_at(&self, line: &Line, id: i64) -> Result<bool, Failure> {
        let request = LeaseTimeToLiveRequest { id };
        let found: LeaseTimeToLiveResponse = self.unary_at(line, TIME_TO_LIVE, request).await?;
        Ok(found.ttl >= 0)
    }

    /// Ends a lease at this member.
    pub(super) async fn revoke_at(&self, line: &Line, id: i64) -> Result<(), Failure> {
        let request = LeaseRevokeRequest { id };
        self.unary_at::<_, LeaseRevokeResponse>(line, REVOKE, request).await.map(drop)
    }

    /// Ends a lease. Also succeeds if the lease is gone already.
    pub(crate) async fn revoke(&self, id: i64) -> Result<(), Failure> {
        match self.unary::<_, LeaseRevokeResponse>(REVOKE, LeaseRevokeRequest { id }).await {
            Ok(_) | Err(Failure::LeaseGone) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}
