//! The commands that the documents print. The documents are README, CONTRIBUTING, ARCHITECTURE, the pages
//! in `docs`, and the READMEs of crates and bindings.
//!
//! A [`Block`] is a fenced block marked `sh` or `console`. Each crate with a program has a test that
//! runs the blocks that use this program. If a block cannot run in a test, a comment before it gives the
//! reason. Readers of the rendered page do not see this comment:
//!
//! ```text
//! <!-- not run: needs the machines etcd-1 and etcd-2 -->
//! ```

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const NOT_RUN: &str = "<!-- not run: ";

/// The programs of this project.
pub const PROGRAMS: [&str; 3] = ["hallpass", "hallpass-lab", "hallpass-bench"];

/// A block of commands in a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The document, relative to the root of the checkout.
    pub file: String,
    /// The line number of the first command.
    pub line: usize,
    /// The lines of the block. For a `console` block, only the lines that begin with the prompt `$ `, without
    /// the prompt.
    pub lines: Vec<String>,
    /// The reason why no test runs the block, or `None` if a test runs it.
    pub not_run: Option<String>,
}

/// Returns the root of the checkout.
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the blocks of all documents, in order.
///
/// # Panics
/// Panics if a document cannot be read.
pub fn blocks() -> Vec<Block> {
    let blocks = |(file, text): &(String, String)| blocks_of(file, text);
    texts().iter().flat_map(blocks).collect()
}

/// Returns the paths and the texts of all documents, in order. The paths are relative to the root of the checkout.
///
/// # Panics
/// Panics if a document cannot be read.
pub fn texts() -> Vec<(String, String)> {
    let root = checkout();
    let mut files: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(PathBuf::from).into();
    files.extend(names(&root.join("docs")).map(|name| Path::new("docs").join(name)));
    for folder in ["crates", "bindings"] {
        let readme = |name: PathBuf| Path::new(folder).join(name).join("README.md");
        files.extend(names(&root.join(folder)).map(readme));
    }
    files.retain(|file| {
        file.extension().is_some_and(|ending| ending == "md") && root.join(file).is_file()
    });
    files.sort();
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(root.join(file)).expect("the document can be read");
        (file.to_string_lossy().into_owned(), text)
    };
    files.iter().map(read).collect()
}

/// Returns the commands and options of a program that no document mentions, such as `list` and `list --json`. `path` is
/// the built program.
///
/// # Panics
/// Panics if the program cannot be started.
pub fn undocumented(path: &str) -> Vec<String> {
    let name = Path::new(path).file_name().expect("a program has a name").to_string_lossy();
    let documents: String = texts().into_iter().map(|(_, text)| text).collect();
    let help = |words: &[&str]| {
        let output = Command::new(path).args(words).arg("--help").output().expect("it runs");
        String::from_utf8(output.stdout).expect("a help text is UTF-8")
    };
    let mut missing = Vec::new();
    for command in commands(&help(&[])) {
        if !mentions(&documents, &format!("{name} {command}")) {
            missing.push(command.clone());
        }
        let unknown = options(&help(&[&command]));
        let unknown = unknown.into_iter().filter(|option| !mentions(&documents, option));
        missing.extend(unknown.map(|option| format!("{command} {option}")));
    }
    missing
}

/// Returns the commands that a help text lists. Leaves out `help`, and commands that run another program, because these
/// have no options of their own.
pub fn commands(help: &str) -> Vec<String> {
    let list = help.split("Commands:").nth(1).unwrap_or_default();
    let list = list.split("\n\n").next().unwrap_or_default();
    let named = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let own = named.filter(|(name, about)| *name != "help" && !about.contains("(runs "));
    own.map(|(name, _)| name.to_string()).filter(|name| !name.is_empty()).collect()
}

/// Returns the options with two hyphens that a help text lists, except `--help` and `--version`.
fn options(help: &str) -> Vec<String> {
    // The text of an option is indented further than the option, and may wrap before the name of another option.
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let lists_option =
        |line: &&str| (2..=6).contains(&indentation(line)) && line.trim_start().starts_with('-');
    let long = |word: &str| word.starts_with("--") && word != "--help" && word != "--version";
    let first_long = |line: &str| {
        let word = line.split_whitespace().take(2).find(|word| long(word))?;
        Some(word.to_string())
    };
    help.lines().filter(lists_option).filter_map(first_long).collect()
}

/// Returns whether the text contains the phrase. The phrase must not end in the middle of a word.
fn mentions(text: &str, phrase: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    text.match_indices(phrase).any(|(at, _)| ends(&text[at + phrase.len()..]))
}

fn names(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    entries.map(|entry| entry.expect("the entry can be read").file_name().into())
}

fn blocks_of(file: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut not_run = None;
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_start()));
    while let Some((number, line)) = lines.next() {
        if let Some(reason) = line.strip_prefix(NOT_RUN) {
            not_run = Some(reason.trim_end_matches("-->").trim().to_string());
            continue;
        }
        if let Some(kind) = line.strip_prefix("```") {
            let inner: Vec<&str> = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| !line.starts_with("```"))
                .collect();
            let prompt = if kind == "console" { "$ " } else { "" };
            let commands = inner.iter().filter_map(|line| line.strip_prefix(prompt));
            let lines = commands.map(String::from).collect();
            if matches!(kind, "sh" | "console") {
                blocks.push(Block {
                    file: file.into(),
                    line: number + 1,
                    lines,
                    not_run: not_run.take(),
                });
            }
        }
        if !line.is_empty() {
            not_run = None;
        }
    }
    blocks
}

impl Block {
    /// Returns the location of the block, such as `README.md:12`.
    pub fn location(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Returns which of these programs the block runs: cargo and the programs of this project.
    pub fn programs(&self) -> Vec<&str> {
        let is_program = |word: &&str| PROGRAMS.contains(word) || *word == "cargo";
        let mut programs: Vec<&str> =
            self.lines.iter().flat_map(|line| first_words(line)).filter(is_program).collect();
        programs.dedup();
        programs
    }

    /// Returns the lines without comments.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let commands = self.lines.iter().map(|line| match line.split_once(" # ") {
            Some((command, _)) => command.trim(),
            None => line.trim(),
        });
        commands.filter(|command| !command.is_empty() && !command.starts_with('#'))
    }

    /// Returns whether a test in the crate that builds `program` has to run the block.
    pub fn is_run_with(&self, program: &str) -> bool {
        self.not_run.is_none() && self.programs() == [program]
    }
}

/// Returns the first word of a line, and the first word after each `do`, `then`, `&&`, `||`, `|` or `;`.
fn first_words(line: &str) -> impl Iterator<Item = &str> {
    let mut begins = true;
    line.split_whitespace().filter(move |word| {
        let is_first = begins;
        begins = word.ends_with(';') || ["do", "then", "&&", "||", "|"].contains(word);
        is_first
    })
}

/// A directory in which a test runs commands. [`script`](Scratch::script) creates the files that these commands
/// need.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    path: String,
}

impl Scratch {
    /// Creates a directory. `program` is the path of a built program. Commands that run in the directory look for
    /// programs in its folder `bin` first, then in the folder of `program`, and then on `PATH`.
    ///
    /// # Panics
    /// Panics if the directory cannot be created.
    pub fn new(program: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory can be created");
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).expect("a folder can be created");
        let own = Path::new(program).parent().expect("a program is in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{path}", bin.display(), own.display());
        Scratch { folder, path }
    }

    /// Creates an executable shell script. `name` is a path within the directory.
    ///
    /// # Panics
    /// Panics if the script cannot be written.
    pub fn script(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a script is in a folder"))
            .expect("folders can be created");
        crate::write_executable(&path, &format!("#!/bin/sh\n{text}\n"));
    }

    /// Runs `text` with bash. bash stops at the first command that fails.
    ///
    /// # Panics
    /// Panics if bash cannot be started.
    pub fn run(&self, text: &str) -> Output {
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", text]).current_dir(self.folder.path());
        bash.env("PATH", &self.path).env("HALLPASS_DIR", self.folder.path().join("halls"));
        bash.env_remove("HALLPASS_ON").env_remove("HALLPASS_SLOT").stdin(Stdio::null());
        bash.output().expect("bash runs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Text
```sh
hallpass list   # the halls
```
<!-- not run: builds for minutes -->
```console
$ cargo test
ok
```
<!-- not run: belongs to no block -->
Text
```rust
let x = 1;
```
  ```sh
  hallpass-lab list
  ```
";

    #[test]
    fn blocks_have_commands_and_reasons() {
        let blocks = blocks_of("a.md", TEXT);
        let lines: Vec<_> = blocks.iter().map(|block| (block.line, block.lines.clone())).collect();
        assert_eq!(
            lines,
            [
                (3, vec!["hallpass list   # the halls".to_string()]),
                (7, vec!["cargo test".to_string()]),
                (16, vec!["hallpass-lab list".to_string()]),
            ]
        );
        let reasons: Vec<_> = blocks.iter().map(|block| block.not_run.as_deref()).collect();
        assert_eq!(reasons, [None, Some("builds for minutes"), None]);
        assert_eq!(blocks[0].commands().collect::<Vec<_>>(), ["hallpass list"]);
        let words: Vec<&str> =
            first_words("for i in 1; do hallpass run a -- cargo & done; wait").collect();
        assert_eq!(words, ["for", "do", "hallpass", "wait"]);
        assert!(blocks[2].is_run_with("hallpass-lab") && !blocks[1].is_run_with("cargo"));
    }

    #[test]
    fn a_help_text_lists_commands_and_options() {
        let help = "About\n\nCommands:\n  list  Lists\n        the halls\n  lab   Checks (runs hallpass-lab)\n  \
                    help  Print this\n\nOptions:\n  -h, --help  Print help\n";
        assert_eq!(commands(help), ["list"]);
        let help = "Options:\n  -n, --lines <N>  Show N, as\n                   --all, does\n      --json   JSON\n  \
                    -k <K>  K\n  -h, --help";
        assert_eq!(options(help), ["--lines", "--json"]);
        assert!(mentions("use `--json`", "--json") && !mentions("--json-lines", "--json"));
    }
}
