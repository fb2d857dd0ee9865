//! The connection of this process to the database. All calls share it.
//!
//! A process may use the connection of another process [instead of its own](super::sharing). The process whose
//! connection it uses is the *relay*, and the process that uses it is a *borrower*.

mod server;

use std::{
    future::Future,
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle,
    sync::{Mutex, Semaphore, watch},
    time::{sleep, timeout},
};
use tokio_postgres::{
    Config,
    config::{SslMode, TargetSessionAttrs},
};

use super::{
    activities::{Activities, Need},
    line::{Ending, Line},
    options::PostgresOptions,
    sharing::{Role, Sharing, serve},
    tls,
    values::{Parameter, Row},
};
use crate::{
    ClusterOptions, Error,
    failure::Failure,
    patience::Patience,
    retry::lock,
    runtime::{TaskGuard, Tasks},
    store::{Activity, Place, Reply},
};

/// The largest number of connections of a process to the primary server: the connection that it uses, and another one
/// that is being closed or that checks notifications.
const MOST_CONNECTIONS: usize = 2;

/// After an attempt to connect has failed, other callers get the same failure for this time.
const FAILURE_LASTS: Duration = Duration::from_millis(100);

/// The database, and the connection to it.
pub(super) struct Database {
    /// How to connect to each server.
    servers: Vec<Config>,
    password: Option<String>,
    /// A file with the present password.
    password_file: Option<PathBuf>,
    /// The index in `servers` of the server to which this process connected last.
    latest: AtomicUsize,
    ending: Ending,
    /// Each connection has a permit until the server has ended the connection.
    permits: Arc<Semaphore>,
    place: Place,
    /// The time limit of one attempt.
    patience: Patience,
    /// The time limit for connecting and logging in, for a process that has no claim to lose.
    login_timeout: Duration,
    /// The time limit for connecting and logging in, for a process that has a pass.
    holder_login_timeout: Duration,
    /// The time limit for connecting and logging in, for a process that waits in a queue. A process that waits too long
    /// for a server that does not answer loses its position. But in a slow network, the process needs as much time as a
    /// new process. So the limit adapts, from `holder_login_timeout` up to `login_timeout`.
    login_patience: Patience,
    current: Mutex<Current>,
    /// Whether this process has checked that it gets the notifications of other connections.
    checked: AtomicBool,
    /// The sockets through which processes share a connection. `None` if this process shares no connection.
    sharing: Option<Sharing>,
    activities: std::sync::Mutex<Activities>,
    /// How long a new holder keeps using the connection of another process.
    short_hold: Duration,
    /// The pause before a holder that uses the connection of another process tries again to open its own.
    own_pause: Duration,
    this: Weak<Database>,
    /// Set when the store is dropped. The tasks that serve other processes then end. The guard in this field counts as
    /// a pending task, so dropping the last handle waits until the guard is dropped. The field comes after `current`,
    /// so the guard is dropped when the connection is already being closed.
    end: watch::Sender<Option<TaskGuard>>,
}

#[derive(Default)]
struct Current {
    line: Option<Arc<Line>>,
    /// The connection of another process that this process used before. Its watches continue.
    former: Option<Arc<Line>>,
    /// The last failure to connect. Many callers may wait for a connection at the same time. If each of them tried to
    /// connect in turn, the last one would fail very late.
    failed: Option<(Instant, Failure)>,
}

impl Database {
    /// Returns a database without a connection. Reads certificate files, but does not use the network.
    pub(super) fn new(
        options: &PostgresOptions,
        cluster: &ClusterOptions,
        tasks: Tasks,
    ) -> Result<Arc<Self>, Error> {
        let mut config = Config::new();
        config.user(&options.user).dbname(&options.database).application_name("hallpass");
        config.connect_timeout(cluster.dial_time(options.connect_timeout));
        // A standby cannot assign slots.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.ssl_mode(if options.tls.is_some() { SslMode::Require } else { SslMode::Disable });
        let server = |(host, port): &(String, u16)| config.clone().host(host).port(*port).clone();
        let place = Place { engine: "PostgreSQL", endpoints: options.addresses() };
        let login_timeout = cluster.first_login_time();
        let tls = options.tls.as_ref().map(tls::connector).transpose()?;
        let sharing = || Sharing::new(options, cluster, login_timeout);
        let sharing = options.share_connection.then(sharing).flatten();
        Ok(Arc::new_cyclic(|this| Database {
            servers: options.hosts.iter().map(server).collect(),
            password: options.password.clone(),
            password_file: options.password_file.clone(),
            latest: AtomicUsize::new(0),
            ending: Ending { tls, limit: cluster.login_time() / 2, tasks },
            permits: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            place,
            patience: Patience::new(cluster.attempt_times()),
            login_timeout,
            holder_login_timeout: cluster.login_time(),
            login_patience: Patience::new([cluster.login_time(), login_timeout]),
            current: Mutex::default(),
            checked: AtomicBool::new(false),
            sharing,
            activities: std::sync::Mutex::default(),
            short_hold: cluster.ttl / 20,
            own_pause: cluster.ttl / 10,
            this: this.clone(),
            end: watch::Sender::new(None),
        }))
    }

    pub(super) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Makes one call on the connection, for a bounded time. If the server does not answer, closes the connection.
    pub(super) async fn attempt<T, F>(
        &self,
        call: impl FnOnce(Arc<Line>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let line = self.line().await?;
        let (begun, limit) = (Instant::now(), self.patience.limit());
        let outcome = match timeout(limit, call(line.clone())).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.patience.not_answered_within(limit);
                Err(Failure::Unreachable(format!("no answer within {limit:.1?}")))
            }
        };
        match &outcome {
            Err(Failure::Unreachable(_)) => self.leave(&line).await,
            _ => self.patience.answered_within(begun.elapsed()),
        }
        outcome
    }

    /// Runs one statement.
    pub(super) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Failure> {
        self.attempt(|line| async move { line.query(statement, parameters).await }).await
    }

    /// Returns the connection. Connects if there is none.
    async fn line(&self) -> Result<Arc<Line>, Failure> {
        let mut current = self.current.lock().await;
        if let Some(line) = current.line.as_ref().filter(|line| line.is_usable()) {
            return Ok(line.clone());
        }
        if let Some(useless) = current.line.take() {
            useless.give_up();
        }
        if let Some((at, failure)) = &current.failed
            && at.elapsed() < FAILURE_LASTS
        {
            return Err(failure.clone());
        }
        let limit = self.login_limit();
        let late = |_| Failure::Unreachable(format!("no connection within {limit:.1?}"));
        let begun = Instant::now();
        let connected = timeout(limit, self.connect()).await;
        match connected.unwrap_or_else(|elapsed| Err(late(elapsed))) {
            Ok(line) => {
                // This sets the limit to four times the given duration, so the next connection may take twice as long
                // as this one.
                self.login_patience.answered_within(begun.elapsed() / 2);
                let line = Arc::new(line);
                *current = Current { line: Some(line.clone()), ..Current::default() };
                Ok(line)
            }
            Err(failure) => {
                if begun.elapsed() >= limit / 2 {
                    // A server, or all of them, did not answer in time.
                    self.login_patience.not_answered_within(limit);
                }
                // `connect` has tried every server of the URL. It reports a bad certificate only if no other server
                // may become reachable again (see `weight`).
                let failure = match failure {
                    Failure::Certificate(why) => Failure::Denied(why),
                    failure => failure,
                };
                let failed = Some((Instant::now(), failure.clone()));
                *current = Current { failed, ..Current::default() };
                Err(failure)
            }
        }
    }

    /// Closes a connection whose server does not answer. Its watches end.
    async fn leave(&self, line: &Arc<Line>) {
        line.give_up();
        let mut current = self.current.lock().await;
        if current.line.as_ref().is_some_and(|now| Arc::ptr_eq(now, line)) {
            current.line = None;
        }
    }

    /// Returns the connection of this process to the server, for a borrower. Fails if this process itself uses the
    /// connection of another process.
    pub(super) fn own_line(&self) -> Reply<'_, Arc<Line>> {
        Box::pin(async {
            let line = self.line().await?;
            if line.is_shared() {
                // If a relay were also a borrower, relays could wait for each other in a circle. The next attempt
                // connects to the server.
                self.leave(&line).await;
                return Err(Failure::Unreachable(
                    "the relay is not connected to the server".into(),
                ));
            }
            Ok(line)
        })
    }

    async fn connect(&self) -> Result<Line, Failure> {
        match self.find_relay().await? {
            Some(line) => Ok(line),
            None => self.connect_to_server(self.login_limit()).await,
        }
    }

    /// Returns the connection of another process, if this process may use one. May make this process the relay, and
    /// then returns `None`.
    async fn find_relay(&self) -> Result<Option<Line>, Failure> {
        let need = lock(&self.activities).need;
        let Some(sharing) = self.sharing.as_ref().filter(|_| need != Need::Holding) else {
            return Ok(None);
        };
        let late =
            || Failure::Unreachable(format!("no relay answered within {:?}", self.login_timeout));
        let role = timeout(self.login_timeout, sharing.find_role(need == Need::Resting)).await;
        Ok(match role.unwrap_or_else(|_| Err(late()))? {
            Role::Borrower(line) => {
                // The relay has checked that notifications arrive. ORDERING: Relaxed, because a second check does no
                // harm.
                self.checked.store(true, Relaxed);
                Some(*line)
            }
            Role::Alone => None,
            Role::Relay(listener, lock) => {
                tokio::spawn(serve(listener, lock, self.this.clone()));
                None
            }
        })
    }

    /// Notes that an activity of this process begins or ends. If this changes what the process needs, switches to the
    /// connection of another process, or to its own connection to the server.
    pub(super) fn note_activity(&self, activity: Activity, begins: bool) {
        let (need, change) = {
            let mut activities = lock(&self.activities);
            if !activities.note(activity, begins) {
                return;
            }
            (activities.need, activities.changes)
        };
        let (Some(_), Some(this)) = (&self.sharing, self.this.upgrade()) else { return };
        // Without a runtime, the thread that talks to the store is about to end, and so is its connection.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(this.until_end(async move |this| match need {
            Need::Entering => {}
            Need::Resting => this.use_relay(change).await,
            Need::Holding => this.use_own_connection(change).await,
        }));
    }

    /// Uses the connection of another process, if there is a relay.
    async fn use_relay(&self, change: u64) {
        if self.uses_shared_line().await == Some(false)
            && let Ok(Some(line)) = self.find_relay().await
        {
            self.replace(line, change).await;
        }
    }

    /// Stops using the connection of another process, as soon as the server accepts another connection.
    async fn use_own_connection(&self, change: u64) {
        // Many commands end so soon that a separate connection would be of no use.
        sleep(self.short_hold).await;
        while self.is_latest(change) && self.uses_shared_line().await == Some(true) {
            // The connection of the other process renews the pass in the meantime, so there is no hurry.
            let limit = self.login_timeout;
            if let Ok(Ok(line)) = timeout(limit, self.connect_to_server(limit)).await {
                // If the relay has ended in the meantime, there is a connection to the server already.
                if self.uses_shared_line().await != Some(false) {
                    self.replace(line, change).await;
                }
                return;
            }
            sleep(self.own_pause).await;
        }
    }

    /// Returns whether `need` has not changed since the change with this number.
    fn is_latest(&self, change: u64) -> bool {
        lock(&self.activities).changes == change
    }

    /// Returns whether the connection is that of another process; `None` if there is no connection.
    async fn uses_shared_line(&self) -> Option<bool> {
        self.current.lock().await.line.as_ref().map(|line| line.is_shared())
    }

    /// Notes that the store is dropped. Dropping the last handle waits until the connection is being closed.
    pub(super) fn end(&self) {
        if self.sharing.is_some() {
            self.end.send_replace(Some(self.ending.tasks.begin()));
        }
    }

    /// Runs `work` until the store is dropped.
    pub(super) async fn until_end(self: Arc<Self>, work: impl AsyncFnOnce(Arc<Self>)) {
        let mut end = self.end.subscribe();
        tokio::select! {
            // An error here means that the database was dropped.
            _ = end.wait_for(Option::is_some) => {}
            () = work(self) => {}
        }
    }

    /// Uses this connection from now on, unless `need` has changed since the change with this number. Calls that are
    /// under way finish on the old connection.
    async fn replace(&self, line: Line, change: u64) {
        let mut current = self.current.lock().await;
        if !self.is_latest(change) {
            return;
        }
        let former = current.line.replace(Arc::new(line));
        // The connection of another process costs nothing, so its watches may continue.
        current.former = former.filter(|line| line.is_shared());
    }
}
