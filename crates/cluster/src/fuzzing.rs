//! Entry points for the fuzz targets of this project. Not part of the API.

use std::time::Duration;

use crate::{ClusterOptions, requests, store::TxnResponse, view::OwnClaim};

/// Parses an answer of etcd to a transaction. Then passes this answer to every function of the crate that reads the
/// records of a hall.
pub fn transaction(bytes: &[u8]) {
    let Some(response) = TxnResponse::decode(bytes) else { return };
    for ops in 0..=response.answers.len() {
        let _ = requests::read(&response, ops, Some("id"));
    }
    let _ = requests::read_to_leave(&response, "id");
    for kv in response.answers.iter().flat_map(|answer| answer.kvs()) {
        let _ = (requests::read_waiter(kv), requests::read_inside(kv));
        let _ = requests::with_slot_records(OwnClaim::Outside, [Some(kv)].into_iter(), "id");
    }
}

/// Checks options as [`Cluster::connect`](crate::Cluster::connect) does, and computes the time limits of a connection.
pub fn options(options: &ClusterOptions) {
    let _ = (options.url(), format!("{options:?}"));
    if options.check().is_ok() {
        let _ = (options.attempt_times(), options.dial_time(Duration::MAX), options.login_time());
    }
}
