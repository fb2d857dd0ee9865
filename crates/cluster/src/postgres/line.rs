//! One connection to a server, and how it ends.
//!
//! A process of the server that waits for a standby, or for a lock, does not notice that its client is gone. So a client
//! that gives up on a statement, closes the connection and opens another one would soon use up the connections of the
//! server. Therefore hallpass [asks](close) the server to cancel the statement, and a connection counts towards the
//! limit of this process until the server has ended it.
//!
//! A commit whose wait for the standby was cancelled succeeds, with a warning. But it proves nothing, because another
//! server may have taken over. So this warning makes the connection useless before the answer arrives.

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
use tokio_postgres::{
    AsyncMessage, CancelToken, Client, Config, NoTls, Row,
    error::SqlState,
    types::{ToSql, Type},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{notifications::Subscribers, sql};
use crate::{failure::Failure, runtime::Tasks};

/// A parameter of a statement, with its type. Without the type, the client would ask the server for it.
pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The pause between two requests to cancel a statement. Several statements may be under way, and each request cancels
/// one of them.
const CANCEL_EVERY: Duration = Duration::from_millis(20);

/// The function of the server that warns if a commit did not wait for the standby.
const STANDBY_WAIT: &str = "SyncRepWaitForLSN";

/// A connection. Dropping this value ends the connection.
pub(super) struct Line {
    client: Client,
    pub(super) subscribers: Arc<Subscribers>,
    /// The reason why this connection must not be used any more, if there is one.
    useless: watch::Sender<Option<&'static str>>,
    /// The task that reads from and writes to the connection. It ends some time after `client` is dropped.
    driver: Option<JoinHandle<()>>,
    ending: Ending,
    runtime: Handle,
}

/// How to end a connection.
#[derive(Clone)]
pub(super) struct Ending {
    pub tls: Option<MakeRustlsConnect>,
    /// How long the server may take to end the connection.
    pub limit: Duration,
    /// The end of the program waits for connections that are being ended.
    pub tasks: Tasks,
}

impl Line {
    /// Connects to a server. `permit` is free again when the connection has ended.
    pub(super) async fn connect(
        server: &Config,
        ending: Ending,
        permit: OwnedSemaphorePermit,
    ) -> Result<Line, Failure> {
        let subscribers = Arc::new(Subscribers::default());
        let useless = watch::Sender::new(None);
        let parts =
            DriverParts { subscribers: subscribers.clone(), useless: useless.clone(), permit };
        let (client, driver) = match &ending.tls {
            None => {
                let (client, connection) = server.connect(NoTls).await?;
                (client, tokio::spawn(drive(connection, parts)))
            }
            Some(tls) => {
                let (client, connection) = server.connect(tls.clone()).await?;
                (client, tokio::spawn(drive(connection, parts)))
            }
        };
        let (driver, runtime) = (Some(driver), Handle::current());
        Ok(Line { client, subscribers, useless, driver, ending, runtime })
    }

    pub(super) fn is_usable(&self) -> bool {
        self.useless.borrow().is_none() && !self.client.is_closed()
    }

    /// Makes all calls on this connection fail, and ends its watches.
    pub(super) fn give_up(&self) {
        self.useless.send_if_modified(|useless| {
            let first = useless.is_none();
            useless.get_or_insert("the connection was closed");
            first
        });
        self.subscribers.close();
    }

    /// Returns the result of `call`, unless the connection becomes useless first.
    async fn while_usable<T>(&self, call: impl Future<Output = T>) -> Result<T, Failure> {
        let mut useless = self.useless.subscribe();
        tokio::select! {
            // The warning comes before the answer.
            biased;
            Ok(why) = useless.wait_for(Option::is_some) => {
                Err(Failure::Unreachable(why.unwrap_or_default().into()))
            }
            result = call => Ok(result),
        }
    }

    /// Runs one statement, in a transaction of its own. Returns after the transaction is committed.
    pub(super) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Failure> {
        // No statement is prepared, because a pooler may send the next one to another server process.
        Ok(self.while_usable(self.client.query_typed(statement, parameters)).await??)
    }

    /// Runs statements without parameters.
    pub(super) async fn execute(&self, statements: &str) -> Result<(), Failure> {
        Ok(self.while_usable(self.client.batch_execute(statements)).await??)
    }

    /// Creates the tables if there are none, and checks their version.
    pub(super) async fn check_tables(&self) -> Result<(), Failure> {
        let found = self.while_usable(self.client.query_typed(sql::FIND_VERSION, &[])).await?;
        let version = match found {
            Err(error) if is_missing(&error) => {
                self.execute(sql::CREATE).await?;
                self.query(sql::FIND_VERSION, &[]).await?
            }
            found => found?,
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

/// Returns whether a statement failed because a table or the schema does not exist.
fn is_missing(error: &tokio_postgres::Error) -> bool {
    let missing = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    error.code().is_some_and(|code| missing.contains(code))
}

impl Drop for Line {
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
            // The server cannot be reached, so no other connection to it can be made now. Or the server does not know
            // this connection any more.
            driver.abort();
        }
    }
}

/// The parts of a connection that its driver needs.
struct DriverParts {
    subscribers: Arc<Subscribers>,
    useless: watch::Sender<Option<&'static str>>,
    permit: OwnedSemaphorePermit,
}

/// Reads from and writes to a connection until it ends.
async fn drive<S, T>(mut connection: tokio_postgres::Connection<S, T>, parts: DriverParts)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let DriverParts { subscribers, useless, permit } = parts;
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            AsyncMessage::Notification(note) => subscribers.tell(note.channel(), note.payload()),
            AsyncMessage::Notice(notice) if notice.routine() == Some(STANDBY_WAIT) => {
                useless.send_replace(Some("a commit did not wait for the standby"));
            }
            _ => {}
        }
    }
    subscribers.close();
    drop(permit);
}
