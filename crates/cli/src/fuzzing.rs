//! Entry points for the fuzz targets of this project. Not part of the API.

use std::{io, time::Duration};

use hallpass_cluster::{ClusterOptions, fuzzing};
use rustix::net::{SendFlags, send};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    keeper::{
        Deadline,
        messages::{Channel, Order, Report, Request},
    },
    log,
};

/// The connection between a `hallpass run` and its keeper.
pub struct Connection {
    near: Channel,
    far: Channel,
    deadline: Deadline,
}

impl Connection {
    /// Returns a new connection.
    ///
    /// # Errors
    /// Returns an error if the process has too many open files.
    pub fn open() -> io::Result<Self> {
        let (near, far) = Channel::pair()?;
        Ok(Connection { near, far, deadline: Deadline::new()? })
    }

    /// Receives `bytes` as each kind of message. A message that is understood is sent and received once more. The keeper
    /// checks the options of a request and sets its timers.
    ///
    /// # Panics
    /// Panics if a message changes on its way. This is a bug in hallpass.
    pub fn message(&self, bytes: &[u8]) {
        self.receive::<Order>(bytes);
        self.receive::<Report>(bytes);
        if let Some(Request { cluster, request }) = self.receive(bytes) {
            fuzzing::options(&ClusterOptions::from(cluster));
            let _ = self.deadline.set(Duration::from_secs(1), request.grace);
        }
    }

    fn receive<M: Serialize + DeserializeOwned>(&self, bytes: &[u8]) -> Option<M> {
        send(&self.near, bytes, SendFlags::NOSIGNAL).ok()?;
        let message: M = self.far.receive().ok()??;
        let text = |message: &M| serde_json::to_string(message).expect("messages are JSON");
        self.near.send(&message).expect("a received message can be sent");
        let again = self.far.receive().expect("the channel is open").expect("the message arrives");
        assert_eq!(text(&message), text(&again));
        Some(message)
    }
}

/// Reads a log, and shows it as a table and as JSON.
///
/// # Panics
/// Panics if a line contains a control character, which could change the terminal.
pub fn log(bytes: &[u8]) {
    let entries: Vec<_> = log::parse(bytes).collect();
    let objects: Vec<_> = log::objects(&entries).collect();
    assert_eq!(objects.len(), entries.len());
    for line in log::table(&entries).iter().chain(&objects) {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}
