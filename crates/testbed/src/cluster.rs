//! An etcd cluster on this computer.

use std::{
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    GrpcProxy, KeyRecorder, Member, Proxy, TIMEOUT,
    gate::{Gate, Mode},
    member::Plan,
    ports::free_ports,
    sources,
};

/// The storage in which members keep their data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// The directory for temporary files, usually on a disk, with fsync.
    Disk,
    /// Memory, if the computer has `/dev/shm`. This is like a disk that takes no time.
    Memory,
}

/// An etcd cluster. Dropping this value stops it.
pub struct EtcdCluster {
    /// The members. This is the first field, so that members are dropped before the proxies and the
    /// directory that they use.
    members: Vec<Member>,
    /// A proxy in front of each member. The other members connect to it.
    peer_paths: Vec<Proxy>,
    /// The gates between members, which can be closed or slowed down: first by the sender, then by the receiver.
    gates: Vec<Vec<Arc<Gate>>>,
    /// The ids of the members.
    ids: Vec<String>,
    folder: TempDir,
}

impl EtcdCluster {
    /// Starts 1 or 3 members that write to memory, and waits until all members are healthy.
    ///
    /// # Panics
    /// Panics if the members do not become healthy.
    pub fn start(members: usize) -> EtcdCluster {
        EtcdCluster::start_on(members, Storage::Memory)
    }

    /// Starts 1 or 3 members, and waits until all members are healthy.
    ///
    /// # Panics
    /// Panics if the members do not become healthy.
    pub fn start_on(members: usize, storage: Storage) -> EtcdCluster {
        EtcdCluster::start_with(members, storage, &[])
    }

    /// Starts 1 or 3 members with additional flags for etcd, and waits until all members are healthy.
    ///
    /// # Panics
    /// Panics if the members do not become healthy.
    pub fn start_with(members: usize, storage: Storage, flags: &[&str]) -> EtcdCluster {
        // Another process may have taken a port that was free before.
        for _ in 0..3 {
            if let Some(cluster) = EtcdCluster::attempt(members, storage, flags) {
                return cluster;
            }
        }
        panic!("etcd does not start after three attempts");
    }

    fn attempt(count: usize, storage: Storage, flags: &[&str]) -> Option<EtcdCluster> {
        let memory = Path::new("/dev/shm");
        let mut named = tempfile::Builder::new();
        let named = named.prefix("hallpass-cluster-");
        let folder = match storage {
            Storage::Memory if memory.is_dir() => named.tempdir_in(memory),
            _ => named.tempdir(),
        };
        let folder = folder.expect("a folder");
        let ports = free_ports(2 * count);
        let (client_ports, peer_ports) = ports.split_at(count);
        let pids: Vec<_> = (0..count).map(|_| Arc::new(AtomicU32::new(0))).collect();
        let gates: Vec<Vec<_>> =
            (0..count).map(|_| (0..count).map(|_| Arc::new(Gate::new())).collect()).collect();
        let path = |to: usize| {
            let from = gates.iter().map(|row: &Vec<Arc<Gate>>| row[to].clone()).collect();
            let pids = pids.clone();
            Proxy::to(([127, 0, 0, 1], peer_ports[to]).into(), from, move |end| {
                let pids: Vec<_> = pids.iter().map(|pid| pid.load(SeqCst)).collect();
                sources::owner(end, &pids)
            })
        };
        let peer_paths: Vec<_> = (0..count).map(path).collect();
        let names = peer_paths.iter().enumerate();
        let all_members: Vec<_> =
            names.map(|(index, path)| format!("m{index}=http://{}", path.address())).collect();
        let all_members = all_members.join(",");
        let members: Vec<_> = (0..count)
            .map(|index| {
                Member::new(Plan {
                    index,
                    client_port: client_ports[index],
                    peer_port: peer_ports[index],
                    peer_path: peer_paths[index].address(),
                    all_members: &all_members,
                    folder: folder.path(),
                    flags,
                    pid: pids[index].clone(),
                })
            })
            .collect();
        members.iter().for_each(Member::restart);
        let ready = members.iter().all(|member| member.becomes_healthy(TIMEOUT));
        let ids = members.iter().map(|member| Some(text(&member.status()?["header"]["member_id"])));
        let ids = ids.collect::<Option<_>>().filter(|_| ready)?;
        Some(EtcdCluster { members, peer_paths, gates, ids, folder })
    }

    /// Returns the member with this index, counted from 0.
    pub fn member(&self, index: usize) -> &Member {
        &self.members[index]
    }

    /// Returns all members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns `etcd://HOST:PORT,...`, the addresses of the members themselves.
    pub fn url(&self) -> String {
        format!("etcd://{}", self.addresses())
    }

    /// Returns `etcd://HOST:PORT,...` with the addresses of these proxies.
    pub fn url_through(proxies: &[Proxy]) -> String {
        let addresses: Vec<_> = proxies.iter().map(|proxy| proxy.address().to_string()).collect();
        format!("etcd://{}", addresses.join(","))
    }

    fn addresses(&self) -> String {
        let addresses = self.members.iter().map(|member| member.client_address().to_string());
        addresses.collect::<Vec<_>>().join(",")
    }

    /// Returns the directory with the data and logs of the members.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the leader of the latest term that any member reports. The leader may be dead or stopped
    /// by now.
    pub fn leader(&self) -> Option<&Member> {
        let known = self.members.iter().filter_map(Member::status);
        let latest = known.filter(|status| text(&status["leader"]) != "0");
        let latest = latest.max_by_key(|status| text(&status["raftTerm"]).parse::<u64>().ok())?;
        let leader = text(&latest["leader"]);
        self.ids.iter().position(|id| *id == leader).map(|index| &self.members[index])
    }

    /// Returns the leader. Asks again while there is none, or while no member of a busy machine answers in time.
    ///
    /// # Panics
    /// Panics if this takes longer than [`TIMEOUT`].
    pub fn await_leader(&self) -> &Member {
        let start = Instant::now();
        loop {
            if let Some(leader) = self.leader() {
                return leader;
            }
            assert!(start.elapsed() < TIMEOUT, "the cluster has no leader");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until every member is healthy and all agree on the leader.
    ///
    /// # Panics
    /// Panics if this takes longer than [`TIMEOUT`].
    pub fn await_health(&self) {
        self.await_health_within(TIMEOUT);
    }

    /// Waits until every member is healthy and all agree on the leader. On a machine that is very busy, the members may
    /// elect one leader after the other for minutes.
    ///
    /// # Panics
    /// Panics if this takes longer than `within`.
    pub fn await_health_within(&self, within: Duration) {
        let start = Instant::now();
        while !self.is_healthy() {
            assert!(start.elapsed() < within, "the cluster does not recover");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn is_healthy(&self) -> bool {
        let leaders = self.members.iter().map(|member| Some(text(&member.status()?["leader"])));
        let Some(leaders) = leaders.collect::<Option<Vec<_>>>() else { return false };
        leaders[0] != "0"
            && leaders.iter().all(|leader| *leader == leaders[0])
            && self.members.iter().all(Member::is_healthy)
    }

    /// Cuts a member off from the others. Clients still reach it.
    pub fn isolate(&self, member: &Member) {
        for other in (0..self.members.len()).filter(|other| *other != member.index()) {
            self.gates[member.index()][other].set(Mode::Cut);
            self.gates[other][member.index()].set(Mode::Cut);
        }
    }

    /// Delays all data between members by about `time`.
    pub fn delay_peers(&self, time: Duration) {
        self.gates.iter().flatten().for_each(|gate| gate.set(Mode::Delayed(time)));
    }

    /// Undoes [`isolate`](EtcdCluster::isolate) and [`delay_peers`](EtcdCluster::delay_peers).
    pub fn reunite(&self) {
        self.peer_paths.iter().for_each(Proxy::heal);
    }

    /// Kills all members, copies their data, and starts them again. Does not wait until they answer.
    pub fn back_up(&self) {
        self.members.iter().for_each(Member::kill);
        self.members.iter().for_each(Member::back_up);
    }

    /// Replaces the data of all members with the copies of [`back_up`](EtcdCluster::back_up), and starts them again.
    /// Does not wait until they answer.
    ///
    /// # Panics
    /// Panics if there is no copy.
    pub fn restore(&self) {
        self.members.iter().for_each(Member::kill);
        self.members.iter().for_each(Member::restore);
    }

    /// Deletes the data of all members, and starts them again. The addresses and the identity of the cluster stay the
    /// same. Does not wait until they answer.
    pub fn wipe(&self) {
        self.members.iter().for_each(Member::kill);
        self.members.iter().for_each(Member::wipe);
    }

    /// Returns an `etcdctl` command for this cluster.
    pub fn etcdctl(&self, words: &[&str]) -> Command {
        let mut command = Command::new("etcdctl");
        command.args(words).env("ETCDCTL_API", "3").env("ETCDCTL_ENDPOINTS", self.addresses());
        command
    }

    /// Starts `etcd grpc-proxy` in front of the members, and waits until it answers.
    ///
    /// # Panics
    /// Panics if it does not answer.
    pub fn grpc_proxy(&self) -> GrpcProxy {
        GrpcProxy::start(&self.addresses())
    }

    /// Returns the total number of requests that the members have begun to serve.
    ///
    /// # Panics
    /// Panics if a member does not answer.
    pub fn requests(&self) -> u64 {
        self.members.iter().map(Member::requests).sum()
    }

    /// Records all changes to keys with this prefix.
    pub fn record_keys(&self, prefix: &str) -> KeyRecorder {
        KeyRecorder::start(&self.addresses(), prefix)
    }
}

/// Reads a number from the JSON gateway. The gateway writes large numbers as text and omits 0.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or("0").to_string()
}
