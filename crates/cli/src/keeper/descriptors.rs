//! The descriptors that the keeper inherits from `hallpass run`.
#![allow(unsafe_code)]

use std::{
    fs, io,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

use super::{deadline::Deadline, messages::Channel};

/// Number of inherited descriptors.
pub const COUNT: usize = 4;

pub struct Descriptors {
    pub channel: Channel,
    /// The reading end of the [lifeline](super::lifeline).
    pub lifeline: OwnedFd,
    pub deadline: Deadline,
}

impl Descriptors {
    /// Takes ownership of these descriptors, and closes all others except standard input, output and error. Call this
    /// only once, before this process opens any file.
    pub fn take(numbers: [i32; COUNT]) -> io::Result<Self> {
        let mut sorted = numbers;
        sorted.sort_unstable();
        // The numbers must be distinct, and must not be those of standard input, output and error.
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

/// Closes all inherited descriptors except `ours` and standard input, output and error, because another process may
/// wait until they are closed.
fn close_all_but(ours: &[i32]) -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for number in open.into_iter().filter(|number| *number > 2 && !ours.contains(number)) {
        // This fails for the descriptor that listed the directory, which is closed by now.
        drop(own(number));
    }
    Ok(())
}

fn own(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: the first call checks whether the descriptor is open, and no other thread opens or closes any.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_getfd(descriptor.as_fd())?;
    fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    // SAFETY: the descriptor is open, and every file that this process has opened is closed again. So the descriptor was
    // inherited, and `take` uses each number only once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
