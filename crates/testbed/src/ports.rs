//! Finds free ports.

use std::net::{Ipv4Addr, TcpListener};

/// The range of ports. It is below the range from which the system takes ports for connections.
/// Otherwise, a connection could take the port of a server that is down.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// Returns distinct ports that are free at the moment.
pub fn free_ports(count: usize) -> Vec<u16> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let port = fastrand::u16(RANGE);
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            taken.push((port, listener));
        }
    }
    taken.into_iter().map(|(port, _)| port).collect()
}
