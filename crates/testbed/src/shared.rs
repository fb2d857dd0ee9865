//! One cluster that all tests of a program share.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use crate::EtcdCluster;

/// The cluster, and a process that removes its directory. Rust never drops a static, so `Drop` cannot
/// remove the directory.
static SHARED: LazyLock<(EtcdCluster, Child)> = LazyLock::new(|| {
    let cluster = EtcdCluster::start(1);
    let remover = remove_after_this_process(cluster.folder());
    (cluster, remover)
});

impl EtcdCluster {
    /// Returns a cluster with one member that lives as long as this process. It is for tests that only
    /// need a working etcd. Each test uses its own hall names.
    ///
    /// # Panics
    /// Panics if the member does not become healthy.
    pub fn shared() -> &'static EtcdCluster {
        &SHARED.0
    }
}

/// Starts a shell that removes `folder` after this process has ended, no matter how it ends. The shell
/// reads from a pipe. When this process ends, the pipe is closed. Then the shell sleeps for a second,
/// because the members of the cluster are killed at the same time and need a moment to end.
pub(crate) fn remove_after_this_process(folder: &Path) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > /dev/null; sleep 1; rm -rf -- \"$0\""]).arg(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C at a terminal ends this whole process group. It must not end the shell.
    shell.process_group(0);
    shell.spawn().expect("there is a shell")
}
