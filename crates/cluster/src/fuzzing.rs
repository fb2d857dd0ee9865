//! Entry points for the fuzz targets of this project. Not part of the API.

use std::time::Duration;

use crate::{ClusterOptions, requests, store::StepResponse, view::OwnClaim};

/// Parses an answer of etcd to a transaction. Then passes this answer to the functions of the module `requests` that
/// read the records of a hall.
pub fn transaction(bytes: &[u8]) {
    let Some(response) = StepResponse::decode(bytes) else { return };
    for ops in 0..=response.answers.len() {
        let _ = requests::read(&response, ops, Some(ID));
    }
    read_records(&response);
}

/// Reads `text` as the rows of a hall in PostgreSQL, as a notification of the server, as a message between processes
/// that share a connection, and as a password file. Then reads a view of the hall from the rows, and passes the answer
/// to the functions of the module `requests` that read the records of a hall.
#[cfg(feature = "postgres")]
pub fn postgres(text: &str) {
    crate::postgres::fuzzing::text(text);
    let Some((response, ops)) = crate::postgres::fuzzing::hall(text, ID) else { return };
    let _ = requests::read(&response, ops, Some(ID));
    read_records(&response);
}

/// The id of the claim for which records are read.
const ID: &str = "id";

/// Reads an answer as a holder does before it leaves. Then reads each record of the answer as the record of a waiter,
/// of a claim that has a slot, and of a slot.
fn read_records(response: &StepResponse) {
    let _ = requests::read_to_leave(response, ID);
    for kv in response.answers.iter().flat_map(|answer| answer.kvs()) {
        let _ = (requests::read_waiter(kv), requests::read_inside(kv));
        let _ = requests::with_slot_records(OwnClaim::Outside, [Some(kv)].into_iter(), ID);
    }
}

/// Checks options as [`Cluster::connect`](crate::Cluster::connect) does, and computes the time limits of a connection.
pub fn options(options: &ClusterOptions) {
    let _ = (options.url(), format!("{options:?}"));
    if options.check().is_ok() {
        let _ = (options.attempt_times(), options.dial_time(Duration::MAX), options.login_time());
    }
}
