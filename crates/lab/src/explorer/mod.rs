//! The explorer: play an algorithm step by step in a browser, as its scheduler.
//!
//! | module | contents |
//! |---|---|
//! | [`subject`], [`pseudocode`] | what is played: an algorithm at one size, and the text of its lines |
//! | [`session`], [`judge`], [`loops`] | the tree of the runs that the user has played; for each state: which properties hold, and which loop ends there |
//! | [`chart`], [`answers`] | what the checker knows: distances and runs to violations, loops |
//! | [`challenge`] | the wrong variants as exercises |
//! | [`engine`] | the modules above, behind JSON requests; without background threads or clocks |
//! | [`export`](mod@export) | a tree of runs as one HTML file |
//! | `server` | the page and the requests over HTTP, on 127.0.0.1 only; needs the feature `cli` |
//!
//! Steps come from the interpreter, which runs the step machine itself. The tables of the checker only answer questions
//! about what can happen later. If they propose a run, the interpreter plays it.
//!
//! ```
//! use hallpass_lab::{explorer::{Engine, Subject}, schedule::MemoryModel};
//! use serde_json::json;
//!
//! let subject = Subject::registered("am-fig3", 2, 1, MemoryModel::Sequential)?;
//! let mut engine = Engine::new(subject);
//! let view = engine.handle(&json!({ "do": "step", "node": 0, "agent": 1 }))?;
//! assert_eq!(view["processes"][1]["section"], "doorway");
//! assert_eq!(view["choices"][1]["does"], "X.1: 1 \u{2192} 0; leaves the doorway; enters the critical section");
//! # Ok::<(), String>(())
//! ```

pub mod answers;
mod ask;
mod assets;
pub mod challenge;
pub mod chart;
pub mod engine;
pub mod export;
pub mod judge;
pub mod loops;
#[cfg(feature = "cli")]
mod models;
mod moment;
mod neighbours;
pub mod pseudocode;
mod questions;
mod runs;
#[cfg(feature = "cli")]
pub mod server;
pub mod session;
pub mod subject;
mod view;
mod waits;

pub use engine::Engine;
pub use export::export;
pub use subject::Subject;
