//! Translates errors of etcd and of the connection into a [`Failure`].

use std::error::Error as _;

use tonic::{Code, Status};

use crate::failure::Failure;

/// Advice if etcd has no space left.
const MAKE_SPACE: &str = "free space in etcd, and switch the alarm off with `etcdctl alarm disarm`";

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        // A status that has a source does not come from etcd. The client made it, because the connection failed.
        if status.source().is_some() {
            return of_connection(&status);
        }
        let text = status.message();
        of_text(text).unwrap_or_else(|| {
            let text = text.to_string();
            match status.code() {
                Code::Unauthenticated | Code::PermissionDenied => Failure::Denied(text),
                Code::InvalidArgument
                | Code::NotFound
                | Code::AlreadyExists
                | Code::FailedPrecondition
                | Code::OutOfRange
                | Code::ResourceExhausted
                | Code::Unimplemented => Failure::Refused(text),
                // There is no leader, the member was shut down, the request timed out, or etcd has no code for the
                // error.
                _ => Failure::Unreachable(text),
            }
        })
    }
}

/// Recognises failures by the text of etcd's message. Returns `None` if it does not recognise the text.
pub(super) fn of_text(text: &str) -> Option<Failure> {
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    if says(&["requested lease not found"]) {
        Some(Failure::LeaseGone)
    } else if says(&["revision has been compacted"]) {
        Some(Failure::Compacted)
    } else if says(&["too many requests", "auth store is old", "leader changed"]) {
        Some(Failure::Unreachable(text.into()))
    } else if says(&["space exceeded"]) {
        Some(Failure::NoSpace(format!("{text}: {MAKE_SPACE}")))
    } else if says(&["grpc-status header missing"]) {
        // tonic reports this for a server that speaks HTTP but not gRPC, for example a proxy.
        Some(Failure::Unreachable(format!("the server there is not etcd: {text}")))
    } else if says(&[
        "authentication failed",
        "invalid auth token",
        "permission denied",
        "user name is empty",
        "user name not found",
    ]) {
        Some(Failure::Denied(text.into()))
    } else {
        None
    }
}

/// Translates the error of a connection that broke or could not be made.
pub(super) fn of_connection(error: &(dyn std::error::Error + 'static)) -> Failure {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let text = cause.to_string();
    // The first text means that this client rejects the certificate of the member. An alert means that the member
    // rejects the certificate of this client.
    if text.contains("invalid peer certificate")
        || text.contains("fatal alert") && text.to_lowercase().contains("certificate")
    {
        Failure::Certificate(text)
    } else {
        Failure::Unreachable(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_etcd_show_whether_a_request_may_have_taken_effect() {
        let unreachable = [
            (Code::Unavailable, "etcdserver: no leader"),
            (Code::Unavailable, "etcdserver: request timed out"),
            (Code::Unavailable, "etcdserver: leader changed"),
            (Code::ResourceExhausted, "etcdserver: too many requests"),
            (Code::DeadlineExceeded, "context deadline exceeded"),
            (Code::Cancelled, "context canceled"),
            (Code::Unknown, "raft: stopped"),
            (Code::Unimplemented, "grpc-status header missing, mapped from HTTP status code 404"),
        ];
        for (code, text) in unreachable {
            let failure = Failure::from(Status::new(code, text));
            assert!(matches!(failure, Failure::Unreachable(_)), "{text}: {failure:?}");
        }
        for (code, text) in [
            (Code::Unauthenticated, "etcdserver: invalid auth token"),
            (Code::PermissionDenied, "etcdserver: permission denied"),
            (Code::InvalidArgument, "etcdserver: user name is empty"),
            (
                Code::InvalidArgument,
                "etcdserver: authentication failed, invalid user ID or password",
            ),
        ] {
            assert_eq!(Failure::from(Status::new(code, text)), Failure::Denied(text.into()));
        }
        let text = "etcdserver: duplicate key given in txn request";
        let refused = Failure::from(Status::new(Code::InvalidArgument, text));
        assert_eq!(refused, Failure::Refused(text.into()));
        let text = "etcdserver: mvcc: database space exceeded";
        let full = Failure::from(Status::new(Code::ResourceExhausted, text));
        assert_eq!(full, Failure::NoSpace(format!("{text}: {MAKE_SPACE}")));
        let gone = Status::new(Code::NotFound, "etcdserver: requested lease not found");
        assert_eq!(Failure::from(gone), Failure::LeaseGone);
        let text = "etcdserver: mvcc: required revision has been compacted";
        assert_eq!(Failure::from(Status::new(Code::OutOfRange, text)), Failure::Compacted);
    }
}
