//! Tests of directories of halls, and of names of halls.

use std::{fs, os::unix::fs::PermissionsExt};

use hallpass_processes::{Error, HallDir};

use crate::{
    puppet::Puppet,
    support::{NAME, TestHall},
};

#[test]
fn names_that_no_hall_can_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = HallDir::at(folder.path().join("dir"));
    let long = "n".repeat(300);
    for name in ["", "/", "a/b", "../a", ".", "..", ".hidden", "a\0b", "\0", "line\nbreak", &long] {
        let errors =
            [dir.open(name, 1).err(), dir.open_existing(name).err(), dir.remove(name, true).err()];
        for error in errors {
            match error {
                Some(error @ Error::BadName { .. }) => assert!(!error.to_string().is_empty()),
                other => panic!("`{name}`: {other:?}"),
            }
        }
    }
    assert!(!folder.path().join("a").exists());
    assert!(dir.names().unwrap().is_empty());
}

#[test]
fn other_names_can_be_opened_and_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = HallDir::at(folder.path());
    let mut names = ["a", "build", "with-dash", "with_under.score", "a.b", "Z9", "-dash"];
    for name in names {
        let hall = dir.open(name, 2).unwrap();
        assert_eq!(hall.name(), name);
        assert_eq!(hall.acquire().unwrap().slot(), 0);
    }
    names.sort_unstable();
    assert_eq!(dir.names().unwrap(), names);
    for name in names {
        dir.remove(name, false).unwrap();
    }
    assert!(dir.names().unwrap().is_empty());
}

#[test]
fn a_directory_is_created_when_its_first_hall_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("not/yet/there");
    let dir = HallDir::at(&path);
    assert_eq!(dir.path(), path);
    assert!(dir.names().unwrap().is_empty());
    match dir.open_existing(NAME).err() {
        Some(error @ Error::Missing { .. }) => {
            let text = error.to_string();
            assert!(text.contains(NAME) && text.contains("not/yet/there"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    assert!(!path.exists());
    dir.open(NAME, 1).unwrap();
    assert_eq!(dir.names().unwrap(), [NAME]);
}

#[test]
fn a_hall_that_is_used_is_not_removed() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    let waiter = test.waiter();
    match test.dir().remove(NAME, false) {
        Err(error @ Error::InUse { holders: 1, waiting: 1, .. }) => {
            assert!(error.to_string().contains(NAME), "{error}");
        }
        other => panic!("{other:?}"),
    }
    drop(waiter);
    holder.leave(0);
    test.hall.reap().unwrap();
    test.dir().remove(NAME, false).unwrap();
    assert!(matches!(test.dir().remove(NAME, false), Err(Error::Missing { .. })));
    assert!(matches!(test.dir().open_existing(NAME).err(), Some(Error::Missing { .. })));
}

#[test]
fn a_hall_that_is_used_can_be_removed_by_force() {
    let test = TestHall::new(1);
    let (holder, _) = test.holder();
    test.dir().remove(NAME, true).unwrap();
    let new = test.dir().open(NAME, 1).unwrap();
    assert_eq!(new.try_acquire().unwrap().slot(), 0);
    drop(holder);
}

#[test]
fn a_hall_held_by_a_dead_process_can_be_removed() {
    let test = TestHall::new(1);
    let (holder, _) = test.holder();
    let waiter = test.waiter();
    waiter.kill();
    holder.kill();
    test.dir().remove(NAME, false).unwrap();
}

/// Root may open every file. So a [`Puppet`] (a child process that the test controls) becomes another user and tries.
#[test]
fn a_user_without_permission_gets_an_error_about_permissions() {
    let test = TestHall::new(1);
    fs::set_permissions(test.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let mut puppet = Puppet::new();
    let became = puppet.order("become 65534");
    if became != "done" {
        println!("skipped: cannot become another user: {became}");
        return;
    }
    let answer = puppet.order(&format!("open {NAME} {}", test.path().display()));
    assert!(answer.to_lowercase().contains("permission denied"), "{answer}");
    assert!(answer.contains(test.path().to_str().unwrap()), "{answer}");
}

#[test]
fn threads_that_open_a_hall_at_the_same_time_create_one_hall() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let dir = HallDir::at(folder.path().join("dir"));
        let open = || dir.open(NAME, 8).unwrap().acquire_owned().unwrap();
        let mut passes = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        passes.sort_by_key(|pass| pass.slot());
        assert!(passes.iter().map(|pass| pass.slot()).eq(0..8));
    }
}

/// In a sticky directory, a user may use the hall of another user, but may not remove it.
#[test]
fn a_refused_removal_leaves_the_hall_as_it_was() {
    for force in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let hall = HallDir::at(folder.path()).open(NAME, 2).unwrap();
        let mut puppet = Puppet::new();
        let became = puppet.order("become 65534");
        if became != "done" {
            println!("skipped: cannot become another user: {became}");
            return;
        }
        let answer = puppet.order(&format!("remove {NAME} {force} {}", folder.path().display()));
        assert!(answer.contains("cannot remove"), "{answer}");
        assert!(!hall.is_closed(), "force: {force}");
        assert_eq!(hall.try_acquire().unwrap().slot(), 0);
        puppet.open(folder.path(), NAME);
        assert_eq!(puppet.acquire(), Ok(0));
    }
}

/// The directory belongs to a group of which the user is not a member, as in `/dev/shm` or `/tmp`.
#[test]
fn an_ordinary_user_can_create_a_hall_in_a_world_writable_directory() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let mut puppet = Puppet::new();
    let became = puppet.order("become 65534");
    if became != "done" {
        println!("skipped: cannot become another user: {became}");
        return;
    }
    assert_eq!(puppet.order(&format!("create {NAME} 2 {}", folder.path().display())), "open");
    assert_eq!(puppet.acquire(), Ok(0));
    let hall = HallDir::at(folder.path()).open(NAME, 2).unwrap();
    assert_eq!(hall.try_acquire().unwrap().slot(), 1);
}
