//! A proxy in front of a server, such as a member of an etcd cluster. It can be cut, slowed down and closed.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    Member,
    gate::{Gate, Mode},
};

/// A proxy in front of a server, such as a member of an etcd cluster. Clients use its [`address`](Proxy::address)
/// instead of the server's address. Dropping the proxy closes all connections.
pub struct Proxy {
    address: SocketAddr,
    gates: Vec<Arc<Gate>>,
    connections: Arc<Mutex<Vec<Weak<Connection>>>>,
    ends: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts an open proxy in front of this member.
    pub fn before(member: &Member) -> Proxy {
        Proxy::before_address(member.client_address())
    }

    /// Starts an open proxy in front of the server at this address.
    pub fn before_address(address: SocketAddr) -> Proxy {
        Proxy::to(address, vec![Arc::new(Gate::new())], |_| Some(0))
    }

    /// Starts a proxy for several parties, each with its own gate. `whose` returns the gate for the
    /// address from which a connection comes.
    pub(crate) fn to(
        target: SocketAddr,
        gates: Vec<Arc<Gate>>,
        whose: impl Fn(SocketAddr) -> Option<usize> + Send + 'static,
    ) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let connections = Arc::new(Mutex::new(Vec::new()));
        let ends = Arc::new(AtomicBool::new(false));
        let acceptor = {
            let (gates, connections, ends) = (gates.clone(), connections.clone(), ends.clone());
            thread::spawn(move || {
                for client in listener.incoming().flatten() {
                    if ends.load(SeqCst) {
                        break;
                    }
                    // A client without an address has closed its connection.
                    let Some(gate) = client.peer_addr().ok().and_then(&whose) else { continue };
                    admit(client, target, gates[gate].clone(), connections.clone());
                }
            })
        };
        Proxy { address, gates, connections, ends, acceptor: Some(acceptor) }
    }

    /// Returns the address that clients use instead of the server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets no data pass in either direction. Connections stay open and stall, and new connections get
    /// no answer. Data in transit arrives after the proxy is [healed](Proxy::heal).
    pub fn cut(&self) {
        self.set(Mode::Cut);
    }

    /// Closes all connections, and closes new connections immediately.
    pub fn refuse(&self) {
        self.set(Mode::Closed);
        self.hang_up();
    }

    /// Delays all data by about this time, in each direction.
    pub fn delay(&self, time: Duration) {
        self.set(Mode::Delayed(time));
    }

    /// Holds the requests on the connections that are open now. New connections work. The requests arrive after the
    /// proxy is [healed](Proxy::heal), even if their clients have gone by then.
    pub fn hold_requests(&self) {
        self.each_connection(|connection| connection.requests.set(Mode::Cut));
    }

    /// Lets all data pass again.
    pub fn heal(&self) {
        self.set(Mode::Open);
        self.each_connection(|connection| connection.requests.set(Mode::Open));
    }

    /// Returns the number of open connections.
    ///
    /// # Panics
    /// Panics if a thread of the proxy has panicked.
    pub fn connections(&self) -> usize {
        let connections = self.connections.lock().expect("not poisoned");
        connections.iter().filter(|connection| connection.strong_count() > 0).count()
    }

    fn set(&self, mode: Mode) {
        self.gates.iter().for_each(|gate| gate.set(mode));
    }

    fn hang_up(&self) {
        self.each_connection(Connection::close);
    }

    fn each_connection(&self, act: impl Fn(&Connection)) {
        let connections = self.connections.lock().expect("not poisoned");
        connections.iter().filter_map(Weak::upgrade).for_each(|connection| act(&connection));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        self.refuse();
        // The connection wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

struct Connection {
    client: TcpStream,
    server: TcpStream,
    /// The gate for the data of the client.
    requests: Gate,
}

impl Connection {
    fn close(&self) {
        // The connection may be closed already.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
        self.requests.set(Mode::Closed);
    }
}

/// Connects a client as soon as the gate lets it pass, and forwards data in both directions.
fn admit(
    client: TcpStream,
    target: SocketAddr,
    gate: Arc<Gate>,
    all: Arc<Mutex<Vec<Weak<Connection>>>>,
) {
    small_thread(move || {
        if !gate.pass() {
            return;
        }
        let Ok(server) = TcpStream::connect(target) else { return };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let connection = Arc::new(Connection { client, server, requests: Gate::new() });
        {
            let mut all = all.lock().expect("not poisoned");
            all.retain(|other| other.strong_count() > 0);
            all.push(Arc::downgrade(&connection));
        }
        let (back, back_gate) = (connection.clone(), gate.clone());
        small_thread(move || carry(&back.server, &back.client, &back, || back_gate.pass()));
        let pass = || gate.pass() && connection.requests.pass();
        carry(&connection.client, &connection.server, &connection, pass);
    });
}

/// Forwards data from one end to the other, and forwards the end of the stream. `pass` waits until data may pass; it
/// returns `false` if the connection has to be closed instead.
fn carry(
    mut from: &TcpStream,
    mut to: &TcpStream,
    connection: &Connection,
    pass: impl Fn() -> bool,
) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result.unwrap_or(0),
        };
        if !pass() || (count > 0 && to.write_all(&buffer[..count]).is_err()) {
            return connection.close();
        }
        if count == 0 {
            // The other direction may still have data.
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
    }
}

/// Starts a thread with a small stack, because there may be hundreds of them.
fn small_thread(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(64 << 10).spawn(work).expect("a thread");
}
