//! The number of clients that etcd notifies of a release.
//!
//! All slots are held, and many waiters are in the queue, over several connections. Holders leave one after the
//! other. etcd itself counts the events that it sends. The result is how much this count grows during a release.

use std::{sync::mpsc, thread};

use hallpass_cluster::{Cluster, ClusterHall, ClusterPass};
use hallpass_testbed::EtcdCluster;
use serde::Serialize;

use super::{
    MOMENT, await_queue, failed,
    setting::{connect, events_sent},
};
use crate::common::{quartiles::Quartiles, statistics::median};

const CONNECTIONS: usize = 8;

/// The result for one number of slots and waiters.
#[derive(Clone, Debug, Serialize)]
pub struct Herd {
    /// Number of slots.
    pub k: usize,
    /// Number of waiters.
    pub waiting: usize,
    /// Number of events sent for each release.
    pub events: Quartiles,
    /// The median of the events over the first half of the releases.
    pub early: f64,
    /// The median of the events over the second half of the releases.
    pub late: f64,
}

/// Returns `true` if the number of events does not grow with the number of waiters: for the same k, no number of
/// waiters causes more than one additional event, compared with the first number.
pub fn is_flat(herds: &[Herd]) -> bool {
    let same_k = |one: &Herd, other: &Herd| one.k == other.k;
    let mut groups = herds.chunk_by(same_k);
    groups.all(|group| group.iter().all(|herd| herd.events.median <= group[0].events.median + 1.0))
}

/// Returns `true` if the number of events does not grow with the number of earlier releases.
pub fn is_steady(herds: &[Herd]) -> bool {
    herds.iter().all(|herd| herd.late <= herd.early + 1.0)
}

/// Counts the events of this many releases, on a cluster that does nothing else.
///
/// # Errors
/// Returns the reason if a call on the hall fails.
pub fn measure(
    cluster: &EtcdCluster,
    k: usize,
    waiting: usize,
    releases: usize,
) -> Result<Herd, String> {
    let connections: Vec<Cluster> =
        (0..CONNECTIONS).map(|_| connect(&cluster.url())).collect::<Result<_, _>>()?;
    let name = format!("herd-{k}-{waiting}");
    let open = |etcd: &Cluster| etcd.open(&name, k).map_err(failed);
    let halls: Vec<ClusterHall> = connections.iter().map(open).collect::<Result<_, _>>()?;
    let hall = &halls[0];
    let held = (0..k).map(|_| hall.acquire()).collect::<Result<_, _>>().map_err(failed)?;
    let events = thread::scope(|scope| {
        let (entered, successors) = mpsc::channel();
        let add_waiter = |number: usize| {
            let (hall, entered) = (&halls[number % CONNECTIONS], entered.clone());
            // At the end of the measurement, no thread receives the pass. Dropping it releases the slot.
            scope.spawn(move || drop(entered.send(hall.acquire().map_err(failed))));
        };
        (0..waiting).for_each(add_waiter);
        let events = count(cluster, hall, held, waiting, releases, &successors, &add_waiter);
        // Closing the hall makes the remaining waiters give up.
        let closed = hall.close().map_err(failed);
        drop(successors);
        closed.and(events)
    })?;
    let half = events.len().div_ceil(2);
    let halves = [&events[..half], &events[events.len() - half..]];
    let [early, late] = halves.map(|half| median(half.to_vec()).unwrap_or(f64::NAN));
    let events = Quartiles::of(events).ok_or("no releases")?;
    Ok(Herd { k, waiting, events, early, late })
}

/// Returns the number of events for each release. After each release, another waiter joins the queue.
fn count(
    cluster: &EtcdCluster,
    hall: &ClusterHall,
    mut held: Vec<ClusterPass>,
    waiting: usize,
    releases: usize,
    successors: &mpsc::Receiver<Result<ClusterPass, String>>,
    add_waiter: &impl Fn(usize),
) -> Result<Vec<f64>, String> {
    let mut events = Vec::new();
    for release in 0..releases {
        await_queue(hall, waiting)?;
        let before = events_sent(cluster)?;
        held.remove(0).release().map_err(failed)?;
        held.push(successors.recv().map_err(failed)??);
        thread::sleep(MOMENT);
        events.push((events_sent(cluster)? - before) as f64);
        add_waiter(release);
    }
    Ok(events)
}
