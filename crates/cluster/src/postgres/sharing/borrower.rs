//! A borrower: a process that uses the connection of a relay instead of its own.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    net::{UnixStream, unix::OwnedWriteHalf},
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::timeout,
};

use super::{
    super::{
        line::{Line, Signals},
        notifications::Subscribers,
        values::{Parameter, Row},
    },
    messages::{Answer, Inbox, Request, send},
};
use crate::failure::Failure;

/// The result of an attempt to become a borrower.
pub(super) enum Joined {
    Line(Box<Line>),
    /// The relay has ended.
    Ended,
    /// The relay does not answer.
    Stuck,
}

type Reply = oneshot::Sender<Result<Vec<Row>, Failure>>;

/// The connection to a relay. Dropping it closes it.
pub(in super::super) struct BorrowerWire {
    requests: mpsc::UnboundedSender<(Request, Option<(u64, Reply)>)>,
    ids: AtomicU64,
    driver: AbortHandle,
}

/// Waits until the relay is ready. It has the time `limit` to show that it works, and then `connect_limit` to connect
/// to the server.
pub(super) async fn join(
    stream: UnixStream,
    limit: Duration,
    connect_limit: Duration,
) -> Result<Joined, Failure> {
    let (reader, writer) = stream.into_split();
    let mut inbox = Inbox::new(reader);
    match timeout(limit, inbox.next()).await {
        Ok(Some(Answer::Hello)) => {}
        Ok(_) => return Ok(Joined::Ended),
        Err(_) => return Ok(Joined::Stuck),
    }
    match timeout(connect_limit, inbox.next()).await {
        Ok(Some(Answer::Connected(connected))) => connected?,
        Ok(_) => return Ok(Joined::Ended),
        Err(_) => return Ok(Joined::Stuck),
    }
    let (requests, orders) = mpsc::unbounded_channel();
    let signals = Signals::default();
    let driver = tokio::spawn(drive(inbox, writer, orders, signals.clone())).abort_handle();
    let wire = BorrowerWire { requests, ids: AtomicU64::new(0), driver };
    Ok(Joined::Line(Box::new(Line::through_relay(wire, signals))))
}

impl BorrowerWire {
    pub(in super::super) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Failure> {
        let (statement, parameters) = (statement.into(), parameters.into());
        self.call(|id| Request::Query { id, statement, parameters }).await
    }

    pub(in super::super) async fn listen(&self, channels: &[String]) -> Result<(), Failure> {
        let channels = channels.into();
        self.call(|id| Request::Listen { id, channels }).await.map(drop)
    }

    pub(in super::super) fn unlisten(&self, channels: &[String]) {
        // If the relay has ended, there is nothing to stop.
        let _ = self.requests.send((Request::Unlisten { channels: channels.into() }, None));
    }

    pub(in super::super) fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    async fn call(&self, request: impl FnOnce(u64) -> Request) -> Result<Vec<Row>, Failure> {
        // ORDERING: Relaxed, because only the number has to be new.
        let id = self.ids.fetch_add(1, Relaxed);
        let (reply, result) = oneshot::channel();
        let ended =
            || Failure::Unreachable("the process that shares its connection has ended".into());
        self.requests.send((request(id), Some((id, reply)))).map_err(|_| ended())?;
        result.await.unwrap_or_else(|_| Err(ended()))
    }
}

impl Drop for BorrowerWire {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Sends requests and receives answers until the relay ends.
async fn drive(
    mut inbox: Inbox,
    mut writer: OwnedWriteHalf,
    mut orders: mpsc::UnboundedReceiver<(Request, Option<(u64, Reply)>)>,
    signals: Signals,
) {
    let mut pending: HashMap<u64, Reply> = HashMap::new();
    let subscribers: Arc<Subscribers> = signals.subscribers.clone();
    loop {
        tokio::select! {
            order = orders.recv() => {
                let Some((request, reply)) = order else { break };
                pending.extend(reply);
                if send(&mut writer, &request).await.is_none() {
                    break;
                }
            }
            answer = inbox.next() => match answer {
                Some(Answer::Done { id, result }) => {
                    if let Some(reply) = pending.remove(&id) {
                        // The caller may have given up.
                        let _ = reply.send(result);
                    }
                }
                Some(Answer::Note { channel, payload }) => subscribers.tell(&channel, &payload),
                _ => break,
            },
        }
    }
    signals.end();
}
