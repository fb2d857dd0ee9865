//! Child processes that do not outlive this one, however it ends.

use std::{
    ffi::OsStr,
    io,
    process::{Child, Command},
    sync::{LazyLock, mpsc},
    thread,
};

type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// With `PR_SET_PDEATHSIG`, a child gets a signal when the *thread* that started it ends. So one thread, which never
/// ends, starts all of them.
static NURSERY: LazyLock<mpsc::Sender<Order>> = LazyLock::new(|| {
    let (sender, orders) = mpsc::channel::<Order>();
    thread::spawn(move || {
        for (mut command, answer) in orders {
            // The caller may be gone.
            let _ = answer.send(command.spawn());
        }
    });
    sender
});

/// Returns a command whose process is killed when this one ends, if it is started by [`spawn`]. The process that is
/// started becomes `program`.
pub fn mortal(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Starts a command from a thread that lives as long as this process.
///
/// # Errors
/// The errors of [`Command::spawn`].
pub fn spawn(command: Command) -> io::Result<Child> {
    let (sender, answer) = mpsc::channel();
    NURSERY.send((command, sender)).expect("the thread lives");
    answer.recv().expect("the thread lives")
}
