//! One connection to a server, and how it ends.
//!
//! A process of the server that waits for a standby, or for a lock, does not notice that its client is gone. So a
//! client that gives up on a statement, closes the connection and opens another one would soon use up the connections
//! of the server. Therefore hallpass [asks](close) the server to cancel the statement, and a connection counts towards
//! the limit of this process until the server has ended it.
//!
//! A commit whose wait for the standby was cancelled succeeds, with a warning. But it proves nothing, because another
//! server may have taken over. The warning arrives before the answer. So when the warning arrives, hallpass stops using
//! the connection and ignores the answer.

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    sync::{OwnedSemaphorePermit, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_postgres::{AsyncMessage, CancelToken, Client, Config, NoTls, error::SqlState};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    notifications::Subscribers,
    sharing::BorrowerWire,
    sql,
    statements::Statements,
    values::{Parameter, Row},
};
use crate::{failure::Failure, runtime::Tasks};

/// The pause between two requests to cancel a statement. Several statements may be under way, and each request cancels
/// one of them.
const CANCEL_EVERY: Duration = Duration::from_millis(20);

/// The function of the server that warns if a commit did not wait for the standby.
const STANDBY_WAIT: &str = "SyncRepWaitForLSN";

/// The reason why a connection that has ended is useless.
const ENDED: &str = "the connection has ended";

/// A connection to the server, or to a [relay](super::sharing). Dropping this value ends the connection.
pub(super) struct Line {
    wire: Wire,
    signals: Signals,
}

enum Wire {
    Server(Box<ServerWire>),
    Relay(BorrowerWire),
}

/// The signals of the task that reads from a connection.
#[derive(Clone, Default)]
pub(super) struct Signals {
    pub(super) subscribers: Arc<Subscribers>,
    /// The reason why this connection must not be used any more, if there is one.
    useless: watch::Sender<Option<&'static str>>,
}

/// A connection to the server.
struct ServerWire {
    client: Client,
    statements: Statements,
    /// The task that reads from and writes to the connection. It ends some time after `client` is dropped.
    driver: Option<JoinHandle<()>>,
    ending: Ending,
    runtime: Handle,
}

/// How to end a connection.
#[derive(Clone)]
pub(super) struct Ending {
    pub tls: Option<MakeRustlsConnect>,
    /// The time limit for the server to end the connection.
    pub limit: Duration,
    /// Dropping the last handle waits for connections that are being closed.
    pub tasks: Tasks,
}

impl Signals {
    /// Notes that the connection has ended. Its watches end.
    pub(super) fn end(&self) {
        self.make_useless(ENDED);
        self.subscribers.close();
    }

    fn make_useless(&self, why: &'static str) {
        self.useless.send_if_modified(|useless| {
            let first = useless.is_none();
            useless.get_or_insert(why);
            first
        });
    }
}

impl Line {
    /// Connects to a server. `permit` is free again when the connection has ended.
    pub(super) async fn connect(
        server: &Config,
        ending: Ending,
        permit: OwnedSemaphorePermit,
    ) -> Result<Line, Failure> {
        let signals = Signals::default();
        let (client, driver) = match &ending.tls {
            None => {
                let (client, connection) = server.connect(NoTls).await?;
                (client, tokio::spawn(drive(connection, signals.clone(), permit)))
            }
            Some(tls) => {
                let (client, connection) = server.connect(tls.clone()).await?;
                (client, tokio::spawn(drive(connection, signals.clone(), permit)))
            }
        };
        let (driver, runtime, statements) =
            (Some(driver), Handle::current(), Statements::default());
        let wire = ServerWire { client, statements, driver, ending, runtime };
        Ok(Line { wire: Wire::Server(Box::new(wire)), signals })
    }

    /// Returns the connection of a borrower to its relay.
    pub(super) fn through_relay(wire: BorrowerWire, signals: Signals) -> Line {
        Line { wire: Wire::Relay(wire), signals }
    }

    /// Returns whether this is the connection of another process.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.wire, Wire::Relay(_))
    }

    pub(super) fn is_usable(&self) -> bool {
        let is_closed = match &self.wire {
            Wire::Server(server) => server.client.is_closed(),
            Wire::Relay(relay) => relay.is_closed(),
        };
        !is_closed && self.signals.useless.borrow().is_none()
    }

    /// Makes all calls on this connection fail, and ends its watches.
    pub(super) fn give_up(&self) {
        self.signals.make_useless("the connection was closed");
        self.signals.subscribers.close();
    }

    /// Waits until the connection is useless.
    pub(super) async fn ended(&self) {
        // This cannot fail, because the sender lives as long as `self`.
        let _ = self.signals.useless.subscribe().wait_for(Option::is_some).await;
    }

    /// Returns the result of `call`, unless the connection becomes useless first. If the connection ends by itself,
    /// `call` fails, and its own error gives the reason.
    async fn while_usable<T>(&self, call: impl Future<Output = T>) -> Result<T, Failure> {
        let mut useless = self.signals.useless.subscribe();
        tokio::select! {
            // The warning that a commit did not wait for the standby comes before the answer.
            biased;
            Ok(why) = useless.wait_for(|why| why.is_some_and(|why| why != ENDED)) => {
                Err(Failure::Unreachable(why.unwrap_or_default().into()))
            }
            result = call => Ok(result),
        }
    }

    /// Runs one statement in its own transaction. Returns after the transaction is committed.
    pub(super) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Failure> {
        match &self.wire {
            Wire::Server(server) => {
                let call = server.statements.query(&server.client, statement, parameters);
                self.while_usable(call).await??.into_iter().map(Row::try_from).collect()
            }
            Wire::Relay(relay) => self.while_usable(relay.query(statement, parameters)).await?,
        }
    }

    /// Allows prepared statements, after a check that the server has a session for this connection alone.
    pub(super) fn allow_prepared_statements(&self) {
        if let Wire::Server(server) = &self.wire {
            server.statements.allow_preparing();
        }
    }

    /// Runs statements without parameters. Fails on a connection to a relay.
    pub(super) async fn execute(&self, statements: &str) -> Result<(), Failure> {
        match &self.wire {
            Wire::Server(server) => {
                Ok(self.while_usable(server.client.batch_execute(statements)).await??)
            }
            Wire::Relay(_) => {
                Err(Failure::Refused("a relay accepts single statements only".into()))
            }
        }
    }

    /// Starts to receive notifications on these channels.
    pub(super) async fn listen(&self, channels: &[String]) -> Result<(), Failure> {
        match &self.wire {
            Wire::Server(_) => self.execute(&statements("LISTEN", channels)).await,
            Wire::Relay(relay) => self.while_usable(relay.listen(channels)).await?,
        }
    }

    /// Stops receiving notifications on these channels.
    pub(super) async fn unlisten(&self, channels: &[String]) {
        match &self.wire {
            // If this fails, the connection is closed, so no notification arrives any more.
            Wire::Server(_) => drop(self.execute(&statements("UNLISTEN", channels)).await),
            Wire::Relay(relay) => relay.unlisten(channels),
        }
    }

    pub(super) fn subscribers(&self) -> &Subscribers {
        &self.signals.subscribers
    }

    /// Creates the tables if there are none, and checks their version.
    pub(super) async fn check_tables(&self) -> Result<(), Failure> {
        let Wire::Server(server) = &self.wire else { return Ok(()) };
        let client = &server.client;
        let find = || self.while_usable(client.query_typed(sql::FIND_VERSION, &[]));
        let is_whole = |rows: &[tokio_postgres::Row]| {
            rows.first().is_none_or(|row| row.try_get(1).unwrap_or(true))
        };
        let version = match find().await? {
            Err(error) if is_missing(&error) => None,
            // A user of the database has dropped some of the tables.
            Ok(rows) if !is_whole(&rows) => None,
            found => Some(found?),
        };
        let version = match version {
            Some(version) => version,
            None => {
                self.execute(sql::CREATE).await?;
                find().await??
            }
        };
        match version.first().map(|row| row.try_get::<_, i32>(0)) {
            Some(Ok(sql::VERSION)) => Ok(()),
            Some(Ok(found)) => Err(Failure::Refused(format!(
                "the tables in its schema `hallpass` have version {found}, and this hallpass supports version {}: \
                 use the same version of hallpass everywhere",
                sql::VERSION
            ))),
            _ => Err(Failure::Refused("the table hallpass.format has no version".into())),
        }
    }
}

/// Returns `LISTEN` or `UNLISTEN` for these channels.
fn statements(verb: &str, channels: &[String]) -> String {
    // A borrower can request any text as a channel, even one with quotes.
    let quoted = |channel: &String| channel.replace('"', "\"\"");
    channels.iter().map(|channel| format!("{verb} \"{}\";", quoted(channel))).collect()
}

/// Returns whether a statement failed because a table or the schema does not exist.
fn is_missing(error: &tokio_postgres::Error) -> bool {
    let missing = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    error.code().is_some_and(|code| missing.contains(code))
}

impl Drop for ServerWire {
    fn drop(&mut self) {
        let Some(driver) = self.driver.take() else { return };
        let (cancel, ending, task) =
            (self.client.cancel_token(), self.ending.clone(), self.ending.tasks.begin());
        self.runtime.spawn(async move {
            close(driver, cancel, ending).await;
            drop(task);
        });
    }
}

/// Waits until a connection whose client is gone has ended. Cancels the statements that are under way.
async fn close(mut driver: JoinHandle<()>, cancel: CancelToken, ending: Ending) {
    let end = Instant::now() + ending.limit;
    while timeout(CANCEL_EVERY, &mut driver).await.is_err() {
        let left = end.saturating_duration_since(Instant::now());
        let request = async {
            match ending.tls.clone() {
                None => cancel.cancel_query(NoTls).await,
                Some(tls) => cancel.cancel_query(tls).await,
            }
        };
        if !matches!(timeout(left, request).await, Ok(Ok(()))) {
            // Either the server cannot be reached, and then no other connection to it can be made now, or the server no
            // longer knows this connection.
            driver.abort();
        }
    }
}

/// Reads from and writes to a connection until it ends.
async fn drive<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    signals: Signals,
    permit: OwnedSemaphorePermit,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            AsyncMessage::Notification(note) => {
                signals.subscribers.tell(note.channel(), note.payload());
            }
            AsyncMessage::Notice(notice) if notice.routine() == Some(STANDBY_WAIT) => {
                signals.make_useless("a commit did not wait for the standby");
            }
            _ => {}
        }
    }
    signals.end();
    drop(permit);
}
