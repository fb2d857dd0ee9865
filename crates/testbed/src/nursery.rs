//! Child processes that do not outlive this process, however it ends.

use std::{
    ffi::OsStr,
    io,
    process::{Child, Command},
    sync::{LazyLock, mpsc},
    thread,
};

type SpawnRequest = (Command, mpsc::Sender<io::Result<Child>>);

/// The thread that starts all child processes. With `PR_SET_PDEATHSIG`, a child gets a signal when the
/// *thread* that started it ends. This thread never ends.
static NURSERY: LazyLock<mpsc::Sender<SpawnRequest>> = LazyLock::new(|| {
    let (sender, requests) = mpsc::channel::<SpawnRequest>();
    thread::spawn(move || {
        for (mut command, answer) in requests {
            // The caller may have ended.
            let _ = answer.send(command.spawn());
        }
    });
    sender
});

/// Returns a command that runs `program`. If [`spawn`] starts it, its process is killed when this process ends. The
/// command starts as `setpriv`, which executes `program` in the same process.
pub fn mortal(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Starts a command from a thread that lives as long as this process.
///
/// # Errors
/// Returns the errors of [`Command::spawn`].
pub fn spawn(command: Command) -> io::Result<Child> {
    let (sender, answer) = mpsc::channel();
    NURSERY.send((command, sender)).expect("the thread lives");
    answer.recv().expect("the thread lives")
}
