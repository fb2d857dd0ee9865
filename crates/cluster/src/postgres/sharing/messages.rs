//! The messages between a relay and its borrowers. Each is one line of JSON.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
};

use super::super::values::{Parameter, Row};
use crate::failure::Failure;

/// A message of a borrower.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// Asks to run a statement. There is an answer with this id.
    Query { id: u64, statement: String, parameters: Vec<Parameter> },
    /// Asks for the notifications on these channels from now on. There is an answer with this id.
    Listen { id: u64, channels: Vec<String> },
    /// Asks for no more notifications on these channels. There is no answer.
    Unlisten { channels: Vec<String> },
}

/// A message of a relay.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// The relay works. This is its first message.
    Hello,
    /// The relay is connected to the server, or cannot connect. This is its second message.
    Connected(Result<(), Failure>),
    /// The result of a request.
    Done { id: u64, result: Result<Vec<Row>, Failure> },
    /// A notification.
    Note { channel: String, payload: String },
}

/// The messages that arrive.
pub(super) struct Inbox(Lines<BufReader<OwnedReadHalf>>);

impl Inbox {
    pub(super) fn new(half: OwnedReadHalf) -> Self {
        Inbox(BufReader::new(half).lines())
    }

    /// Returns the next message; `None` if the other process has ended or sends something else. A caller may drop the
    /// future and call again: no message is lost.
    pub(super) async fn next<M: DeserializeOwned>(&mut self) -> Option<M> {
        let line = self.0.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }
}

/// Sends a message. Returns `None` if the other process has ended.
pub(super) async fn send(to: &mut OwnedWriteHalf, message: &impl Serialize) -> Option<()> {
    let mut line = serde_json::to_vec(message).ok()?;
    line.push(b'\n');
    to.write_all(&line).await.ok()
}

/// Reads the text as a message of each kind, for the fuzz targets. A message that is understood is written and read
/// once more.
///
/// # Panics
/// Panics if a message changes on its way.
#[cfg(feature = "fuzzing")]
pub(in super::super) fn fuzz_message(text: &str) {
    fn round_trip<M: Serialize + DeserializeOwned>(text: &str) {
        let Ok(message) = serde_json::from_str::<M>(text) else { return };
        let written = serde_json::to_string(&message).expect("a message is plain data");
        assert!(!written.contains('\n'), "a message is one line");
        let again: M = serde_json::from_str(&written).expect("a written message can be read");
        assert_eq!(serde_json::to_string(&again).ok(), Some(written));
    }
    round_trip::<Request>(text);
    round_trip::<Answer>(text);
}
