//! Models of the labels alone, without an implementation of the snapshot that they use: one step reads the
//! labels of all processes. So these are models and not systems: each step of a system accesses one register. The
//! models show which snapshot the labels need, at sizes at which the systems cannot be explored completely.

use hallpass_algorithms::{
    Array, Decl, Domain, Init, Kind, Layout, Memory, Pid, Var, Word,
    papers::timestamps::{
        All, Collect, Labels, Marked, Shape, Stamp, Timestamps, Turn,
        marked::{MARK_BITS, Renew},
    },
};
use std::marker::PhantomData;

use super::subject::COIN;
use Turn::{Done, Goto};

/// Labels in separate registers. A Scan sees all labels in one step. With `WEAK`, a Scan may read a label while a Label
/// replaces it. The Scan then sees either the old label or the new label. If the Scan sees the new label, it ends only
/// after the new label is written.
pub struct Model<L, const WEAK: bool> {
    n: usize,
    labels: Array,
    /// With `WEAK`: the label that each process is writing, if any.
    writing: Array,
    /// With `WEAK`: the processes whose new label a scanner sees.
    coin: Option<Var>,
    /// With `WEAK`: for each writer and scanner, whether the scanner waits for the write.
    awaited: Array,
    order: PhantomData<fn() -> L>,
}

/// The position of a process in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::large_enum_variant)] // a private state is Copy, so it cannot contain a Box
pub enum Scanning {
    /// The process reads all labels.
    See,
    /// The process waits until process r has written the label that this process has seen.
    Wait(u8, All<Stamp>),
}

/// The position of a process in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::large_enum_variant)] // a private state is Copy, so it cannot contain a Box
pub enum Labelling {
    /// The process scans.
    Scan(Scanning),
    /// The process writes its label.
    Write(Stamp),
}

impl<L: Labels, const WEAK: bool> Model<L, WEAK> {
    fn stamp(&self, word: Word) -> Stamp {
        // The low 12 bits of `word` are a label for up to five processes. The mark is above them.
        let (label, mark) = (word as u64 & 0xfff, word as u64 >> 12 & ((1 << MARK_BITS) - 1));
        Stamp::from_label(label).marked(mark)
    }

    fn word(stamp: Stamp) -> Word {
        (stamp.label() | stamp.mark() << 12) as Word
    }

    /// Waits for the next process whose write must be finished before the Scan ends. If there is none,
    /// ends the Scan.
    fn wait<M: Memory>(&self, m: &mut M, p: Pid, seen: All<Stamp>) -> Turn<Scanning, All<Stamp>> {
        let open = (0..self.n).find(|&r| WEAK && m.read(self.awaited.at(r * self.n + p)) != 0);
        match open {
            Some(r) => Goto(Scanning::Wait(r as u8, seen)),
            None => Done(seen),
        }
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Scanning) -> Turn<Scanning, All<Stamp>> {
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
                let own = All::begin(p, see(p));
                (0..self.n).filter(|&q| q != p).fold(own, |seen, q| seen.see::<Self>(p, q, see(q)))
            }
        };
        self.wait(m, p, seen)
    }
}

impl<L: Labels, const WEAK: bool> Timestamps for Model<L, WEAK> {
    const MAX_PROCESSES: usize = 5;

    type Stamp = Stamp;
    type Labelling = Labelling;
    type Scanning = Scanning;
    type Collected = All<Stamp>;

    fn new(layout: &mut Layout, n: usize) -> Self {
        let shape = Shape { labels: 1, digits: 4, mark_bits: MARK_BITS as u8, ..Shape::default() };
        let wide = |name: String| Decl::wide(name, Kind::custom(shape), 12 + MARK_BITS, 0);
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
        Model { n, labels, writing, coin, awaited, order: PhantomData }
    }

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        L::precedes(a, b)
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
                    let Some(new) = L::next(self.n, p, stamp) else {
                        return Done(());
                    };
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

    fn begin_scan(&self, _: Pid) -> Self::Scanning {
        Scanning::See
    }

    fn scan<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        at: Self::Scanning,
    ) -> Turn<Self::Scanning, All<Stamp>> {
        self.step(m, p, at)
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Scan(scan) => Self::scan_line(scan),
            Labelling::Write(_) => "write",
        }
    }

    fn scan_line(at: Self::Scanning) -> &'static str {
        match at {
            Scanning::See => "see all",
            Scanning::Wait(..) => "wait",
        }
    }
}

impl<L: Labels, const WEAK: bool> Marked for Model<L, WEAK> {
    const MARK_BITS: u32 = MARK_BITS;

    fn inner_scan(at: Labelling) -> Option<Scanning> {
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

    fn renew_scan(_: Pid, at: Scanning, renew: Renew<'_>) -> Scanning {
        match at {
            Scanning::See => at,
            Scanning::Wait(r, seen) => Scanning::Wait(r, seen.renewed(renew)),
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        // A label that is being written keeps its fresh mark until it is written.
        for i in 0..self.n {
            let word = &mut memory[self.labels.at(i).index()];
            *word = Self::word(renew(i, self.stamp(*word)));
        }
    }
}
