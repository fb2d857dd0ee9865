//! What the keeper inherits: its only way to what `hallpass run` has opened for it.
#![allow(unsafe_code)]

use std::{
    fs, io,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

use super::{deadline::Deadline, messages::Channel};

/// How many descriptors they are.
pub const COUNT: usize = 4;

pub struct Descriptors {
    pub channel: Channel,
    /// The end that is read.
    pub lifeline: OwnedFd,
    pub deadline: Deadline,
}

impl Descriptors {
    /// Called once, and before anything else is opened.
    pub fn take(numbers: [i32; COUNT]) -> io::Result<Self> {
        let mut sorted = numbers;
        sorted.sort_unstable();
        // Standard input, output and error are not among them, nor is any there twice.
        if sorted[0] <= 2 || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        close_all_but(&numbers)?;
        let [channel, lifeline, stop, kill] = numbers.map(own);
        Ok(Descriptors {
            channel: Channel::of(channel?),
            lifeline: lifeline?,
            deadline: Deadline::of(stop?, kill?),
        })
    }
}

/// Whatever else was open in `hallpass run` is not ours: somebody may wait until it is closed.
fn close_all_but(ours: &[i32]) -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for number in open.into_iter().filter(|number| *number > 2 && !ours.contains(number)) {
        // One of them was the directory's, and is closed.
        drop(own(number));
    }
    Ok(())
}

fn own(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: it is only asked whether it is open, and nothing opens or closes any meanwhile.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_getfd(descriptor.as_fd())?;
    fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    // SAFETY: it is open, and nobody in this process has opened anything yet: it was inherited, and
    // `take` hands out each number once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
