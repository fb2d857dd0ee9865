//! The members of the cluster, and the connection to one of them.

use std::{
    collections::HashSet,
    fs,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use super::attempt::Line;
use crate::{Error, Tls, etcd::EtcdOptions};

/// etcd closes connections on which pings come more often than every 5 s.
const PING_EVERY: Duration = Duration::from_secs(6);
const PING_ANSWERED_WITHIN: Duration = Duration::from_secs(3);

/// The members of the cluster. The client is connected to one of them.
pub(super) struct Members {
    names: Vec<String>,
    endpoints: Vec<Endpoint>,
    /// The order in which this client tries the members. It is random, so that clients are spread over the members.
    order: Vec<usize>,
    current: Mutex<Current>,
    /// Whether any member has ever answered.
    has_answered: AtomicBool,
    /// A hint for the user if no member has ever answered.
    hint: &'static str,
}

/// The current connection.
#[derive(Default)]
struct Current {
    /// The number of times that the client has switched to the next member.
    turn: u64,
    /// The connection to the current member; `None` until it is first used. Connecting needs a runtime, so `new` does
    /// not connect.
    channel: Option<Channel>,
    /// The members that had a bad certificate or rejected the certificate of the client. Emptied when a member answers.
    bad_certificates: HashSet<usize>,
}

impl Members {
    /// Reads the certificates, without using the network.
    pub(super) fn new(etcd: &EtcdOptions, dial_time: Duration) -> Result<Members, Error> {
        let tls = etcd.tls.as_ref().map(tls_config).transpose()?;
        let endpoint = |member: &String| endpoint(member, tls.clone(), dial_time);
        let mut order: Vec<_> = (0..etcd.endpoints.len()).collect();
        fastrand::shuffle(&mut order);
        Ok(Members {
            order,
            names: etcd.endpoints.clone(),
            endpoints: etcd.endpoints.iter().map(endpoint).collect::<Result<_, _>>()?,
            current: Mutex::default(),
            has_answered: AtomicBool::new(false),
            hint: match &etcd.tls {
                None => "does it need TLS? Then use etcds://",
                Some(Tls { identity: None, .. }) => {
                    "does it support TLS, and does it need a client certificate (ETCDCTL_CERT)?"
                }
                Some(_) => "does it support TLS, and does it accept the client certificate?",
            },
        })
    }

    pub(super) fn names(&self) -> String {
        self.names.join(",")
    }

    /// Returns the connection to the current member.
    pub(super) fn line(&self) -> Line {
        let mut current = self.lock();
        let member = self.member(current.turn);
        let connect = || self.endpoints[member].connect_lazy();
        let channel = current.channel.get_or_insert_with(connect).clone();
        Line::new(current.turn, self.names[member].clone(), channel)
    }

    fn member(&self, turn: u64) -> usize {
        self.order[(turn % self.order.len() as u64) as usize]
    }

    /// Returns a new connection to each member.
    pub(super) fn lines(&self) -> Vec<Line> {
        let line = |(name, endpoint): (&String, &Endpoint)| {
            // The current connection never has this turn, so a failure of this line does not switch the member.
            Line::new(u64::MAX, name.clone(), endpoint.connect_lazy())
        };
        self.names.iter().zip(&self.endpoints).map(line).collect()
    }

    /// Returns the number of members.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// Switches to the next member. With a single member, this makes a new connection, because the old one may be
    /// dead although it is open. A call with the number of an earlier connection has no effect.
    pub(super) fn leave(&self, turn: u64) {
        let mut current = self.lock();
        if current.turn == turn {
            (current.turn, current.channel) = (turn + 1, None);
        }
    }

    /// Switches to the next member, because the certificate of this member is bad, or this member does not accept the
    /// certificate of the client. Returns whether all members were left for this reason since a member last answered.
    pub(super) fn leave_for_certificate(&self, turn: u64) -> bool {
        self.leave(turn);
        let mut current = self.lock();
        current.bad_certificates.insert(self.member(turn));
        current.bad_certificates.len() == self.order.len()
    }

    /// Notes that a member has answered, so the TLS options are right. Earlier bad certificates no longer count: see
    /// [`leave_for_certificate`](Members::leave_for_certificate).
    pub(super) fn note_answer(&self) {
        // ORDERING: Relaxed, because it only affects the text of a message.
        self.has_answered.store(true, Relaxed);
        self.lock().bad_certificates.clear();
    }

    /// Explains why a member could not be reached. A member that closes the connection gives no reason. In this case,
    /// if no member has ever answered, the TLS options may be wrong, so the explanation contains a hint.
    pub(super) fn explain(&self, member: &str, why: String) -> String {
        let was_closed =
            ["closed", "broken pipe", "reset", "eof"].iter().any(|word| why.contains(word));
        // ORDERING: Relaxed, because it only affects the text of a message.
        let why = if was_closed && !self.has_answered.load(Relaxed) {
            format!("{why} ({})", self.hint)
        } else {
            why
        };
        if self.names.len() == 1 { why } else { format!("{member}: {why}") }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn endpoint(
    member: &str,
    tls: Option<ClientTlsConfig>,
    dial_time: Duration,
) -> Result<Endpoint, Error> {
    let bad = |error| Error::BadOption { what: member.into(), why: reason(&error) };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{member}"))
        .map_err(bad)?
        .connect_timeout(dial_time)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_ANSWERED_WITHIN)
        .keep_alive_while_idle(false);
    match tls {
        None => Ok(endpoint),
        Some(tls) => endpoint.tls_config(tls).map_err(bad),
    }
}

fn tls_config(tls: &Tls) -> Result<ClientTlsConfig, Error> {
    let mut config = ClientTlsConfig::new();
    config = match &tls.cacert {
        Some(file) => config.ca_certificate(Certificate::from_pem(read(file, CERTIFICATE)?)),
        None => config.with_native_roots(),
    };
    if let Some((cert, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(read(cert, CERTIFICATE)?, read(key, KEY)?));
    }
    if let Some(name) = &tls.server_name {
        config = config.domain_name(name);
    }
    Ok(config)
}

const CERTIFICATE: &str = "CERTIFICATE-----";
const KEY: &str = "PRIVATE KEY-----";

/// Reads a file in PEM format, and checks that it has at least one block of this kind. Without this check, TLS would
/// fail later, with an error that does not name the file.
fn read(file: &Path, block: &str) -> Result<String, Error> {
    let bad = |why: String| Error::BadOption { what: file.display().to_string(), why };
    let text = fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
    if text.contains(block) {
        Ok(text)
    } else {
        Err(bad(format!("it has no `-----BEGIN ... {block}`")))
    }
}

/// Describes an error and its causes.
fn reason(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}
