//! The passages of one contestant in one round.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The passages of one contestant in one round.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Measuring time.
    pub wall: Duration,
    /// Number of passages of each thread.
    pub passages: Vec<u64>,
    /// The waits in nanoseconds, if they were measured.
    pub waits: Option<Histogram<u64>>,
}

impl Sample {
    /// Returns the wall time in nanoseconds, divided by the passages of all threads. Returns `None` if there was no
    /// passage.
    pub fn nanos(&self) -> Option<f64> {
        let total: u64 = self.passages.iter().sum();
        (total > 0).then(|| self.wall.as_nanos() as f64 / total as f64)
    }

    /// Returns the smallest number of passages of a thread, divided by the mean. 1 means that all threads made
    /// equally many passages. 0 means that some thread never entered. Returns `None` if there was no passage.
    pub fn fairness(&self) -> Option<f64> {
        let total: u64 = self.passages.iter().sum();
        let fewest = self.passages.iter().min().filter(|_| total > 0)?;
        Some(*fewest as f64 * self.passages.len() as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(passages: &[u64]) -> Sample {
        Sample { wall: Duration::from_micros(1), passages: passages.to_vec(), waits: None }
    }

    #[test]
    fn fairness_is_the_fewest_passages_divided_by_the_mean() {
        assert_eq!(sample(&[5, 5]).fairness(), Some(1.0));
        assert_eq!(sample(&[0, 10]).fairness(), Some(0.0));
        assert_eq!(sample(&[2, 6]).fairness(), Some(0.5));
        assert_eq!(sample(&[2, 6]).nanos(), Some(125.0));
    }

    #[test]
    fn time_and_fairness_need_a_passage() {
        assert_eq!(sample(&[0, 0]).fairness(), None);
        assert_eq!(sample(&[0, 0]).nanos(), None);
    }
}
