//! [Marks](crate::papers::timestamps::marked) on timestamps. The lab uses them to check the system against the simplest
//! system, UCTSS ([`unbounded`](crate::papers::timestamps::unbounded)).

use super::{
    Form, Linear, Registers,
    label::{Labelling, Update},
    scan::Scanning,
};
use crate::{
    framework::memory::{Pid, Word},
    papers::timestamps::{
        All,
        labels::{Labels, Stamp},
        marked::{Marked, Renew},
    },
};

impl<L: Labels, F: Registers> Marked for Linear<All<Stamp>, L, F> {
    const MARK_BITS: u32 = L::MARK_BITS;

    fn inner_scan(at: Labelling) -> Option<Scanning<All<Stamp>>> {
        match at {
            Labelling::Scan(scan) => Some(scan),
            _ => None,
        }
    }

    fn renew_label(p: Pid, at: Labelling, renew: Renew<'_>) -> Labelling {
        let mut update = |u: Update| Update { own: renew(p, u.own), new: renew(p, u.new), ..u };
        match at {
            Labelling::Scan(scan) => Labelling::Scan(Self::renew_scan(p, scan, renew)),
            Labelling::Mine(u) => Labelling::Mine(update(u)),
            Labelling::Ask(u) => Labelling::Ask(update(u)),
            Labelling::Announce(u) => Labelling::Announce(update(u)),
            Labelling::Again(u) => Labelling::Again(update(u)),
            Labelling::Save(u) => Labelling::Save(update(u)),
            Labelling::Hands(u) => Labelling::Hands(update(u)),
            Labelling::Commit(new) => Labelling::Commit(renew(p, new)),
        }
    }

    fn renew_scan(_: Pid, at: Scanning<All<Stamp>>, renew: Renew<'_>) -> Scanning<All<Stamp>> {
        match at {
            Scanning::Look { r, colours, seen } => {
                Scanning::Look { r, colours, seen: seen.renewed(renew) }
            }
            Scanning::Hand { r, colours, seen, label } => {
                let label = renew(r.into(), label);
                Scanning::Hand { r, colours, seen: seen.renewed(renew), label }
            }
            Scanning::Saved { r, colours, seen } => {
                Scanning::Saved { r, colours, seen: seen.renewed(renew) }
            }
            Scanning::Toggles
            | Scanning::Pick { .. }
            | Scanning::Toggle { .. }
            | Scanning::Own { .. } => at,
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        let groups = if matches!(self.form, Form::Grouped(_)) { self.groups() } else { 1 };
        let labels = (0..self.n * groups).map(|index| (self.label.at(index), index / groups));
        let others = self.n - 1;
        let saved = (0..self.n * others).map(|index| (self.saved.at(index), index / others));
        for (var, r) in labels.chain(saved) {
            let word = &mut memory[var.index()];
            *word = self.with_label(*word as u64, renew(r, self.stamp(*word))) as Word;
        }
    }
}
