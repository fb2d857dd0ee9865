//! A System V semaphore with SEM_UNDO: the kernel frees the slots of a dead process.
#![allow(unsafe_code)]

use std::{io, path::Path, sync::Arc};

use super::ProcessSemaphore;
use crate::common::Semaphore;

#[derive(Clone)]
pub struct SysV(Arc<Set>);

/// A set of one semaphore.
struct Set(libc::c_int);

impl Drop for Set {
    fn drop(&mut self) {
        // SAFETY: the call takes numbers only. Child processes never drop their copy.
        unsafe { libc::semctl(self.0, 0, libc::IPC_RMID) };
    }
}

pub struct Guard<'a>(&'a SysV);

impl SysV {
    #[inline]
    fn change(&self, by: libc::c_short) {
        let mut step =
            libc::sembuf { sem_num: 0, sem_op: by, sem_flg: libc::SEM_UNDO as libc::c_short };
        // SAFETY: the set lives as long as `self`, and the pointer is to one step.
        while unsafe { libc::semop(self.0.0, &mut step, 1) } != 0 {
            let error = io::Error::last_os_error();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "semop: {error}");
        }
    }
}

impl ProcessSemaphore for SysV {
    type Handle = SysV;

    fn make(k: usize, _: &Path) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what}: {}", io::Error::last_os_error());
        // SAFETY: the call takes numbers only.
        let set = match unsafe { libc::semget(libc::IPC_PRIVATE, 1, 0o600) } {
            -1 => return Err(wrong("semget")),
            id => Set(id),
        };
        // SAFETY: the call takes numbers only.
        match unsafe { libc::semctl(set.0, 0, libc::SETVAL, k as libc::c_int) } {
            0 => Ok(SysV(Arc::new(set))),
            _ => Err(wrong("semctl")),
        }
    }

    fn join(&self) -> SysV {
        self.clone()
    }
}

impl Semaphore for SysV {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        self.change(-1);
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.change(1);
    }
}
