//! Tests of full and read-only disks. A puppet (a child process that a test controls) mounts them in a separate mount
//! namespace, so that they vanish when it ends. If mounting is not allowed, the tests are skipped with a message.

use std::{ffi::CString, fs, io, path::Path, ptr};

use hallpass_processes::{Error, HallDir};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{
    puppet::Puppet,
    support::{NAME, TestHall},
};

fn c(text: &str) -> CString {
    CString::new(text).expect("the text contains no zero byte")
}

/// Mounts a file system in the mount namespace of this thread.
fn mount(
    source: &str,
    target: &str,
    kind: &str,
    flags: libc::c_ulong,
    data: &str,
) -> io::Result<()> {
    let (source, target, kind, data) = (c(source), c(target), c(kind), c(data));
    // SAFETY: all strings end with a zero and outlive the call.
    let result = unsafe {
        libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Moves this thread to a new mount namespace, in which mounts do not affect other processes.
fn unshare_mounts() -> io::Result<()> {
    // SAFETY: the call affects only this thread, which has no files open by relative paths.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    mount("none", "/", "", libc::MS_REC | libc::MS_PRIVATE, "")
}

fn done(result: io::Result<()>) -> String {
    result.map_or_else(|error| error.to_string(), |()| "done".into())
}

/// Executes the order `SIZE PATH`: mounts a disk of this size at this path.
pub fn mount_small(order: &str) -> String {
    let (size, path) = order.split_once(' ').unwrap();
    done(unshare_mounts().and_then(|()| mount("tmpfs", path, "tmpfs", 0, &format!("size={size}"))))
}

/// Mounts a directory again, read-only.
pub fn mount_read_only(path: &str) -> String {
    let again = libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY;
    let bind = || mount(path, path, "", libc::MS_BIND, "");
    done(unshare_mounts().and_then(|()| bind()).and_then(|()| mount("none", path, "", again, "")))
}

/// Becomes the user with the number `uid`.
pub fn become_user(uid: u32) -> String {
    // SAFETY: an empty list needs no pointer.
    let groups = unsafe { libc::setgroups(0, ptr::null()) };
    // SAFETY: the calls have no preconditions. They fail if they are not permitted.
    match groups | unsafe { libc::setgid(uid) | libc::setuid(uid) } {
        0 => "done".into(),
        _ => io::Error::last_os_error().to_string(),
    }
}

/// Lets this process open exactly `free` more descriptors.
pub fn limit_descriptors(free: usize) -> String {
    let is_free = |number: &u64| fs::read_link(format!("/proc/self/fd/{number}")).is_err();
    let last = (0..).filter(is_free).take(free).last();
    let limit = getrlimit(Resource::Nofile);
    let current = last.map(|last| last + 1);
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
    "done".into()
}

/// Creates a hall on the disk, fills the disk, and uses all slots of the hall. Returns a text that begins with `works`,
/// or the error.
pub fn try_disk(path: &str) -> String {
    let hall = match HallDir::at(path).open(NAME, 64) {
        Ok(hall) => hall,
        Err(Error::System { source, .. }) => return format!("{:?}", source.kind()),
        Err(error) => return format!("{error:?}"),
    };
    // Fills the disk.
    let rest = fs::write(Path::new(path).join("rest"), vec![1; 8 << 20]);
    let passes: Result<Vec<_>, _> = (0..64).map(|_| hall.acquire()).collect();
    let Ok(passes) = passes else { return format!("{:?}", passes.err()) };
    let refused = matches!(hall.try_acquire(), Err(Error::NoPermits));
    drop(passes);
    let again = HallDir::at(path).open_existing(NAME).and_then(|hall| hall.acquire_owned()).is_ok();
    format!("works, refused {refused}, again {again}, no room {}", rest.is_err())
}

/// Creates a hall, fills the disk, and tries to use more slots and more registrations than the allocated pages have
/// room for.
pub fn grow_on_full_disk(path: &str) -> String {
    let hall = HallDir::at(path).open(NAME, 64).unwrap();
    fs::write(Path::new(path).join("rest"), vec![1; 8 << 20]).unwrap_err();
    let kind = |error: Error| match error {
        Error::System { source, .. } => format!("{:?}", source.kind()),
        error => format!("{error:?}"),
    };
    let resized = hall.resize(1024).map_or_else(kind, |()| "done".into());
    let passes: Vec<_> = (0..64).map(|_| hall.acquire().unwrap()).collect();
    let mut registrations = passes.len();
    // Each handle of the hall has its own registration.
    let mut handles = Vec::new();
    let ended = loop {
        let other = HallDir::at(path).open_existing(NAME).unwrap();
        match other.try_acquire() {
            Err(Error::NoPermits) => registrations += 1,
            Err(error) => break kind(error),
            Ok(_) => break "the hall gave out one slot too many".into(),
        }
        handles.push(other);
    };
    let count = if registrations >= 100 { "100 or more".into() } else { registrations.to_string() };
    format!("resize: {resized}, passages: {count}, then {ended}")
}

/// Opens an existing hall. Returns a text that begins with `works`, or the error.
pub fn try_file(path: &str) -> String {
    match HallDir::at(path).open_existing(NAME) {
        Ok(hall) => format!("works, {} slots", hall.slots()),
        Err(error @ Error::System { .. }) => error.to_string(),
        Err(error) => format!("{error:?}"),
    }
}

/// Returns whether mounting succeeded. If it failed, prints the reason.
fn mounted(answer: &str) -> bool {
    if answer != "done" {
        println!("skipped: cannot mount: {answer}");
    }
    answer == "done"
}

#[test]
fn a_hall_on_a_full_disk_works_or_is_not_created() {
    for kilobytes in [4, 8, 16, 32, 64, 256, 1024, 4096] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let mut puppet = Puppet::new();
        if !mounted(&puppet.order(&format!("mount {kilobytes}k {path}"))) {
            return;
        }
        // A hall that does not fit on the disk is refused when it is created. It never causes a crash later.
        let answer = puppet.order(&format!("try-disk {path}"));
        let works = answer == "works, refused true, again true, no room true";
        assert!(works || answer == "StorageFull", "{kilobytes} KiB: {answer}");
        assert!(works || kilobytes < 4096, "{kilobytes} KiB should be enough");
        println!("{kilobytes} KiB: {answer}");
    }
}

#[test]
fn a_hall_on_a_read_only_disk_is_refused() {
    let test = TestHall::new(3);
    let mut puppet = Puppet::new();
    if !mounted(&puppet.order(&format!("mount-read-only {}", test.path().display()))) {
        return;
    }
    let answer = puppet.order(&format!("try-file {}", test.path().display()));
    assert!(answer.contains("Read-only file system"), "{answer}");
    let answer = puppet.order(&format!("try-disk {}/new", test.path().display()));
    assert_eq!(answer, "ReadOnlyFilesystem");
    test.assert_all_slots_free();
}

/// `/run/lock` has 5 MiB on many machines.
#[test]
fn a_hundred_halls_fit_on_a_disk_of_5_mib() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let mut puppet = Puppet::new();
    if !mounted(&puppet.order(&format!("mount 5m {path}"))) {
        return;
    }
    for number in 0..100 {
        assert_eq!(puppet.order(&format!("create hall-{number} 4 {path}")), "open");
        assert_eq!(puppet.acquire(), Ok(0), "hall {number}");
    }
}

/// On a full disk, the passage or the resize that needs more room returns an error. It does not crash.
#[test]
fn a_hall_that_cannot_grow_on_a_full_disk_returns_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let mut puppet = Puppet::new();
    if !mounted(&puppet.order(&format!("mount 256k {path}"))) {
        return;
    }
    let answer = puppet.order(&format!("grow-on-full-disk {path}"));
    assert_eq!(answer, "resize: StorageFull, passages: 100 or more, then StorageFull");
}
