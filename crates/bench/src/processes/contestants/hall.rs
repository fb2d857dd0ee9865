//! `SharedHall` of hallpass.

use std::path::{Path, PathBuf};

use hallpass_processes::{HallDir, SharedHall, SharedPass};

use super::ProcessSemaphore;
use crate::common::Semaphore;

pub struct Hall {
    k: usize,
    folder: PathBuf,
}

impl ProcessSemaphore for Hall {
    type Handle = SharedHall;

    fn make(k: usize, folder: &Path) -> Result<Self, String> {
        let hall = Hall { k, folder: folder.to_path_buf() };
        // Create the hall here, so that an error is reported early. Each process opens the hall itself.
        HallDir::at(folder).open("bench", k).map_err(|error| error.to_string())?;
        Ok(hall)
    }

    fn join(&self) -> SharedHall {
        HallDir::at(&self.folder).open("bench", self.k).expect("`make` created it")
    }
}

impl Semaphore for SharedHall {
    type Guard<'a> = SharedPass<'a>;

    /// Takes a slot. Inlined, because a program that calls `acquire` also inlines it.
    #[inline(always)]
    fn enter(&self, _: usize) -> SharedPass<'_> {
        self.acquire().expect("nobody closes the hall")
    }

    #[inline]
    fn slot(pass: &SharedPass<'_>) -> Option<usize> {
        Some(pass.slot())
    }
}
