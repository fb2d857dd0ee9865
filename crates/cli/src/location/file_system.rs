//! Checks that a file system can contain halls. Only file systems of this machine can.

use std::{fs, path::Path};

use rustix::fs::statfs;

use super::Error;

/// The numbers by which Linux identifies file systems that several machines share, and their names.
const SHARED: [(u32, &str); 13] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

/// The number of FUSE. Both local and network file systems use FUSE.
const FUSE: u32 = 0x6573_5546;
/// The types of FUSE file systems that several machines share, as `/proc/self/mountinfo` names them.
const SHARED_FUSE: [&str; 5] =
    ["fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.s3fs"];

/// Fails if the directory is on a file system that several machines share. A hall limits the processes of one machine
/// only, and processes of other machines would enter as well.
pub fn check_file_system(dir: &Path) -> Result<(), Error> {
    // The directory may be created later, on the file system of its parent.
    let stat = dir.ancestors().find_map(|path| Some((path, statfs(path).ok()?)));
    let Some((path, stat)) = stat else { return Ok(()) };
    match shared_name(stat.f_type as u32, || mount_type(path)) {
        None => Ok(()),
        Some(name) => Err(Error::Options(format!(
            "{} is on a network file system ({name}): a hall limits the processes of one machine, and other \
             machines would ignore it; choose a local directory with --dir, or use --on for several machines",
            dir.display()
        ))),
    }
}

/// Returns the name of a file system that several machines share; `None` for others.
fn shared_name(number: u32, mount_type: impl FnOnce() -> Option<String>) -> Option<String> {
    if number == FUSE {
        return mount_type().filter(|name| SHARED_FUSE.contains(&name.as_str()));
    }
    let (_, name) = SHARED.iter().find(|(known, _)| *known == number)?;
    Some((*name).into())
}

/// Returns the type of the file system at `path`.
fn mount_type(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    type_in(&fs::read_to_string("/proc/self/mountinfo").ok()?, &path)
}

/// Finds the type of the file system at `path` in the list of mounts. Of several mounts at the same directory, the
/// last one is visible.
fn type_in(mounts: &str, path: &Path) -> Option<String> {
    let mount = |line: &str| {
        let point = line.split(' ').nth(4)?.replace("\\040", " ");
        let (_, after) = line.split_once(" - ")?;
        let kind = after.split(' ').next()?.to_string();
        path.starts_with(&point).then_some((point.len(), kind))
    };
    mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_refused_and_local_file_systems_are_not() {
        let none = || None;
        assert_eq!(shared_name(0x6969, none).as_deref(), Some("NFS"));
        assert_eq!(shared_name(0xff53_4d42, none).as_deref(), Some("CIFS"));
        // tmpfs, ext4, xfs, btrfs, overlayfs
        for number in [0x0102_1994, 0xef53, 0x5846_5342, 0x9123_683e, 0x794c_7630] {
            assert_eq!(shared_name(number, none), None);
        }
        let fuse = |name: &str| shared_name(FUSE, || Some(name.to_string()));
        assert_eq!(fuse("fuse.sshfs").as_deref(), Some("fuse.sshfs"));
        assert_eq!(fuse("fuse.gocryptfs"), None);
        check_file_system(Path::new("/tmp/not/there/yet")).expect("a local directory");
    }

    #[test]
    fn the_longest_mount_point_that_contains_the_path_is_used() {
        let mounts = "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
                      31 25 0:5 / /mnt/far\\040away rw - fuse.sshfs ant:/ rw,user_id=0\n";
        let kind = |path: &str| type_in(mounts, Path::new(path));
        assert_eq!(kind("/mnt/far away/halls").as_deref(), Some("fuse.sshfs"));
        assert_eq!(kind("/mnt/far").as_deref(), Some("ext4"));
    }
}
