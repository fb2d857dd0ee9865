//! Records all changes of keys with `etcdctl watch`, independently of hallpass.

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

use crate::{TIMEOUT, nursery};

/// A change of a key. All changes of one transaction have the same revision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyChange {
    /// The revision of the change.
    pub revision: u64,
    /// The key that changed.
    pub key: String,
    /// The state of the key after the change, or `None` if the key was deleted.
    pub now: Option<KeyState>,
}

/// The value of a key and the revision of its creation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyState {
    /// The revision in which the key was created.
    pub created: u64,
    /// The value of the key.
    pub value: String,
}

/// Records all changes of some keys. If the connection or etcdctl ends, the recorder reconnects and
/// continues where it stopped. If a member reports a change late, the recorder records it late.
pub struct KeyRecorder {
    recorded: Arc<Recorded>,
    ends: Arc<AtomicBool>,
    child: Arc<Mutex<Option<Child>>>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Recorded {
    changes: Mutex<Vec<KeyChange>>,
    more: Condvar,
}

impl KeyRecorder {
    /// Starts at the first revision. So call this before any revision is compacted.
    pub(crate) fn start(endpoints: &str, prefix: &str) -> KeyRecorder {
        let (endpoints, prefix) = (endpoints.to_string(), prefix.to_string());
        let recorded = Arc::new(Recorded::default());
        let ends = Arc::new(AtomicBool::new(false));
        let child = Arc::new(Mutex::new(None));
        let reader = {
            let (recorded, ends, child) = (recorded.clone(), ends.clone(), child.clone());
            thread::spawn(move || {
                while !ends.load(SeqCst) {
                    read(&endpoints, &prefix, &recorded, &ends, &child);
                    thread::sleep(Duration::from_millis(100));
                }
            })
        };
        KeyRecorder { recorded, ends, child, reader: Some(reader) }
    }

    /// Returns the latest revision that is recorded.
    pub fn revision(&self) -> u64 {
        latest(&self.recorded.changes.lock().expect("not poisoned"))
    }

    /// Waits until all changes up to this revision are recorded. The revision must have changed a recorded key.
    ///
    /// # Panics
    /// Panics if this takes longer than [`TIMEOUT`].
    pub fn catch_up(&self, revision: u64) {
        let changes = self.recorded.changes.lock().expect("not poisoned");
        let late = |changes: &mut Vec<KeyChange>| latest(changes) < revision;
        let more = self.recorded.more.wait_timeout_while(changes, TIMEOUT, late);
        let timed_out = more.expect("not poisoned").1.timed_out();
        assert!(!timed_out, "the recorder does not catch up with revision {revision}");
    }

    /// Returns all changes so far.
    pub fn changes(&self) -> Vec<KeyChange> {
        self.recorded.changes.lock().expect("not poisoned").clone()
    }
}

fn latest(changes: &[KeyChange]) -> u64 {
    changes.last().map_or(0, |change| change.revision)
}

impl Drop for KeyRecorder {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        if let Some(child) = &mut *self.child.lock().expect("not poisoned") {
            // The child may have ended already.
            let _ = child.kill();
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Runs etcdctl from the next revision onwards, until etcdctl ends.
fn read(
    endpoints: &str,
    prefix: &str,
    recorded: &Recorded,
    ends: &AtomicBool,
    place: &Mutex<Option<Child>>,
) {
    let next = latest(&recorded.changes.lock().expect("not poisoned")) + 1;
    let mut command = nursery::mortal("etcdctl");
    command.args(["watch", "--prefix", "--write-out", "json", "--rev", &next.to_string(), prefix]);
    command.env("ETCDCTL_API", "3").env("ETCDCTL_ENDPOINTS", endpoints);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let stdout = {
        let mut place = place.lock().expect("not poisoned");
        if ends.load(SeqCst) {
            return;
        }
        let child = place.insert(nursery::spawn(command).expect("etcdctl starts"));
        child.stdout.take().expect("there is a pipe")
    };
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(answer) = serde_json::from_str::<Value>(&line) else { break };
        assert_eq!(answer["CompactRevision"], 0, "a revision was compacted before it was recorded");
        let events = answer["Events"].as_array().into_iter().flatten();
        recorded.changes.lock().expect("not poisoned").extend(events.map(change));
        recorded.more.notify_all();
    }
    let ended = place.lock().expect("not poisoned").take();
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
        // etcdctl omits the type for puts. Type 1 is a deletion.
        now: (event["type"] != 1).then(entry),
    }
}

fn text(encoded: &Value) -> String {
    let bytes = BASE64_STANDARD.decode(encoded.as_str().unwrap_or_default());
    String::from_utf8_lossy(&bytes.expect("etcdctl prints base64")).into_owned()
}
