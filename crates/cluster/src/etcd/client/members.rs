//! The members of the cluster, and the connection to one of them.

use std::{
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
use crate::{ClusterOptions, Error, etcd::Tls};

/// etcd hangs up on clients that ping more often than every 5 s.
const PING_EVERY: Duration = Duration::from_secs(6);
const PING_ANSWERED_WITHIN: Duration = Duration::from_secs(3);

/// The members, one of which we speak to.
pub(super) struct Members {
    names: Vec<String>,
    endpoints: Vec<Endpoint>,
    current: Mutex<Current>,
    /// Whether etcd has ever answered.
    heard: AtomicBool,
    /// What to ask oneself if it never has.
    question: &'static str,
}

/// Whom we speak to.
#[derive(Default)]
struct Current {
    /// How often we have moved on.
    turn: u64,
    /// None before the first use: only then is there surely a runtime.
    channel: Option<Channel>,
}

impl Members {
    /// Reads the certificates; no network.
    pub(super) fn new(options: &ClusterOptions) -> Result<Members, Error> {
        let tls = options.etcd.tls.as_ref().map(tls_config).transpose()?;
        let endpoint = |member: &String| endpoint(member, tls.clone(), options);
        Ok(Members {
            names: options.etcd.endpoints.clone(),
            endpoints: options.etcd.endpoints.iter().map(endpoint).collect::<Result<_, _>>()?,
            current: Mutex::default(),
            heard: AtomicBool::new(false),
            question: match &options.etcd.tls {
                None => "does it want TLS, by etcds://?",
                Some(Tls { identity: None, .. }) => {
                    "does it speak TLS, and want a certificate of ours, by ETCDCTL_CERT?"
                }
                Some(_) => "does it speak TLS, and take our certificate?",
            },
        })
    }

    pub(super) fn names(&self) -> String {
        self.names.join(",")
    }

    /// The one whose turn it is.
    pub(super) fn line(&self) -> Line {
        let mut current = self.lock();
        let member = (current.turn % self.endpoints.len() as u64) as usize;
        let connect = || self.endpoints[member].connect_lazy();
        let channel = current.channel.get_or_insert_with(connect).clone();
        Line::new(current.turn, self.names[member].clone(), channel)
    }

    /// Moves on, by a new connection even if there is only one member: the old one may be dead without
    /// having said so. Who comes late with a failure of an earlier connection does nothing.
    pub(super) fn leave(&self, turn: u64) {
        let mut current = self.lock();
        if current.turn == turn {
            *current = Current { turn: turn + 1, channel: None };
        }
    }

    /// Notes that etcd has answered: certificates and the like are well.
    pub(super) fn heard(&self) {
        // ORDERING: it only chooses words.
        self.heard.store(true, Relaxed);
    }

    /// Why a member could not be reached. One that hangs up does not say why; if none has ever done
    /// otherwise, it may be our options.
    pub(super) fn explain(&self, member: &str, why: String) -> String {
        let hung_up =
            ["closed", "broken pipe", "reset", "eof"].iter().any(|word| why.contains(word));
        // ORDERING: it only chooses words.
        let why = if hung_up && !self.heard.load(Relaxed) {
            format!("{why} ({})", self.question)
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
    options: &ClusterOptions,
) -> Result<Endpoint, Error> {
    let bad = |error| Error::BadOption { what: member.into(), why: reason(&error) };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{member}"))
        .map_err(bad)?
        .connect_timeout(options.attempt_time(options.etcd.dial_timeout))
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

/// A file in PEM format, with at least one such block in it: with none, TLS would only say later that it
/// trusts nobody.
fn read(file: &Path, block: &str) -> Result<String, Error> {
    let bad = |why: String| Error::BadOption { what: file.display().to_string(), why };
    let text = fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
    if text.contains(block) {
        Ok(text)
    } else {
        Err(bad(format!("there is no `-----BEGIN ... {block}` in it")))
    }
}

/// An error and what caused it.
fn reason(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}
