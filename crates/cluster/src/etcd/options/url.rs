//! Parses and checks the URL of a cluster.

use super::{Variables, bad};
use crate::Error;

/// The default prefix of all keys.
pub(super) const PREFIX: &str = "/hallpass";

const PORT: u16 = 2379;

/// The parts of a URL.
pub(super) struct Address {
    pub(super) endpoints: Vec<String>,
    /// Whether the scheme or `ETCDCTL_ENDPOINTS` asks for TLS.
    pub(super) tls: bool,
    pub(super) prefix: String,
}

impl Address {
    pub(super) fn parse(url: &str, variable: &Variables) -> Result<Address, Error> {
        let bad_url = |why: &str| bad(shown(url), why);
        let (mut tls, rest) = match url.split_once("://") {
            Some(("etcd", rest)) => (false, rest),
            Some(("etcds", rest)) => (true, rest),
            _ => {
                return Err(bad_url(if cfg!(feature = "postgres") {
                    "the URL of a cluster is etcd://HOST:PORT,..., etcds://HOST:PORT,... or \
                         postgres://USER@HOST:PORT/DATABASE"
                } else {
                    "the URL of a cluster is etcd://HOST:PORT,... or etcds://HOST:PORT,...; with the feature \
                         postgres, also postgres://USER@HOST:PORT/DATABASE"
                }));
            }
        };
        let (members, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        if rest.contains('@') {
            return Err(bad_url(
                "every user can see a password in the URL by listing processes: \
                 set ETCDCTL_USER and ETCDCTL_PASSWORD instead",
            ));
        }
        let endpoints = if members.is_empty() {
            let (secure, endpoints) = of_environment(variable)?;
            tls |= secure;
            endpoints
        } else {
            members.split(',').map(with_port).collect::<Result<_, _>>()?
        };
        let prefix = match path.trim_end_matches('/') {
            "" => PREFIX.into(),
            path => path.into(),
        };
        Ok(Address { endpoints, tls, prefix })
    }
}

/// Returns the members in `ETCDCTL_ENDPOINTS`, or the member on this machine, and whether the members need TLS.
fn of_environment(variable: &Variables) -> Result<(bool, Vec<String>), Error> {
    const NAME: &str = "ETCDCTL_ENDPOINTS";
    let Some(list) = variable(NAME) else {
        return Ok((false, vec![format!("127.0.0.1:{PORT}")]));
    };
    let (mut secure, mut plain) = (false, false);
    let mut endpoints = Vec::new();
    for member in list.split(',').map(str::trim) {
        let address = match member.split_once("://") {
            None => member,
            Some(("https", address)) => {
                secure = true;
                address
            }
            Some(("http", address)) => {
                plain = true;
                address
            }
            Some(_) => {
                return Err(bad(
                    NAME,
                    "an endpoint is HOST:PORT, http://HOST:PORT or https://HOST:PORT",
                ));
            }
        };
        endpoints.push(with_port(address.trim_end_matches('/'))?);
    }
    if secure && plain {
        return Err(bad(
            NAME,
            "some endpoints are https:// and some http://: use TLS for all or none",
        ));
    }
    Ok((secure, endpoints))
}

/// Adds the default port to `host` and `[address]`; leaves `host:port` and `[address]:port` as they are.
fn with_port(member: &str) -> Result<String, Error> {
    let has_port = member.rsplit(']').next().is_some_and(|tail| tail.contains(':'));
    let endpoint = if has_port { member.into() } else { format!("{member}:{PORT}") };
    check_endpoint(&endpoint)?;
    Ok(endpoint)
}

/// Checks that an endpoint is `host:port`.
pub(super) fn check_endpoint(endpoint: &str) -> Result<(), Error> {
    let bad_endpoint = |why: &str| Err(bad(shown(endpoint), why));
    let Some((host, port)) = endpoint.rsplit_once(':') else {
        return bad_endpoint("a member is HOST:PORT");
    };
    if !matches!(port.parse::<u16>(), Ok(1..)) || !port.bytes().all(|c| c.is_ascii_digit()) {
        return bad_endpoint("a port is a number from 1 to 65535");
    }
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) if address.parse::<std::net::Ipv6Addr>().is_ok() => Ok(()),
        Some(_) => bad_endpoint("the host in brackets must be an IPv6 address"),
        None if host.contains(':') => {
            bad_endpoint("an IPv6 address goes in brackets, as in [::1]:2379")
        }
        None if host.is_empty() => bad_endpoint("it has no host"),
        None if host.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._".contains(&c)) => Ok(()),
        None => bad_endpoint("the name of a host has only letters, digits and -._"),
    }
}

/// Checks that keys can begin with this prefix.
pub(super) fn check_prefix(prefix: &str) -> Result<(), Error> {
    let proper = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._~+=:".contains(&c))
    };
    match prefix.strip_prefix('/') {
        Some(rest) if rest.split('/').all(proper) => Ok(()),
        _ => Err(bad(
            shown(prefix),
            "a prefix is like /team-a or /team-a/builds, of letters, digits and -._~+=:",
        )),
    }
}

/// Returns the text without the part before an `@`, which may contain a password.
fn shown(text: &str) -> String {
    let text = match text.rsplit_once('@') {
        Some((_, after)) => format!("...@{after}"),
        None => text.into(),
    };
    text.escape_debug().to_string()
}
