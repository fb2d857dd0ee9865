//! Entry points for the fuzz targets of this project. Not part of the API.

use std::{
    ffi::OsString,
    io, iter,
    os::unix::ffi::OsStringExt,
    time::{Duration, SystemTime},
};

use clap::Parser;
use hallpass_cluster::{ClusterOptions, fuzzing};
use hallpass_common::{Participant, Status, check_name};
use rustix::net::{SendFlags, send};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Cli, jobserver,
    keeper::{
        Deadline,
        messages::{Channel, Order, Report, Request},
    },
    log, metrics,
    output::json_line,
    run,
    snapshot::{Users, View},
    table, tally, time,
};

/// The connection between a `hallpass run` and its keeper.
pub struct Connection {
    near: Channel,
    far: Channel,
    deadline: Deadline,
}

impl Connection {
    /// Returns a new connection.
    ///
    /// # Errors
    /// Returns an error if the process has too many open files.
    pub fn open() -> io::Result<Self> {
        let (near, far) = Channel::pair()?;
        Ok(Connection { near, far, deadline: Deadline::new()? })
    }

    /// Receives `bytes` as each kind of message. A message that is understood is sent and received once more. For a
    /// request, also checks the options and sets the timers, as the keeper does.
    ///
    /// # Panics
    /// Panics if a message changes on its way. This is a bug in hallpass.
    pub fn message(&self, bytes: &[u8]) {
        self.receive::<Order>(bytes);
        self.receive::<Report>(bytes);
        if let Some(Request { cluster, request }) = self.receive(bytes) {
            fuzzing::options(&ClusterOptions::from(cluster));
            let _ = self.deadline.set(Duration::from_secs(1), request.grace);
        }
    }

    fn receive<M: Serialize + DeserializeOwned>(&self, bytes: &[u8]) -> Option<M> {
        send(&self.near, bytes, SendFlags::NOSIGNAL).ok()?;
        let message: M = self.far.receive().ok()??;
        let text = |message: &M| serde_json::to_string(message).expect("messages are JSON");
        self.near.send(&message).expect("a received message can be sent");
        let again = self.far.receive().expect("the channel is open").expect("the message arrives");
        assert_eq!(text(&message), text(&again));
        Some(message)
    }
}

/// Reads a log, and shows it as a table and as JSON.
///
/// # Panics
/// Panics if a line contains a control character, which could change the terminal.
pub fn log(bytes: &[u8]) {
    let entries: Vec<_> = log::parse(bytes).collect();
    let objects: Vec<_> = log::objects(&entries).collect();
    assert_eq!(objects.len(), entries.len());
    for line in log::table(&entries).iter().chain(&objects) {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}

/// Reads a tally, counts events, and reads the new file.
///
/// # Panics
/// Panics if the new file does not contain the counted events. This is a bug in hallpass.
pub fn tally(bytes: &[u8]) {
    tally::fuzz(bytes);
}

/// Reads lines as the words of a command line, and as what users write into options and variables: times, devices, and
/// options of `make`.
///
/// # Panics
/// Panics if two readers of the same text disagree. This is a bug in hallpass.
pub fn command_line(bytes: &[u8]) {
    let words: Vec<_> =
        bytes.split(|&byte| byte == b'\n').map(|word| OsString::from_vec(word.to_vec())).collect();
    match words.split_first() {
        Some((first, rest)) if first == "run" => run::fuzzing::command_line(rest.to_vec()),
        Some((first, rest)) if first == "make" => {
            let kept = jobserver::build::without_job_limits("make", &words);
            assert!(kept.len() <= words.len() && kept[0] == "make");
            let flags = rest.join(std::ffi::OsStr::new(" "));
            let flags = jobserver::build::flags_after(&flags.to_string_lossy(), 3, "3,4");
            assert!(flags.contains("-j3 --jobserver-auth=3,4"));
        }
        _ => drop(Cli::try_parse_from(iter::once("hallpass".into()).chain(words))),
    }
    if let Ok(text) = str::from_utf8(bytes) {
        run::fuzzing::devices(text);
        if let Ok(time) = time::parse(text) {
            let _ = time::short(time);
        }
    }
}

/// Shows a hall whose holders and waiters have these texts, as a table, as JSON and as metrics. The first line is the
/// name of the hall. Each other line is a participant: host, user, command, start and PID, separated by tabs.
///
/// # Panics
/// Panics if a line contains a control character, which could change the terminal.
pub fn status(text: &str) {
    let mut lines = text.split('\n');
    let name = lines.next().filter(|name| check_name(name).is_ok()).unwrap_or("hall");
    let mut status = Status::new(name, 3);
    for (index, line) in lines.enumerate() {
        let fields: Vec<_> = line.split('\t').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let since = SystemTime::UNIX_EPOCH + Duration::from_nanos(field(3).parse().unwrap_or(0));
        let mut one = Participant::new(field(4).parse().unwrap_or(0), field(2), since);
        one.host = Some(field(0).to_string());
        one.user = Some(field(1).to_string());
        one.alive = !field(1).is_empty();
        one.slot = index.is_multiple_of(2).then_some(index);
        match one.slot {
            Some(_) => status.holders.push(one),
            None => status.waiters.push(one),
        }
    }
    let view = View::new(status, &mut Users::default());
    let lines = table::table(&view).into_iter().map(|line| line.painted(60, false));
    for line in lines.chain([json_line(&view.to_json()), metrics::escaped(name)]) {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}
