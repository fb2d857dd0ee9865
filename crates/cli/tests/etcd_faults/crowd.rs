//! The competitors: each starts `hallpass run` again and again.

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

use crate::{Login, SLOTS, TTL};

/// How long most commands run, in milliseconds.
const SHORT: &str = "5-200";
/// How long some commands run, in milliseconds. If such a command loses its slot and hallpass does not end it, it still
/// runs when the next waiter gets the slot.
const LONG: &str = "8000-11000";
/// The suffix of the names of long visits.
pub const LONG_SUFFIX: &str = ".long";
/// On average, one visit in `LONG_EVERY` is long.
const LONG_EVERY: u64 = 40;

/// All competitors.
pub struct Crowd {
    pub competitors: Vec<Arc<Competitor>>,
    threads: Vec<JoinHandle<()>>,
    orders: Arc<Orders>,
}

/// Orders to all competitors.
#[derive(Default)]
struct Orders {
    /// If true, the competitors finish their current passages and begin no more.
    ends: AtomicBool,
    /// While true, no competitor begins a passage.
    pause: AtomicBool,
}

/// A thread that starts one `hallpass run` after the other.
pub struct Competitor {
    number: usize,
    url: String,
    login: Login,
    log: PathBuf,
    witness: Arc<Witness>,
    now: Mutex<Option<Running>>,
    /// Whether a fault is being applied to its processes.
    pub busy: AtomicBool,
    tally: Mutex<Tally>,
}

/// A `hallpass run` that a competitor has started.
pub struct Running {
    pub child: Child,
    /// The name of the visit in the records of the witness.
    pub name: String,
}

/// The outcomes of passages.
#[derive(Default)]
pub struct Tally {
    /// The number of passages for each way in which they ended.
    pub ends: BTreeMap<String, usize>,
    /// The longest time of a passage that succeeded.
    pub longest: Duration,
}

impl Crowd {
    /// Starts a competitor for each URL.
    pub fn start(urls: &[String], login: Login, witness: &Arc<Witness>, folder: &Path) -> Crowd {
        let orders = Arc::new(Orders::default());
        let competitor = |(number, url): (usize, &String)| {
            Arc::new(Competitor {
                number,
                url: url.clone(),
                login,
                log: folder.join(format!("competitor{number}.log")),
                witness: witness.clone(),
                now: Mutex::default(),
                busy: AtomicBool::new(false),
                tally: Mutex::default(),
            })
        };
        let competitors: Vec<_> = urls.iter().enumerate().map(competitor).collect();
        let start = |competitor: &Arc<Competitor>| {
            let (competitor, orders) = (competitor.clone(), orders.clone());
            thread::spawn(move || competitor.compete(&orders))
        };
        let threads = competitors.iter().map(start).collect();
        Crowd { competitors, threads, orders }
    }

    /// While `back` is `true`, no competitor begins a passage. Passages that have begun continue.
    pub fn hold_newcomers_back(&self, back: bool) {
        self.orders.pause.store(back, SeqCst);
    }

    /// Lets every competitor finish its passage. Kills the passages that take longer than `within`, and returns their
    /// names.
    pub fn finish(&mut self, within: Duration) -> Vec<String> {
        self.orders.ends.store(true, SeqCst);
        let start = Instant::now();
        while start.elapsed() < within && !self.threads.iter().all(JoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(50));
        }
        let late = self.competitors.iter().filter_map(|competitor| competitor.kill()).collect();
        self.threads.drain(..).for_each(|thread| thread.join().expect("no competitor panics"));
        late
    }

    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for competitor in &self.competitors {
            let tally = competitor.tally.lock().expect("not poisoned");
            for (end, count) in &tally.ends {
                *sum.ends.entry(end.clone()).or_default() += count;
            }
            sum.longest = sum.longest.max(tally.longest);
        }
        sum
    }
}

impl Competitor {
    fn compete(&self, orders: &Orders) {
        for passage in 0.. {
            while orders.pause.load(SeqCst) && !orders.ends.load(SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
            if orders.ends.load(SeqCst) {
                break;
            }
            let long = fastrand::u64(..LONG_EVERY) == 0;
            let (stay, suffix) = if long { (LONG, LONG_SUFFIX) } else { (SHORT, "") };
            let name = format!("h{}.{passage}{suffix}", self.number);
            let start = Instant::now();
            let end = self.pass(name, stay);
            let mut tally = self.tally.lock().expect("not poisoned");
            if end.success() {
                tally.longest = tally.longest.max(start.elapsed());
            }
            *tally.ends.entry(describe(end)).or_default() += 1;
            drop(tally);
            if !end.success() {
                // The next attempt would probably fail for the same reason.
                thread::sleep(Duration::from_millis(100));
            }
        }
    }

    /// Makes one passage.
    fn pass(&self, name: String, stay: &str) -> ExitStatus {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).expect("a file");
        let mut command = hallpass(&self.url, self.login);
        self.witness.introduce(&mut command, &name, stay);
        command.stderr(log);
        let child = spawn(command).expect("it starts");
        let pid = Pid::from_child(&child);
        *self.now() = Some(Running { child, name });
        // The process is reaped only after `now` is cleared. So no fault hits another process that reuses its id.
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .expect("our own child");
        let mut running = self.now().take().expect("set above");
        running.child.wait().expect("our own child")
    }

    /// Returns the process that the competitor has started. It is not reaped while the guard is held, so its id is not
    /// reused.
    pub fn now(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.now.lock().expect("not poisoned")
    }

    /// Kills the process that the competitor has started, if there is one, and describes it.
    fn kill(&self) -> Option<String> {
        let mut now = self.now();
        let running = now.as_mut()?;
        running.child.kill().expect("our own child");
        Some(format!("{} (process {})", running.name, running.child.id()))
    }
}

/// Returns the command `hallpass run` of a visitor, with this URL and the environment variables of `login`.
pub fn hallpass(url: &str, login: Login) -> Command {
    let mut command = mortal(env!("CARGO_BIN_EXE_hallpass"));
    command.args(["run", "--on", url, "-k", &SLOTS.to_string()]);
    command.args(["--ttl", &format!("{}s", TTL.as_secs()), "hall", "--"]);
    command.arg(env::current_exe().expect("the path of this program"));
    command.args(["visitor", "--exact", "--nocapture"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.envs(login.iter().copied());
    command
}

fn describe(end: ExitStatus) -> String {
    match (end.code(), end.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (_, signal) => format!("signal {}", signal.unwrap_or_default()),
    }
}
