//! Limits on compiling a step machine into tables.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::CannotCompile;

/// The limits of a compilation.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The approximate maximum number of bytes of memory.
    pub bytes: u64,
    /// The compilation stops soon after this becomes true.
    pub stop: &'a AtomicBool,
}

impl Budget<'_> {
    /// A budget without limits.
    pub const UNLIMITED: Budget<'static> = {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Budget { bytes: u64::MAX, stop: &NEVER }
    };

    /// Takes `bytes` bytes from the budget.
    ///
    /// # Errors
    /// Fails if fewer bytes are left, or if the caller wants to stop.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), CannotCompile> {
        if self.stop.load(Relaxed) {
            return Err(CannotCompile::Stopped);
        }
        self.bytes = self.bytes.checked_sub(bytes as u64).ok_or(CannotCompile::Memory)?;
        Ok(())
    }
}
