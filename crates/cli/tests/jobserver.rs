//! Tests of `hallpass jobserver`: builds share the slots of a hall. A build takes a *token*, which is a slot, before it
//! starts another job in parallel.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use common::{HALLPASS, Halls, Running, eventually, send, state, text};
use hallpass_processes::HallDir;
use rustix::process::Signal;

/// Returns `true` if the program is installed.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Writes a makefile with `jobs` jobs. When a job begins, it adds a line to the file `counts`, with the number of jobs
/// that run at that moment.
fn makefile(folder: &Path, jobs: usize) {
    let targets: Vec<_> = (0..jobs).map(|job| format!("job{job}")).collect();
    let recipe = "\t@mkdir running/$@; ls running | wc -l >>counts; sleep 0.1; rmdir running/$@\n";
    let text = format!("all: {0}\n{0}:\n{recipe}", targets.join(" "));
    fs::create_dir_all(folder.join("running")).expect("created");
    fs::write(folder.join("Makefile"), text).expect("written");
}

/// Returns the numbers of running jobs that the jobs of a makefile saw.
fn counts(folder: &Path) -> Vec<usize> {
    let text = fs::read_to_string(folder.join("counts")).expect("the jobs ran");
    text.lines().map(|line| line.trim().parse().expect("a number")).collect()
}

fn build(halls: &Halls, folder: &Path, words: &[&str]) -> Running {
    let mut command = halls.command("jobserver", words);
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS"] {
        command.env_remove(variable);
    }
    Running::start(command.current_dir(folder))
}

/// Waits for a build, and returns its exit status and output.
fn finish(mut build: Running) -> (Option<i32>, String) {
    let mut stderr = build.process.stderr.take().expect("a pipe");
    let (code, output) = build.leave();
    let mut written = Vec::new();
    std::io::Read::read_to_end(&mut stderr, &mut written).expect("read");
    (code, output + &text(&written))
}

#[test]
fn a_make_uses_all_free_slots_and_no_more() {
    if !has("make") {
        return;
    }
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    makefile(folder.path(), 12);
    // No job ends before four of them run at once.
    let wait = "for i in $$(seq 300); do grep -q 4 counts && break; sleep 0.1; done";
    let path = folder.path().join("Makefile");
    let text = fs::read_to_string(&path).expect("read");
    fs::write(&path, text.replace("sleep 0.1", wait)).expect("written");
    let (code, output) =
        finish(build(&halls, folder.path(), &["-k", "4", "m", "--", "make", "-j"]));
    assert_eq!(code, Some(0), "{output}");
    assert!(!output.contains("warning"), "{output}");
    let counts = counts(folder.path());
    assert_eq!(counts.len(), 12);
    assert!(counts.iter().all(|count| *count <= 4), "{counts:?}");
    assert!(counts.contains(&4), "{counts:?}");
    let status = halls.status("m");
    assert_eq!((&status["held"], &status["waiting"]), (&0.into(), &0.into()));
}

#[test]
fn two_makes_share_the_slots() {
    if !has("make") {
        return;
    }
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let folders = ["one", "two"].map(|name| folder.path().join(name));
    // The jobs of both builds use the same directory.
    makefile(folder.path(), 1);
    let builds: Vec<_> = folders
        .iter()
        .map(|own| {
            makefile(own, 8);
            fs::remove_dir(own.join("running")).expect("removed");
            std::os::unix::fs::symlink(folder.path().join("running"), own.join("running"))
                .expect("a link");
            let name = own.file_name().expect("a name").to_str().expect("text");
            let renamed = fs::read_to_string(own.join("Makefile")).expect("read");
            fs::write(own.join("Makefile"), renamed.replace("job", name)).expect("written");
            build(&halls, own, &["-k", "3", "m", "--", "make", "-j8"])
        })
        .collect();
    for build in builds {
        let (code, output) = finish(build);
        assert_eq!(code, Some(0), "{output}");
    }
    for own in &folders {
        let counts = counts(own);
        assert_eq!(counts.len(), 8);
        assert!(counts.iter().all(|count| *count <= 3), "{counts:?}");
    }
}

#[test]
fn a_killed_build_gives_its_slots_back() {
    if !has("make") {
        return;
    }
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let text = "all: a b\na b:\n\t@echo $$PPID; sleep 60\n";
    fs::write(folder.path().join("Makefile"), text).expect("written");
    let mut build = build(&halls, folder.path(), &["-k", "2", "m", "--", "make"]);
    let make: i32 = build.line().parse().expect("a number");
    build.line();
    assert_eq!(halls.status("m")["held"], 2);
    assert!(!halls.is_free("m"));
    build.kill_hallpass();
    eventually("make is killed", || state(make).is_none());
    eventually("the slots are free", || halls.is_free("m") && halls.status("m")["held"] == 0);
}

#[test]
fn the_jobs_of_a_killed_make_are_killed_before_their_slots_are_free() {
    if !has("make") {
        return;
    }
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let text = "all: a b\na b:\n\t@echo $$PPID $$$$; sleep 60; :\n";
    fs::write(folder.path().join("Makefile"), text).expect("written");
    let mut build = build(&halls, folder.path(), &["-k", "2", "m", "--", "make"]);
    let mut jobs = Vec::new();
    let mut make = 0;
    for _ in 0..2 {
        let line = build.line();
        let (parent, job) = line.split_once(' ').expect("two numbers");
        make = parent.parse().expect("a number");
        jobs.push(job.parse().expect("a number"));
    }
    send(make, Signal::KILL);
    assert_eq!(build.process.wait().expect("it ends").code(), Some(128 + 9));
    assert!(jobs.iter().all(|job| state(*job).is_none()), "the jobs still run");
    assert_eq!(halls.status("m")["held"], 0);
}

#[test]
fn a_build_gives_up_a_slot_that_it_does_not_use() {
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let script = "echo ready; exec cat";
    let mut idle = build(&halls, folder.path(), &["-k", "2", "m", "--", "sh", "-c", script]);
    assert_eq!(idle.line(), "ready");
    eventually("it offers a token", || halls.status("m")["held"] == 2);
    assert_eq!(halls.run(&["m", "true"]), Some(0), "the waiter gets the slot of the token");
    assert_eq!(finish(idle).0, Some(0));
}

#[test]
fn tokens_in_a_named_pipe_are_taken_and_put_back() {
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    // The script takes three tokens and puts them back. It prints a word after each of these steps.
    let script = "path=${MAKEFLAGS##*fifo:}; exec 9<>$path; for i in 1 2 3; do read -n 1 -u 9 token; done; echo took; \
                  read go; printf +++ >&9; echo returned; read go";
    let words = ["-k", "4", "--style", "fifo", "m", "--", "bash", "-c", script];
    let mut client = build(&halls, folder.path(), &words);
    assert_eq!(client.line(), "took");
    eventually("no slot is left", || halls.status("m")["available"] == 0);
    client.say("go\n");
    assert_eq!(client.line(), "returned");
    eventually("one token is offered, and the other slots are free again", || {
        halls.status("m")["available"] == 2
    });
    client.say("go\n");
    let (code, output) = finish(client);
    assert_eq!(code, Some(0), "{output}");
    assert!(halls.is_free("m"));
}

/// In the namespace, the PID of hallpass differs from that in `/proc`.
#[test]
fn a_build_finds_the_named_pipe_in_a_pid_namespace_without_its_own_proc() {
    let namespace = ["--user", "--map-root-user", "--pid", "--fork"];
    let mut unshare = Command::new("unshare");
    unshare.args(namespace);
    if !unshare.arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this system does not allow new namespaces");
        return;
    }
    let halls = Halls::new();
    let mut command = Command::new("unshare");
    command.args(namespace).args([HALLPASS, "jobserver"]).args(&halls.location);
    command.args(["--style", "fifo", "m", "--", "sh", "-c", "test -p ${MAKEFLAGS##*fifo:}"]);
    let output = command.env_remove("MAKEFLAGS").output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_killed_jobserver_leaves_no_files() {
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let mut command = halls.command("jobserver", &["--style", "fifo", "m", "--", "sh", "-c"]);
    command.arg("echo started; sleep 60").env("TMPDIR", folder.path());
    let mut build = Running::start(&mut command);
    assert_eq!(build.line(), "started");
    build.kill_hallpass();
    eventually("the slots are free", || halls.status("m")["held"] == 0);
    assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 0);
}

#[test]
fn cargo_takes_tokens() {
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    };
    let package = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{dependencies}"
        )
    };
    write(
        "Cargo.toml",
        &package(
            "top",
            "[dependencies]\na = { path = \"a\" }\nb = { path = \"b\" }\n[workspace]\n",
        ),
    );
    write("src/main.rs", "fn main() {}");
    for name in ["a", "b"] {
        write(&format!("{name}/Cargo.toml"), &package(name, ""));
        write(&format!("{name}/src/lib.rs"), "");
        // A build script also sees the jobserver.
        write(
            &format!("{name}/build.rs"),
            "fn main() { assert!(std::env::var(\"CARGO_MAKEFLAGS\").is_ok()); }",
        );
    }
    let words = ["-k", "2", "m", "--", &cargo, "build", "--offline", "--quiet"];
    let mut command = halls.command("jobserver", &words);
    command.current_dir(folder.path()).env("CARGO_TARGET_DIR", folder.path().join("target"));
    command.env_remove("RUSTC_WRAPPER").stdout(Stdio::piped());
    let hall =
        || HallDir::at(halls.path()).open_existing("m").map(|hall| hall.status().holders.len());
    let mut running = Running::start(&mut command);
    let mut most = 0;
    let code = loop {
        most = most.max(hall().unwrap_or(0));
        if let Some(status) = running.process.try_wait().expect("asked") {
            break status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    let (_, output) = finish(running);
    assert_eq!(code, Some(0), "{output}");
    assert!(!output.contains("jobserver"), "{output}");
    assert_eq!(most, 2, "cargo has its own slot and one for another job");
    assert_eq!(hall().expect("a hall"), 0);
}

#[test]
fn a_build_continues_with_its_tokens_if_the_hall_is_removed() {
    let (halls, folder) = (Halls::new(), tempfile::tempdir().expect("a folder"));
    let script = "echo ready; read go; exit 5";
    let mut client = build(&halls, folder.path(), &["-k", "1", "m", "--", "sh", "-c", script]);
    assert_eq!(client.line(), "ready");
    eventually("it waits for a token", || halls.status("m")["waiting"] == 1);
    assert_eq!(halls.prints("rm", &["--force", "m"]), "");
    client.say("go\n");
    let (code, output) = finish(client);
    assert_eq!(code, Some(5), "{output}");
}
