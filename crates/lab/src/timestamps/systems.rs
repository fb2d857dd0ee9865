//! Every system by its identifier.

use hallpass_algorithms::papers::timestamps::{
    Linear, Quadratic, Rules, Timestamps, Uctss,
    wrong::{self, *},
};

use super::{
    models::Model,
    subject::{Subject, marked, plain},
};

type Build = fn(usize) -> Box<dyn Subject>;

/// What is known of a system.
pub struct Entry {
    /// Its identifier.
    pub id: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Whether it is meant to be right.
    pub sound: bool,
    /// The most processes it exists for here: marks take room in registers.
    pub most_processes: usize,
    /// With marks, if it can have them.
    pub marked: Option<Build>,
    /// Without, if it can be without.
    pub plain: Build,
    /// Its snapshot alone: how many processes, one of which scans, and the system.
    pub alone: Option<(Snapshot, Build)>,
}

/// What a snapshot promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snapshot {
    /// See [`WeakSnapshot`](super::snapshots::WeakSnapshot). A promise on each writer, so one is
    /// enough to check it.
    Weak,
    /// See [`AtomicSnapshot`](super::snapshots::AtomicSnapshot); checked with two writers.
    Atomic,
}

impl Snapshot {
    /// The number of processes with which it is checked alone.
    pub fn n(self) -> usize {
        match self {
            Snapshot::Weak => 2,
            Snapshot::Atomic => 3,
        }
    }
}

const fn linear<R: Rules>(id: &'static str, title: &'static str) -> Entry {
    Entry {
        id,
        title,
        sound: false,
        most_processes: 8,
        marked: Some(marked::<Linear<R>>),
        plain: marked::<Linear<R>>,
        alone: Some((Snapshot::Weak, marked::<Linear<Alone<R>>>)),
    }
}

const fn quadratic<R: Rules>(id: &'static str, title: &'static str) -> Entry {
    Entry {
        id,
        title,
        sound: false,
        most_processes: Quadratic::<R>::MOST_PROCESSES - 1,
        marked: Some(marked::<Quadratic<R>>),
        plain: marked::<Quadratic<R>>,
        alone: Some((Snapshot::Atomic, marked::<Quadratic<Alone<R>>>)),
    }
}

const fn model<R: Rules, const WEAK: bool>(id: &'static str, title: &'static str) -> Entry {
    Entry {
        id,
        title,
        sound: false,
        most_processes: Model::<R, WEAK>::MOST_PROCESSES,
        marked: Some(marked::<Model<R, WEAK>>),
        plain: marked::<Model<R, WEAK>>,
        alone: None,
    }
}

const fn uctss<const PRINTED: bool>(id: &'static str, title: &'static str) -> Entry {
    let plain = plain::<Uctss<PRINTED>>;
    Entry { id, title, sound: false, most_processes: 8, marked: None, plain, alone: None }
}

const fn sound(entry: Entry) -> Entry {
    Entry { sound: true, ..entry }
}

/// The systems; what follows a colon is a variant, and stands after all that are sound if it is wrong.
pub const SYSTEMS: &[Entry] = &[
    sound(uctss::<false>("uctss", "unbounded counters: Afek et al., Figure 1")),
    sound(Entry {
        plain: plain::<Linear>,
        ..linear::<wrong::Marked>("linear", "labels over a weak snapshot")
    }),
    sound(linear::<Split>("linear:split", "registers as for more than eight processes")),
    sound(linear::<SplitSingly>("linear:split-singly", "the same, one reader in a group")),
    sound(linear::<SameCopy>(
        "linear:same-copy",
        "a writer that finds another colour leaves its copy as it was",
    )),
    sound(Entry {
        plain: plain::<Quadratic>,
        ..quadratic::<wrong::Marked>("quadratic", "labels over an atomic snapshot")
    }),
    sound(model::<wrong::Marked, true>("labels-weak", "a model: a weak snapshot is assumed")),
    sound(model::<wrong::Marked, false>("labels-atomic", "a model: an atomic one is assumed")),
    uctss::<true>("uctss:printed", "Label keeps a timestamp that equals the largest, as printed"),
    linear::<Grouped>(
        "linear:grouped",
        "a label is committed to one group of readers after another",
    ),
    linear::<NoAnnounce>(
        "linear:no-announce",
        "a writer does not announce the colours it has seen",
    ),
    linear::<NoCopy>("linear:no-copy", "a reader takes the label, whatever copy was made for it"),
    linear::<NoAvoid>("linear:no-avoid", "a reader takes the next colour, used or not"),
    linear::<NoAgain>("linear:no-again", "a writer does not look at the colours a second time"),
    linear::<NoNone>(
        "linear:no-none",
        "a writer that finds another colour claims a copy for the first",
    ),
    Entry {
        alone: None,
        ..linear::<Collected>("linear:collect", "labels are read one after the other")
    },
    linear::<Constant>("linear:constant", "Label always takes the first label"),
    quadratic::<NoBorrow>("quadratic:no-borrow", "a scanner does not borrow a view"),
    quadratic::<NoToggle>("quadratic:no-toggle", "a writer's toggle stays as it is"),
    quadratic::<NoShake>("quadratic:no-shake", "a writer does not answer handshakes"),
    model::<FourDigits, false>("labels-atomic:four-digits", "digits of 1 to 4"),
    model::<Constant, false>("labels-atomic:constant", "Label always takes the first label"),
];
