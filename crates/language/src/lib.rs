//! A small language for k-exclusion algorithms, close to the pseudocode of the papers.
//!
//! A file declares shared and private variables and the lines of a passage, one shared access per labelled line. The
//! file becomes a step machine: [`Program`] implements [`Algorithm`](hallpass_algorithms::Algorithm), so the lab
//! compiles it into tables of the same form as those of the algorithms in the registry.
//!
//! | module | contents |
//! |---|---|
//! | [`diagnostic`] | errors and warnings with their places |
//! | `token`, `grammar`, `syntax` | from text to a syntax tree |
//! | `names`, `lower`, `analyse` | names, types, one access per line, instructions |
//! | `flow`, `watch` | which instructions can be reached, and where later lines or invariants still need variables |
//! | `symmetry` | whether all processes are treated alike |
//! | [`code`] | the checked file |
//! | [`program`], `eval` | the file at one size: a step machine |
//!
//! ```
//! use hallpass_algorithms::Algorithm;
//!
//! let source = "
//!     algorithm spinlock
//!     requires k = 1
//!     shared  lock : bool = false
//!     passage
//!       waiting
//!       1: await not test_and_set(lock)
//!       critical
//!       2: lock := false
//!     end
//! ";
//! let file = hallpass_language::File::parse("spinlock.kx", source).expect("it is correct");
//! assert_eq!(file.at(3, 1)?.layout().decls()[0].name, "lock");
//! assert_eq!(file.at(3, 2).err().map(|error| error.to_string()).as_deref(),
//!            Some("spinlock requires k = 1, got n = 3, k = 2"));
//! # Ok::<(), hallpass_language::program::SizeError>(())
//! ```
#![forbid(unsafe_code)]

mod analyse;
pub mod code;
pub mod diagnostic;
mod eval;
mod flow;
mod grammar;
mod intern;
mod lower;
mod names;
pub mod program;
mod symmetry;
mod syntax;
mod token;
mod watch;

use std::{fmt, sync::Arc, thread};

pub use code::Code;
pub use diagnostic::Diagnostic;
pub use intern::{intern, intern_all};
pub use program::Program;
pub use token::{MOST_BYTES, is_keyword};

/// The ending of the names of files in this language.
pub const EXTENSION: &str = ".kx";

/// The stack of the thread that compiles a file: enough for the longest file with the deepest nesting.
const STACK: usize = 64 << 20;

/// A file that has been checked.
#[derive(Clone, Debug)]
pub struct File {
    /// The path, for messages.
    pub path: String,
    /// The text of the file.
    pub source: String,
    /// The instructions and declarations to which the text was compiled.
    pub code: Arc<Code>,
    /// Warnings about the file, which do not prevent a check.
    pub warnings: Vec<Diagnostic>,
    fingerprint: u32,
}

/// The errors of a file.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The path, for messages.
    pub path: String,
    /// The text of the file.
    pub source: String,
    /// The errors and warnings: first the errors on symbols of other languages, then the others in the order of the
    /// file.
    pub diagnostics: Vec<Diagnostic>,
}

/// The error message if the compiler panics.
const FAILURE: &str = "the compiler failed on this file; please report it";

impl Errors {
    /// Returns whether the compiler panicked, which is a bug of hallpass. The file may be correct.
    pub fn is_failure_of_compiler(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.message == FAILURE)
    }

    /// Formats the errors with the lines they are about.
    pub fn render(&self, color: bool) -> String {
        render(&self.diagnostics, &self.path, &self.source, color)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Errors {}

/// The maximum number of errors that are shown.
const MOST_SHOWN: usize = 10;

fn render(diagnostics: &[Diagnostic], path: &str, source: &str, color: bool) -> String {
    let shown = diagnostics.iter().take(MOST_SHOWN);
    let mut out: String = shown.map(|diagnostic| diagnostic.render(path, source, color)).collect();
    if diagnostics.len() > MOST_SHOWN {
        out.push_str(&format!("... and {} more\n", diagnostics.len() - MOST_SHOWN));
    }
    out
}

impl File {
    /// Parses and checks a file.
    ///
    /// # Errors
    /// Returns every error that was found.
    pub fn parse(path: &str, source: &str) -> Result<Self, Errors> {
        // The fuzzer has a large stack, and a new thread for each file would take most of its time.
        if cfg!(fuzzing) {
            return compile(path, source);
        }
        // A file may nest deeper than the stack of the caller allows.
        compile_on_thread(path, source, STACK)
    }

    /// Builds the algorithm for `n` processes, of which `k` may be in the critical section.
    ///
    /// # Errors
    /// Fails if the file does not describe an algorithm of this size.
    pub fn at(&self, n: usize, k: usize) -> Result<Program, program::SizeError> {
        Program::new(self.code.clone(), n, k)
    }

    /// Returns the path, and the line and column of the declaration if the error is about one.
    pub fn place_of(&self, error: &program::SizeError) -> String {
        let Some(span) = &error.span else { return self.path.clone() };
        let (line, column) = Diagnostic::new(span.clone(), "").position(&self.source);
        format!("{}:{line}:{column}", self.path)
    }

    /// Returns a hash of everything that a run depends on. Comments, spaces, titles and promises do not change the
    /// hash.
    pub fn fingerprint(&self) -> String {
        format!("{:08x}", self.fingerprint)
    }

    /// Formats the warnings with the lines they are about.
    pub fn render_warnings(&self, color: bool) -> String {
        render(&self.warnings, &self.path, &self.source, color)
    }
}

/// Compiles a file on a new thread with a stack of this many bytes.
fn compile_on_thread(path: &str, source: &str, stack: usize) -> Result<File, Errors> {
    let compiled = thread::scope(|scope| {
        let compile = || compile(path, source);
        match thread::Builder::new().stack_size(stack).spawn_scoped(scope, compile) {
            Ok(thread) => thread.join().map_err(|_| FAILURE.to_string()),
            Err(error) => Err(format!(
                "cannot start a thread to compile this file: {error}; free memory, or raise the limits on processes \
                 and on memory (`ulimit -u`, `ulimit -v`)"
            )),
        }
    });
    compiled.unwrap_or_else(|why| {
        let diagnostic = Diagnostic::new(0..0, why);
        Err(Errors { path: path.into(), source: source.into(), diagnostics: vec![diagnostic] })
    })
}

fn compile(path: &str, source: &str) -> Result<File, Errors> {
    let errors = |mut diagnostics: Vec<Diagnostic>| {
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        diagnostics.dedup();
        Errors { path: path.into(), source: source.into(), diagnostics }
    };
    let token::Tokens { list: tokens, errors: foreign } = token::tokens(source).map_err(&errors)?;
    // Symbols of other languages come first: they may be the cause of the other errors.
    let with_foreign = |found: Vec<Diagnostic>| {
        let mut errors = errors(found);
        errors.diagnostics.splice(0..0, foreign.iter().cloned());
        errors
    };
    let tree = grammar::parse(&tokens, source).map_err(with_foreign)?;
    let (code, warnings) = analyse::analyse(&tree, source).map_err(with_foreign)?;
    if !foreign.is_empty() {
        return Err(with_foreign(warnings));
    }
    Ok(File {
        path: path.into(),
        source: source.into(),
        code: Arc::new(code),
        warnings,
        fingerprint: fingerprint(&tree, &tokens),
    })
}

/// Hashes the tokens of all parts that a run depends on.
fn fingerprint(tree: &syntax::Tree, tokens: &[(token::Token, token::Span)]) -> u32 {
    use syntax::Item;
    let mut hasher = crc32fast::Hasher::new();
    for (item, span) in &tree.items {
        if matches!(item, Item::Title(_) | Item::Paper(_) | Item::Promises(_)) {
            continue;
        }
        for (token, at) in tokens {
            if span.start <= at.start && at.end <= span.end {
                hasher.update(token.to_string().as_bytes());
            }
        }
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_if_no_thread_can_be_started_says_what_to_do_and_does_not_blame_the_compiler() {
        // No machine has that much memory.
        let errors = compile_on_thread("x.kx", "", 1 << 60).expect_err("no thread");
        assert!(!errors.is_failure_of_compiler(), "{errors}");
        let text = errors.to_string();
        assert!(text.contains("cannot start a thread to compile this file"), "{text}");
        assert!(text.contains("ulimit -u"), "{text}");
    }
}
