//! Those who compete: each starts `hallpass run` again and again.

use std::{
    collections::BTreeMap,
    env,
    fs::OpenOptions,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hallpass_testbed::{Witness, mortal, spawn};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::{SLOTS, TTL};

/// What most commands take, and what some take: so long that they would be in when their successors are,
/// if nobody stopped them.
const SHORT: &str = "5-200";
const LONG: &str = "8000-11000";
/// What the names of long visits end with.
pub const MARK_OF_LONG: &str = ".long";
/// One visit in so many is long.
const LONG_EVERY: u64 = 40;

pub struct Crowd {
    pub holders: Vec<Arc<Holder>>,
    threads: Vec<JoinHandle<()>>,
    ends: Arc<AtomicBool>,
}

pub struct Holder {
    number: usize,
    url: String,
    log: PathBuf,
    witness: Arc<Witness>,
    now: Mutex<Option<Running>>,
    /// Something is being done to it.
    pub busy: AtomicBool,
    tally: Mutex<Tally>,
}

pub struct Running {
    pub child: Child,
    /// What the witness knows its visit by.
    pub name: String,
}

/// What came of the passages.
#[derive(Default)]
pub struct Tally {
    /// How many ended in each way.
    pub ends: BTreeMap<String, usize>,
    /// The longest that one took that got in and out as it should.
    pub longest: Duration,
}

impl Crowd {
    /// Starts as many as there are URLs.
    pub fn start(urls: &[String], witness: &Arc<Witness>, folder: &Path) -> Crowd {
        let ends = Arc::new(AtomicBool::new(false));
        let holder = |(number, url): (usize, &String)| {
            Arc::new(Holder {
                number,
                url: url.clone(),
                log: folder.join(format!("holder{number}.log")),
                witness: witness.clone(),
                now: Mutex::default(),
                busy: AtomicBool::new(false),
                tally: Mutex::default(),
            })
        };
        let holders: Vec<_> = urls.iter().enumerate().map(holder).collect();
        let start = |holder: &Arc<Holder>| {
            let (holder, ends) = (holder.clone(), ends.clone());
            thread::spawn(move || holder.compete(&ends))
        };
        let threads = holders.iter().map(start).collect();
        Crowd { holders, threads, ends }
    }

    /// Lets everybody finish what it is at. Says who did not in this time; they are killed.
    pub fn finish(&mut self, within: Duration) -> Vec<String> {
        self.ends.store(true, SeqCst);
        let start = Instant::now();
        while start.elapsed() < within && !self.threads.iter().all(JoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(50));
        }
        let late = self.holders.iter().filter_map(|holder| holder.kill()).collect();
        self.threads.drain(..).for_each(|thread| thread.join().expect("no holder panics"));
        late
    }

    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for holder in &self.holders {
            let tally = holder.tally.lock().expect("nobody panics here");
            for (end, count) in &tally.ends {
                *sum.ends.entry(end.clone()).or_default() += count;
            }
            sum.longest = sum.longest.max(tally.longest);
        }
        sum
    }
}

impl Holder {
    fn compete(&self, ends: &AtomicBool) {
        for passage in 0.. {
            if ends.load(SeqCst) {
                break;
            }
            let long = fastrand::u64(..LONG_EVERY) == 0;
            let (stay, mark) = if long { (LONG, MARK_OF_LONG) } else { (SHORT, "") };
            let name = format!("h{}.{passage}{mark}", self.number);
            let start = Instant::now();
            let end = self.pass(name, stay);
            let mut tally = self.tally.lock().expect("nobody panics here");
            if end.success() {
                tally.longest = tally.longest.max(start.elapsed());
            }
            *tally.ends.entry(describe(end)).or_default() += 1;
            drop(tally);
            if !end.success() {
                // Whatever it was, it would be so again.
                thread::sleep(Duration::from_millis(100));
            }
        }
    }

    fn pass(&self, name: String, stay: &str) -> ExitStatus {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).expect("a file");
        let mut command = hallpass(&self.url);
        self.witness.introduce(&mut command, &name, stay);
        command.stderr(log);
        let child = spawn(command).expect("it starts");
        let pid = Pid::from_child(&child);
        *self.now() = Some(Running { child, name });
        // It is not buried before it is forgotten, so nobody does anything to whoever gets its number.
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .expect("it is ours");
        let mut running = self.now().take().expect("nobody else takes it");
        running.child.wait().expect("it is ours")
    }

    /// What it has started; as long as this is kept, its number is its own.
    pub fn now(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.now.lock().expect("nobody panics here")
    }

    /// Kills what it has started, if anything.
    fn kill(&self) -> Option<String> {
        let mut now = self.now();
        let running = now.as_mut()?;
        running.child.kill().expect("it is ours");
        Some(format!("{} (process {})", running.name, running.child.id()))
    }
}

/// `hallpass run` of a visitor, by way of this URL.
pub fn hallpass(url: &str) -> Command {
    let mut command = mortal(env!("CARGO_BIN_EXE_hallpass"));
    command.args(["run", "--on", url, "-k", &SLOTS.to_string()]);
    command.args(["--ttl", &format!("{}s", TTL.as_secs()), "hall", "--"]);
    command.arg(env::current_exe().expect("it has a name"));
    command.args(["visitor", "--exact", "--nocapture"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn describe(end: ExitStatus) -> String {
    match (end.code(), end.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (_, signal) => format!("signal {}", signal.unwrap_or_default()),
    }
}
