//! Limits on compiling a machine into tables.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::CannotCompile;

/// The limits of a compilation.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The largest number of bytes of memory, approximately.
    pub bytes: u64,
    /// The compilation stops soon after this becomes true.
    pub stop: &'a AtomicBool,
}

impl Budget<'_> {
    /// No limits.
    pub const UNLIMITED: Budget<'static> = {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Budget { bytes: u64::MAX, stop: &NEVER }
    };

    /// Takes `bytes` bytes from the budget.
    ///
    /// # Errors
    /// If fewer are left, or the caller wants to stop.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), CannotCompile> {
        if self.stop.load(Relaxed) {
            return Err(CannotCompile::Stopped);
        }
        self.bytes = self.bytes.checked_sub(bytes as u64).ok_or(CannotCompile::Memory)?;
        Ok(())
    }
}
