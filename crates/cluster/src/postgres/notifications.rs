//! Watches, by `LISTEN` and `NOTIFY`.
//!
//! A step notifies two channels for each record that it changes: the channel of the record, and the channel of the
//! *group*, which is the part of the key up to its last slash.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{runtime::Handle, sync::mpsc, time::timeout};

use super::{connection::Database, line::Line, load::read_record, sql};
use crate::{
    failure::Failure,
    retry::lock,
    store::{Changes, Event, KeyRange, KeyValue, Reply, Revision, Watch},
};

/// How long [`Line::check_notifications`] waits for its notification before it sends one more statement. The server
/// sends the notification before its answer to that statement.
const ECHO_WITHIN: Duration = Duration::from_secs(1);

/// The watches on one connection.
#[derive(Default)]
pub(super) struct Subscribers {
    channels: Mutex<Channels>,
    /// Held from a change of `channels` until the connection listens to the new channels or no longer listens to the
    /// removed ones. So `LISTEN` and `UNLISTEN` are sent in the order of the changes.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Channels {
    closed: bool,
    by_name: HashMap<String, Vec<Subscriber>>,
}

struct Subscriber {
    id: u64,
    notes: mpsc::UnboundedSender<Note>,
}

/// A notification that a record was changed.
pub(super) struct Note {
    pub channel: String,
    pub revision: Revision,
    pub key: String,
}

/// Returns the number of a new subscriber.
pub(super) fn new_id() -> u64 {
    static SUBSCRIBERS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed, because only the number has to be new.
    SUBSCRIBERS.fetch_add(1, Relaxed)
}

impl Subscribers {
    /// Sends a notification to the subscribers of its channel.
    pub(super) fn tell(&self, channel: &str, payload: &str) {
        // Every user of the database may send notifications. A notification that cannot be read has no effect.
        let Some((revision, key)) = payload.split_once(' ') else { return };
        let Ok(revision) = revision.parse() else { return };
        for subscriber in lock(&self.channels).by_name.get(channel).into_iter().flatten() {
            // The watch may have ended.
            let note = Note { channel: channel.into(), revision, key: key.into() };
            let _ = subscriber.notes.send(note);
        }
    }

    /// Ends all watches, because the connection is closed.
    pub(super) fn close(&self) {
        *lock(&self.channels) = Channels { closed: true, ..Channels::default() };
    }

    /// Adds a subscriber. Returns the channels that are new for the connection; `None` if the connection is closed.
    fn add(
        &self,
        names: &[String],
        id: u64,
        notes: &mpsc::UnboundedSender<Note>,
    ) -> Option<Vec<String>> {
        let mut channels = lock(&self.channels);
        if channels.closed {
            return None;
        }
        let mut new = Vec::new();
        for name in names {
            let subscribers = channels.by_name.entry(name.clone()).or_default();
            if subscribers.is_empty() {
                new.push(name.clone());
            }
            subscribers.push(Subscriber { id, notes: notes.clone() });
        }
        Some(new)
    }

    /// Removes a subscriber. Returns the channels that have no subscriber any more.
    fn remove(&self, names: &[String], id: u64) -> Vec<String> {
        let mut channels = lock(&self.channels);
        let mut unused = Vec::new();
        for name in names {
            let Some(subscribers) = channels.by_name.get_mut(name) else { continue };
            subscribers.retain(|subscriber| subscriber.id != id);
            if subscribers.is_empty() {
                channels.by_name.remove(name);
                unused.push(name.clone());
            }
        }
        unused
    }
}

/// Returns the channels to notify when a record is changed.
pub(super) fn channels_of(key: &str) -> [String; 2] {
    let group = key.rfind('/').map_or("", |slash| &key[..=slash]);
    [channel('r', key), channel('g', group)]
}

/// Returns the payload of the notification that a record was changed.
pub(super) fn payload(revision: Revision, key: &str) -> String {
    format!("{revision} {key}")
}

/// Returns the channel of a range; `None` if the range is neither a single record nor a group.
fn channel_of(range: &KeyRange) -> Option<String> {
    let key = std::str::from_utf8(&range.key).ok()?;
    match range.end.is_empty() {
        true => Some(channel('r', key)),
        false => (*range == KeyRange::prefix(key) && key.ends_with('/')).then(|| channel('g', key)),
    }
}

/// Returns the name of a channel. Names have at most 63 bytes, so this is a hash (FNV-1a). If two records have the same
/// channel, their watchers are notified too often.
fn channel(kind: char, key: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("hallpass_{kind}{hash:016x}")
}

/// Watches records of a hall.
pub(super) async fn watch(
    database: Arc<Database>,
    hall: String,
    ranges: Vec<KeyRange>,
) -> Result<Watch, Failure> {
    let channels: Option<BTreeSet<_>> = ranges.iter().map(channel_of).collect();
    let refused =
        || Failure::Refused("it can watch single records and groups of records only".into());
    let channels: Vec<_> = channels.ok_or_else(refused)?.into_iter().collect();
    let id = new_id();
    let (sender, notes) = mpsc::unbounded_channel();
    let begin = |line: Arc<Line>| {
        let (database, hall) = (database.clone(), hall.clone());
        async move {
            // From here on, dropping `reports` removes the subscriber.
            let line_of_watch = Arc::downgrade(&line);
            let reports = Reports {
                database,
                line: line_of_watch,
                hall,
                ranges,
                channels,
                id,
                notes,
                pending: Vec::new(),
            };
            line.subscribe(&reports.channels, id, &sender).await?;
            // The watch reports every step after this revision.
            let rows = line.query(sql::REVISION, &[(&*reports.hall).into()]).await?;
            let since = rows.first().map_or(Ok(0), |row| row.int(0))?;
            Ok(Watch { since, changes: Box::new(reports) })
        }
    };
    database.clone().attempt(begin).await
}

impl Line {
    /// Adds a subscriber to these channels. Starts to listen on channels that are new for this connection.
    pub(super) async fn subscribe(
        &self,
        channels: &[String],
        id: u64,
        notes: &mpsc::UnboundedSender<Note>,
    ) -> Result<(), Failure> {
        let _turn = self.subscribers().turn.lock().await;
        let closed = || Failure::Unreachable("the connection was closed".into());
        let new = self.subscribers().add(channels, id, notes).ok_or_else(closed)?;
        self.listen(&new).await
    }

    /// Removes the subscriber `id` from these channels. Stops listening on channels that have no subscriber left.
    pub(super) async fn unsubscribe(&self, channels: &[String], id: u64) {
        let _turn = self.subscribers().turn.lock().await;
        let unused = self.subscribers().remove(channels, id);
        if !unused.is_empty() {
            self.unlisten(&unused).await;
        }
    }

    /// Checks that a notification from the connection `other` arrives. It does not arrive if a pooler runs each
    /// transaction on a different connection.
    pub(super) async fn check_notifications(&self, other: &Line) -> Result<(), Failure> {
        let channel = format!("hallpass_echo{:016x}", fastrand::u64(..));
        let (sender, mut notes) = mpsc::unbounded_channel();
        let names = [channel.clone()];
        self.subscribers().add(&names, u64::MAX, &sender);
        drop(sender);
        self.execute(&format!("LISTEN {channel}")).await?;
        other.execute(&format!("NOTIFY {channel}, '0 echo'")).await?;
        let mut received = timeout(ECHO_WITHIN, notes.recv()).await;
        if received.is_err() {
            // In a slow network, the notification may still be on its way. The server sends it before its answer to
            // this statement.
            self.execute("SELECT").await?;
            received = timeout(Duration::ZERO, notes.recv()).await;
        }
        self.subscribers().remove(&names, u64::MAX);
        self.execute(&format!("UNLISTEN {channel}")).await?;
        match received {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Failure::Unreachable("the connection was closed".into())),
            Err(_) => Err(Failure::Refused(
                "notifications do not arrive: connect to the server itself, or to a pooler that keeps \
                 one server connection for each session"
                    .into(),
            )),
        }
    }
}

/// The changes that a watch reports.
struct Reports {
    database: Arc<Database>,
    /// A weak reference, so that the connection can end while a caller still keeps a watch that has failed.
    line: Weak<Line>,
    hall: String,
    ranges: Vec<KeyRange>,
    channels: Vec<String>,
    id: u64,
    notes: mpsc::UnboundedReceiver<Note>,
    /// Notifications that were received and not reported yet.
    pending: Vec<Note>,
}

impl Changes for Reports {
    fn next(&mut self) -> Reply<'_, Vec<Event>> {
        Box::pin(async {
            while self.pending.is_empty() {
                let ended = || Failure::Unreachable("the connection was closed".into());
                let mut note = Some(self.notes.recv().await.ok_or_else(ended)?);
                while let Some(next) = note {
                    let concerns = |range: &KeyRange| range.contains(next.key.as_bytes());
                    if self.ranges.iter().any(concerns) {
                        self.pending.push(next);
                    }
                    note = self.notes.try_recv().ok();
                }
            }
            let keys: Vec<_> = self.pending.iter().map(|note| note.key.clone()).collect();
            let parameters = (self.hall.clone(), keys);
            let read = |line: Arc<Line>| async move {
                let (hall, keys) = &parameters;
                line.query(sql::READ, &[hall.as_str().into(), keys.as_slice().into()]).await
            };
            let rows = self.database.attempt(read).await?;
            let records: Vec<_> =
                rows.iter().map(|row| read_record(row, 0)).collect::<Result<_, _>>()?;
            Ok(self.pending.drain(..).map(|note| event(note, &records)).collect())
        })
    }
}

/// Returns the event that a notification is about. `records` are the present records.
fn event(note: Note, records: &[KeyValue]) -> Event {
    let key = note.key.into_bytes();
    match records.iter().find(|kv| kv.key == key) {
        Some(kv) => Event { deleted: false, kv: kv.clone() },
        None => {
            let kv = KeyValue { key, mod_revision: note.revision, ..KeyValue::default() };
            Event { deleted: true, kv }
        }
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let Some(line) = self.line.upgrade() else { return };
        let (channels, id) = (std::mem::take(&mut self.channels), self.id);
        // Without a runtime, the thread that talks to the store is about to end, and so is its connection.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            line.unsubscribe(&channels, id).await;
        });
    }
}
