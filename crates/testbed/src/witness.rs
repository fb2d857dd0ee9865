//! The witness: who is in, as seen by somebody who has nothing to do with hallpass.
//!
//! Whoever is in has a connection to it; that it has left, even if it was killed, says the system.

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

/// Keeps a record of who is in.
pub struct Witness {
    socket: PathBuf,
    book: Arc<Book>,
    ends: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

struct Book {
    start: Instant,
    pages: Mutex<Pages>,
}

struct Pages {
    events: Vec<Event>,
    inside: Vec<Visit>,
    file: LineWriter<File>,
}

impl Witness {
    /// Comes, and keeps its record in `visits.jsonl` in this folder.
    ///
    /// # Panics
    /// If it cannot write there.
    pub fn start(folder: &Path) -> Witness {
        let socket = folder.join("witness");
        let listener = UnixListener::bind(&socket).expect("a socket");
        listener.set_nonblocking(true).expect("it can be asked");
        let file = LineWriter::new(File::create(folder.join("visits.jsonl")).expect("a file"));
        let pages = Pages { events: Vec::new(), inside: Vec::new(), file };
        let book = Arc::new(Book { start: Instant::now(), pages: Mutex::new(pages) });
        let ends = Arc::new(AtomicBool::new(false));
        let server = {
            let (book, ends) = (book.clone(), ends.clone());
            thread::spawn(move || {
                let mut server = VisitorServer { listener, book, guests: Vec::new(), visits: 0 };
                while !ends.load(SeqCst) {
                    server.look();
                }
            })
        };
        Witness { socket, book, ends, server: Some(server) }
    }

    /// Makes a command, which must end in [`visit`](crate::visit), one that this witness sees.
    pub fn introduce(&self, command: &mut Command, name: &str, stay: &str) {
        command.env(visitor::WITNESS, &self.socket);
        command.env("HALLPASS_VISITOR", name).env("HALLPASS_STAY", stay);
    }

    /// Who is in.
    pub fn inside(&self) -> Vec<Visit> {
        self.book.open().inside.clone()
    }

    /// Writes that this visit is excused; says whether it is still going on.
    pub fn excuse(&self, visit: u64) -> bool {
        let inside = self.inside().iter().any(|other| other.visit == visit);
        if inside {
            self.book.write(Observation::Excused { visit });
        }
        inside
    }

    /// Writes down something that may explain the rest.
    pub fn note(&self, text: &str) {
        self.book.write(Observation::Note { text: text.to_string() });
    }

    /// All that was seen so far.
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
    fn open(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().expect("nobody panics here")
    }

    fn write(&self, what: Observation) {
        let mut pages = self.open();
        match &what {
            Observation::Enter(visit) => pages.inside.push(visit.clone()),
            Observation::Leave { visit } => pages.inside.retain(|other| other.visit != *visit),
            Observation::Excused { .. } | Observation::Note { .. } => {}
        }
        let at = u64::try_from(self.start.elapsed().as_micros()).expect("less than ages");
        let event = Event { at, what };
        let line = serde_json::to_string(&event).expect("it is plain");
        writeln!(pages.file, "{line}").expect("there is room");
        pages.events.push(event);
    }
}

/// Where visitors come to.
struct VisitorServer {
    listener: UnixListener,
    book: Arc<Book>,
    /// In the order in which they came.
    guests: Vec<VisitorConnection>,
    /// How many visits there were.
    visits: u64,
}

struct VisitorConnection {
    stream: UnixStream,
    said: String,
    /// Its number, once it has said who it is.
    visit: Option<u64>,
    gone: bool,
}

impl VisitorServer {
    /// Waits until something happens, and writes it down.
    fn look(&mut self) {
        let streams = self.guests.iter().map(|guest| PollFd::new(&guest.stream, PollFlags::IN));
        let mut all: Vec<_> = streams.collect();
        all.push(PollFd::new(&self.listener, PollFlags::IN));
        let a_while = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let _ = poll(&mut all, Some(&a_while));
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true).expect("it can be asked");
            self.guests.push(VisitorConnection {
                stream,
                said: String::new(),
                visit: None,
                gone: false,
            });
        }
        // Whoever had left before somebody came, has left by the time we hear of the latter. So between
        // hearing of it and writing it down, we look who has left; and this for each, since one may have
        // followed another while we looked elsewhere.
        for newcomer in 0..self.guests.len() {
            if self.guests[newcomer].visit.is_none() && self.guests[newcomer].listen() {
                self.see_off();
                self.receive(newcomer);
            }
        }
        self.see_off();
        self.guests.retain(|guest| !guest.gone);
    }

    /// Writes down who has left.
    fn see_off(&mut self) {
        for guest in self.guests.iter_mut().filter(|guest| !guest.gone) {
            let Some(visit) = guest.visit else { continue };
            guest.listen();
            if guest.gone {
                self.book.write(Observation::Leave { visit });
            }
        }
    }

    /// Writes down who has come, and tells it so: no visit is over before it is in the record.
    fn receive(&mut self, newcomer: usize) {
        let visit = self.visits;
        self.visits += 1;
        let guest = &mut self.guests[newcomer];
        let words: Vec<_> = guest.said.split_whitespace().collect();
        let ["enter", name, slot, token, pid] = words[..] else { panic!("{words:?}") };
        let number = |word: &str| word.parse::<u64>().expect("a number");
        guest.visit = Some(visit);
        self.book.write(Observation::Enter(Visit {
            visit,
            name: name.to_string(),
            slot: number(slot) as usize,
            token: number(token),
            pid: number(pid) as u32,
        }));
        // Who was killed meanwhile does not hear it.
        let _ = self.guests[newcomer].stream.write_all(b"\n");
    }
}

impl VisitorConnection {
    /// Hears what it says, or that it is gone; says whether there is a line.
    fn listen(&mut self) -> bool {
        let mut bytes = [0; 256];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.gone = true,
            Ok(count) => self.said.push_str(&String::from_utf8_lossy(&bytes[..count])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.gone = true,
        }
        self.said.ends_with('\n')
    }
}
