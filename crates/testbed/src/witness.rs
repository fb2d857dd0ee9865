//! The witness: records which visitors run, independently of hallpass.
//!
//! A visitor is the command that a holder runs. Every visitor has a connection to the witness. The
//! system closes this connection when the visitor ends, even if the visitor is killed.

use std::{
    fs::File,
    io::{ErrorKind, LineWriter, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    record::{Event, Observation, Visit},
    visitor,
};

/// Records which visitors run. A visitor is a command that a holder runs.
pub struct Witness {
    socket: PathBuf,
    book: Arc<Book>,
    ends: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

/// The record of a witness.
struct Book {
    start: Instant,
    pages: Mutex<Pages>,
}

/// The content of the record.
struct Pages {
    events: Vec<Event>,
    /// The visitors that run at the moment.
    running: Vec<Visit>,
    file: LineWriter<File>,
}

impl Witness {
    /// Starts a witness that keeps its record in `visits.jsonl` in this directory.
    ///
    /// # Panics
    /// Panics if the witness cannot write to the directory.
    pub fn start(folder: &Path) -> Witness {
        let socket = folder.join("witness");
        let listener = UnixListener::bind(&socket).expect("a socket");
        listener.set_nonblocking(true).expect("a socket can be non-blocking");
        let file = LineWriter::new(File::create(folder.join("visits.jsonl")).expect("a file"));
        let pages = Pages { events: Vec::new(), running: Vec::new(), file };
        let book = Arc::new(Book { start: Instant::now(), pages: Mutex::new(pages) });
        let ends = Arc::new(AtomicBool::new(false));
        let server = {
            let (book, ends) = (book.clone(), ends.clone());
            thread::spawn(move || {
                let mut server =
                    VisitorServer { listener, book, connections: Vec::new(), visits: 0 };
                while !ends.load(SeqCst) {
                    server.look();
                }
            })
        };
        Witness { socket, book, ends, server: Some(server) }
    }

    /// Makes `command` a visitor of this witness. The command must eventually call [`visit`](crate::visit). `stay` is
    /// the range of milliseconds that the visitor stays, such as `5-200`.
    pub fn introduce(&self, command: &mut Command, name: &str, stay: &str) {
        command.env(visitor::WITNESS, &self.socket);
        command.env("HALLPASS_VISITOR", name).env("HALLPASS_STAY", stay);
    }

    /// Returns the visitors that run at the moment.
    pub fn running(&self) -> Vec<Visit> {
        self.book.open().running.clone()
    }

    /// Records that a visit is [excused](Observation::Excused), if its visitor still runs. From then on, the visitor
    /// may run although another visitor has its slot. Returns whether the visitor still runs.
    pub fn excuse(&self, visit: u64) -> bool {
        let running = self.running().iter().any(|other| other.visit == visit);
        if running {
            self.book.write(Observation::Excused { visit });
        }
        running
    }

    /// Records a note that may explain other observations.
    pub fn note(&self, text: &str) {
        self.book.write(Observation::Note { text: text.to_string() });
    }

    /// Records that the store has lost all information about tokens.
    pub fn note_wipe(&self) {
        self.book.write(Observation::Wiped);
    }

    /// Returns the number of visits so far.
    pub fn visits(&self) -> usize {
        let is_visit = |event: &&Event| matches!(event.what, Observation::Enter(_));
        self.book.open().events.iter().filter(is_visit).count()
    }

    /// Returns the record so far.
    pub fn record(&self) -> Vec<Event> {
        self.book.open().events.clone()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

impl Book {
    /// Locks the record.
    fn open(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().expect("not poisoned")
    }

    /// Adds an observation to the record.
    fn write(&self, what: Observation) {
        let mut pages = self.open();
        match &what {
            Observation::Enter(visit) => pages.running.push(visit.clone()),
            Observation::Leave { visit } => pages.running.retain(|other| other.visit != *visit),
            Observation::Excused { .. } | Observation::Wiped | Observation::Note { .. } => {}
        }
        let at = u64::try_from(self.start.elapsed().as_micros())
            .expect("a test takes less than 500,000 years");
        let event = Event { at, what };
        let line = serde_json::to_string(&event).expect("an event can be written as JSON");
        writeln!(pages.file, "{line}").expect("the record can be written");
        pages.events.push(event);
    }
}

/// Accepts the connections of visitors.
struct VisitorServer {
    listener: UnixListener,
    book: Arc<Book>,
    /// The connections, in the order of arrival.
    connections: Vec<VisitorConnection>,
    /// The number of visits so far.
    visits: u64,
}

struct VisitorConnection {
    stream: UnixStream,
    received: String,
    /// The number of the visit, or `None` before the visitor has introduced itself.
    visit: Option<u64>,
    gone: bool,
}

impl VisitorServer {
    /// Waits until something happens, and records it.
    fn look(&mut self) {
        let streams = self
            .connections
            .iter()
            .map(|connection| PollFd::new(&connection.stream, PollFlags::IN));
        let mut all: Vec<_> = streams.collect();
        all.push(PollFd::new(&self.listener, PollFlags::IN));
        let a_while = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let _ = poll(&mut all, Some(&a_while));
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true).expect("a socket can be non-blocking");
            self.connections.push(VisitorConnection {
                stream,
                received: String::new(),
                visit: None,
                gone: false,
            });
        }
        // If a visitor left before a newcomer came, its connection is already closed when the witness
        // reads the newcomer's line. So the witness records departures before it records a newcomer. It
        // does so for each newcomer: one newcomer may already be dead, and the next may have its slot.
        for newcomer in 0..self.connections.len() {
            if self.connections[newcomer].visit.is_none() && self.connections[newcomer].listen() {
                self.record_departures();
                self.record_arrival(newcomer);
            }
        }
        self.record_departures();
        self.connections.retain(|connection| !connection.gone);
    }

    /// Records the visitors that have left.
    fn record_departures(&mut self) {
        for connection in self.connections.iter_mut().filter(|connection| !connection.gone) {
            let Some(visit) = connection.visit else { continue };
            connection.listen();
            if connection.gone {
                self.book.write(Observation::Leave { visit });
            }
        }
    }

    /// Records a newcomer, and confirms this to the visitor. So no visit ends before it is in the
    /// record.
    fn record_arrival(&mut self, newcomer: usize) {
        let visit = self.visits;
        self.visits += 1;
        let connection = &mut self.connections[newcomer];
        let words: Vec<_> = connection.received.split_whitespace().collect();
        let ["enter", name, slot, token, pid] = words[..] else { panic!("{words:?}") };
        let number = |word: &str| word.parse::<u64>().expect("a number");
        connection.visit = Some(visit);
        self.book.write(Observation::Enter(Visit {
            visit,
            name: name.to_string(),
            slot: number(slot) as usize,
            token: number(token),
            pid: number(pid) as u32,
        }));
        // A visitor that was killed meanwhile does not read the confirmation.
        let _ = self.connections[newcomer].stream.write_all(b"\n");
    }
}

impl VisitorConnection {
    /// Reads the visitor's message, or notes that the visitor is gone. Returns whether there is a whole
    /// line.
    fn listen(&mut self) -> bool {
        let mut bytes = [0; 256];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.gone = true,
            Ok(count) => self.received.push_str(&String::from_utf8_lossy(&bytes[..count])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.gone = true,
        }
        self.received.ends_with('\n')
    }
}
