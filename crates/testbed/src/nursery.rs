//! Children that do not outlive us, however we end.

use std::{
    ffi::OsStr,
    io,
    process::{Child, Command},
    sync::{LazyLock, mpsc},
    thread,
};

type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// The system kills a child when the *thread* that started it ends; so one thread, which never ends,
/// starts them all.
static NURSERY: LazyLock<mpsc::Sender<Order>> = LazyLock::new(|| {
    let (sender, orders) = mpsc::channel::<Order>();
    thread::spawn(move || {
        for (mut command, answer) in orders {
            // Who asked may be gone.
            let _ = answer.send(command.spawn());
        }
    });
    sender
});

/// A command that is killed when this process ends, if it is started by [`spawn`]. Its process is the
/// program's own.
pub fn mortal(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Starts a command from a thread that lives as long as this process does.
///
/// # Errors
/// Those of [`Command::spawn`].
pub fn spawn(command: Command) -> io::Result<Child> {
    let (sender, answer) = mpsc::channel();
    NURSERY.send((command, sender)).expect("the nursery lives");
    answer.recv().expect("the nursery lives")
}
