//! A pool of connections, indexed by slot and opened when first needed. Only the holder of a slot uses the connection
//! of that slot, so no thread ever waits for the mutex of a connection. The compiler cannot prove this, so the mutex is
//! needed.
//!
//! A caller gets the smallest free slot, so the pool opens only as many connections as are in use at the same time.
//!
//! ```sh
//! cargo run -p hallpass --example connections
//! ```

use std::{
    sync::{Mutex, MutexGuard},
    thread,
};

use hallpass::{Hall, Pass};

/// A connection: expensive to open, and used by one thread at a time.
struct Connection {
    queries: usize,
}

struct Pool {
    hall: Hall,
    connections: Box<[Mutex<Option<Connection>>]>,
}

/// A connection, and the pass that reserves it.
struct Lease<'a> {
    // Fields are dropped in this order: the lock before the pass.
    connection: MutexGuard<'a, Option<Connection>>,
    pass: Pass<'a>,
}

impl Pool {
    fn new(size: usize) -> Self {
        let connections = (0..size).map(|_| Mutex::new(None)).collect();
        Pool { hall: Hall::new(size), connections }
    }

    fn lease(&self) -> Lease<'_> {
        let pass = self.hall.acquire().expect("nobody closes the hall");
        let mut connection =
            self.connections[pass.slot()].try_lock().expect("only the holder of the slot locks it");
        connection.get_or_insert_with(|| Connection { queries: 0 });
        Lease { connection, pass }
    }
}

impl Lease<'_> {
    fn query(&mut self) -> usize {
        let connection = self.connection.as_mut().expect("opened with the lease");
        connection.queries += 1;
        self.pass.slot()
    }
}

fn main() {
    let pool = Pool::new(16);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).all(|_| pool.lease().query() < 4));
        }
    });
    let mut opened = 0;
    let mut queries = 0;
    for connection in &pool.connections {
        if let Some(connection) = &*connection.lock().expect("no thread panicked") {
            opened += 1;
            queries += connection.queries;
        }
    }
    println!("{queries} queries by 4 threads over {opened} connections; the pool has room for 16");
    assert_eq!(queries, 4000);
    assert!(opened <= 4);
}
