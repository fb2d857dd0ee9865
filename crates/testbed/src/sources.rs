//! Finds the process at the other end of a connection on this computer.

use std::{fs, net::SocketAddr};

/// Returns which of these processes has the socket with this IPv4 address; `None` if none of them has it.
pub(crate) fn owner(end: SocketAddr, pids: &[u32]) -> Option<usize> {
    let socket = format!("socket:[{}]", inode(end)?);
    pids.iter().position(|pid| {
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        files.flatten().any(|file| {
            fs::read_link(file.path()).is_ok_and(|target| target.as_os_str() == &*socket)
        })
    })
}

/// Returns the inode of the socket with this local address.
fn inode(end: SocketAddr) -> Option<String> {
    let SocketAddr::V4(end) = end else { return None };
    let address = u32::from_ne_bytes(end.ip().octets());
    let local = format!("{address:08X}:{:04X}", end.port());
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    // Columns: number, local address, remote address, state, queues, timer, retransmits, user, timeout, inode.
    let sockets = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    sockets.into_iter().find(|socket| socket.get(1) == Some(&&*local)).map(|s| s[9].to_string())
}
