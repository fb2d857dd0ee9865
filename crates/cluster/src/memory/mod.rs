//! A store in the memory of this process, for tests. It is the smallest implementation of [`Store`], and the
//! conformance suite runs on it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, LazyLock, Mutex, Weak,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use crate::{
    failure::Failure,
    requests,
    retry::lock,
    store::{
        Changes, Document, Event, History, KeyRange, KeyValue, LeaseId, Place, Reply, Revision,
        Stamp, Step, StepResponse, Store, Watch,
    },
};

/// The stores of this process, by name.
static STORES: LazyLock<Mutex<HashMap<String, Weak<MemoryStore>>>> = LazyLock::new(Mutex::default);

/// A store in the memory of this process.
pub(crate) struct MemoryStore {
    name: String,
    halls: Mutex<HashMap<String, Hall>>,
    next_lease: AtomicI64,
}

/// The records and leases of one hall, and the watchers of its records.
#[derive(Default)]
struct Hall {
    document: Document,
    leases: HashMap<LeaseId, Lease>,
    watchers: Vec<Watcher>,
    history: Arc<History>,
}

struct Lease {
    ttl: Duration,
    ends: Instant,
}

struct Watcher {
    ranges: Vec<KeyRange>,
    events: mpsc::UnboundedSender<Vec<Event>>,
}

impl MemoryStore {
    /// Returns the store of this name. The store exists until its last connection is dropped.
    pub(crate) fn named(name: &str) -> Arc<MemoryStore> {
        let mut stores = lock(&STORES);
        if let Some(store) = stores.get(name).and_then(Weak::upgrade) {
            return store;
        }
        stores.retain(|_, store| store.strong_count() > 0);
        let store = Arc::new(MemoryStore {
            name: name.into(),
            halls: Mutex::default(),
            next_lease: AtomicI64::new(1),
        });
        stores.insert(name.into(), Arc::downgrade(&store));
        store
    }

    /// Ends the leases of a hall that are over, and then calls `change`.
    fn with<T>(&self, hall: &str, change: impl FnOnce(&mut Hall) -> T) -> T {
        let mut halls = lock(&self.halls);
        let hall = halls.entry(hall.into()).or_default();
        let now = Instant::now();
        hall.end_leases(|lease| lease.ends <= now);
        change(hall)
    }
}

impl Hall {
    fn step(&mut self, step: &Step) -> Result<StepResponse, Failure> {
        // A step that fails must change nothing.
        let mut document = self.document.clone();
        let (mut response, changed) = document.perform(step)?;
        self.document = document;
        self.report(&changed);
        let stamp = Stamp { epoch: 0, revision: self.document.revision };
        response.generation = self.history.note(self.history.sent(), stamp, false);
        Ok(response)
    }

    /// Ends the leases for which `over` holds.
    fn end_leases(&mut self, over: impl Fn(&Lease) -> bool) {
        let ended = self.leases.extract_if(|_, lease| over(lease));
        let ended: BTreeSet<_> = ended.map(|(id, _)| id).collect();
        if !ended.is_empty() {
            let changed = self.document.end_leases(&ended);
            self.report(&changed);
        }
    }

    /// Reports the changes of these keys, and forgets watchers that are gone.
    fn report(&mut self, changed: &BTreeSet<Vec<u8>>) {
        let document = &self.document;
        self.watchers.retain(|watcher| {
            let concerns = |key: &&Vec<u8>| watcher.ranges.iter().any(|range| range.contains(key));
            let events: Vec<_> =
                changed.iter().filter(concerns).map(|key| event(document, key)).collect();
            match events.is_empty() {
                true => !watcher.events.is_closed(),
                false => watcher.events.send(events).is_ok(),
            }
        });
    }
}

/// Returns the event for a key that was changed in the latest revision.
fn event(document: &Document, key: &[u8]) -> Event {
    match document.records.get(key) {
        Some(kv) => Event { deleted: false, kv: kv.clone() },
        None => {
            let (key, mod_revision) = (key.into(), document.revision);
            Event { deleted: true, kv: KeyValue { key, mod_revision, ..KeyValue::default() } }
        }
    }
}

impl Store for MemoryStore {
    fn place(&self) -> Place {
        Place { engine: "the memory store", endpoints: self.name.clone() }
    }

    fn history(&self, hall: &str) -> Arc<History> {
        self.with(hall, |hall| hall.history.clone())
    }

    fn base(&self, hall: &str) -> String {
        format!("{hall}/")
    }

    fn step<'a>(&'a self, hall: &'a str, step: Step) -> Reply<'a, StepResponse> {
        Box::pin(async move { self.with(hall, |hall| hall.step(&step)) })
    }

    fn watch<'a>(&'a self, hall: &'a str, ranges: Vec<KeyRange>) -> Reply<'a, Watch> {
        Box::pin(async move {
            let (events, changes) = mpsc::unbounded_channel();
            let since: Revision = self.with(hall, |hall| {
                hall.watchers.push(Watcher { ranges, events });
                hall.document.revision
            });
            Ok(Watch { since, changes: Box::new(Reports(changes)) })
        })
    }

    fn grant<'a>(&'a self, hall: &'a str, ttl: Duration) -> Reply<'a, LeaseId> {
        Box::pin(async move {
            // ORDERING: Relaxed, because only the number has to be new.
            let id = self.next_lease.fetch_add(1, Relaxed);
            self.with(hall, |hall| {
                hall.document.leases.insert(id);
                hall.leases.insert(id, Lease { ttl, ends: Instant::now() + ttl });
            });
            Ok(id)
        })
    }

    fn keep_alive<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, bool> {
        let renew = move |hall: &mut Hall| {
            let found = hall.leases.get_mut(&lease);
            found.map(|lease| lease.ends = Instant::now() + lease.ttl).is_some()
        };
        Box::pin(async move { Ok(self.with(hall, renew)) })
    }

    fn revoke<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, ()> {
        Box::pin(async move {
            self.with(hall, |hall| {
                if let Some(lease) = hall.leases.get_mut(&lease) {
                    lease.ends = Instant::now();
                }
            });
            // The next access ends the leases that are over.
            self.with(hall, |_| ());
            Ok(())
        })
    }

    fn renewal_ages<'a>(
        &'a self,
        hall: &'a str,
        leases: Vec<LeaseId>,
    ) -> Reply<'a, HashMap<LeaseId, Duration>> {
        let find = move |hall: &mut Hall| {
            let now = Instant::now();
            let age = |lease: &Lease| lease.ttl.saturating_sub(lease.ends - now);
            leases.iter().filter_map(|id| Some((*id, age(hall.leases.get(id)?)))).collect()
        };
        Box::pin(async move { Ok(self.with(hall, find)) })
    }

    fn names(&self) -> Reply<'_, Vec<String>> {
        Box::pin(async {
            let halls = lock(&self.halls);
            let keys = halls.values().flat_map(|hall| hall.document.records.keys());
            let mut names: Vec<_> =
                keys.filter_map(|key| requests::hall_of_door("", key)).collect();
            names.sort_unstable();
            Ok(names)
        })
    }

    fn write(&self) -> Reply<'_, ()> {
        let put = crate::store::Op::put(".write", "", 0);
        // No hall's name begins with a dot.
        Box::pin(async {
            self.step(".write", Step { then: vec![put], ..Step::default() }).await.map(drop)
        })
    }
}

/// The changes that a watch of this store reports.
struct Reports(mpsc::UnboundedReceiver<Vec<Event>>);

impl Changes for Reports {
    fn next(&mut self) -> Reply<'_, Vec<Event>> {
        let ended = || Failure::Unreachable("the watch ended".into());
        Box::pin(async move { self.0.recv().await.ok_or_else(ended) })
    }
}
