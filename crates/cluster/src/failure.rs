//! Why a request to the store failed: may it have taken effect, and is another attempt worthwhile?

use crate::Error;

/// Why one attempt at the store failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// No answer, or an answer that does not say what happened: the request may have taken effect.
    Unreachable(String),
    /// The revision to watch from has been compacted away.
    Compacted,
    /// The lease does not exist: the request had no effect.
    LeaseGone,
    /// The member that answered belongs to another cluster than an earlier one. The request may have taken effect
    /// there.
    OtherCluster(String),
    /// Credentials or certificates were rejected: the request had no effect, and retrying does not help.
    Denied(String),
    /// The store rejected the request for any other reason: it had no effect.
    Refused(String),
}

impl Failure {
    /// Converts the failure into the error that the user sees. `endpoints` are the addresses we tried.
    pub(crate) fn into_error(self, endpoints: &str) -> Error {
        match self {
            Failure::Unreachable(why) => Error::Unreachable { endpoints: endpoints.into(), why },
            Failure::Denied(why) => Error::Denied { why },
            Failure::Refused(why) | Failure::OtherCluster(why) => Error::Refused { why },
            Failure::Compacted => Error::Refused { why: "that revision is compacted".into() },
            Failure::LeaseGone => Error::Refused { why: "the lease is gone".into() },
        }
    }
}

/// Why a request to the store has no result.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// The attempt failed; [`Retry`](crate::retry::Retry) decides whether to make another.
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
