use std::{collections::BTreeSet, os::unix::fs::PermissionsExt, thread};

use super::*;

fn sharing(socket: PathBuf) -> Sharing {
    let limit = Duration::from_secs(60);
    let is_relay = AtomicBool::new(false);
    Sharing { sockets: vec![socket], limit, connect_limit: limit, is_relay }
}

fn find_role(sharing: &Sharing) -> Role {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(sharing.find_role(true)).expect("no relay fails")
}

#[test]
fn all_processes_of_a_user_find_the_same_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let find = || find_key(folder.path()).expect("a key");
    let keys: BTreeSet<_> = thread::scope(|scope| {
        let found: Vec<_> = (0..8).map(|_| scope.spawn(find)).collect();
        found.into_iter().map(|key| key.join().expect("no panic")).collect()
    });
    assert_eq!(keys.len(), 1);
    let files: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = files[0].metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_is_no_key_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("key"), "short").expect("a file");
    let key = find_key(folder.path()).expect("a key");
    assert_eq!(find_key(folder.path()), Some(key), "the next process finds the same key");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn another_user_has_another_key() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    assert_ne!(find_key(one.path()), find_key(other.path()));
}

#[test]
fn without_a_socket_a_process_is_alone_immediately() {
    let folder = tempfile::tempdir().expect("a folder");
    let begun = Instant::now();
    for name in ["x".repeat(200), "no-such-folder/socket".into()] {
        assert!(matches!(find_role(&sharing(folder.path().join(name))), Role::Alone));
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_relay_that_ends_removes_its_socket() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let relay = find_role(&sharing(socket.clone()));
    assert!(matches!(relay, Role::Relay(..)) && socket.exists());
    drop(relay);
    assert!(!socket.exists());
}
