//! What one contestant did in one round.

use std::time::Duration;

use hdrhistogram::Histogram;

/// What one contestant did in one round.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Measuring time.
    pub wall: Duration,
    /// Each thread's passages.
    pub passages: Vec<u64>,
    /// The waits in nanoseconds, if they were looked at.
    pub waits: Option<Histogram<u64>>,
}

impl Sample {
    /// Wall time for each passage in nanoseconds; none if there was no passage.
    pub fn nanos(&self) -> Option<f64> {
        let total: u64 = self.passages.iter().sum();
        (total > 0).then(|| self.wall.as_nanos() as f64 / total as f64)
    }

    /// The passages of the thread that had the fewest, as a part of the mean: 1 is perfectly even,
    /// 0 means that one of them never got in.
    pub fn fairness(&self) -> Option<f64> {
        let total: u64 = self.passages.iter().sum();
        let least = self.passages.iter().min().filter(|_| total > 0)?;
        Some(*least as f64 * self.passages.len() as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(passages: &[u64]) -> Sample {
        Sample { wall: Duration::from_micros(1), passages: passages.to_vec(), waits: None }
    }

    #[test]
    fn fairness_is_least_over_mean() {
        assert_eq!(sample(&[5, 5]).fairness(), Some(1.0));
        assert_eq!(sample(&[0, 10]).fairness(), Some(0.0));
        assert_eq!(sample(&[2, 6]).fairness(), Some(0.5));
        assert_eq!(sample(&[2, 6]).nanos(), Some(125.0));
    }

    #[test]
    fn without_passages_there_is_nothing_to_divide_by() {
        assert_eq!(sample(&[0, 0]).fairness(), None);
        assert_eq!(sample(&[0, 0]).nanos(), None);
    }
}
