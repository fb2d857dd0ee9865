//! Waiting processes of one user share a connection.
//!
//! Two hundred waiting commands must not need two hundred connections. So one waiting process of each machine, the
//! *relay*, lets the others use its connection through a socket. It forwards their statements and the notifications they
//! wait for. The others keep no connection of their own.
//!
//! - **Who is the relay.** The process that has locked the lock file. If it ends, another process gets the lock: each
//!   member notices the end of its connection to the relay, and tries to become the relay after a random time.
//! - **A relay that does not answer**, for example because it is suspended, is replaced by the next one: there are up to
//!   [`RELAYS`] sockets. If none of them answers, a process connects to the server itself.
//! - **Holders** connect to the server themselves, so that they do not depend on another process.
//! - **Who may use it.** Only processes of the same user, with the same options, in the same namespaces. The directory of
//!   the sockets is closed to other users.
//!
//! The protocol does not depend on any of this. To a member, the relay is a part of the network: an answer proves as much
//! as if the server had sent it directly, because a claim counts from the time at which the request was sent.

mod member;
mod messages;
mod relay;

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    process::geteuid,
};
use tokio::{
    net::{UnixListener, UnixStream},
    time::sleep,
};

use super::{line::Line, options::PostgresOptions};
use crate::failure::Failure;

pub(super) use member::MemberWire;
pub(super) use relay::serve;

/// The largest number of relays of a machine.
const RELAYS: usize = 3;

/// The sockets of the processes that may share a connection.
pub(super) struct Sharing {
    /// The path of each socket. The lock file has the same name and the extension `lock`.
    sockets: Vec<PathBuf>,
    /// How long a relay has to show that it works.
    limit: Duration,
    /// Whether this process is the relay.
    is_relay: AtomicBool,
}

/// How a process may use the server.
pub(super) enum Role {
    /// Through the connection of another process.
    Member(Box<Line>),
    /// With its own connection, which it lets others use.
    Relay(UnixListener, RelayLock),
    /// With its own connection.
    Alone,
}

/// The lock of a relay. It is free when the file is closed.
pub(super) struct RelayLock(#[expect(dead_code, reason = "it is only closed")] File);

impl Sharing {
    /// Returns the sockets for these options. Returns `None` if there is no directory that only this user can use.
    pub(super) fn new(options: &PostgresOptions, ttl: Duration, limit: Duration) -> Option<Self> {
        let folder = private_folder()?;
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(options).ok()?.hash(&mut hasher);
        ttl.hash(&mut hasher);
        // In another namespace, the same URL may name another server.
        for namespace in ["net", "mnt"] {
            fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?.hash(&mut hasher);
        }
        let name = format!("postgres-{:016x}", hasher.finish());
        let socket = |number| folder.join(format!("{name}.{number}"));
        let sockets = (0..RELAYS).map(socket).collect();
        Some(Sharing { sockets, limit, is_relay: AtomicBool::new(false) })
    }

    /// Finds a relay. If there is none and this process `may_lead`, it becomes the relay.
    ///
    /// # Errors
    /// The failure of the relay to connect to the server.
    pub(super) async fn find_role(&self, may_lead: bool) -> Result<Role, Failure> {
        for socket in &self.sockets {
            let end = Instant::now() + self.limit;
            while Instant::now() < end {
                // ORDERING: Relaxed, because only the thread that talks to the store uses it.
                if self.is_relay.load(Relaxed) {
                    return Ok(Role::Alone);
                }
                match UnixStream::connect(socket).await {
                    Ok(stream) => match member::join(stream, self.limit).await? {
                        member::Joined::Line(line) => return Ok(Role::Member(line)),
                        // The relay has just ended.
                        member::Joined::Ended => {}
                        member::Joined::Stuck => break,
                    },
                    Err(_) if !may_lead => return Ok(Role::Alone),
                    Err(_) => {
                        if let Some((listener, lock)) = lead(socket) {
                            self.is_relay.store(true, Relaxed);
                            return Ok(Role::Relay(listener, lock));
                        }
                    }
                }
                // All members of a relay that has ended come at the same time.
                sleep(Duration::from_millis(fastrand::u64(5..50))).await;
            }
        }
        Ok(Role::Alone)
    }
}

/// Makes this process the relay, unless there is one already.
fn lead(socket: &Path) -> Option<(UnixListener, RelayLock)> {
    let mut path = socket.as_os_str().to_owned();
    path.push(".lock");
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // The socket is that of an earlier relay.
    let _ = fs::remove_file(socket);
    Some((UnixListener::bind(socket).ok()?, RelayLock(file)))
}

/// Returns a directory that only this user can use. Creates it if necessary.
fn private_folder() -> Option<PathBuf> {
    let user = geteuid().as_raw();
    let folder = match env::var_os("XDG_RUNTIME_DIR").filter(|path| Path::new(path).is_dir()) {
        Some(runtime) => PathBuf::from(runtime).join("hallpass-sockets"),
        None => env::temp_dir().join(format!("hallpass-sockets-{user}")),
    };
    // It may exist already.
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let found = fs::symlink_metadata(&folder).ok()?;
    let private = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    private.then_some(folder)
}
