//! The relay: a process that lets others use its connection.

use std::sync::{Arc, Weak};

use tokio::{
    net::{UnixListener, UnixStream},
    sync::mpsc,
};

use super::{
    super::{
        connection::Database,
        line::Line,
        notifications::{Note, new_id, payload},
    },
    RelayLock, is_own,
    messages::{Answer, Inbox, Request, send},
};

/// Serves the *borrowers*, the processes that use this connection, until the store is dropped.
pub(in super::super) async fn serve(
    listener: UnixListener,
    lock: RelayLock,
    database: Weak<Database>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let Some(database) = database.upgrade() else { break };
        if is_own(&stream) {
            tokio::spawn(database.until_end(async move |database| attend(database, stream).await));
        }
    }
    drop(lock);
}

/// Serves one borrower until the borrower or the present connection to the server ends.
async fn attend(database: Arc<Database>, stream: UnixStream) {
    let (reader, mut writer) = stream.into_split();
    if send(&mut writer, &Answer::Hello).await.is_none() {
        return;
    }
    let line = database.own_line().await;
    let connected = Answer::Connected(line.as_ref().map(drop).map_err(Clone::clone));
    let (Some(()), Ok(line)) = (send(&mut writer, &connected).await, line) else { return };
    let (answers, mut outgoing) = mpsc::unbounded_channel();
    let (notes, mut incoming) = mpsc::unbounded_channel::<Note>();
    let mut session = Session {
        database,
        line: line.clone(),
        answers,
        notes,
        id: new_id(),
        channels: Vec::new(),
    };
    let receive = async {
        let mut inbox = Inbox::new(reader);
        while let Some(request) = inbox.next().await {
            session.perform(request).await;
        }
    };
    let reply = async {
        loop {
            let answer = tokio::select! {
                Some(answer) = outgoing.recv() => answer,
                Some(Note { channel, revision, key }) = incoming.recv() => {
                    Answer::Note { channel, payload: payload(revision, &key) }
                }
            };
            if send(&mut writer, &answer).await.is_none() {
                break;
            }
        }
    };
    tokio::select! {
        () = receive => {}
        () = reply => {}
        () = line.ended() => {}
    }
    let Session { channels, id, .. } = session;
    line.unsubscribe(&channels, id).await;
}

/// A borrower, as its relay sees it.
struct Session {
    database: Arc<Database>,
    /// The connection on which the relay listens for this borrower.
    line: Arc<Line>,
    answers: mpsc::UnboundedSender<Answer>,
    notes: mpsc::UnboundedSender<Note>,
    /// The number of this borrower as a subscriber.
    id: u64,
    /// The channels to which the borrower has subscribed.
    channels: Vec<String>,
}

impl Session {
    /// Performs a request, without a time limit. The borrower itself gives up after some time. If the relay closed the
    /// connection because of one slow statement, all borrowers would lose it. The relay's own statements show whether
    /// the server still answers.
    async fn perform(&mut self, request: Request) {
        let (database, line) = (self.database.clone(), self.line.clone());
        match request {
            Request::Query { id, statement, parameters } => {
                let answers = self.answers.clone();
                // Statements do not wait for each other.
                tokio::spawn(database.until_end(async move |_| {
                    let result = line.query(&statement, &parameters).await;
                    // The borrower may have ended.
                    let _ = answers.send(Answer::Done { id, result });
                }));
            }
            Request::Listen { id, channels } => {
                let new: Vec<_> =
                    channels.into_iter().filter(|name| !self.channels.contains(name)).collect();
                self.channels.extend_from_slice(&new);
                let result = line.subscribe(&new, self.id, &self.notes).await;
                let _ = self.answers.send(Answer::Done { id, result: result.map(|()| Vec::new()) });
            }
            Request::Unlisten { channels } => {
                self.channels.retain(|name| !channels.contains(name));
                line.unsubscribe(&channels, self.id).await;
            }
        }
    }
}
