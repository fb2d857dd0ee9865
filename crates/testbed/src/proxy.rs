//! A path to a member that can be cut.

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

/// A path to a member for one or several clients, who use its [`address`](Proxy::address) instead of the
/// member's. Dropping it closes it.
pub struct Proxy {
    address: SocketAddr,
    gates: Vec<Arc<Gate>>,
    connections: Arc<Mutex<Vec<Weak<Connection>>>>,
    ends: Arc<AtomicBool>,
    porter: Option<JoinHandle<()>>,
}

impl Proxy {
    /// An open path to this member.
    pub fn before(member: &Member) -> Proxy {
        Proxy::to(member.client_address(), vec![Arc::new(Gate::new())], |_| Some(0))
    }

    /// A path for several parties, each with its own gate: `whose` says which is of the party that a
    /// connection comes from.
    pub(crate) fn to(
        target: SocketAddr,
        gates: Vec<Arc<Gate>>,
        whose: impl Fn(SocketAddr) -> Option<usize> + Send + 'static,
    ) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let connections = Arc::new(Mutex::new(Vec::new()));
        let ends = Arc::new(AtomicBool::new(false));
        let porter = {
            let (gates, connections, ends) = (gates.clone(), connections.clone(), ends.clone());
            thread::spawn(move || {
                for client in listener.incoming().flatten() {
                    if ends.load(SeqCst) {
                        break;
                    }
                    // Who cannot be told any more has hung up.
                    let Some(gate) = client.peer_addr().ok().and_then(&whose) else { continue };
                    admit(client, target, gates[gate].clone(), connections.clone());
                }
            })
        };
        Proxy { address, gates, connections, ends, porter: Some(porter) }
    }

    /// What clients use instead of the member's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Nothing passes any more, in either direction, and nobody is told: connections stall, and new ones
    /// get no answer. What is on its way arrives when the path is healed.
    pub fn cut(&self) {
        self.set(Mode::Cut);
    }

    /// Closes all connections, and new ones at once.
    pub fn refuse(&self) {
        self.set(Mode::Closed);
        self.hang_up();
    }

    /// Everything takes longer by about this time, in each direction.
    pub fn delay(&self, time: Duration) {
        self.set(Mode::Delayed(time));
    }

    /// The path is as at first.
    pub fn heal(&self) {
        self.set(Mode::Open);
    }

    fn set(&self, mode: Mode) {
        self.gates.iter().for_each(|gate| gate.set(mode));
    }

    fn hang_up(&self) {
        let connections = self.connections.lock().expect("nobody panics here");
        connections.iter().filter_map(Weak::upgrade).for_each(|connection| connection.close());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        self.refuse();
        // So that the porter looks up.
        let _ = TcpStream::connect(self.address);
        if let Some(porter) = self.porter.take() {
            let _ = porter.join();
        }
    }
}

struct Connection {
    client: TcpStream,
    server: TcpStream,
}

impl Connection {
    fn close(&self) {
        // It may be closed already.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

/// Connects a client as soon as the gate lets it pass, and carries what the two say.
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
        let connection = Arc::new(Connection { client, server });
        {
            let mut all = all.lock().expect("nobody panics here");
            all.retain(|other| other.strong_count() > 0);
            all.push(Arc::downgrade(&connection));
        }
        let (back, back_gate) = (connection.clone(), gate.clone());
        small_thread(move || carry(&back.server, &back.client, &back_gate, &back));
        carry(&connection.client, &connection.server, &gate, &connection);
    });
}

/// Carries what comes from one end to the other, and the news of its end.
fn carry(mut from: &TcpStream, mut to: &TcpStream, gate: &Gate, connection: &Connection) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result.unwrap_or(0),
        };
        if !gate.pass() || (count > 0 && to.write_all(&buffer[..count]).is_err()) {
            return connection.close();
        }
        if count == 0 {
            // The other direction may have more to say.
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
    }
}

/// There may be hundreds, and none needs much.
fn small_thread(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(64 << 10).spawn(work).expect("a thread");
}
