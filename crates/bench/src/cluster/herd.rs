//! The number of clients that a store notifies of a release.
//!
//! All slots are held, and many waiters are in the queue, over several connections. Holders leave one after the
//! other. The store itself counts the notifications ([`Store::wake_ups`]). The result is how much this count grows
//! during a release.

use std::{sync::mpsc, thread, time::Duration};

use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions, ClusterPass};
use serde::Serialize;

use super::{
    MOMENT, await_queue, failed,
    setting::{Setting, Store},
};
use crate::common::{quartiles::Quartiles, statistics::median};

const CONNECTIONS: usize = 8;
/// The ttl of the waiters. It is so long that none of them renews its claim during the measurement.
const TTL: Duration = Duration::from_secs(1800);

/// The result for one number of slots and waiters.
#[derive(Clone, Debug, Serialize)]
pub struct Herd {
    /// The store on which this was measured.
    #[serde(flatten)]
    pub setting: Setting,
    /// Number of slots.
    pub k: usize,
    /// Number of waiters after the last release.
    pub waiting: usize,
    /// The growth of the count for each release.
    pub events: Quartiles,
    /// The median of the events over the first half of the releases.
    pub early: f64,
    /// The median of the events over the second half of the releases.
    pub late: f64,
}

/// Returns `true` if the number of events does not grow with the number of waiters: for the same store and k, no
/// number of waiters causes more than one additional event, compared with the first number.
pub fn is_flat(herds: &[Herd]) -> bool {
    let same_k = |one: &Herd, other: &Herd| (one.setting, one.k) == (other.setting, other.k);
    let mut groups = herds.chunk_by(same_k);
    groups.all(|group| group.iter().all(|herd| herd.events.median <= group[0].events.median + 1.0))
}

/// Returns `true` if the number of events does not grow with the number of earlier releases.
pub fn is_steady(herds: &[Herd]) -> bool {
    herds.iter().all(|herd| herd.late <= herd.early + 1.0)
}

/// Counts the events of `releases` releases, on a store that nothing else uses.
///
/// # Errors
/// Returns the reason if a call on the hall fails.
pub fn measure(
    store: &Store,
    setting: Setting,
    k: usize,
    waiting: usize,
    releases: usize,
) -> Result<Herd, String> {
    let connect = |_| {
        let mut options = ClusterOptions::at(&store.url()).map_err(failed)?;
        options.ttl = TTL;
        Cluster::connect(options).map_err(failed)
    };
    let connections: Vec<Cluster> = (0..CONNECTIONS).map(connect).collect::<Result<_, _>>()?;
    let name = format!("herd-{k}-{waiting}");
    let open = |cluster: &Cluster| cluster.open(&name, k).map_err(failed);
    let halls: Vec<ClusterHall> = connections.iter().map(open).collect::<Result<_, _>>()?;
    let hall = &halls[0];
    let held = (0..k).map(|_| hall.acquire()).collect::<Result<_, _>>().map_err(failed)?;
    let events = thread::scope(|scope| {
        let (entered, successors) = mpsc::channel();
        for number in 0..waiting + releases {
            let (hall, entered) = (&halls[number % CONNECTIONS], entered.clone());
            // At the end of the measurement, no thread receives the pass. Dropping it releases the slot.
            scope.spawn(move || drop(entered.send(hall.acquire().map_err(failed))));
        }
        let events = await_queue(hall, waiting + releases)
            .and_then(|()| count(store, held, releases, &successors));
        // Closing the hall makes the remaining waiters give up.
        let closed = hall.close().map_err(failed);
        drop(successors);
        closed.and(events)
    })?;
    let half = events.len().div_ceil(2);
    let halves = [&events[..half], &events[events.len() - half..]];
    let [early, late] = halves.map(|half| median(half.to_vec()).unwrap_or(f64::NAN));
    let events = Quartiles::of(events).ok_or("no releases")?;
    Ok(Herd { setting, k, waiting, events, early, late })
}

/// Returns the number of events for each release.
fn count(
    store: &Store,
    mut held: Vec<ClusterPass>,
    releases: usize,
    successors: &mpsc::Receiver<Result<ClusterPass, String>>,
) -> Result<Vec<f64>, String> {
    let mut events = Vec::new();
    for _ in 0..releases {
        thread::sleep(MOMENT);
        let before = store.wake_ups()?;
        held.remove(0).release().map_err(failed)?;
        held.push(successors.recv().map_err(failed)??);
        thread::sleep(MOMENT);
        events.push((store.wake_ups()? - before) as f64);
    }
    Ok(events)
}
