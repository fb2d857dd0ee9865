//! Failures of requests to the store. A failure shows whether the request may have taken effect, and whether another
//! attempt may help.

use serde::{Deserialize, Serialize};

use crate::{Error, store::Place};

/// Why one attempt at the store failed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) enum Failure {
    /// There was no answer, or the answer does not show what happened. The request may have taken effect.
    Unreachable(String),
    /// The store answers, but has no capacity for this request at the moment. The request had no effect.
    #[cfg_attr(
        not(feature = "postgres"),
        allow(dead_code, reason = "only PostgreSQL gives this answer")
    )]
    Busy(String),
    /// The revision to watch from has been compacted away.
    Compacted,
    /// The lease does not exist. The request had no effect.
    LeaseGone,
    /// The member that answered belongs to a different cluster than a member that answered before. The request may have
    /// taken effect there.
    OtherCluster(String),
    /// The cluster rejected the credentials, or no member has a good certificate. The request had no effect, and
    /// another attempt does not help.
    Denied(String),
    /// The client rejected the certificate of this member, or the member rejected that of the client. Other
    /// members may have good certificates.
    Certificate(String),
    /// The store has no space left, so it refuses every request that might write. The request had no effect.
    NoSpace(String),
    /// The store rejected the request for another reason. The request had no effect.
    Refused(String),
}

impl Failure {
    /// Converts the failure into the error that the user sees.
    pub(crate) fn into_error(self, place: &Place) -> Error {
        let Place { engine, endpoints } = place.clone();
        let refused = |why: String| Error::Refused { engine, why };
        match self {
            Failure::Unreachable(why) => Error::Unreachable { engine, endpoints, why },
            Failure::Busy(why) => Error::Busy { engine, endpoints, why },
            Failure::Denied(why) | Failure::Certificate(why) => Error::Denied { engine, why },
            Failure::Refused(why) | Failure::OtherCluster(why) | Failure::NoSpace(why) => {
                refused(why)
            }
            Failure::Compacted => refused("the revision to watch from was compacted".into()),
            Failure::LeaseGone => refused("the lease is gone".into()),
        }
    }
}

/// Why a request to the store has no result.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// The attempt failed. [`Retry`](crate::retry::Retry) decides whether to make another attempt.
    Failed(Failure),
    /// The store answered, and the answer is an error that a retry does not fix.
    Invalid(Error),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        StoreError::Failed(failure)
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        StoreError::Invalid(error)
    }
}
