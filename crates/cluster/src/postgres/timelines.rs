//! The timelines of a server, and the revisions at which they began.
//!
//! PostgreSQL starts a new timeline whenever a standby becomes the primary server, and whenever a backup is restored to
//! a point in time. The new server may lack the last commits of the old one.

use crate::store::{Revision, Stamp};

/// The upper bits of a revision are the timeline, and the lower bits count the steps of the hall. This is the number of
/// lower bits. At a hundred steps of one hall a second, they last for five years. After that, processes still notice a
/// failover that lost steps, but a new token may be the same as the token of a lost step.
const COUNTER_BITS: u32 = 34;

/// The largest timeline that fits into a revision. A token has 48 bits for the revision.
const LARGEST: i64 = (1 << 14) - 1;

/// The timelines in which a hall was changed, each with the revision that the hall had when the timeline began.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Timelines(Vec<(i64, Revision)>);

impl Timelines {
    /// Reads the timelines from numbers with spaces between them. Returns `None` if the text is malformed.
    pub(super) fn parse(text: &str) -> Option<Timelines> {
        let numbers: Vec<i64> =
            text.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let (pairs, rest) = numbers.as_chunks::<2>();
        let valid = rest.is_empty() && numbers.iter().all(|number| *number >= 0);
        valid.then(|| Timelines(pairs.iter().map(|[at, base]| (*at, *base)).collect()))
    }

    /// Returns the numbers that the store keeps.
    pub(super) fn numbers(&self) -> Vec<i64> {
        self.0.iter().flat_map(|(timeline, base)| [*timeline, *base]).collect()
    }

    /// Adds `timeline`, unless it is already the last one of the list. `revision` is the present revision of the hall.
    pub(super) fn enter(&mut self, timeline: i64, revision: Revision) {
        if self.0.last().is_none_or(|(last, _)| *last != timeline) {
            self.0.push((timeline, revision));
        }
    }

    /// Returns whether the history of this hall lacks a step that a process has seen. `seen` is the stamp of that step.
    /// `now` is the stamp that the hall has now.
    pub(super) fn lack(&self, seen: Stamp, now: Stamp) -> bool {
        // The timelines that began after the step are the last ones of the list. Their numbers are larger than that of
        // the step. Further to the front, there may be larger numbers again, which do not count: tables that were copied
        // to a new server begin again with timeline 1.
        let is_later = |timeline: i64| timeline.unsigned_abs() > seen.epoch;
        let later = self.0.iter().rev().take_while(|(timeline, _)| is_later(*timeline));
        now < seen || later.into_iter().any(|(_, base)| *base < seen.revision)
    }
}

/// Returns the revision after `revision`, on a server with this timeline. It is larger than all revisions of earlier
/// timelines, including the revisions of steps that the server has lost, within the limits of [`COUNTER_BITS`] and
/// [`LARGEST`].
pub(super) fn next_revision(revision: Revision, timeline: i64) -> Revision {
    (revision + 1).max(timeline.clamp(0, LARGEST) << COUNTER_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: u64, revision: Revision) -> Stamp {
        Stamp { epoch, revision }
    }

    #[test]
    fn a_failover_that_lost_a_step_is_noticed() {
        let mut timelines = Timelines::parse("1 0").expect("numbers");
        timelines.enter(2, 100);
        timelines.enter(2, 105);
        assert_eq!(timelines.numbers(), [1, 0, 2, 100]);
        let now = at(2, next_revision(105, 2));
        assert!(!timelines.lack(at(1, 100), now), "nothing after revision 100 was seen");
        assert!(timelines.lack(at(1, 103), now), "revisions 101 to 103 are lost");
        assert!(!timelines.lack(at(2, 105), now), "the same timeline");
        // A second failover that lost nothing does not hide the first one.
        timelines.enter(3, now.revision);
        assert!(timelines.lack(at(1, 103), at(3, now.revision + 1)));
        assert!(!timelines.lack(now, at(3, now.revision + 1)));
        // The old server answers again.
        assert!(timelines.lack(at(2, 105), at(1, 107)));
    }

    #[test]
    fn tables_that_were_copied_to_a_new_server_have_all_their_steps() {
        let mut timelines = Timelines::parse("1 0 2 100").expect("numbers");
        let copied = next_revision(next_revision(100, 2), 2);
        timelines.enter(1, copied);
        for seen in [at(0, 0), at(1, copied)] {
            assert!(!timelines.lack(seen, at(1, copied)));
            assert!(!timelines.lack(seen, at(1, next_revision(copied, 1))));
        }
        // A failover of the new server is also noticed.
        timelines.enter(2, copied);
        assert!(timelines.lack(at(1, copied + 1), at(2, copied)));
        assert!(!timelines.lack(at(1, copied), at(2, copied + 1)));
    }

    #[test]
    fn revisions_grow_even_if_steps_are_lost() {
        let lost = next_revision(next_revision(0, 1), 1);
        assert!(next_revision(0, 2) > lost);
        assert!(next_revision(lost, 2) > lost);
        assert_eq!(next_revision(lost, 1), lost + 1);
    }

    #[test]
    fn malformed_timelines_are_rejected() {
        for text in ["1", "1 2 3", "a b", "-1 0"] {
            assert_eq!(Timelines::parse(text), None, "{text}");
        }
    }
}
