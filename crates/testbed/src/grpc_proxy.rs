//! An `etcd grpc-proxy`. Many clusters have such a proxy in front of their members.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpStream},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{TIMEOUT, free_ports, nursery};

/// A running `etcd grpc-proxy`. Dropping this value stops the proxy.
pub struct GrpcProxy {
    address: SocketAddr,
    child: Child,
}

impl GrpcProxy {
    pub(crate) fn start(members: &str) -> GrpcProxy {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_ports(1)[0]));
        let mut command = nursery::mortal("etcd");
        command.args(["grpc-proxy", "start", "--endpoints", members]);
        command.args(["--listen-addr", &address.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let proxy = GrpcProxy { address, child: nursery::spawn(command).expect("etcd starts") };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < TIMEOUT, "the proxy does not start");
            thread::sleep(Duration::from_millis(20));
        }
        proxy
    }

    /// Returns the URL of the proxy, `etcd://HOST:PORT`.
    pub fn url(&self) -> String {
        format!("etcd://{}", self.address)
    }
}

impl Drop for GrpcProxy {
    fn drop(&mut self) {
        // The proxy may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
