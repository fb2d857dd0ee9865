//! Measures the cost of waiting: requests, connections and CPU time of many `hallpass run` commands that wait on this
//! machine.

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
/// Time for waiters to settle. On PostgreSQL, they find the connection that they share.
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
    /// Requests a second of all waiting commands together.
    pub requests: f64,
    /// Connections of all waiting commands together.
    pub connections: usize,
    /// The connections to the member that has most of them.
    pub busiest: usize,
    /// CPU seconds per second of all waiting commands together.
    pub cpu: f64,
}

/// The limit on requests a second of 300 waiting commands, on etcd.
pub const MOST_REQUESTS: f64 = 100.0;
/// The limit on connections of 200 waiting commands, on PostgreSQL.
pub const MOST_CONNECTIONS: usize = 4;
/// The limit on CPU seconds per second of all waiting commands together (300 on etcd, 200 on PostgreSQL).
pub const MOST_CPU: f64 = 0.05;

/// Measures `waiting` commands that wait. Nothing else uses the store.
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
        let cpu_before = cpu_time(&children);
        thread::sleep(TIME);
        let cpu = cpu_time(&children) - cpu_before;
        let requests = store.requests()?.saturating_sub(before) as f64;
        let seconds = begun.elapsed().as_secs_f64();
        let by_port = store.ports().into_iter().map(connections_to);
        let by_port: Vec<_> = by_port.collect();
        let busiest = by_port.iter().copied().max().unwrap_or(0);
        // The holder in this process has one connection.
        let connections = by_port.iter().sum::<usize>().saturating_sub(1);
        let (requests, cpu) = (requests / seconds, cpu / seconds);
        Ok(Idle { setting, waiting, requests, connections, busiest, cpu })
    });
    // Closing the hall makes the waiters give up.
    let closed = hall.close().map_err(failed);
    drop(pass);
    for child in &mut children {
        if closed.is_err() {
            // Otherwise the command would wait forever.
            let _ = child.kill();
        }
        child.wait().map_err(failed)?;
    }
    closed.and(measured)
}

/// Returns the number of established connections to a server at this port of this machine.
fn connections_to(port: u16) -> usize {
    const ESTABLISHED: &str = "01";
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let is_ours = |line: &&str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let local = words.get(1).and_then(|local| local.rsplit(':').next());
        let local = local.and_then(|local| u16::from_str_radix(local, 16).ok());
        words.get(3) == Some(&ESTABLISHED) && local == Some(port)
    };
    tables.iter().flatten().map(|table| table.lines().filter(is_ours).count()).sum()
}

/// Returns the CPU time, in seconds, of these processes and of their children. The children are keepers, which
/// communicate with the store.
fn cpu_time(processes: &[Child]) -> f64 {
    let of_family = |process: &Child| {
        let pid = process.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        children.chain([pid]).map(nanoseconds).sum::<u64>()
    };
    processes.iter().map(of_family).sum::<u64>() as f64 / 1e9
}

/// Returns the CPU time of the threads of a process. The times in `/proc/PID/stat` would be too coarse: a waiter runs
/// for less than a hundredth of a second.
fn nanoseconds(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let time = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    threads.filter_map(time).sum()
}
