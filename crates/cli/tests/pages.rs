//! Tests of manual pages and completions, which are generated from the description of the command line.

use std::{
    fs,
    process::{Command, Output},
};

use hallpass_testbed::documents::commands;

fn hallpass(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hallpass")).args(words).output().expect("it runs")
}

#[test]
fn there_is_a_page_for_each_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man1");
    let output = hallpass(&["man", pages.to_str().expect("text")]);
    assert!(output.status.success() && output.stdout.is_empty());
    let help = String::from_utf8(hallpass(&["--help"]).stdout).expect("text");
    let commands = commands(&help);
    assert!(commands.len() > 15 && commands.iter().any(|command| command == "run"), "{help}");
    let names = commands.iter().map(|command| format!("hallpass-{command}"));
    for name in names.chain(["hallpass".to_string()]) {
        let page = fs::read_to_string(pages.join(format!("{name}.1"))).expect("a page");
        assert!(page.contains(".TH") && page.contains(".SH NAME"), "{name}");
    }
    let run = fs::read_to_string(pages.join("hallpass-run.1")).expect("a page");
    for word in
        ["nonblock", "conflict", "HALLPASS_SLOT", "127", "etcds://", "HALLPASS_TOKEN", "grace"]
    {
        assert!(run.contains(word), "{word}");
    }
    let others = fs::read_dir(&pages).expect("there").filter(|file| {
        file.as_ref().is_ok_and(|file| !file.file_name().to_string_lossy().ends_with(".1"))
    });
    assert_eq!(others.count(), 0, "no temporary file is left");
    for hidden in ["keeper", "demo-visit"] {
        assert!(!pages.join(format!("hallpass-{hidden}.1")).exists(), "{hidden} has no page");
    }
    for word in [".SH FILES", ".SH EXAMPLES", "HALLPASS_DIR", "/run/lock/hallpass"] {
        assert!(run.contains(word), "{word}");
    }
    for program in ["lab", "bench"] {
        let page = pages.join(format!("hallpass-{program}.1"));
        assert!(!page.exists(), "{} is about another program", page.display());
    }
}

#[test]
fn pages_that_cannot_be_written_are_an_error() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let output = hallpass(&["man", file.path().to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("hallpass: cannot create "));
}

#[test]
fn completions_contain_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = hallpass(&["completions", shell]);
        assert!(output.status.success());
        let script = String::from_utf8(output.stdout).expect("text");
        for word in ["run", "resize", "per-device", "conflict-exit-code", "password-file"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(hallpass(&["completions", "tcl"]).status.code(), Some(2));
}

#[test]
fn the_help_of_run_says_where_halls_are_and_groups_the_options_for_stores() {
    let help = String::from_utf8(hallpass(&["run", "--help"]).stdout).expect("text");
    for word in ["$HALLPASS_DIR", "/run/lock/hallpass", "/tmp/hallpass-UID", "{slot}"] {
        assert!(help.contains(word), "{word}");
    }
    let (general, on_store) = help.split_once("Halls on etcd or PostgreSQL:").expect("a heading");
    // The text of another option may mention an option, so an option counts only at the beginning of its own line.
    let lists = |text: &str, option: &str| text.contains(&format!("\n      {option} "));
    for option in ["--on", "--cacert", "--ttl", "--dial-timeout"] {
        assert!(lists(on_store, option) && !lists(general, option), "{option}");
    }
    assert!(general.contains("--nonblock") && general.contains("--time-limit"), "{help}");
}

#[test]
fn the_help_of_a_command_contains_the_notes_on_it() {
    for (command, note) in [
        ("close", "fail with status 125"),
        ("drain", "fail with status 125"),
        ("evict", "two commands may have the slot"),
        ("resize", "keep them until they exit"),
        ("log", "killed by SIGKILL"),
        ("jobserver", "ignore the jobserver"),
        ("cancel", "exits with status 125"),
    ] {
        let help = String::from_utf8(hallpass(&[command, "--help"]).stdout).expect("text");
        let words: Vec<_> = help.split_whitespace().collect();
        assert!(words.join(" ").contains(note), "{command}: {help}");
    }
}

#[test]
fn commands_for_one_machine_do_not_list_the_options_for_stores_and_say_why_they_refuse_them() {
    for command in ["cancel", "log", "jobserver"] {
        let help = String::from_utf8(hallpass(&[command, "--help"]).stdout).expect("text");
        assert!(help.contains("--dir ") && !help.contains("--on "), "{help}");
        let mut arguments = vec![command, "--on", "etcd://127.0.0.1:1", "gpu"];
        arguments.extend(if command == "cancel" { ["--all"].as_slice() } else { &[] });
        arguments.extend(if command == "jobserver" { ["true"].as_slice() } else { &[] });
        let refused = hallpass(&arguments);
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && stderr.contains("HALLPASS_ON"), "{command}: {stderr}");
    }
}

#[test]
fn bash_completes_names_of_halls() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_hallpass")).parent().expect("a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let script = "for name in gpu green 'two words'; do hallpass run -k 1 \"$name\" true; done; \
                  source <(hallpass completions bash); COMP_WORDS=(hallpass status g); COMP_CWORD=2; \
                  _hallpass_with_halls hallpass g status; printf '%s\\n' \"${COMPREPLY[@]}\"; \
                  COMP_WORDS=(hallpass evict gp); _hallpass_with_halls hallpass gp evict; \
                  printf 'evict %s\\n' \"${COMPREPLY[@]}\"; \
                  COMP_WORDS=(hallpass drain --wait g); COMP_CWORD=3; \
                  _hallpass_with_halls hallpass g --wait; printf 'wait %s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", script])
        .env("PATH", path)
        .env("HALLPASS_DIR", folder.path())
        .env_remove("HALLPASS_ON");
    let output = bash.output().expect("bash runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "gpu\ngreen\nevict gpu\nwait \n",
        "{stderr}"
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = String::from_utf8(hallpass(&["completions", shell]).stdout).expect("text");
        assert!(script.contains("list --names"), "{shell}");
        assert!(!script.contains("COMMANDS") && !script.contains("OPTIONS)"), "{shell}");
        if shell == "zsh" {
            assert!(script.matches(":_hallpass_halls'").count() >= 8, "{script}");
        }
    }
}
