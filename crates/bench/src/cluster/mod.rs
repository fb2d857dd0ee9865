//! Compares halls of a cluster with `etcdctl lock`, on etcd clusters on this machine. Also measures halls on
//! PostgreSQL.
//!
//! | module | contents |
//! |---|---|
//! | [`bars`] | the performance goals, and whether they are met |
//! | [`setting`] | the store, the number of members, and where they write |
//! | [`handover`] | the time from a release until the successor has the slot, as a multiple of one write |
//! | [`idle`] | requests, connections and CPU time of commands that wait |
//! | [`herd`] | the number of clients that a store notifies of a release |
//! | [`wrapper`] | the commands that are compared |
//! | [`race`] | passages a second of commands |
//! | [`behaviour`] | how a wrapper treats its command when something goes wrong |
//! | [`measure`] | rounds over all of these |
//! | [`options`] | the command line |
//! | [`report`] | the figures, as JSON |
//! | [`table`] | the figures, as text |

pub mod bars;
pub mod behaviour;
pub mod handover;
pub mod herd;
pub mod idle;
pub mod measure;
pub mod options;
pub mod race;
pub mod report;
pub mod setting;
pub mod table;
pub mod wrapper;

use std::{
    fmt::Display,
    thread,
    time::{Duration, Instant},
};

use hallpass_cluster::ClusterHall;

/// The time limit for a single event. An event that takes longer is a failure.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time for waiters to settle and for pending events to arrive.
const MOMENT: Duration = Duration::from_millis(40);

fn failed(error: impl Display) -> String {
    error.to_string()
}

/// Waits until the queue has this length and its waiters have settled.
fn await_queue(hall: &ClusterHall, length: usize) -> Result<(), String> {
    let begun = Instant::now();
    while hall.waiting().map_err(failed)? != length {
        if begun.elapsed() > PATIENCE {
            return Err(format!("the queue did not reach a length of {length}"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(MOMENT);
    Ok(())
}
