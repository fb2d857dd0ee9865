//! What was measured, as pictures.

use crate::{report::Report, workloads::Workload};

/// The files that will be written.
pub fn names(_: &[Workload]) -> Vec<String> {
    Vec::new()
}

/// The files and what is in them.
pub fn plots(_: &Report) -> Result<Vec<(String, String)>, String> {
    Ok(Vec::new())
}
