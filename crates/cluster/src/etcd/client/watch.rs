//! Watches: being told of changes.

use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use tonic::Streaming;

use super::{
    Client, Failure, KeyRange, KeyValue,
    attempt::Line,
    failure::of_text,
    messages::{
        EventType, WatchCreateRequest, WatchRequest, WatchRequestUnion, WatchResponse, WatchedEvent,
    },
};

/// The revision by which etcd is asked for what is to come.
const NOW: i64 = 0;
const WATCH: &str = "/etcdserverpb.Watch/Watch";

/// Tells of changes in its ranges. Those of one range come in their order; those of several ranges may
/// overtake each other. Dropping it ends it.
pub(crate) struct Watch {
    client: Client,
    line: Line,
    answers: Streaming<WatchResponse>,
    /// It tells of all that comes after this revision; maybe, of what was shortly before.
    pub since: i64,
    /// What came before all ranges were acknowledged.
    early: Vec<Event>,
    /// Keeps the questions open. When it goes, etcd ends the watches; that nobody listens to the answers
    /// any more, it is not told.
    _questions: mpsc::Sender<WatchRequest>,
}

/// A change of a key.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Event {
    pub deleted: bool,
    /// As it is since; its `mod_revision` is that of the change. Of a deleted key, no more than that.
    pub kv: KeyValue,
}

impl Event {
    /// Whether the key was put there after this revision.
    pub(crate) fn is_put_after(&self, revision: i64) -> bool {
        !self.deleted && self.kv.mod_revision > revision
    }

    /// Whether it was deleted after this revision.
    pub(crate) fn is_deleted_after(&self, revision: i64) -> bool {
        self.deleted && self.kv.mod_revision > revision
    }
}

impl Client {
    /// One stream for all ranges, from now on: from the latest revision that the server has heard of.
    /// Returns once it has acknowledged all of them.
    ///
    /// To whoever asks for an earlier revision, etcd may be silent for a tenth of a second: those it serves
    /// in rounds, and at once only those who want nothing but what is to come.
    pub(crate) async fn watch(&self, ranges: Vec<KeyRange>) -> Result<Watch, Failure> {
        self.watch_from(ranges, NOW).await
    }

    /// From this revision on (inclusive); for tests, it need not be the latest.
    pub(super) async fn watch_from(
        &self,
        ranges: Vec<KeyRange>,
        from: i64,
    ) -> Result<Watch, Failure> {
        self.attempt(|line| {
            let requests: Vec<_> = ranges.iter().map(|range| create(range, from)).collect();
            async move {
                let mut missing = requests.len();
                // etcd ends the watches when nothing more can be asked for: keep that open meanwhile.
                let (questions, more) = mpsc::channel(1);
                let requests = tokio_stream::iter(requests).chain(ReceiverStream::new(more));
                let mut answers = line.stream(WATCH, requests).await?;
                let (mut since, mut early) = (0, Vec::new());
                while missing > 0 {
                    let answer = next(&mut answers).await?;
                    if answer.created {
                        missing -= 1;
                        let now = answer.header.as_ref().map_or(i64::MAX, |header| header.revision);
                        since = since.max(now);
                    }
                    early.extend(events(answer)?);
                }
                let client = self.clone();
                Ok(Watch { client, line, answers, since, early, _questions: questions })
            }
        })
        .await
    }
}

impl Watch {
    /// The next events, at least one. After a failure, nothing more comes.
    pub(crate) async fn next(&mut self) -> Result<Vec<Event>, Failure> {
        let outcome = self.next_events().await;
        self.client.judge(&self.line, outcome)
    }

    async fn next_events(&mut self) -> Result<Vec<Event>, Failure> {
        let mut batch = std::mem::take(&mut self.early);
        // Progress notifications have no events.
        while batch.is_empty() {
            batch = events(next(&mut self.answers).await?)?;
        }
        Ok(batch)
    }
}

fn create(range: &KeyRange, from: i64) -> WatchRequest {
    WatchRequest {
        request_union: Some(WatchRequestUnion::Create(WatchCreateRequest {
            key: range.key.clone(),
            range_end: range.end.clone(),
            start_revision: from,
        })),
    }
}

async fn next(answers: &mut Streaming<WatchResponse>) -> Result<WatchResponse, Failure> {
    let answer = answers.message().await?;
    answer.ok_or_else(|| Failure::Unreachable("the watch ended".into()))
}

fn events(answer: WatchResponse) -> Result<Vec<Event>, Failure> {
    if answer.compact_revision > 0 {
        return Err(Failure::Compacted);
    }
    if answer.canceled {
        return Err(of_text(&answer.cancel_reason).unwrap_or_else(|| {
            Failure::Unreachable(format!("watch ended: {}", answer.cancel_reason))
        }));
    }
    let event = |event: WatchedEvent| {
        Some(Event { deleted: event.kind == EventType::Delete as i32, kv: event.kv? })
    };
    Ok(answer.events.into_iter().filter_map(event).collect())
}
