//! The statements of the papers with their verdicts. `docs/papers.md` is generated from them.
//!
//! The folder of a paper in the algorithms crate contains `statements.toml`. It lists the paper's
//! statements and the evidence that decides them: mostly models of the [atlas](crate::atlas), but also single
//! runs, computations and tests. The verdict is computed from this evidence. So the file cannot call a statement
//! confirmed if a run shows the opposite.
//!
//! ```
//! use hallpass_lab::{atlas::Manifest, papers::{self, Sources}};
//!
//! let manifest = Manifest::standard()?;
//! let sources = Sources { manifest: &manifest, has_test: &|_| true };
//! let document = papers::document(&papers::standard()?, &sources);
//! assert!(document.markdown.contains("Theorem 12"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounds;
mod cells;
mod count;
mod facts;
mod formula;
mod judge;
mod markdown;
mod pages;
mod sizes;
mod statements;
mod tables;

pub use judge::{Run, Shows, Sources, Verdict, verdicts};
pub use markdown::{Document, document};
pub use pages::page;
pub use statements::{
    Bound, Column, Contention, Evidence, Paper, PaperTable, Quantity, Row, Statement, parse,
    standard,
};

use std::{fs, path::Path};

/// Returns whether the sources under `root` contain the test, given as `path/of/file.rs::name`.
pub fn has_test(root: &Path, test: &str) -> bool {
    let Some((file, name)) = test.split_once("::") else { return false };
    let source = fs::read_to_string(root.join(file)).unwrap_or_default();
    source.contains(&format!("fn {name}("))
}
