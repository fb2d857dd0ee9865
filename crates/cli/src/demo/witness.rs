//! The witness of the demo. It observes which worker has which slot, and judges whether the hall keeps its rules.
//!
//! A visitor connects to the socket of the witness and sends its worker number and its slot. Its visit lasts
//! until the connection closes. The kernel closes it when the visitor ends, even if the visitor is killed. The witness
//! does not use the hall, so it cannot repeat a bug of the hall.
//!
//! The witness checks two rules:
//! - At most k visits last at the same time, and at most one in each slot.
//! - No worker overtakes another. Workers are numbered from 0, in the order in which they joined the queue. So the
//!   visit of worker w may begin only when at least w - k + 1 visits have ended.
//!
//! Before it admits a visitor, the witness looks for closed connections. So it sees that a connection has closed
//! before it sees that a later connection has opened. The visit of a worker that the demo kills ends at the moment
//! of the kill. The worker executes no further instruction, although its descriptors may stay open a little
//! longer.

use std::{
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    os::{
        fd::AsFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The name of the socket in the directory of the demo.
const SOCKET: &str = "witness";
/// Time limit for a visitor to send its worker number and slot after it has connected.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// Returns the path of the socket of the witness.
pub fn socket(directory: &Path) -> PathBuf {
    directory.join(SOCKET)
}

/// An observation of the witness.
pub enum Event {
    /// A visit began.
    Entered { worker: usize, slot: usize, after_kill: Option<Duration> },
    /// A visit ended.
    Left { worker: usize, slot: usize },
    /// The demo has killed a worker during its visit.
    Killed { worker: usize, slot: usize },
    /// A rule was broken.
    Conflict { what: String },
}

struct Visit {
    worker: usize,
    slot: usize,
    since: Instant,
    connection: UnixStream,
}

/// The figures of a demo.
#[derive(Default)]
pub struct Verdict {
    pub visits: usize,
    /// The largest number of visits at the same time.
    pub most_at_once: usize,
    /// The time from each kill to the next visit in that slot.
    pub successions: Vec<Duration>,
    pub kills: usize,
    /// The rules that were broken.
    pub conflicts: Vec<String>,
}

pub struct Witness {
    listener: UnixListener,
    slots: usize,
    visits: Vec<Visit>,
    /// Visits that have ended, by leaving or by a kill.
    ended: usize,
    /// For each slot, the time at which its holder was killed; `None` once the slot has another holder.
    killed: Vec<Option<Instant>>,
    verdict: Verdict,
}

impl Witness {
    pub fn listen(directory: &Path, slots: usize) -> io::Result<Self> {
        let listener = UnixListener::bind(socket(directory)).map_err(|error| match error.kind() {
            // Only a path that is too long for the address of a socket has this error.
            ErrorKind::InvalidInput => io::Error::other(format!(
                "the path {} is too long for a socket; set TMPDIR to a directory with a shorter path",
                directory.display()
            )),
            _ => error,
        })?;
        listener.set_nonblocking(true)?;
        let (visits, killed) = (Vec::new(), vec![None; slots]);
        Ok(Witness { listener, slots, visits, ended: 0, killed, verdict: Verdict::default() })
    }

    /// Waits for events, for at most `time`.
    pub fn wait(&mut self, time: Duration) -> io::Result<Vec<Event>> {
        let connections = self.visits.iter().map(|visit| visit.connection.as_fd());
        let mut all: Vec<_> = std::iter::once(self.listener.as_fd())
            .chain(connections)
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let limit = Timespec::try_from(time).map_err(io::Error::other)?;
        match poll(&mut all, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut events = Vec::new();
        loop {
            match self.listener.accept() {
                Ok((connection, _)) => {
                    // First handle connections that closed before this one opened.
                    self.see_departures(&mut events);
                    self.admit(connection, &mut events)?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.see_departures(&mut events);
        Ok(events)
    }

    fn see_departures(&mut self, events: &mut Vec<Event>) {
        let ended = &mut self.ended;
        self.visits.retain_mut(|visit| match visit.connection.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            _ => {
                *ended += 1;
                events.push(Event::Left { worker: visit.worker, slot: visit.slot });
                false
            }
        });
    }

    fn admit(&mut self, connection: UnixStream, events: &mut Vec<Event>) -> io::Result<()> {
        connection.set_nonblocking(false)?;
        connection.set_read_timeout(Some(INTRODUCTION))?;
        let mut line = String::new();
        if !matches!(BufReader::new(&connection).read_line(&mut line), Ok(1..)) {
            return Ok(()); // the visitor was killed before it could send its worker number
        }
        let mut words = line.split_whitespace().map(str::parse);
        let (Some(Ok(worker)), Some(Ok(slot))) = (words.next(), words.next()) else {
            return Err(io::Error::other(format!(
                "a visitor sent {line:?} instead of worker and slot"
            )));
        };
        self.judge(worker, slot, events);
        let now = Instant::now();
        let after_kill = self.killed.get_mut(slot).and_then(Option::take).map(|then| now - then);
        self.verdict.successions.extend(after_kill);
        self.verdict.visits += 1;
        events.push(Event::Entered { worker, slot, after_kill });
        if (&connection).write_all(&[1]).is_err() {
            self.ended += 1;
            events.push(Event::Left { worker, slot });
            return Ok(());
        }
        connection.set_nonblocking(true)?;
        self.visits.push(Visit { worker, slot, since: now, connection });
        self.verdict.most_at_once = self.verdict.most_at_once.max(self.visits.len());
        Ok(())
    }

    fn judge(&mut self, worker: usize, slot: usize, events: &mut Vec<Event>) {
        let mut conflicts = Vec::new();
        if slot >= self.slots {
            conflicts.push(format!("worker {worker} has slot {slot} of {}", self.slots));
        }
        if let Some(other) = self.visits.iter().find(|visit| visit.slot == slot) {
            conflicts
                .push(format!("workers {} and {worker} are both in slot {slot}", other.worker));
        }
        if self.visits.len() >= self.slots {
            conflicts.push(format!("worker {worker} is one holder too many"));
        }
        if worker >= self.slots + self.ended {
            conflicts.push(format!("worker {worker} has overtaken another"));
        }
        for what in conflicts {
            self.verdict.conflicts.push(what.clone());
            events.push(Event::Conflict { what });
        }
    }

    /// Returns the worker whose visit has lasted longest.
    pub fn longest_visitor(&self) -> Option<usize> {
        self.visits.iter().min_by_key(|visit| visit.since).map(|visit| visit.worker)
    }

    /// Records that the demo has just killed this worker.
    pub fn killed(&mut self, worker: usize) -> Event {
        let index = self.visits.iter().position(|visit| visit.worker == worker);
        let visit = self.visits.remove(index.expect("the demo kills only visitors"));
        self.killed[visit.slot] = Some(Instant::now());
        self.verdict.kills += 1;
        self.ended += 1;
        Event::Killed { worker, slot: visit.slot }
    }

    /// Returns the slot, the worker and the time of entry of each visitor.
    pub fn visitors(&self) -> impl Iterator<Item = (usize, usize, Instant)> {
        self.visits.iter().map(|visit| (visit.slot, visit.worker, visit.since))
    }

    pub fn verdict(self) -> Verdict {
        self.verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A witness for two slots, and the conflicts that it has reported.
    struct Observed {
        directory: tempfile::TempDir,
        witness: Witness,
        conflicts: Vec<String>,
    }

    impl Observed {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let witness = Witness::listen(directory.path(), 2).unwrap();
            Observed { directory, witness, conflicts: Vec::new() }
        }

        fn enter(&mut self, worker: usize, slot: usize) -> UnixStream {
            let mut visitor = UnixStream::connect(socket(self.directory.path())).unwrap();
            writeln!(visitor, "{worker} {slot}").unwrap();
            self.look();
            visitor
        }

        fn look(&mut self) {
            for event in self.witness.wait(Duration::ZERO).unwrap() {
                if let Event::Conflict { what } = event {
                    self.conflicts.push(what);
                }
            }
        }
    }

    #[test]
    fn visits_in_order_and_in_distinct_slots_are_no_conflict() {
        let mut observed = Observed::new();
        let first = observed.enter(0, 0);
        let _second = observed.enter(1, 1);
        drop(first);
        // The witness sees the end of the first visit before the beginning of the third.
        let _third = observed.enter(2, 0);
        assert_eq!(observed.conflicts, [""; 0]);
        assert_eq!(
            (observed.witness.verdict.visits, observed.witness.verdict.most_at_once),
            (3, 2)
        );
    }

    #[test]
    fn two_visitors_in_one_slot_are_a_conflict() {
        let mut observed = Observed::new();
        let _both = (observed.enter(0, 0), observed.enter(1, 0));
        assert_eq!(observed.conflicts, ["workers 0 and 1 are both in slot 0"]);
    }

    #[test]
    fn one_visitor_too_many_is_a_conflict() {
        let mut observed = Observed::new();
        let _all = (observed.enter(0, 0), observed.enter(1, 1), observed.enter(1, 2));
        assert_eq!(
            observed.conflicts,
            ["worker 1 has slot 2 of 2", "worker 1 is one holder too many"]
        );
    }

    #[test]
    fn a_worker_that_enters_before_its_turn_is_a_conflict() {
        let mut observed = Observed::new();
        let first = observed.enter(0, 0);
        let _later = observed.enter(2, 1);
        assert_eq!(observed.conflicts, ["worker 2 has overtaken another"]);
        drop(first);
        let _late = observed.enter(1, 0);
        assert_eq!(observed.conflicts.len(), 1, "worker 1 was overtaken, but overtakes no worker");
    }

    #[test]
    fn the_visit_of_a_killed_worker_ends_immediately_and_its_successor_is_timed() {
        let mut observed = Observed::new();
        let _still_open = observed.enter(0, 0);
        assert!(matches!(observed.witness.killed(0), Event::Killed { worker: 0, slot: 0 }));
        let _successor = observed.enter(1, 0);
        assert_eq!(observed.conflicts, [""; 0]);
        assert_eq!(observed.witness.verdict.successions.len(), 1);
    }
}
