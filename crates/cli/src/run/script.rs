//! Scripts without a `#!` line. The kernel refuses to execute them. `execvp(3)` of glibc gives them to the shell, but that
//! of musl does not, and released programs are linked with musl.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{Access, access};

const SHELL: &str = "/bin/sh";

/// The variable with the directories of programs.
const PATH: &str = "PATH";

/// The directories in which musl looks for a program if `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// Returns `true` if the error says that the program is a script without a `#!` line. (The kernel reports the same
/// error for a program of another architecture. glibc gives it to the shell, too.)
pub fn is_refused(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOEXEC)
}

/// Returns the command that gives the program of `command`, a script, to the shell. Its arguments and variables are
/// those of `command`.
pub fn by_shell(command: &Command) -> Command {
    let mut shell = Command::new(SHELL);
    shell.arg(find(command.get_program(), path_of(command))).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Returns the `PATH` that `command` is looked up in.
fn path_of(command: &Command) -> OsString {
    let changed = command.get_envs().find(|(name, _)| *name == OsStr::new(PATH));
    let path = match changed {
        Some((_, value)) => value.map(OsString::from),
        None => env::var_os(PATH),
    };
    path.unwrap_or_else(|| DEFAULT_PATH.into())
}

/// Returns the file that `program` names: itself if it contains a slash, otherwise the first executable file with this
/// name in the directories of `path`.
fn find(program: &OsStr, path: OsString) -> PathBuf {
    let program = Path::new(program);
    if program.as_os_str().as_bytes().contains(&b'/') {
        return program.into();
    }
    let executable = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    // An empty entry of PATH means the current directory. Without "./", the shell would search PATH itself.
    let place = |folder: PathBuf| match folder.as_os_str().is_empty() {
        true => Path::new(".").join(program),
        false => folder.join(program),
    };
    env::split_paths(&path).map(place).find(executable).unwrap_or_else(|| program.into())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn the_shell_gets_the_script_that_path_names_with_the_arguments_and_variables() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for (folder, mode) in [(&first, 0o644), (&second, 0o755)] {
            fs::create_dir(folder).expect("a folder");
            let script = folder.join("script");
            fs::write(&script, "echo $1 $NUMBER ${REMOVED-none}").expect("a script");
            fs::set_permissions(&script, fs::Permissions::from_mode(mode)).expect("permissions");
        }
        let path = env::join_paths([&first, &second]).expect("a path");
        let mut command = Command::new("script");
        command.arg("word").env("NUMBER", "7").env("PATH", path).env_remove("REMOVED");
        let mut shell = by_shell(&command);
        assert_eq!(shell.get_program(), SHELL);
        assert_eq!(shell.get_args().next(), Some(second.join("script").as_os_str()));
        let output = shell.output().expect("the shell runs");
        assert_eq!(output.stdout, b"word 7 none\n");
    }

    #[test]
    fn a_name_with_a_slash_is_not_looked_up() {
        assert_eq!(find(OsStr::new("./script"), "/bin".into()), Path::new("./script"));
        assert_eq!(find(OsStr::new("sh"), "/bin".into()), Path::new("/bin/sh"));
    }
}
