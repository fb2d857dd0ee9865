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

const WATCH: &str = "/etcdserverpb.Watch/Watch";

/// Tells of changes in its ranges. Those of one range come in their order; those of several ranges may
/// overtake each other. Dropping it ends it.
pub(crate) struct Watch {
    client: Client,
    line: Line,
    answers: Streaming<WatchResponse>,
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

impl Client {
    /// One stream for all ranges, from this revision on (inclusive). Returns once the server has
    /// acknowledged all of them.
    pub(crate) async fn watch(&self, ranges: Vec<KeyRange>, from: i64) -> Result<Watch, Failure> {
        self.attempt(|line| {
            let requests: Vec<_> = ranges.iter().map(|range| create(range, from)).collect();
            async move {
                let mut missing = requests.len();
                // etcd ends the watches when nothing more can be asked for: keep that open meanwhile.
                let (questions, more) = mpsc::channel(1);
                let requests = tokio_stream::iter(requests).chain(ReceiverStream::new(more));
                let mut answers = line.stream(WATCH, requests).await?;
                let mut early = Vec::new();
                while missing > 0 {
                    let answer = next(&mut answers).await?;
                    missing -= usize::from(answer.created);
                    early.extend(events(answer)?);
                }
                Ok(Watch { client: self.clone(), line, answers, early, _questions: questions })
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
