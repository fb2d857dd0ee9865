//! PgBouncer. Many PostgreSQL servers have such a pooler in front of them.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::fs::PermissionsExt,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    PostgresServer, TIMEOUT, free_ports, nursery,
    postgres::{NAME, program},
};

/// How long a client keeps its connection to the server.
#[derive(Clone, Copy, Debug)]
pub enum Pooling {
    /// As long as the client is connected.
    Session,
    /// Until the end of each transaction.
    Transaction,
}

/// A running PgBouncer. Dropping this value stops it.
pub struct Pooler {
    address: SocketAddr,
    child: Child,
    _folder: TempDir,
}

impl Pooler {
    /// Starts a pooler in front of a server. Returns `None` if PgBouncer is not installed, and prints what to install.
    ///
    /// # Panics
    /// Panics if the pooler does not start, or if PgBouncer is not installed and `HALLPASS_NEED_POSTGRES` is set, as in
    /// CI.
    pub fn start(server: &PostgresServer, pooling: Pooling) -> Option<Pooler> {
        const PROGRAM: &str = "/usr/sbin/pgbouncer";
        if !fs::exists(PROGRAM).is_ok_and(|exists| exists) {
            let why = "PgBouncer is not installed: apt-get install pgbouncer";
            assert!(std::env::var_os("HALLPASS_NEED_POSTGRES").is_none(), "{why}");
            eprintln!("skipped, because {why}");
            return None;
        }
        // The pooler refuses to run as root, and reads these files as another user.
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
        let users = path.join("users");
        fs::write(&users, format!("\"{NAME}\" \"\"\n")).expect("the disk has room");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_ports(1)[0]));
        let mode = match pooling {
            Pooling::Session => "session",
            Pooling::Transaction => "transaction",
        };
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = {mode}\n\
             ignore_startup_parameters = extra_float_digits\n",
            server.address().port(),
            address.port(),
            users.display()
        );
        let settings = path.join("settings");
        fs::write(&settings, text).expect("the disk has room");
        let mut command = program(PROGRAM);
        command.arg(settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = nursery::spawn(command).expect("PgBouncer starts");
        let pooler = Pooler { address, child, _folder: folder };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < TIMEOUT, "the pooler does not start");
            thread::sleep(Duration::from_millis(20));
        }
        Some(pooler)
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        PostgresServer::url_through(&[self.address])
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // The pooler may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
