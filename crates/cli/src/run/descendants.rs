//! The descendants of this process: its children, their children, and so on.

use std::{collections::HashMap, fs, thread, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, getpid, kill_process, wait},
};

/// Time for killed processes to end before the next look.
const SOON: Duration = Duration::from_millis(5);

/// Returns the descendants of this process, parents before their children.
pub fn all() -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![getpid().as_raw_pid()];
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next]).unwrap_or_default());
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// Returns the PID of a process's parent. `None` if there is no such process.
pub fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, before the last parenthesis, may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(1)?.parse().ok()
}

/// Sends SIGTERM to all descendants, and SIGCONT in case they are suspended.
pub fn ask_all_to_end() {
    for pid in all() {
        // The process may have ended, which is fine.
        let _ = kill_process(pid, Signal::TERM);
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// Sends SIGKILL to all descendants. Returns `false` if there is no descendant that this user may kill.
pub fn kill_once() -> bool {
    let kill = |killed: bool, pid| kill_process(pid, Signal::KILL).is_ok() || killed;
    all().into_iter().fold(false, kill)
}

/// Kills and reaps all descendants, including those that start in the meantime. This process must be a child
/// subreaper, so that no process escapes by losing its parent.
pub fn kill_all() {
    loop {
        let any = kill_once();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        if !any {
            return;
        }
        thread::sleep(SOON);
    }
}
