//! Labels alone, over a snapshot that is assumed: models, not systems, because a step of theirs
//! accesses many registers. They show what the labels need, at sizes at which the systems cannot be
//! explored to the end.

use hallpass_algorithms::{
    Array, Decl, Domain, Init, Kind, Layout, Memory, Pid, Var, Word,
    papers::timestamps::{
        All, Collect, Marked, Rules, Shape, Stamp, Timestamps, Turn,
        marked::{Renew, fresh},
    },
};
use std::marker::PhantomData;

use super::subject::COIN;
use Turn::{Done, Goto};

/// Labels in registers of their own; a Scan sees them all in one step. With `WEAK`, it sees instead
/// of a label that is being written at that time either that or the new one, and ends only when
/// the new one is written.
pub struct Model<R, const WEAK: bool> {
    n: usize,
    labels: Array,
    /// With `WEAK`: what each process is writing, and whether it is.
    writing: Array,
    /// With `WEAK`: whose new label a scanner sees.
    coin: Option<Var>,
    /// With `WEAK`: for each writer and scanner, whether the scanner waits for the write.
    awaited: Array,
    rules: PhantomData<R>,
}

/// Where a process stands in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scanning<C> {
    /// It sees all labels.
    See,
    /// It waits until r has written the label that it has seen.
    Wait(u8, C),
}

/// Where a process stands in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::large_enum_variant)] // a private state is Copy: there is nothing to point to
pub enum Labelling {
    /// It scans.
    Scan(Scanning<All<Stamp>>),
    /// It writes.
    Write(Stamp),
}

const MARKED_BITS: u32 = hallpass_algorithms::papers::timestamps::wrong::MARK_BITS;

impl<R: Rules, const WEAK: bool> Model<R, WEAK> {
    fn stamp(&self, word: Word) -> Stamp {
        // A label of up to five processes, and its mark above.
        let (label, mark) = (word as u64 & 0xfff, word as u64 >> 12 & ((1 << MARKED_BITS) - 1));
        Stamp::from_label(label).marked(mark)
    }

    fn word(stamp: Stamp) -> Word {
        (stamp.label() | stamp.mark() << 12) as Word
    }

    /// The next one after `r` whose write the scanner waits for.
    fn wait<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        seen: C,
    ) -> Turn<Scanning<C>, C> {
        let open = (0..self.n).find(|&r| WEAK && m.read(self.awaited.at(r * self.n + p)) != 0);
        match open {
            Some(r) => Goto(Scanning::Wait(r as u8, seen)),
            None => Done(seen),
        }
    }

    fn step<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<C>,
    ) -> Turn<Scanning<C>, C> {
        let seen = match at {
            Scanning::Wait(_, seen) => seen,
            Scanning::See => {
                let coins = self.coin.map_or(0, |coin| m.read(coin));
                let mut see = |r: Pid| {
                    if WEAK && r != p && coins >> r & 1 != 0 {
                        let writing = m.read(self.writing.at(r));
                        if writing != 0 {
                            m.write(self.awaited.at(r * self.n + p), 1);
                            return self.stamp(writing - 1);
                        }
                    }
                    self.stamp(m.read(self.labels.at(r)))
                };
                let own = C::begin(p, see(p));
                (0..self.n).filter(|&q| q != p).fold(own, |seen, q| seen.see::<Self>(p, q, see(q)))
            }
        };
        self.wait(m, p, seen)
    }
}

impl<R: Rules, const WEAK: bool> Timestamps for Model<R, WEAK> {
    const NAME: &'static str = "model";
    const MOST_PROCESSES: usize = 5;

    type Stamp = Stamp;
    type Labelling = Labelling;
    type Scanning<C: Collect<Stamp>> = Scanning<C>;

    fn new(layout: &mut Layout, n: usize) -> Self {
        let shape =
            Shape { labels: 1, digits: 4, mark_bits: MARKED_BITS as u8, ..Shape::default() };
        let wide = |name: String| Decl::wide(name, Kind::custom(shape), 12 + MARKED_BITS, 0);
        let labels = layout.array(n, |i| wide(format!("LABEL[{i}]")).at(i));
        let pairs = if WEAK { n * n } else { 0 };
        let writing = layout.array(if WEAK { n } else { 0 }, |i| Decl {
            domain: Domain::Wide(21),
            kind: Kind::Number,
            ..wide(format!("WRITING[{i}]"))
        });
        let awaited =
            layout.array(pairs, |i| Decl::flag(format!("AWAITED[{}][{}]", i / n, i % n), false));
        let coins = (0..1 << n).collect();
        let coin = WEAK.then(|| layout.add(Decl::listed(COIN, Kind::Number, coins, Init::Is(0))));
        Model { n, labels, writing, coin, awaited, rules: PhantomData }
    }

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        Stamp::precedes(R::CHAIN, a, b)
    }

    fn begin_label(&self, _: Pid) -> Labelling {
        Labelling::Scan(Scanning::See)
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Labelling) -> Turn<Labelling, ()> {
        match at {
            Labelling::Scan(scan) => match self.step(m, p, scan) {
                Goto(scan) => Goto(Labelling::Scan(scan)),
                Done(view) => {
                    let stamp = |q: Pid| view.stamp(q).unwrap_or(Stamp::FIRST);
                    let Some(new) = Stamp::later(R::CHAIN, self.n, p, stamp) else {
                        return Done(());
                    };
                    let new = if R::RENEW { new } else { Stamp::FIRST };
                    let new = new.marked(fresh(MARKED_BITS));
                    if WEAK {
                        m.write(self.writing.at(p), Self::word(new) + 1);
                    }
                    Goto(Labelling::Write(new))
                }
            },
            Labelling::Write(new) => {
                m.write(self.labels.at(p), Self::word(new));
                if WEAK {
                    m.write(self.writing.at(p), 0);
                    (0..self.n).for_each(|q| m.write(self.awaited.at(p * self.n + q), 0));
                }
                Done(())
            }
        }
    }

    fn begin_scan<C: Collect<Stamp>>(&self, _: Pid) -> Scanning<C> {
        Scanning::See
    }

    fn scan<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<C>,
    ) -> Turn<Scanning<C>, C> {
        self.step(m, p, at)
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Scan(scan) => Self::scan_line(scan),
            Labelling::Write(_) => "write",
        }
    }

    fn scan_line<C: Collect<Stamp>>(at: Scanning<C>) -> &'static str {
        match at {
            Scanning::See => "see all",
            Scanning::Wait(..) => "wait",
        }
    }
}

impl<R: Rules, const WEAK: bool> Marked for Model<R, WEAK> {
    const MARK_BITS: u32 = MARKED_BITS;

    fn inner_scan(at: Labelling) -> Option<Scanning<All<Stamp>>> {
        match at {
            Labelling::Scan(scan) => Some(scan),
            Labelling::Write(_) => None,
        }
    }

    fn renew_label(p: Pid, at: Labelling, renew: Renew<'_>) -> Labelling {
        match at {
            Labelling::Scan(scan) => Labelling::Scan(Self::renew_scan(p, scan, renew)),
            Labelling::Write(new) => Labelling::Write(renew(p, new)),
        }
    }

    fn renew_scan(_: Pid, at: Scanning<All<Stamp>>, renew: Renew<'_>) -> Scanning<All<Stamp>> {
        match at {
            Scanning::See => at,
            Scanning::Wait(r, seen) => Scanning::Wait(r, seen.renewed(renew)),
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        // What is being written is not there yet, and keeps the mark of such.
        for i in 0..self.n {
            let word = &mut memory[self.labels.at(i).index()];
            *word = Self::word(renew(i, self.stamp(*word)));
        }
    }
}
