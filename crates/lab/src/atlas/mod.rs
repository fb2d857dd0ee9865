//! The atlas: a manifest of models with their expected results, and the code that runs the models and
//! compares the results.
//!
//! The manifest lists algorithms with sizes, expected verdicts, numbers of states and worst passages. It
//! also lists wrong variants, which must fail. [`run`] checks each model, counts its states and remote
//! references, and compares all results with the expected ones. So the atlas notices an algorithm that
//! breaks, a checker that no longer finds a violation, and a search that explores fewer states than before.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use hallpass_lab::{atlas::{self, Manifest, Selection, Status, Tier}, check::Resources};
//!
//! let manifest = Manifest::parse(r#"
//!     [[model]]
//!     algorithm = "am-fig3"
//!     n = 2
//!     k = 1
//!     tier = "quick"
//!     states = 100
//!     [model.check]
//!     exclusion = "holds"
//!     starvation = { verdict = "holds", resilience = 1 }
//! "#)?;
//! let resources = Resources {
//!     states: 1 << 20, bytes: 1 << 26, threads: 1, stop: &AtomicBool::new(false),
//!     phase: &|_| (), progress: &|_| (),
//! };
//! let selection = Selection { tier: Tier::Quick, only: Vec::new() };
//! let report = atlas::run(&manifest, &selection, &resources, |_| ());
//! assert_eq!(report.status(), Status::AsExpected);
//! println!("{}", atlas::markdown(&report));
//! # Ok::<(), atlas::ManifestError>(())
//! ```

mod bless;
mod cells;
mod compare;
mod expected;
mod files;
mod html;
mod json;
mod listed;
mod manifest;
mod markdown;
mod run;
mod runs;
mod sections;
mod select;
mod skeleton;
mod wrong;

pub use bless::bless;
pub use compare::{Comparison, Remark};
pub use expected::{Answer, Expected, Figure, OPEN, Resilience};
pub use files::ManifestFile;
pub use html::html;
pub use listed::{Listed, Tier};
pub use manifest::{AtlasModel, Error as ManifestError, Manifest, Rmr};
pub use markdown::markdown;
pub use run::{AtlasReport, Entry, Measured, Status, Step, run};
pub use runs::run_pages;
pub use select::Selection;
pub use skeleton::add_models;
pub use wrong::{KnownRun, violation};
