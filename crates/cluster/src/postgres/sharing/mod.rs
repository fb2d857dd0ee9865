//! Waiting processes of one user share a connection.
//!
//! Two hundred waiting commands must not need two hundred connections. So one waiting process of each machine, the
//! *relay*, lets the others, its *borrowers*, use its connection through a socket. The relay forwards the statements of
//! its borrowers, and the notifications that they wait for. A borrower has no connection to the server.
//!
//! - **The relay** is the process that has locked the lock file. If it ends, another process gets the lock: each
//!   borrower notices the end of its connection to the relay, and tries to become the relay after a random time.
//! - **A relay that does not answer**, for example because it is suspended, is replaced by the next one: there are up
//!   to [`RELAYS`] sockets. If none of them answers, a process connects to the server itself.
//! - **Holders** connect to the server themselves, so that they do not depend on another process.
//! - **Access.** A relay and its borrowers have the same user, the same options, the same version of hallpass and the
//!   same namespaces. The directory of the sockets is closed to other users, and each side checks the user of the
//!   process at the other end.
//! - **Names.** Every user can see the paths of sockets in `/proc/net/unix`. The name of a socket is a hash of the
//!   options, which include the password. So the hash also covers a random [key](find_key) that only this user can
//!   read. If it did not cover the key, other users could test guesses of the password.
//!
//! The protocol does not depend on any of this. To a borrower, the relay is a part of the network: an answer proves as
//! much as if the server had sent it directly, because a claim counts from the time at which the request was sent.

mod borrower;
mod messages;
mod relay;
#[cfg(test)]
mod tests;

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
    process::geteuid,
};
use rustls::{SupportedCipherSuite, crypto::ring};
use tokio::{
    net::{UnixListener, UnixStream},
    time::sleep,
};

use super::{line::Line, options::PostgresOptions, sql};
use crate::{ClusterOptions, failure::Failure};

pub(super) use borrower::BorrowerWire;
#[cfg(feature = "fuzzing")]
pub(super) use messages::fuzz_message;
pub(super) use relay::serve;

/// The largest number of relays for the same user and the same options on a machine.
const RELAYS: usize = 3;

/// The sockets of the processes that may share a connection.
pub(super) struct Sharing {
    /// The path of each socket. The lock file has the same name and the extension `lock`.
    sockets: Vec<PathBuf>,
    /// How long a relay has to show that it works.
    limit: Duration,
    /// How long a relay has to connect to the server.
    connect_limit: Duration,
    /// Whether this process is the relay.
    is_relay: AtomicBool,
}

/// How a process may use the server.
pub(super) enum Role {
    /// The process uses the connection of another process.
    Borrower(Box<Line>),
    /// The process uses its own connection, and lets other processes use it.
    Relay(UnixListener, RelayLock),
    /// The process uses its own connection alone.
    Alone,
}

/// The lock of a relay, and its socket. Dropping this value removes the socket, and then closes the file, which frees
/// the lock.
pub(super) struct RelayLock {
    socket: PathBuf,
    _file: File,
}

impl Drop for RelayLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

impl Sharing {
    /// Returns the sockets for these options. Returns `None` if there is no directory that only this user can use.
    pub(super) fn new(
        options: &PostgresOptions,
        cluster: &ClusterOptions,
        connect_limit: Duration,
    ) -> Option<Self> {
        let folder = private_folder()?;
        let mut text = find_key(&folder)?;
        let versions = (env!("CARGO_PKG_VERSION"), sql::VERSION);
        // In another namespace, the same URL may name another server.
        let namespace = |name| fs::read_link(format!("/proc/self/ns/{name}")).ok();
        let namespaces = (namespace("net")?, namespace("mnt")?);
        text.extend(serde_json::to_vec(&(versions, options, cluster.ttl, namespaces)).ok()?);
        let hash = sha256(&text)?;
        let name = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
        let name = format!("postgres-{name}");
        let socket = |number| folder.join(format!("{name}.{number}"));
        let sockets = (0..RELAYS).map(socket).collect();
        let limit = cluster.login_time() / 4;
        Some(Sharing { sockets, limit, connect_limit, is_relay: AtomicBool::new(false) })
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
                    Ok(stream) if !is_own(&stream) => return Ok(Role::Alone),
                    Ok(stream) => {
                        match borrower::join(stream, self.limit, self.connect_limit).await? {
                            borrower::Joined::Line(line) => return Ok(Role::Borrower(line)),
                            // The relay has just ended.
                            borrower::Joined::Ended => {}
                            borrower::Joined::Stuck => break,
                        }
                    }
                    Err(_) if !may_lead => return Ok(Role::Alone),
                    Err(_) => match lead(socket) {
                        Ok(Some((listener, lock))) => {
                            self.is_relay.store(true, Relaxed);
                            return Ok(Role::Relay(listener, lock));
                        }
                        // Another process is about to be the relay, or hangs.
                        Ok(None) => {}
                        // The socket cannot be created: its path is too long, or the disk is full.
                        Err(_) => return Ok(Role::Alone),
                    },
                }
                // When a relay ends, all its borrowers come here at the same time, so each pauses for a random time.
                sleep(Duration::from_millis(fastrand::u64(5..50))).await;
            }
        }
        Ok(Role::Alone)
    }
}

/// Returns whether the process at the other end belongs to the user of this process.
fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Makes this process the relay. Returns `None` if another process has the lock.
///
/// # Errors
/// The lock file or the socket cannot be created.
fn lead(socket: &Path) -> io::Result<Option<(UnixListener, RelayLock)>> {
    let mut path = socket.as_os_str().to_owned();
    path.push(".lock");
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    // If there is a socket, an earlier relay left it behind.
    let _ = fs::remove_file(socket);
    let listener = UnixListener::bind(socket)?;
    Ok(Some((listener, RelayLock { socket: socket.into(), _file: file })))
}

/// The number of bytes of the key.
const KEY_LENGTH: usize = 32;

/// Returns the key of this user. Creates the key if necessary, and replaces a file that does not contain a key.
fn find_key(folder: &Path) -> Option<Vec<u8>> {
    let path = folder.join("key");
    let read = || fs::read(&path).ok().filter(|key| key.len() == KEY_LENGTH);
    read().or_else(|| {
        // A half-written key must not be visible. So the key is written under another name, and then gets a link. If
        // several processes do this, the first one wins: unlike a rename, a link does not replace a key that exists.
        let mut key = [0; KEY_LENGTH];
        ring::default_provider().secure_random.fill(&mut key).ok()?;
        let draft = folder.join(format!("key.{:016x}", fastrand::u64(..)));
        let mut file =
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(&draft).ok()?;
        let written = file.write_all(&key).and_then(|()| file.sync_all());
        if written.is_ok() && fs::hard_link(&draft, &path).is_err() && read().is_none() {
            // The file exists and does not contain a key. If several processes replace it at the same time, the last
            // one wins, and the others do not share a connection with later processes.
            let _ = fs::rename(&draft, &path);
        }
        let _ = fs::remove_file(&draft);
        read()
    })
}

fn sha256(text: &[u8]) -> Option<Vec<u8>> {
    let SupportedCipherSuite::Tls13(suite) = ring::cipher_suite::TLS13_AES_128_GCM_SHA256 else {
        return None;
    };
    Some(suite.common.hash_provider.hash(text).as_ref().to_vec())
}

/// Returns a directory that only this user can use. Creates it if necessary.
fn private_folder() -> Option<PathBuf> {
    let user = geteuid().as_raw();
    let usable = |path: &PathBuf| path.is_absolute() && path.is_dir();
    let folder = match env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(usable) {
        Some(runtime) => runtime.join("hallpass-sockets"),
        None => env::temp_dir().join(format!("hallpass-sockets-{user}")),
    };
    // The directory may exist already.
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let found = fs::symlink_metadata(&folder).ok()?;
    let private = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    private.then_some(folder)
}
