//! One cluster for all tests of a program.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use crate::EtcdCluster;

/// The cluster, and the process that removes its folder. Statics are never dropped, so neither is.
static SHARED: LazyLock<(EtcdCluster, Child)> = LazyLock::new(|| {
    let cluster = EtcdCluster::start(1);
    let remover = remove_after_us(cluster.folder());
    (cluster, remover)
});

impl EtcdCluster {
    /// A cluster of one member that lives as long as this process does: for tests that need nothing but an
    /// etcd that works. Each uses halls with names of its own.
    ///
    /// # Panics
    /// If the member does not get ready.
    pub fn shared() -> &'static EtcdCluster {
        &SHARED.0
    }
}

/// Removes a folder when this process has ended, however it ends: a shell reads from a pipe until nobody
/// is left to write to it. It waits a second longer, until the members, which are killed, are gone.
fn remove_after_us(folder: &Path) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > /dev/null; sleep 1; rm -rf -- \"$0\""]).arg(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C at a terminal, and whatever else ends our whole process group, must not end the shell.
    shell.process_group(0);
    shell.spawn().expect("there is a shell")
}
