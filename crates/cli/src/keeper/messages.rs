//! The messages between `hallpass run` and its keeper. Passwords are in these messages and not on the command line
//! of the keeper, which all users can read.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    time::Duration,
};

use hallpass_cluster::{Clock, ClusterOptions, StoreOptions};
use rustix::{
    io::{Errno, retry_on_intr},
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The maximum length of a message, in bytes.
const LONGEST: usize = 1 << 16;

/// The first message to the keeper.
#[derive(Serialize, Deserialize)]
pub struct Request {
    pub cluster: Cluster,
    pub request: AcquireRequest,
}

/// The slots that the keeper has to acquire, and the options of the wait and of the pass.
#[derive(Serialize, Deserialize)]
pub struct AcquireRequest {
    pub name: String,
    /// The number of slots of the hall, if the user gave one.
    pub slots: Option<usize>,
    /// The number of slots of a new hall, if the user gave no number.
    pub default_slots: usize,
    /// The number of slots that the command takes together.
    pub take: usize,
    /// The command that `status` shows.
    pub command: String,
    pub nonblock: bool,
    /// The time limit for waiting.
    pub limit: Option<Duration>,
    /// Whether the keeper reports, before it waits, that no slot is free.
    pub verbose: bool,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether the command keeps running if `hallpass run` is killed.
    pub survive_kill: bool,
    /// Whether the slot is free as soon as `hallpass run` has ended.
    pub close: bool,
}

/// Orders to the keeper.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Report the queue.
    Show,
    /// Release the slot.
    Release,
}

/// Reports of the keeper.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// The hall is open.
    Opened { slots: usize },
    /// No slot is free.
    Full { waiting: usize },
    /// The keeper waits; the text describes the queue, or contains the error that keeps the keeper from acquiring.
    Waiting(String),
    /// The keeper has the slots `held` of a hall with `slots` slots, and has set the deadline.
    Granted { held: Vec<usize>, slots: usize, token: u64 },
    /// No slot was free within the time limit; with `nonblock`, no slot was free immediately.
    NoSlot,
    /// Acquiring failed, for this reason.
    Failed(String),
    /// No process has the [lifeline](super::lifeline) open any more.
    Idle,
    /// The pass is lost, for this reason. Another holder may get the slot after the deadline; after `hallpass evict`,
    /// immediately.
    Lost(String),
    /// The keeper has tried to release the slot. If this failed, the report contains the reason.
    Released(Option<String>),
}

/// How to reach a cluster: [`ClusterOptions`] that can be serialized.
#[derive(Serialize, Deserialize)]
pub struct Cluster {
    store: StoreOptions,
    command_timeout: Duration,
    ttl: Duration,
    state_dir: Option<PathBuf>,
}

impl From<ClusterOptions> for Cluster {
    fn from(options: ClusterOptions) -> Self {
        let ClusterOptions { store, command_timeout, ttl, state_dir, .. } = options;
        Cluster { store, command_timeout, ttl, state_dir }
    }
}

impl From<Cluster> for ClusterOptions {
    fn from(cluster: Cluster) -> Self {
        let Cluster { store, command_timeout, ttl, state_dir } = cluster;
        ClusterOptions { store, command_timeout, ttl, clock: Clock::default(), state_dir }
    }
}

/// One end of the connection between `hallpass run` and its keeper.
pub struct Channel(OwnedFd);

impl Channel {
    pub fn pair() -> io::Result<(Channel, Channel)> {
        // SEQPACKET keeps message boundaries.
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Channel(one), Channel(other)))
    }

    pub fn of(end: OwnedFd) -> Self {
        Channel(end)
    }

    pub fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        if text.len() > LONGEST {
            return Err(Errno::MSGSIZE.into());
        }
        retry_on_intr(|| send(&self.0, &text, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    /// Returns the next message, or `None` if the other end is closed.
    pub fn receive<M: DeserializeOwned>(&self) -> io::Result<Option<M>> {
        let mut text = vec![0; LONGEST];
        let (length, _) = match retry_on_intr(|| recv(&self.0, &mut text, RecvFlags::empty())) {
            Ok(received) => received,
            Err(Errno::CONNRESET) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match length {
            0 => Ok(None),
            _ => Ok(Some(serde_json::from_slice(&text[..length])?)),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
