//! Fuzz targets. A target is a function that passes arbitrary bytes to a part of hallpass that parses bytes from other
//! programs. No bytes may make it panic, crash or run forever.
//!
//! For each target, `fuzz_targets` has a program for `cargo fuzz`. The test `short` needs only an ordinary compiler. It
//! runs each target for a moment on its corpus and on random changes of the corpus.
#![forbid(unsafe_code)]

mod hall_file;
mod value_file;

use std::{cell::LazyCell, str};

use hallpass_algorithms::{Algorithm, Loc, Memory, Next, Op, Var, View, Word};
use hallpass_cli::fuzzing::{self, Connection, log};
use hallpass_cluster::ClusterOptions;
use hallpass_lab::{atlas::Manifest, trace};

use hallpass_language::File;

pub use hall_file::hall_file;
pub use value_file::value_file;

/// A target with its name. The program and the corpus of the target have the same name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 13] = [
    ("cluster_message", cluster_message),
    ("cluster_url", cluster_url),
    ("command_line", command_line),
    ("hall_file", hall_file),
    ("keeper_message", keeper_message),
    ("language", language),
    ("log_file", log_file),
    ("manifest", manifest),
    ("postgres", postgres),
    ("replay", replay),
    ("status", status),
    ("tally_file", tally_file),
    ("value_file", value_file),
];

/// Parses a URL of a cluster, prints the parsed options as a URL, and parses this URL again.
///
/// # Panics
/// Panics if the second URL does not name the same cluster. This is a bug in hallpass.
pub fn cluster_url(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(options) = ClusterOptions::at(text) {
        let again =
            ClusterOptions::at(&options.url()).expect("a URL that hallpass prints is valid");
        assert_eq!(options.url(), again.url());
    }
}

/// Parses the answer of etcd to a transaction, and the records of a hall in this answer.
pub fn cluster_message(data: &[u8]) {
    hallpass_cluster::fuzzing::transaction(data);
}

/// Reads the bytes as the rows of a hall in PostgreSQL, as a message between two processes that share a connection, and
/// as a password file.
pub fn postgres(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    hallpass_cluster::fuzzing::postgres(text);
}

/// Reads lines as the words of a command line of `hallpass`, and as the values of its options.
///
/// # Panics
/// Panics if two readers of the same text disagree. This is a bug in hallpass.
pub fn command_line(data: &[u8]) {
    fuzzing::command_line(data);
}

/// Shows a hall whose holders and waiters have arbitrary hosts, users and commands, as `hallpass status` does.
///
/// # Panics
/// Panics if a line contains a control character. This is a bug in hallpass.
pub fn status(data: &[u8]) {
    fuzzing::status(&String::from_utf8_lossy(data));
}

thread_local! {
    static CONNECTION: LazyCell<Connection> =
        LazyCell::new(|| Connection::open().expect("a connection can be opened"));
}

/// Receives the bytes as a message between `hallpass run` and its keeper.
///
/// # Panics
/// Panics if a message changes on its way. This is a bug in hallpass.
pub fn keeper_message(data: &[u8]) {
    CONNECTION.with(|connection| connection.message(data));
}

/// Reads the bytes as the log of a hall, and shows the log as `hallpass log` does.
///
/// # Panics
/// Panics if a line contains a control character. This is a bug in hallpass.
pub fn log_file(data: &[u8]) {
    log(data);
}

/// Reads the bytes as the tally of a hall (the file with its counts), counts events, and reads the new file.
///
/// # Panics
/// Panics if the new file contains another tally. This is a bug in hallpass.
pub fn tally_file(data: &[u8]) {
    fuzzing::tally(data);
}

/// Parses a file of the language. Errors are rendered. A correct file is built at two sizes, each process takes steps,
/// and the invariants are evaluated after each step.
///
/// # Panics
/// Panics if the compiler of the language itself fails. `File::parse` reports such a failure like an error in the file.
pub fn language(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let file = match File::parse("fuzz.kx", text) {
        Ok(file) => file,
        Err(errors) => {
            assert!(!errors.diagnostics.is_empty());
            assert!(!errors.render(false).is_empty());
            assert!(!errors.is_failure_of_compiler(), "{errors}");
            return;
        }
    };
    assert_eq!(file.warnings.is_empty(), file.render_warnings(false).is_empty());
    for (n, k) in [(2, 1), (3, 2)] {
        let Ok(program) = file.at(n, k) else { continue };
        let mut memory = Words(program.layout().first_initial());
        let mut processes = vec![Loc::Remainder; n];
        for p in 0..n {
            processes[p] = Loc::Entry(program.begin(p));
            for _ in 0..STEPS {
                processes[p] = match processes[p] {
                    Loc::Remainder => break,
                    Loc::Critical(exit) => Loc::Exit(exit),
                    loc @ (Loc::Entry(at) | Loc::Exit(at)) => {
                        let is_exit = matches!(loc, Loc::Exit(_));
                        match program.step(&mut memory, p, at) {
                            Next::Goto(next) | Next::Spin(next) if is_exit => Loc::Exit(next),
                            Next::Goto(next) | Next::Spin(next) => Loc::Entry(next),
                            Next::Enter(exit) => Loc::Critical(exit),
                            Next::Leave => Loc::Remainder,
                        }
                    }
                };
                let state = View { processes: &processes, memory: &memory.0 };
                let broken = program.broken_invariant(&state);
                assert!(broken.is_none_or(|name| program.invariants().contains(&name)));
            }
        }
    }
}

/// The steps that each process of a file takes.
const STEPS: usize = 30;

/// Shared memory for one thread. A value outside the range of its variable is kept, as on a real machine.
struct Words(Vec<Word>);

impl Memory for Words {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let word = &mut self.0[var.index()];
        std::mem::replace(word, op.leaves(*word))
    }
}

/// Parses a manifest of the atlas.
pub fn manifest(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let _ = Manifest::parse(text);
}

/// Decodes the bytes as a replay string (a run of the lab as text) twice: as they are, and with a correct checksum
/// added. Then encodes and decodes each schedule again.
///
/// # Panics
/// Panics if a schedule changes when it is encoded and decoded. This is a bug in hallpass.
pub fn replay(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let body = text.trim();
    let with_checksum = format!("{body}.{:08x}", crc32fast::hash(body.as_bytes()));
    for text in [text, &with_checksum] {
        let Ok(schedule) = trace::decode(text) else { continue };
        let encoded = trace::encode(&schedule).expect("a decoded schedule can be encoded");
        assert_eq!(trace::decode(&encoded).ok(), Some(schedule));
    }
}
