//! Login tokens that etcd no longer knows, because it lost its data or its users changed.

use hallpass_testbed::{EtcdCluster, Storage, etcd};

use super::*;

/// A cluster with one member, on which joe has to log in. The log of the cluster has many entries before the first
/// login, so the tokens contain large indices.
struct Protected(EtcdCluster);

impl Protected {
    fn start() -> Option<Protected> {
        etcd()?;
        let flags = ["--bcrypt-cost", "4"];
        let protected = Protected(EtcdCluster::start_with(1, Storage::Memory, &flags));
        wait(async {
            let client = new_client(&protected.options());
            for _ in 0..100 {
                client.txn(put("/hallpass/a", 0)).await.unwrap();
            }
        });
        protected.require_passwords();
        Some(protected)
    }

    fn require_passwords(&self) {
        for command in [
            "user add root:rootpw",
            "user grant-role root root",
            "user add joe:joepw",
            "role add halls",
            "role grant-permission halls --prefix=true readwrite /hallpass/",
            "user grant-role joe halls",
            "auth enable",
        ] {
            self.etcdctl(command);
        }
    }

    fn etcdctl(&self, command: &str) {
        let mut etcdctl = self.0.etcdctl(&command.split(' ').collect::<Vec<_>>());
        let output = etcdctl.arg("--command-timeout=60s").output().unwrap();
        assert!(output.status.success(), "etcdctl {command}: {output:?}");
    }

    fn as_root(&self, command: &str) {
        self.etcdctl(&format!("--user root:rootpw {command}"));
    }

    fn options(&self) -> ClusterOptions {
        let options = ClusterOptions::at(&self.0.url()).unwrap();
        ClusterOptions { ttl: Duration::from_secs(10), command_timeout: TIMEOUT, ..options }
    }

    fn joe(&self) -> Client {
        let mut options = self.options();
        options.etcd_mut().user = Some(("joe".into(), "joepw".into()));
        new_client(&options)
    }
}

/// Makes five calls, each with its own retries: a transaction, a read, a new lease, its renewal, and a watch.
async fn use_all_calls(client: &Client) {
    let within = Duration::from_secs(30);
    retrying(client, within, async || client.txn(put("/hallpass/a", 0)).await).await.unwrap();
    retrying(client, within, async || client.read("/hallpass/a".into()).await).await.unwrap();
    let lease = retrying(client, within, async || client.grant(60).await).await.unwrap();
    retrying(client, within, async || client.keep_alive(lease.id).await).await.unwrap();
    let range = || vec![KeyRange::prefix("/hallpass/")];
    retrying(client, within, async || client.watch(range()).await.map(drop)).await.unwrap();
}

/// A login token of the kind *simple*, etcd's default, names an index of etcd's log. If the log of a member ends before this index, the member does not
/// answer the request.
#[test]
fn a_client_logs_in_again_after_the_cluster_was_wiped() {
    let Some(protected) = Protected::start() else { return };
    wait(async {
        let (joe, watcher) = (protected.joe(), protected.joe());
        use_all_calls(&joe).await;
        let range = || vec![KeyRange::prefix("/hallpass/")];
        drop(watcher.watch(range()).await.unwrap());
        protected.0.wipe();
        protected.0.await_health();
        protected.require_passwords();
        use_all_calls(&joe).await;
        // A client that only watches also logs in again.
        let again = async || watcher.watch(range()).await.map(drop);
        retrying(&watcher, Duration::from_secs(30), again).await.unwrap();
    });
}

#[test]
fn a_client_logs_in_again_after_its_rights_or_its_user_were_restored() {
    let Some(protected) = Protected::start() else { return };
    wait(async {
        let joe = protected.joe();
        for [change, repair] in [
            ["user revoke-role joe halls", "user grant-role joe halls"],
            ["auth disable", "auth enable"],
            ["user delete joe", "user add joe:joepw"],
        ] {
            use_all_calls(&joe).await;
            protected.as_root(change);
            let changed = joe.txn(put("/hallpass/a", 0)).await;
            if change == "auth disable" {
                changed.unwrap();
                protected.etcdctl(repair);
            } else {
                assert!(matches!(changed, Err(Failure::Denied(_))), "{change}: {changed:?}");
                protected.as_root(repair);
            }
        }
        protected.as_root("user grant-role joe halls");
        use_all_calls(&joe).await;
    });
}
