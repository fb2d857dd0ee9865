//! All timestamp systems, by identifier.

use hallpass_algorithms::{
    Word,
    framework::changed::Changed,
    papers::timestamps::{
        All, FiveDigits, Labels, Linear, Marked, Quadratic, Stamp, Timestamps, Uctss,
        linear::{
            Fitting, Registers, SplitBy,
            wrong::{Collected, GroupedBy, NoAgain, NoAnnounce, NoAvoid, NoCopy, NoNone, SameCopy},
        },
        marked::{AlwaysFirst, WithMarks},
        quadratic::wrong::{NoBorrow, NoShake, NoToggle},
        wrong::{Constant, FourDigits, Printed},
    },
};

use super::{
    models::Model,
    subject::{Subject, marked, plain},
};

type Build = fn(usize) -> Box<dyn Subject>;

/// A timestamp system in the list. With [marks](hallpass_algorithms::papers::timestamps::marked), the lab can tell
/// several timestamps with the same label apart.
pub struct Entry {
    /// The identifier.
    pub id: &'static str,
    /// A short description.
    pub title: &'static str,
    /// Whether the system is expected to be correct.
    pub sound: bool,
    /// The maximum number of processes. Marks take bits in registers, so this may be less than the
    /// maximum of the system itself.
    pub max_processes: usize,
    /// Builds the system with marks, if it can have them.
    pub marked: Option<Build>,
    /// Builds the system without marks, or with marks if it cannot be built without them.
    pub plain: Build,
    /// For checking the snapshot separately from the labels: the guarantee of the snapshot, and the system with
    /// [Labels that always write](AlwaysFirst). `None` if the system has no snapshot to check.
    pub alone: Option<(Snapshot, Build)>,
}

/// The guarantee of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snapshot {
    /// The guarantee of [`WeakSnapshot`](super::snapshots::WeakSnapshot). It is about each writer
    /// separately, so one writer is enough to check it.
    Weak,
    /// The guarantee of [`AtomicSnapshot`](super::snapshots::AtomicSnapshot), checked with two writers.
    Atomic,
}

impl Snapshot {
    /// Returns the number of processes with which the snapshot is checked.
    pub fn n(self) -> usize {
        match self {
            Snapshot::Weak => 2,
            Snapshot::Atomic => 3,
        }
    }
}

/// [`Linear`] as the lab checks it: Scans return everything that they have seen, and labels carry marks.
type MarkedLinear<L = FiveDigits, F = Fitting> = Linear<All<Stamp>, WithMarks<L>, F>;
/// [`Quadratic`] as the lab checks it.
type MarkedQuadratic<L = FiveDigits> = Quadratic<All<Stamp>, WithMarks<L>>;

/// Creates the entry of a [`Linear`] system `T`. `A` is the same system with Labels that always write, for checking
/// the snapshot.
const fn linear<T: Marked, A: Marked>(id: &'static str, title: &'static str) -> Entry {
    Entry {
        id,
        title,
        sound: false,
        max_processes: 8,
        marked: Some(marked::<T>),
        plain: marked::<T>,
        alone: Some((Snapshot::Weak, marked::<A>)),
    }
}

/// Creates the entry of a [`Quadratic`] system `T`. `A` is the same system with Labels that always write, for
/// checking the snapshot.
const fn quadratic<T: Marked, A: Marked>(id: &'static str, title: &'static str) -> Entry {
    Entry {
        id,
        title,
        sound: false,
        max_processes: T::MAX_PROCESSES - 1,
        marked: Some(marked::<T>),
        plain: marked::<T>,
        alone: Some((Snapshot::Atomic, marked::<A>)),
    }
}

const fn model<L: Labels, const WEAK: bool>(id: &'static str, title: &'static str) -> Entry {
    Entry {
        id,
        title,
        sound: false,
        max_processes: Model::<WithMarks<L>, WEAK>::MAX_PROCESSES,
        marked: Some(marked::<Model<WithMarks<L>, WEAK>>),
        plain: marked::<Model<WithMarks<L>, WEAK>>,
        alone: None,
    }
}

const fn uctss<T: Timestamps<Stamp = Word, Collected = All<Word>>>(
    id: &'static str,
    title: &'static str,
) -> Entry {
    let plain = plain::<Word, T>;
    Entry { id, title, sound: false, max_processes: 8, marked: None, plain, alone: None }
}

const fn sound(entry: Entry) -> Entry {
    Entry { sound: true, ..entry }
}

/// Creates an entry of [`Linear`] with changed lines.
macro_rules! changed_linear {
    ($change:ty, $id:literal, $title:literal $(,)?) => {
        linear::<Changed<MarkedLinear, $change>, Changed<MarkedLinear<AlwaysFirst>, $change>>(
            $id, $title,
        )
    };
}

/// Creates an entry of [`Quadratic`] with changed lines.
macro_rules! changed_quadratic {
    ($change:ty, $id:literal, $title:literal $(,)?) => {
        quadratic::<Changed<MarkedQuadratic, $change>, Changed<MarkedQuadratic<AlwaysFirst>, $change>>(
            $id, $title,
        )
    };
}

/// Creates an entry of [`Linear`] with registers of a different form.
const fn formed<F: Registers>(id: &'static str, title: &'static str) -> Entry {
    linear::<MarkedLinear<FiveDigits, F>, MarkedLinear<AlwaysFirst, F>>(id, title)
}

/// The systems. The correct ones come first. The part after a colon names a variant.
pub const SYSTEMS: &[Entry] = &[
    sound(uctss::<Uctss<All<Word>>>("uctss", "unbounded counters: Afek et al., Figure 1")),
    sound(Entry {
        plain: plain::<Stamp, Linear<All<Stamp>>>,
        ..formed::<Fitting>("linear", "labels over a weak snapshot")
    }),
    sound(formed::<SplitBy<12>>("linear:split", "registers as for more than eight processes")),
    sound(formed::<SplitBy<1>>("linear:split-singly", "split registers, one reader per group")),
    sound(changed_linear!(
        SameCopy,
        "linear:same-copy",
        "a writer that finds another colour keeps the old value of copy",
    )),
    sound(Entry {
        plain: plain::<Stamp, Quadratic<All<Stamp>>>,
        ..quadratic::<MarkedQuadratic, MarkedQuadratic<AlwaysFirst>>(
            "quadratic",
            "labels over an atomic snapshot",
        )
    }),
    sound(model::<FiveDigits, true>("labels-weak", "a model that assumes a weak snapshot")),
    sound(model::<FiveDigits, false>("labels-atomic", "a model that assumes an atomic snapshot")),
    uctss::<Changed<Uctss<All<Word>>, Printed>>(
        "uctss:printed",
        "Label keeps a timestamp that equals the largest, as printed",
    ),
    formed::<GroupedBy<1>>(
        "linear:grouped",
        "a label is committed to one group of readers after another",
    ),
    changed_linear!(
        NoAnnounce,
        "linear:no-announce",
        "a writer does not announce the colours it has seen",
    ),
    changed_linear!(
        NoCopy,
        "linear:no-copy",
        "a reader takes the label even if a copy was saved for it"
    ),
    changed_linear!(
        NoAvoid,
        "linear:no-avoid",
        "a reader takes the next colour, even if it is in use"
    ),
    changed_linear!(NoAgain, "linear:no-again", "a writer does not read the colours a second time"),
    changed_linear!(
        NoNone,
        "linear:no-none",
        "a writer that finds another colour claims a copy for the first colour",
    ),
    Entry {
        alone: None,
        ..changed_linear!(Collected, "linear:collect", "labels are read one after the other")
    },
    linear::<MarkedLinear<Constant>, MarkedLinear<AlwaysFirst>>(
        "linear:constant",
        "Label always takes the first label",
    ),
    changed_quadratic!(NoBorrow, "quadratic:no-borrow", "a scanner does not borrow a view"),
    changed_quadratic!(NoToggle, "quadratic:no-toggle", "a writer does not change its toggle"),
    changed_quadratic!(NoShake, "quadratic:no-shake", "a writer does not answer handshakes"),
    model::<FourDigits, false>("labels-atomic:four-digits", "digits of 1 to 4"),
    model::<Constant, false>("labels-atomic:constant", "Label always takes the first label"),
];
