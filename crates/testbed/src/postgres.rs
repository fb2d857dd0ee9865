//! A PostgreSQL server on this computer: a process that can be killed, paused and started again, with or without a
//! standby.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind::NotFound, Write},
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{LazyLock, Mutex},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getuid, kill_process};
use tempfile::TempDir;

use crate::{Storage, TIMEOUT, nursery, ports::free_ports, shared::remove_after_this_process};

/// The name of a server's superuser, and of its database. The superuser needs no password.
pub(crate) const NAME: &str = "postgres";

/// PostgreSQL refuses to run as root. If this process runs as root, the processes of the server belong to the first of
/// these users that exists.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// Returns whether PostgreSQL is installed.
pub fn postgres_is_installed() -> bool {
    programs().is_some()
}

/// Returns `Some` if PostgreSQL is installed. If not, prints that the test is skipped and what to install.
///
/// # Panics
/// Panics if PostgreSQL is not installed and `HALLPASS_NEED_POSTGRES` is set, as in CI.
pub fn postgres() -> Option<()> {
    if programs().is_some() {
        return Some(());
    }
    let why = "PostgreSQL is not installed: apt-get install postgresql";
    assert!(std::env::var_os("HALLPASS_NEED_POSTGRES").is_none(), "{why}");
    eprintln!("skipped, because {why}");
    None
}

/// Returns the directory of the server's programs. Debian does not put them on the search path.
fn programs() -> Option<&'static Path> {
    static FOUND: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let versions = fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten().flatten();
        let mut found: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
        // The newest version comes first.
        found.sort_unstable_by(|one, other| other.cmp(one));
        let path = std::env::var_os("PATH").unwrap_or_default();
        found.extend(std::env::split_paths(&path));
        let needed = ["initdb", "pg_basebackup", "postgres", "psql"];
        let is_whole = |folder: &PathBuf| needed.iter().all(|name| folder.join(name).is_file());
        found.into_iter().find(is_whole)
    });
    FOUND.as_deref()
}

/// A PostgreSQL server. Dropping this value stops it.
pub struct PostgresServer {
    child: Mutex<Option<Child>>,
    port: u16,
    folder: TempDir,
    storage: Storage,
}

impl PostgresServer {
    /// Starts a server with an empty database that writes to memory.
    ///
    /// # Panics
    /// Panics if the server does not start.
    pub fn start() -> PostgresServer {
        PostgresServer::start_on(Storage::Memory)
    }

    /// Starts a server with an empty database that writes to this storage.
    ///
    /// # Panics
    /// Panics if the server does not start.
    pub fn start_on(storage: Storage) -> PostgresServer {
        PostgresServer::make(storage, |folder| {
            let words = ["-A", "trust", "-U", NAME, "-E", "UTF8", "--no-locale", "--no-sync", "-D"];
            run(program("initdb").args(words).arg(folder.join("data")));
        })
    }

    /// Starts a standby that follows this server.
    ///
    /// # Panics
    /// Panics if the standby does not start.
    pub fn standby(&self) -> PostgresServer {
        PostgresServer::make(self.storage, |folder| self.copy_to(&folder.join("data"), &["-R"]))
    }

    /// Copies the data of this server to a new directory, with further options of `pg_basebackup`.
    fn copy_to(&self, data: &Path, options: &[&str]) {
        let port = self.port.to_string();
        let words = ["-h", "127.0.0.1", "-U", NAME, "-c", "fast", "-p", &port, "-D"];
        run(program("pg_basebackup").args(options).args(words).arg(data));
    }

    /// Replaces the data of this server, which is dead, with the data of `primary`. Then starts this server as a
    /// standby of `primary`.
    ///
    /// # Panics
    /// Panics if it does not start.
    pub fn follow(&self, primary: &PostgresServer) {
        self.remove_data();
        primary.copy_to(&self.data(), &["-R"]);
        self.start_again();
    }

    /// Makes a backup and returns its directory.
    ///
    /// # Panics
    /// Panics if the backup fails.
    pub fn back_up(&self) -> PathBuf {
        let backup = self.folder.path().join("backup");
        self.copy_to(&backup, &[]);
        backup
    }

    /// Replaces the data of this server, which is dead, with a backup, and starts the server. The server begins a new
    /// timeline, as after every recovery to a point in time.
    ///
    /// # Panics
    /// Panics if it does not start.
    pub fn restore(&self, backup: &Path) {
        self.remove_data();
        let (data, word) = (self.data(), "recovery.signal");
        run(program("cp").arg("-a").arg(backup).arg(&data));
        run(program("touch").arg(data.join(word)));
        let mut settings = OpenOptions::new();
        let settings = settings.append(true).open(data.join("postgresql.auto.conf"));
        let lines = "restore_command = 'false'\nrecovery_target = 'immediate'\n\
                     recovery_target_action = 'promote'\nsynchronous_standby_names = ''\n";
        settings.and_then(|mut file| file.write_all(lines.as_bytes())).expect("a file");
        self.start_again();
        self.await_promotion();
        // With these settings, a standby that is copied from this server would stop its recovery.
        for setting in ["restore_command", "recovery_target", "recovery_target_action"] {
            self.psql(&format!("ALTER SYSTEM RESET {setting}"));
        }
    }

    /// Removes the data of a dead server. Tries again, because the last processes of the server may still write.
    fn remove_data(&self) {
        let start = Instant::now();
        while fs::remove_dir_all(self.data()).is_err_and(|error| error.kind() != NotFound) {
            assert!(start.elapsed() < TIMEOUT, "the data of a dead server cannot be removed");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts the server if it is dead, and waits until it answers. Tries again while old processes of the server keep
    /// it from starting.
    ///
    /// # Panics
    /// Panics if it does not start.
    pub fn start_again(&self) {
        let start = Instant::now();
        self.restart();
        while !self.becomes_ready() {
            assert!(start.elapsed() < TIMEOUT, "PostgreSQL does not start again");
            thread::sleep(Duration::from_millis(50));
            self.restart();
        }
    }

    /// Allows this user to log in only with a password (SCRAM-SHA-256).
    ///
    /// # Panics
    /// Panics if the files of the server cannot be changed.
    pub fn require_password(&self, user: &str) {
        let path = self.data().join("pg_hba.conf");
        let rules = fs::read_to_string(&path).expect("the server has rules");
        let rule = format!("host all {user} 127.0.0.1/32 scram-sha-256\n");
        fs::write(&path, rule + &rules).expect("the rules can be changed");
        self.psql("SELECT pg_reload_conf()");
    }

    /// Returns a server that lives as long as this process. It is for tests that only need a working server.
    ///
    /// # Panics
    /// Panics if the server does not start.
    pub fn shared() -> &'static PostgresServer {
        static SHARED: LazyLock<(PostgresServer, Child)> = LazyLock::new(|| {
            let server = PostgresServer::start();
            let remover = remove_after_this_process(server.folder.path());
            (server, remover)
        });
        &SHARED.0
    }

    /// Starts a server whose data `fill` puts into a new directory.
    fn make(storage: Storage, fill: impl Fn(&Path)) -> PostgresServer {
        let mut named = tempfile::Builder::new();
        let named = named.prefix("hallpass-postgres-");
        let memory = Path::new("/dev/shm");
        let in_memory = storage == Storage::Memory && memory.is_dir();
        let folder = if in_memory { named.tempdir_in(memory) } else { named.tempdir() };
        let folder = folder.expect("a folder");
        if let Some((user, group)) = owner() {
            chown(folder.path(), Some(user), Some(group)).expect("root may do this");
        }
        fill(folder.path());
        let mut server = PostgresServer { child: Mutex::new(None), port: 0, folder, storage };
        // Another process may take a port that was free before.
        for _ in 0..3 {
            server.port = free_ports(1)[0];
            server.restart();
            if server.becomes_ready() {
                return server;
            }
        }
        let log = fs::read_to_string(server.log()).unwrap_or_default();
        panic!("PostgreSQL does not start after three attempts: {log}");
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        PostgresServer::url_through(&[self.address()])
    }

    /// Returns the URL of the database on the first of these addresses that accepts writes.
    pub fn url_through(addresses: &[SocketAddr]) -> String {
        let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
        format!("postgres://{NAME}@{}/{NAME}", addresses.join(","))
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Runs SQL as the superuser, and returns what `psql` prints.
    ///
    /// # Panics
    /// Panics if the SQL fails.
    pub fn psql(&self, sql: &str) -> String {
        /// The exit status of `psql` if it has no connection. A server that becomes the primary server may close
        /// connections.
        const NO_CONNECTION: i32 = 2;
        /// A standby cancels statements that would delay the changes that it receives.
        const CANCELLED_BY_STANDBY: &str = "due to conflict with recovery";
        let start = Instant::now();
        let mut output = self.try_psql(sql);
        while (output.status.code() == Some(NO_CONNECTION)
            || String::from_utf8_lossy(&output.stderr).contains(CANCELLED_BY_STANDBY))
            && start.elapsed() < TIMEOUT / 4
        {
            thread::sleep(Duration::from_millis(50));
            output = self.try_psql(sql);
        }
        assert!(output.status.success(), "{sql}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().into()
    }

    fn try_psql(&self, sql: &str) -> Output {
        let port = self.port.to_string();
        let mut psql = program("psql");
        psql.args(["-h", "127.0.0.1", "-U", NAME, "-XqAt", "-v", "ON_ERROR_STOP=1", "-p", &port]);
        psql.args(["-c", sql]).output().expect("psql runs")
    }

    /// Kills the server with SIGKILL, and waits until it is dead.
    pub fn kill(&self) {
        if let Some(mut child) = self.child.lock().expect("not poisoned").take() {
            child.kill().expect("the process is a child of this process");
            child.wait().expect("the process is a child of this process");
        }
    }

    /// Starts the server if it is dead. Does not wait until it answers. The new server process ends if processes of the
    /// dead server still run.
    fn restart(&self) {
        let mut child = self.child.lock().expect("not poisoned");
        if child.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|end| end.is_none())) {
            return;
        }
        let log = OpenOptions::new().create(true).append(true).open(self.log());
        let log = log.expect("the log can be opened");
        let errors = log.try_clone().expect("a descriptor");
        let mut command = program("postgres");
        command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        let fsync = if self.storage == Storage::Disk { "fsync=on" } else { "fsync=off" };
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            fsync,
            "max_connections=200",
            "shared_buffers=16MB",
            "wal_keep_size=64MB",
        ] {
            command.args(["-c", setting]);
        }
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        *child = Some(nursery::spawn(command).expect("postgres starts"));
    }

    /// Waits until the server answers. Returns `false` if it ends or takes too long.
    fn becomes_ready(&self) -> bool {
        let start = Instant::now();
        while !self.try_psql("SELECT 1").status.success() {
            let mut child = self.child.lock().expect("not poisoned");
            let ended = child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
            if ended || start.elapsed() > TIMEOUT {
                return false;
            }
            drop(child);
            thread::sleep(Duration::from_millis(50));
        }
        true
    }

    /// Makes this server, which is a standby, the primary server, and waits until it accepts writes.
    ///
    /// # Panics
    /// Panics if it does not accept writes.
    pub fn promote(&self) {
        self.psql("SELECT pg_promote(false)");
        self.await_promotion();
    }

    fn await_promotion(&self) {
        let start = Instant::now();
        while self.psql("SELECT pg_is_in_recovery()") != "f" {
            assert!(start.elapsed() < TIMEOUT, "the standby is not promoted");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the main process of the server: it accepts no connections. Existing connections keep working.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues a paused server.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.lock().expect("not poisoned");
        if let Some(child) = child.as_ref() {
            kill_process(Pid::from_child(child), signal)
                .expect("the process is a child of this process");
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
        // The processes that serve connections notice the death of the main process, and may still write.
        thread::sleep(Duration::from_millis(100));
    }
}

/// Returns a program of PostgreSQL that does not outlive this process, and that does not run as root.
pub(crate) fn program(name: &str) -> Command {
    // Programs that do not belong to PostgreSQL, such as `cp`, are on the search path.
    let own = programs().expect("PostgreSQL is installed").join(name);
    let path = if own.is_file() { own } else { name.into() };
    let mut command = match owner() {
        // Changing the user clears the parent-death signal, so the user is changed first.
        Some((user, group)) => {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={user}"), format!("--regid={group}")]);
            command.args(["--clear-groups", "--", "setpriv", "--pdeathsig", "KILL", "--"]);
            command.arg(path);
            command
        }
        None => nursery::mortal(path),
    };
    // The environment variables of PostgreSQL that the user has set must not affect the tests.
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("PG") {
            command.env_remove(variable);
        }
    }
    command.current_dir("/");
    command
}

/// Returns the user and the group that the server must have; `None` if this process is not root.
fn owner() -> Option<(u32, u32)> {
    if !getuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("there are users");
    let named = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    USERS.into_iter().find_map(named)
}

fn run(command: &mut Command) {
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{output:?}");
}
