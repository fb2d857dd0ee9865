//! Watches: streams of changes.

use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use tonic::Streaming;

use super::{
    Client, Failure,
    attempt::Line,
    failure::of_text,
    messages::{
        EventType, WatchCreateRequest, WatchRequest, WatchRequestUnion, WatchResponse, WatchedEvent,
    },
};
use crate::store::{Changes, Event, KeyRange, Reply};

/// The start revision with which etcd reports only future changes.
const NOW: i64 = 0;
const WATCH: &str = "/etcdserverpb.Watch/Watch";

/// Reports the changes in its ranges. The changes of one range arrive in order. Changes of different ranges may
/// overtake each other. Dropping this value ends the watch.
pub(crate) struct Watch {
    client: Client,
    line: Line,
    answers: Streaming<WatchResponse>,
    /// The watch reports all changes after this revision, and possibly some shortly before it.
    pub since: i64,
    /// Events that arrived before all ranges were acknowledged.
    early: Vec<Event>,
    /// Keeps the stream of requests open. When this stream closes, etcd ends the watches. (etcd would not notice that
    /// nobody reads its answers any more.)
    _requests: mpsc::Sender<WatchRequest>,
}

impl Client {
    /// Watches all ranges in one stream, from the latest revision of the server. Returns once the server has
    /// acknowledged all ranges.
    ///
    /// etcd serves watches from earlier revisions only every tenth of a second. It serves watches for future
    /// changes immediately.
    pub(crate) async fn watch(&self, ranges: Vec<KeyRange>) -> Result<Watch, Failure> {
        self.watch_from(ranges, NOW).await
    }

    /// Watches changes from this revision on (inclusive). Tests call this with earlier revisions.
    pub(super) async fn watch_from(
        &self,
        ranges: Vec<KeyRange>,
        from: i64,
    ) -> Result<Watch, Failure> {
        self.attempt(|line| {
            let requests: Vec<_> = ranges.iter().map(|range| create(range, from)).collect();
            async move {
                let mut missing = requests.len();
                // etcd ends the watches when the stream of requests closes, so keep it open.
                let (requests_open, more) = mpsc::channel(1);
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
                Ok(Watch { client, line, answers, since, early, _requests: requests_open })
            }
        })
        .await
    }
}

impl Changes for Watch {
    fn next(&mut self) -> Reply<'_, Vec<Event>> {
        Box::pin(async {
            let outcome = self.next_events().await;
            self.client.judge(&self.line, outcome)
        })
    }
}

impl Watch {
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
        Some(Event { deleted: event.kind == EventType::Delete as i32, kv: event.kv?.into() })
    };
    Ok(answer.events.into_iter().filter_map(event).collect())
}
