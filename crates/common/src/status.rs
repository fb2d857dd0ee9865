//! A hall with its holders and waiters.

use std::time::SystemTime;

/// A hall with its holders and waiters at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The name of the hall.
    pub name: String,
    /// The number of slots of the hall.
    pub slots: usize,
    /// Whether the hall is closed.
    pub closed: bool,
    /// The holders, ordered by slot. After the number of slots was reduced, a holder may still have a slot that is not
    /// below `slots`.
    pub holders: Vec<Participant>,
    /// The waiters, in the order in which they get a slot.
    pub waiters: Vec<Participant>,
}

/// A holder or waiter of a hall.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Participant {
    /// The slot that a holder has; `None` for a waiter.
    pub slot: Option<usize>,
    /// The fencing token that came with the slot. `None` for a waiter, and in a hall of processes.
    pub token: Option<u64>,
    /// The machine on which the process runs. `None` in a hall of processes.
    pub host: Option<String>,
    /// The PID of the process, in the PID namespace in which it runs.
    pub pid: u32,
    /// The user ID of the process. `None` in a hall of a cluster, because user IDs of different machines cannot be
    /// compared.
    pub uid: Option<u32>,
    /// The name of the user who runs the process. `None` if it is not known.
    pub user: Option<String>,
    /// The command that the process runs.
    pub command: String,
    /// The time at which a holder got its slot or a waiter joined the queue, by the clock of its machine.
    pub since: SystemTime,
    /// Whether the process still runs. In a hall of a cluster: whether its claim still exists. The status lists a dead
    /// process until the next waiter or `reap` frees its slot or removes it from the queue.
    pub alive: bool,
    /// Whether this holder or waiter belongs to the handle that read the status. Always `false` in a hall of a cluster.
    pub own: bool,
}

impl Status {
    /// Creates the status of an open hall without holders and waiters.
    pub fn new(name: impl Into<String>, slots: usize) -> Self {
        Status { name: name.into(), slots, closed: false, holders: Vec::new(), waiters: Vec::new() }
    }
}

impl Participant {
    /// Creates a live waiter with no other fields set.
    pub fn new(pid: u32, command: impl Into<String>, since: SystemTime) -> Self {
        Participant {
            slot: None,
            token: None,
            host: None,
            pid,
            uid: None,
            user: None,
            command: command.into(),
            since,
            alive: true,
            own: false,
        }
    }
}
