//! The wrappers that are compared. A wrapper is a command that runs another command while it has the only slot.

use std::{path::PathBuf, process::Command};

use serde::{Serialize, Serializer};

/// The ttl in seconds for trials that wait until the ttl has passed.
pub const TTL: u64 = 4;
/// The ttl in seconds for measurements in which a holder must not lose its slot, not even on a busy machine.
pub const LONG_TTL: u64 = 60;

/// A program that runs a command under a lock: `hallpass run` or `etcdctl lock`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrapper {
    /// `hallpass run`, and the path of the program.
    Hallpass(PathBuf),
    /// `etcdctl lock`.
    Etcdctl,
}

impl Wrapper {
    /// Returns the name that reports show.
    pub fn name(&self) -> &'static str {
        match self {
            Wrapper::Hallpass(_) => "hallpass run",
            Wrapper::Etcdctl => "etcdctl lock",
        }
    }

    /// Returns the command that runs `words` in the hall `name` on the cluster `etcd://...`, with a ttl in
    /// seconds.
    pub fn command(&self, url: &str, ttl: u64, name: &str, words: &[&str]) -> Command {
        let ttl = ttl.to_string();
        let mut command;
        match self {
            Wrapper::Hallpass(program) => {
                command = Command::new(program);
                // Each measurement has its own store, so nobody would read the counts of runs (tallies) of its halls.
                command.env("HALLPASS_TALLY_DIR", "/dev/null");
                // On a busy machine, the first answer may be slow. The grace is the end of the ttl, in which hallpass
                // already ends the command. With a short grace, the pass survives longer gaps between answers.
                command.args(["run", "--on", url, "--dial-timeout", "30s", "--grace", "0.5"]);
                command.args(["-k", "1", "--ttl", &ttl, name]);
            }
            Wrapper::Etcdctl => {
                command = Command::new("etcdctl");
                command.args(["lock", "--ttl", &ttl, name]).env("ETCDCTL_API", "3");
                command.env("ETCDCTL_ENDPOINTS", url.trim_start_matches("etcd://"));
            }
        }
        command.arg("--").args(words);
        command
    }

    /// Returns the prefix of the keys of holders.
    pub fn holders(&self, name: &str) -> String {
        match self {
            Wrapper::Hallpass(_) => format!("/hallpass/{name}/inside/"),
            Wrapper::Etcdctl => format!("{name}/"),
        }
    }

    /// Returns the prefix of the keys of waiters, and the number of keys with this prefix while one command waits.
    pub fn waiters(&self, name: &str) -> (String, usize) {
        match self {
            Wrapper::Hallpass(_) => (format!("/hallpass/{name}/queue/"), 1),
            // The key of the holder has the same prefix as the keys of waiters.
            Wrapper::Etcdctl => (format!("{name}/"), 2),
        }
    }
}

impl Serialize for Wrapper {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
