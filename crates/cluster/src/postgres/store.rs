//! PostgreSQL as a [`Store`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    connection::Database,
    notifications::watch,
    options::PostgresOptions,
    sql,
    steps::{Change, Hall, busy, may_write},
    values::Row,
};
use crate::{
    ClusterOptions, Error,
    retry::lock,
    runtime::Tasks,
    store::{Activity, History, KeyRange, LeaseId, Place, Reply, Step, StepResponse, Store, Watch},
};

/// A connection to a PostgreSQL database.
pub(crate) struct PostgresStore {
    pub(super) database: Arc<Database>,
    halls: Mutex<HashMap<String, Arc<Hall>>>,
    /// After this time, a step does not start over. A caller that has given up must not wait much longer, and a holder
    /// must learn in time that it cannot renew its pass.
    pub(super) longest_step: Duration,
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.database.end();
    }
}

impl PostgresStore {
    /// Checks the options and reads certificate files, without using the network.
    pub(crate) fn new(
        postgres: &PostgresOptions,
        options: &ClusterOptions,
        tasks: Tasks,
    ) -> Result<Self, Error> {
        let database = Database::new(postgres, options, tasks)?;
        let longest_step = options.ttl / 2;
        Ok(PostgresStore { database, halls: Mutex::default(), longest_step })
    }

    pub(super) fn hall(&self, hall: &str) -> Arc<Hall> {
        lock(&self.halls).entry(hall.into()).or_default().clone()
    }
}

impl Store for PostgresStore {
    fn place(&self) -> Place {
        self.database.place()
    }

    fn history(&self, hall: &str) -> Arc<History> {
        self.hall(hall).history.clone()
    }

    fn base(&self, hall: &str) -> String {
        format!("{hall}/")
    }

    fn check_servers<'a>(&'a self, hall: &'a str) -> Reply<'a, ()> {
        Box::pin(async move {
            let history = self.hall(hall).history.clone();
            let systems = self.database.other_systems().await?;
            systems.into_iter().try_for_each(|system| history.note_cluster(system))
        })
    }

    fn step<'a>(&'a self, hall: &'a str, step: Step) -> Reply<'a, StepResponse> {
        Box::pin(async move {
            if !may_write(&step) {
                return self.look(hall, &step).await;
            }
            let response = self.change(hall, Change::Step(&step)).await?;
            response.ok_or_else(busy)
        })
    }

    fn watch<'a>(&'a self, hall: &'a str, ranges: Vec<KeyRange>) -> Reply<'a, Watch> {
        Box::pin(watch(self.database.clone(), hall.into(), ranges))
    }

    fn grant<'a>(&'a self, hall: &'a str, ttl: Duration) -> Reply<'a, LeaseId> {
        Box::pin(async move {
            // A failover may lose a lease whose owner still uses it. The number is random, so that no other lease gets
            // the same number.
            let id: LeaseId = fastrand::i64(1..);
            let time = ttl.as_millis() as i64;
            self.database.query(sql::GRANT, &[id.into(), hall.into(), time.into()]).await?;
            Ok(id)
        })
    }

    fn keep_alive<'a>(&'a self, _hall: &'a str, lease: LeaseId) -> Reply<'a, bool> {
        Box::pin(async move {
            let rows = self.database.query(sql::KEEP_ALIVE, &[lease.into()]).await?;
            Ok(!rows.is_empty())
        })
    }

    fn revoke<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, ()> {
        Box::pin(async move { self.change(hall, Change::Revoke(lease)).await.map(drop) })
    }

    fn renewal_ages<'a>(
        &'a self,
        _hall: &'a str,
        leases: Vec<LeaseId>,
    ) -> Reply<'a, HashMap<LeaseId, Duration>> {
        Box::pin(async move {
            let rows = self.database.query(sql::RENEWAL_AGES, &[leases.as_slice().into()]).await?;
            let age = |millis: i64| Duration::from_millis(millis.max(0) as u64);
            rows.iter().map(|row| Ok((row.int(0)?, age(row.int(1)?)))).collect()
        })
    }

    fn names(&self) -> Reply<'_, Vec<String>> {
        Box::pin(async {
            let rows = self.database.query(sql::NAMES, &[]).await?;
            let name = |row: &Row| row.text(0).map(String::from);
            rows.iter().map(name).collect()
        })
    }

    fn note_activity(&self, activity: Activity, begins: bool) {
        self.database.note_activity(activity, begins);
    }

    /// Commits one small change.
    fn write(&self) -> Reply<'_, ()> {
        Box::pin(async { self.database.query(sql::COMMIT, &[]).await.map(drop) })
    }
}
