//! The report of the warden to hallpass: how the command ended.

use std::io;

use super::supervisor::Ended;

/// The length of the report.
pub const MESSAGE: usize = 5;

/// Encodes how the command ended. If the command did not start, encodes the number of the error.
pub fn encode(ended: Result<Ended, i32>) -> [u8; MESSAGE] {
    let (kind, value) = match ended {
        Err(error) => (0, error),
        Ok(Ended::Exited(code)) => (1, code),
        Ok(Ended::Killed(signal)) => (2, signal),
        Ok(Ended::Interrupted) => (3, 0),
        Ok(Ended::TimedOut) => (4, 0),
    };
    let [a, b, c, d] = value.to_ne_bytes();
    [kind, a, b, c, d]
}

/// Decodes how the command ended, or why it did not start.
pub fn decode([kind, a, b, c, d]: [u8; MESSAGE]) -> io::Result<Ended> {
    let value = i32::from_ne_bytes([a, b, c, d]);
    match kind {
        1 => Ok(Ended::Exited(value)),
        2 => Ok(Ended::Killed(value)),
        3 => Ok(Ended::Interrupted),
        4 => Ok(Ended::TimedOut),
        _ => Err(io::Error::from_raw_os_error(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let all = [
            Ended::Exited(0),
            Ended::Exited(255),
            Ended::Killed(9),
            Ended::Interrupted,
            Ended::TimedOut,
        ];
        for ended in all {
            assert_eq!(decode(encode(Ok(ended))).ok(), Some(ended));
        }
        let error = decode(encode(Err(libc::ENOENT))).expect_err("an error");
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }
}
