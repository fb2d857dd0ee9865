//! The members of the cluster, and the connection to one of them.

use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use super::attempt::Line;
use crate::{Error, Options, Tls};

/// etcd hangs up on clients that ping more often than every 5 s.
const PING_EVERY: Duration = Duration::from_secs(6);
const PING_ANSWERED_WITHIN: Duration = Duration::from_secs(3);

/// The members, one of which we speak to.
pub(super) struct Members {
    names: Vec<String>,
    endpoints: Vec<Endpoint>,
    current: Mutex<Current>,
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
    pub(super) fn new(options: &Options) -> Result<Members, Error> {
        let tls = options.tls.as_ref().map(tls_config).transpose()?;
        let endpoint = |member: &String| endpoint(member, tls.clone(), options);
        Ok(Members {
            names: options.endpoints.clone(),
            endpoints: options.endpoints.iter().map(endpoint).collect::<Result<_, _>>()?,
            current: Mutex::default(),
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn endpoint(
    member: &str,
    tls: Option<ClientTlsConfig>,
    options: &Options,
) -> Result<Endpoint, Error> {
    let bad = |error| Error::BadOption { what: member.into(), why: reason(&error) };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{member}"))
        .map_err(bad)?
        .connect_timeout(options.attempt_time(options.dial_timeout))
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
        Some(file) => config.ca_certificate(Certificate::from_pem(read(file)?)),
        None => config.with_native_roots(),
    };
    if let Some((cert, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(read(cert)?, read(key)?));
    }
    if let Some(name) = &tls.server_name {
        config = config.domain_name(name);
    }
    Ok(config)
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(|error| Error::BadOption {
        what: file.display().to_string(),
        why: error.to_string(),
    })
}

/// An error and what caused it.
fn reason(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}
