//! [Marks](crate::papers::timestamps::marked) on timestamps. The lab uses them to check the system against the simplest
//! system, UCTSS ([`unbounded`](crate::papers::timestamps::unbounded)).

use alloc::vec::Vec;

use super::{Labelling, Quadratic, Round, Scanning};
use crate::{
    framework::memory::{Pid, Word},
    papers::timestamps::{
        All,
        labels::{Labels, Stamp},
        marked::{Marked, Renew},
    },
};

impl<L: Labels> Marked for Quadratic<All<Stamp>, L> {
    const MARK_BITS: u32 = L::MARK_BITS;

    fn inner_scan(at: Labelling) -> Option<Scanning<All<Stamp>>> {
        match at {
            Labelling::Scan { scan, .. } => Some(scan),
            _ => None,
        }
    }

    fn renew_label(p: Pid, at: Labelling, renew: Renew<'_>) -> Labelling {
        match at {
            Labelling::Scan { head, scan } => {
                Labelling::Scan { head, scan: Self::renew_scan(p, scan, renew) }
            }
            Labelling::Write { head, new, view } => {
                Labelling::Write { head, new: renew(p, new), view: view.renewed(renew) }
            }
            Labelling::Toggle | Labelling::Ask { .. } => at,
        }
    }

    fn renew_scan(p: Pid, at: Scanning<All<Stamp>>, renew: Renew<'_>) -> Scanning<All<Stamp>> {
        let mut own = |round: Round| Round { own: renew(p, round.own), ..round };
        match at {
            Scanning::Own => at,
            Scanning::Shake { j, round } => Scanning::Shake { j, round: own(round) },
            Scanning::Shown { round } => Scanning::Shown { round: own(round) },
            Scanning::First { j, round } => Scanning::First { j, round: own(round) },
            Scanning::Second { j, round, seen } => {
                let round = own(round);
                Scanning::Second { j, round, seen: seen.renewed(renew) }
            }
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        for i in 0..self.n {
            let word = &mut memory[self.r.at(i).index()];
            let old = *word;
            let stamps: Vec<Stamp> = (0..=self.n)
                .map(|place| renew(place.checked_sub(1).unwrap_or(i), self.stamp(old, place)))
                .collect();
            *word = self.word(|place| stamps[place], self.head(old));
        }
    }
}
