//! Ports that nobody uses.

use std::net::{Ipv4Addr, TcpListener};

/// Below those that the system gives to connections: while a member is down, a connection could be given
/// its port.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// So many different ports. They are free now; nothing keeps them so.
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
