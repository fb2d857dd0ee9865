//! Who watches the keys from outside: `etcdctl watch`, and what it has told.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PATIENCE, nursery};

/// Something that happened to a key. What happened in one transaction has one revision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyChange {
    /// When.
    pub revision: u64,
    /// To which key.
    pub key: String,
    /// What is there now; none if the key was removed.
    pub now: Option<KeyState>,
}

/// What is there under a key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyState {
    /// Since which revision there is such a key.
    pub created: u64,
    /// Its value.
    pub value: String,
}

/// Tells of everything that happens to some keys. Should the connection, or etcdctl, end, it goes on
/// where that was; what a member tells late, it learns late.
pub struct KeyRecorder {
    told: Arc<Told>,
    ends: Arc<AtomicBool>,
    child: Arc<Mutex<Option<Child>>>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Told {
    changes: Mutex<Vec<KeyChange>>,
    more: Condvar,
}

impl KeyRecorder {
    /// From the first revision on; so it has to be called before anything is compacted.
    pub(crate) fn start(endpoints: &str, prefix: &str) -> KeyRecorder {
        let (endpoints, prefix) = (endpoints.to_string(), prefix.to_string());
        let told = Arc::new(Told::default());
        let ends = Arc::new(AtomicBool::new(false));
        let child = Arc::new(Mutex::new(None));
        let reader = {
            let (told, ends, child) = (told.clone(), ends.clone(), child.clone());
            thread::spawn(move || {
                while !ends.load(SeqCst) {
                    read(&endpoints, &prefix, &told, &ends, &child);
                    thread::sleep(Duration::from_millis(100));
                }
            })
        };
        KeyRecorder { told, ends, child, reader: Some(reader) }
    }

    /// The latest revision of which everything is known.
    pub fn revision(&self) -> u64 {
        latest(&self.told.changes.lock().expect("nobody panics here"))
    }

    /// Waits until everything is known up to this revision, which must have touched a key that is watched.
    ///
    /// # Panics
    /// If that takes longer than anything should.
    pub fn catch_up(&self, revision: u64) {
        let changes = self.told.changes.lock().expect("nobody panics here");
        let late = |changes: &mut Vec<KeyChange>| latest(changes) < revision;
        let more = self.told.more.wait_timeout_while(changes, PATIENCE, late);
        let timed_out = more.expect("nobody panics here").1.timed_out();
        assert!(!timed_out, "the watch does not catch up with revision {revision}");
    }

    /// All that happened so far.
    pub fn changes(&self) -> Vec<KeyChange> {
        self.told.changes.lock().expect("nobody panics here").clone()
    }
}

fn latest(changes: &[KeyChange]) -> u64 {
    changes.last().map_or(0, |change| change.revision)
}

impl Drop for KeyRecorder {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        if let Some(child) = &mut *self.child.lock().expect("nobody panics here") {
            // It may have ended.
            let _ = child.kill();
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Runs etcdctl from where we are until it ends.
fn read(
    endpoints: &str,
    prefix: &str,
    told: &Told,
    ends: &AtomicBool,
    place: &Mutex<Option<Child>>,
) {
    let next = latest(&told.changes.lock().expect("nobody panics here")) + 1;
    let mut command = nursery::mortal("etcdctl");
    command.args(["watch", "--prefix", "--write-out", "json", "--rev", &next.to_string(), prefix]);
    command.env("ETCDCTL_API", "3").env("ETCDCTL_ENDPOINTS", endpoints);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let stdout = {
        let mut place = place.lock().expect("nobody panics here");
        if ends.load(SeqCst) {
            return;
        }
        let child = place.insert(nursery::spawn(command).expect("etcdctl starts"));
        child.stdout.take().expect("there is a pipe")
    };
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(answer) = serde_json::from_str::<Value>(&line) else { break };
        assert_eq!(answer["CompactRevision"], 0, "what the watch had not seen was compacted");
        let events = answer["Events"].as_array().into_iter().flatten();
        told.changes.lock().expect("nobody panics here").extend(events.map(change));
        told.more.notify_all();
    }
    let ended = place.lock().expect("nobody panics here").take();
    if let Some(mut child) = ended {
        let _ = (child.kill(), child.wait());
    }
}

fn change(event: &Value) -> KeyChange {
    let kv = &event["kv"];
    let number = |field: &str| kv[field].as_u64().expect("etcdctl prints numbers");
    let entry = || KeyState { created: number("create_revision"), value: text(&kv["value"]) };
    KeyChange {
        revision: number("mod_revision"),
        key: text(&kv["key"]),
        // Nothing is said of puts; 1 is a removal.
        now: (event["type"] != 1).then(entry),
    }
}

fn text(encoded: &Value) -> String {
    let bytes = BASE64_STANDARD.decode(encoded.as_str().unwrap_or_default());
    String::from_utf8_lossy(&bytes.expect("etcdctl prints base64")).into_owned()
}
