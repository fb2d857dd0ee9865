//! The commands that are compared: each runs another one while it has the only slot.

use std::{path::PathBuf, process::Command};

use serde::{Serialize, Serializer};

/// For how many seconds a holder may be out of touch.
pub const TTL: u64 = 3;

/// One of the commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrapper {
    /// `hallpass run`, and where it is.
    Hallpass(PathBuf),
    /// `etcdctl lock`.
    Etcdctl,
}

impl Wrapper {
    /// A short name.
    pub fn name(&self) -> &'static str {
        match self {
            Wrapper::Hallpass(_) => "hallpass run",
            Wrapper::Etcdctl => "etcdctl lock",
        }
    }

    /// The command that runs these words, on the cluster `etcd://...`.
    pub fn command(&self, url: &str, name: &str, words: &[&str]) -> Command {
        let ttl = TTL.to_string();
        let mut command;
        match self {
            Wrapper::Hallpass(program) => {
                command = Command::new(program);
                // On a busy machine, the first answer may take long.
                command.args(["run", "--on", url, "--dial-timeout", "30s"]);
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

    /// Prefix of the keys of holders.
    pub fn holders(&self, name: &str) -> String {
        match self {
            Wrapper::Hallpass(_) => format!("/hallpass/{name}/inside/"),
            Wrapper::Etcdctl => format!("{name}/"),
        }
    }

    /// What the keys of waiters begin with, and how many keys there are as soon as one waits.
    pub fn waiters(&self, name: &str) -> (String, usize) {
        match self {
            Wrapper::Hallpass(_) => (format!("/hallpass/{name}/queue/"), 1),
            // Holder and waiters have keys of one kind.
            Wrapper::Etcdctl => (format!("{name}/"), 2),
        }
    }
}

impl Serialize for Wrapper {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
