//! The workloads: numbers of threads and slots, and the quantity to measure.

use std::fmt;

use serde::Serialize;

use super::tasks::{CROWD, MANY};

/// The subject of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// One thread without work: the cost of a passage without contention.
    Alone,
    /// Twice as many threads as slots.
    Contended,
    /// Eight times as many threads as slots.
    Oversubscribed,
    /// Waiting times, with far more threads than slots.
    Latency,
    /// Tasks: a future that finds a slot free.
    Ready,
    /// Tasks: three slots at once.
    Many,
    /// Tasks: a future that joins the queue and is dropped.
    Cancel,
    /// Tasks: a slot goes from a holder to a task that waits.
    HandOver,
    /// Tasks: ten thousand tasks wait, and enter one after another.
    Crowd,
}

impl Group {
    /// All groups, in the order in which they run.
    pub const ALL: [Group; 9] = [
        Group::Alone,
        Group::Contended,
        Group::Oversubscribed,
        Group::Latency,
        Group::Ready,
        Group::Many,
        Group::Cancel,
        Group::HandOver,
        Group::Crowd,
    ];

    /// Returns `true` if the group measures tasks, all of which one thread polls.
    pub fn is_for_tasks(self) -> bool {
        use Group::{Cancel, Crowd, HandOver, Many, Ready};
        matches!(self, Ready | Many | Cancel | HandOver | Crowd)
    }

    /// Returns the name of the group.
    pub fn name(self) -> &'static str {
        match self {
            Group::Alone => "alone",
            Group::Contended => "contended",
            Group::Oversubscribed => "oversubscribed",
            Group::Latency => "latency",
            Group::Ready => "ready",
            Group::Many => "many",
            Group::Cancel => "cancel",
            Group::HandOver => "hand-over",
            Group::Crowd => "crowd",
        }
    }

    /// Returns the number of threads and k of each workload in the group.
    fn sizes(self) -> &'static [(usize, usize)] {
        match self {
            Group::Alone => &[(1, 1), (1, 4), (1, 32), (1, 1024)],
            Group::Contended => &[(4, 2), (8, 4)],
            Group::Oversubscribed | Group::Latency => &[(32, 4)],
            Group::Ready => &[(1, 4)],
            Group::Many => &[(1, 8)],
            Group::Cancel | Group::HandOver => &[(1, 1)],
            Group::Crowd => &[(1, 4), (1, 1024)],
        }
    }
}

/// One measurement to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    /// The group to which the workload belongs, such as `alone`.
    pub group: Group,
    /// Number of threads.
    pub threads: usize,
    /// Number of slots.
    pub k: usize,
    /// Nanoseconds of work inside the critical section.
    pub inside: u64,
    /// Nanoseconds of work outside the critical section.
    pub outside: u64,
}

impl Workload {
    /// Returns a name such as `alone-k4` or `contended-4-on-2`.
    pub fn name(&self) -> String {
        let (group, k) = (self.group.name(), self.k);
        match self.group {
            _ if self.threads == 1 => format!("{group}-k{k}"),
            _ => format!("{group}-{}-on-{k}", self.threads),
        }
    }

    /// Returns `true` if threads compete. If they do not, fairness has no meaning.
    pub fn has_rivalry(&self) -> bool {
        self.threads > 1
    }

    /// Returns `true` if waits are measured.
    pub fn measures_waits(&self) -> bool {
        self.group == Group::Latency
    }
}

/// Describes the workload in words.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (k, inside, outside) = (self.k, self.inside, self.outside);
        match (self.group, self.threads) {
            (Group::Alone, _) => write!(f, "one thread, k = {k}, no work"),
            (Group::Ready, _) => write!(f, "a task that finds a slot free, k = {k}"),
            (Group::Many, _) => write!(f, "{MANY} slots at once, k = {k}"),
            (Group::Cancel, _) => write!(f, "a task that queues and gives up, k = {k}"),
            (Group::HandOver, _) => write!(f, "a slot handed to a task that waits, k = {k}"),
            (Group::Crowd, _) => write!(f, "{CROWD} tasks wait and enter, k = {k}"),
            (_, n) => write!(f, "{n} threads, k = {k}, {inside} ns inside, {outside} ns outside"),
        }
    }
}

/// Returns every workload. Workloads that include work use these numbers of nanoseconds.
pub fn all(inside: u64, outside: u64) -> Vec<Workload> {
    let of = |group: Group| {
        let works = group != Group::Alone && !group.is_for_tasks();
        let (inside, outside) = if works { (inside, outside) } else { (0, 0) };
        let size = move |&(threads, k)| Workload { group, threads, k, inside, outside };
        group.sizes().iter().map(size)
    };
    Group::ALL.into_iter().flat_map(of).collect()
}

/// Keeps the workloads of `all` that the names select. A name is that of a workload or of a group. Without names, it
/// keeps all workloads.
///
/// # Errors
/// Returns a message that lists the names if a name selects nothing.
pub fn select(mut all: Vec<Workload>, names: &[String]) -> Result<Vec<Workload>, String> {
    let is = |workload: &Workload, name: &String| {
        workload.group.name() == name || workload.name() == *name
    };
    for name in names {
        if !all.iter().any(|workload| is(workload, name)) {
            let groups = Group::ALL.map(Group::name).join(", ");
            let single: Vec<String> = all.iter().map(Workload::name).collect();
            return Err(format!(
                "no workload is called `{name}`; the groups are {groups}; the single workloads are {}",
                single.join(", ")
            ));
        }
    }
    all.retain(|workload| names.is_empty() || names.iter().any(|name| is(workload, name)));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_single_workloads_are_found_by_name() {
        let select = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            select(all(100, 100), &names).map(|found| found.len())
        };
        assert_eq!(select(&[]), Ok(14));
        assert_eq!(select(&["alone"]), Ok(4));
        assert_eq!(select(&["alone-k32", "latency"]), Ok(2));
        let error = select(&["alone", "lonely"]).expect_err("there is none");
        assert!(error.contains("`lonely`") && error.contains("contended-4-on-2"), "{error}");
    }
}
