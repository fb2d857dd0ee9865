//! Measures the cost of waiting commands: requests and connections of many `hallpass run` that wait on this machine.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    await_queue, failed,
    setting::{Setting, connect},
    wrapper::Wrapper,
};

/// How long requests are counted.
const TIME: Duration = Duration::from_secs(10);
/// Time for waiters to find the connection that they share.
const SETTLING: Duration = Duration::from_secs(3);
/// The ttl in seconds, which determines how often a waiter renews its claim. This is the default of `hallpass run`.
const TTL: u64 = 20;

/// The result for one number of waiters.
#[derive(Clone, Debug, Serialize)]
pub struct Idle {
    /// The store on which this was measured.
    #[serde(flatten)]
    pub setting: Setting,
    /// Number of commands that wait.
    pub waiting: usize,
    /// Requests a second of all of them.
    pub requests: f64,
    /// Connections of all of them.
    pub connections: usize,
}

/// Measures this many waiting commands. Nothing else uses the store.
///
/// # Errors
/// Returns the reason if a command does not wait.
pub fn measure(setting: Setting, waiting: usize, program: &Path) -> Result<Idle, String> {
    let store = setting.start_store();
    let cluster = connect(&store.url())?;
    let hall = cluster.open("idle", 1).map_err(failed)?;
    let pass = hall.acquire().map_err(failed)?;
    let wrapper = Wrapper::Hallpass(program.to_path_buf());
    let start = |_| {
        let mut command = wrapper.command(&store.url(), TTL, "idle", &["true"]);
        command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)
    };
    let mut children = (0..waiting).map(start).collect::<Result<Vec<Child>, _>>()?;
    let measured = await_queue(&hall, waiting).and_then(|()| {
        thread::sleep(SETTLING);
        let (begun, before) = (Instant::now(), store.requests()?);
        thread::sleep(TIME);
        let requests = store.requests()?.saturating_sub(before) as f64;
        let requests = requests / begun.elapsed().as_secs_f64();
        // The holder in this process has one connection.
        let connections = connections_to(&store.ports()).saturating_sub(1);
        Ok(Idle { setting, waiting, requests, connections })
    });
    // Closing the hall makes the waiters give up.
    let closed = hall.close().map_err(failed);
    drop(pass);
    for child in &mut children {
        if closed.is_err() {
            // It would wait forever.
            let _ = child.kill();
        }
        child.wait().map_err(failed)?;
    }
    closed.and(measured)
}

/// Returns the number of established connections to servers at these ports of this machine.
fn connections_to(ports: &[u16]) -> usize {
    const ESTABLISHED: &str = "01";
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let is_ours = |line: &&str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let port = words.get(1).and_then(|local| local.rsplit(':').next());
        let port = port.and_then(|port| u16::from_str_radix(port, 16).ok());
        words.get(3) == Some(&ESTABLISHED) && port.is_some_and(|port| ports.contains(&port))
    };
    tables.iter().flatten().map(|table| table.lines().filter(is_ours).count()).sum()
}
