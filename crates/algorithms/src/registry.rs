//! Every algorithm by its identifier.
//!
//! A new algorithm costs its own file and one line in the table below. What an identifier is made
//! of: `am-fig3` an algorithm, `am-fig3+names` k-assignment on top of it, `am-fig3:no-release` a
//! variant that is wrong on purpose, `am-fig3-fast:printed` a form that is wrong as printed.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use crate::{
    afek::{Afek, broken as afek_broken},
    anderson_moir::{
        self as am, Fig2, Fig3, Fig8, Fig9, Named,
        broken::{self, Mutant},
        fig2,
    },
    changed::{Change, Changed},
    choi::{self, Bounded, Choi},
    machine::Algorithm,
    omori,
    timestamps::{Linear, Quadratic, Timestamps, Uctss},
    zehavi::{Bakery, Zehavi, broken as zehavi_broken},
};

/// Which remote references a claim counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Cache-coherent.
    Cc,
    /// Distributed shared memory.
    Dsm,
}

/// A paper's bound on remote references per passage.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Where the paper states it.
    pub source: &'static str,
    /// The machine it is about.
    pub model: Model,
    /// The bound at n, k and contention c.
    pub bound: fn(n: u64, k: u64, c: u64) -> u64,
    /// The bound as a formula.
    pub formula: &'static str,
}

/// Whether an algorithm is meant to be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is.
    Sound,
    /// It is what the paper prints, and fails.
    Printed,
    /// It is wrong on purpose.
    Broken,
}

/// What the registry says of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its identifier, without `+names`.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The figure or section.
    pub figure: &'static str,
    /// The primitives it uses besides reads and writes.
    pub primitives: &'static str,
    /// Whether it is meant to be right.
    pub standing: Standing,
    /// The bound the paper claims.
    pub claim: Option<Claim>,
    /// Whether the paper promises that who comes first is enabled first.
    pub promises_fife: bool,
    /// Whether the paper promises that everybody gets in while fewer than k have stopped; if not,
    /// it promises so only while nobody has.
    pub promises_resilience: bool,
    /// The least n - k it exists for.
    pub least_gap: usize,
    /// The most processes it exists for.
    pub most_processes: usize,
    /// The largest k it exists for.
    pub most_inside: usize,
    /// Whether it may carry `+names`.
    pub nameable: bool,
}

impl Entry {
    /// How many may stop for ever without anybody being kept out, as the paper has it.
    pub fn crashes(&self, k: usize) -> usize {
        if self.promises_resilience { k.saturating_sub(1) } else { 0 }
    }
}

/// Why there is no such algorithm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No algorithm has this identifier.
    Unknown(String),
    /// There is no such size of it; the text says what is allowed.
    Size(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown(id) => {
                write!(f, "no algorithm is called `{id}`; `hallpass lab list` shows them all")
            }
            Error::Size(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for Error {}

/// Something to do with an algorithm, whatever its type.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Self::Output;
}

/// The most processes any algorithm here is built for.
pub const MOST_PROCESSES: usize = 32;

const NAMES: &str = "+names";

/// The entry for an identifier, and whether it asks for `+names`.
pub fn entry(id: &str) -> Result<(&'static Entry, bool), Error> {
    let find = |id: &str| ENTRIES.iter().find(|entry| entry.id == id);
    if let Some(entry) = find(id) {
        return Ok((entry, entry.id.contains(NAMES)));
    }
    // `am-fig3+names:no-release` is names on top of `am-fig3:no-release`.
    let plain = id.replacen(NAMES, "", 1);
    match find(&plain) {
        Some(entry) if plain != id && entry.nameable => Ok((entry, true)),
        _ => Err(Error::Unknown(id.to_string())),
    }
}

fn check_size(id: &str, entry: &Entry, n: usize, k: usize) -> Result<(), Error> {
    let size = |text: String| Err(Error::Size(text));
    if k == 0 {
        return size("k must be at least 1: nobody could ever get in".into());
    }
    if k >= n {
        return size(format!(
            "n must be larger than k (n = {n}, k = {k}): with n <= k nobody ever has to wait"
        ));
    }
    if n - k < entry.least_gap {
        return size(format!("{id} exists only for n >= k + {}", entry.least_gap));
    }
    if k > entry.most_inside {
        return size(format!("{id} exists only for k <= {}", entry.most_inside));
    }
    if n > entry.most_processes {
        return size(format!("{id} is built for at most n = {} processes", entry.most_processes));
    }
    Ok(())
}

/// Builds the algorithm `id` for `n` processes of which `k` may be in, and hands it to `visitor`.
pub fn visit<V: Visitor>(id: &str, n: usize, k: usize, visitor: V) -> Result<V::Output, Error> {
    let (entry, names) = entry(id)?;
    check_size(id, entry, n, k)?;
    build(entry, names, n, k, visitor).ok_or_else(|| Error::Unknown(id.to_string()))
}

const ANDERSON_MOIR: &str = "Anderson & Moir 1997";
const CC: &str = "fetch-and-add";
const CC_TAS: &str = "fetch-and-add, test-and-set";
const DSM: &str = CC_TAS;
const DSM_CAS: &str = "fetch-and-add, test-and-set, compare-and-swap";

/// The smallest d with k 2^d >= n.
const fn log2(n: u64, k: u64) -> u64 {
    n.div_ceil(k).next_power_of_two().trailing_zeros() as u64
}

macro_rules! cc {
    ($source:literal, $formula:literal, $bound:expr) => {
        Claim { source: $source, model: Model::Cc, bound: $bound, formula: $formula }
    };
}
macro_rules! dsm {
    ($source:literal, $formula:literal, $bound:expr) => {
        Claim { source: $source, model: Model::Dsm, bound: $bound, formula: $formula }
    };
}

const fn am(
    primitives: &'static str,
    figure: &'static str,
    title: &'static str,
    claim: Claim,
) -> Entry {
    Entry {
        id: "",
        title,
        paper: ANDERSON_MOIR,
        figure,
        primitives,
        standing: Standing::Sound,
        claim: Some(claim),
        promises_fife: false,
        promises_resilience: true,
        least_gap: 1,
        most_processes: MOST_PROCESSES,
        most_inside: MOST_PROCESSES,
        nameable: true,
    }
}

const fn wrong(primitives: &'static str, figure: &'static str, title: &'static str) -> Entry {
    let none = cc!("", "", |_, _, _| 0);
    let nameable = false;
    let standing = Standing::Broken;
    Entry { standing, claim: None, nameable, ..am(primitives, figure, title, none) }
}

const fn printed(primitives: &'static str, figure: &'static str, title: &'static str) -> Entry {
    Entry { standing: Standing::Printed, ..wrong(primitives, figure, title) }
}

/// `entry` where it needs n - k to be at least `least_gap`.
const fn gap(least_gap: usize, entry: Entry) -> Entry {
    Entry { least_gap, ..entry }
}

/// Figure 2 has no claim: its time complexity is not what it is there for.
const AM_QUEUE: Entry = Entry {
    standing: Standing::Sound,
    most_processes: fig2::MOST_PROCESSES,
    nameable: true,
    ..wrong("an atomic counter and queue", "Fig. 2", "idealised queue")
};

const AFEK: &str = "Afek et al. 1994";
const ZEHAVI: &str = "Zehavi 2013";
const READS_AND_WRITES: &str = "reads and writes only";

/// An algorithm of a paper that promises who comes first is enabled first, from reads and writes.
const fn fife(paper: &'static str, figure: &'static str, title: &'static str) -> Entry {
    let standing = Standing::Sound;
    let sound = wrong(READS_AND_WRITES, figure, title);
    Entry { paper, standing, promises_fife: true, nameable: true, ..sound }
}

/// What an entry says of a variant that is wrong: on purpose, or as printed.
const fn fails(standing: Standing, entry: Entry) -> Entry {
    Entry { standing, nameable: false, claim: None, ..entry }
}

/// `entry` where it exists for at most so many processes.
const fn at_most(most_processes: usize, entry: Entry) -> Entry {
    Entry { most_processes, ..entry }
}

const fn afek(title: &'static str) -> Entry {
    fife(AFEK, "Fig. 2", title)
}

const fn not_afek(title: &'static str) -> Entry {
    fails(Standing::Broken, afek(title))
}

const fn zehavi(title: &'static str) -> Entry {
    fife(ZEHAVI, "Algorithm 1", title)
}

const fn not_zehavi(title: &'static str) -> Entry {
    fails(Standing::Broken, zehavi(title))
}

const BAKERY: Entry =
    Entry { most_inside: 1, ..fife(ZEHAVI, "Section III", "the Bakery algorithm") };

/// `A` with the change `C`.
fn changed<A: Algorithm, C: Change<A>>(
    make: fn(usize, usize) -> A,
    n: usize,
    k: usize,
) -> Changed<A, C> {
    Changed::new(make(n, k))
}

/// The paper bounds time and not remote references.
const fn om(figure: &'static str, title: &'static str) -> Entry {
    Entry { standing: Standing::Sound, nameable: true, ..om_wrong(figure, title) }
}

const fn om_wrong(figure: &'static str, title: &'static str) -> Entry {
    Entry { paper: "Omori et al. 2002", ..wrong(READS_AND_WRITES, figure, title) }
}

const fn om_printed(figure: &'static str, title: &'static str) -> Entry {
    Entry { standing: Standing::Printed, ..om_wrong(figure, title) }
}

/// `entry` where it promises nothing once somebody has stopped.
const fn fragile(entry: Entry) -> Entry {
    Entry { promises_resilience: false, ..entry }
}

const CAS: &str = "fetch-and-increment, compare-and-swap";

/// Choi's algorithm in some form.
const fn token(standing: Standing, title: &'static str) -> Entry {
    let entry = fails(standing, wrong(CAS, "Section 2", title));
    Entry { paper: "Choi 2011", ..entry }
}

/// `entry` with a bound. Choi gives orders only. Counted line by line: 1 for line 1, a read for
/// each of at most ceil(log2 k) + 2 cells and one more on line 2, 1 for line 3, and 3 for each of
/// two updates of at most floor(log2 k) + 2 cells.
const fn claims(entry: Entry, claim: Claim) -> Entry {
    Entry { claim: Some(claim), ..entry }
}

const BOUNDED: Entry = Entry {
    primitives: "an atomic counter with ages",
    figure: "not in the thesis",
    most_processes: choi::bounded::MOST_PROCESSES,
    ..tokens("tokens with bounded counters")
};

const fn tokens(title: &'static str) -> Entry {
    let entry = token(Standing::Sound, title);
    Entry { promises_fife: true, nameable: true, ..entry }
}

/// A constructor, and what to say of what it makes.
macro_rules! table {
    ($($id:literal => $make:expr, $about:expr;)*) => {
        /// Every algorithm there is, `+names` left out.
        pub const ENTRIES: &[Entry] = &[$(Entry { id: $id, ..$about }),*];

        fn build<V: Visitor>(
            entry: &Entry, names: bool, n: usize, k: usize, visitor: V,
        ) -> Option<V::Output> {
            match entry.id {
                $($id if names && entry.nameable => {
                    Some(visitor.visit(<Named<_>>::new($make(n, k))))
                })*
                $($id => Some(visitor.visit($make(n, k))),)*
                _ => None,
            }
        }
    };
}

table! {
    "am-fig2" => Fig2::new, AM_QUEUE;
    "am-fig3" => am::inductive::<Fig3>, am(CC, "Fig. 3, Thm 1", "levels", cc!("Theorem 1", "7(n-k)", |n, k, _| 7 * (n - k)));
    "am-fig3-tree" => am::tree::<Fig3>, am(CC, "Fig. 3 and 5, Thm 2", "tree", cc!("Theorem 2", "7k ceil(log2(n/k))", |n, k, _| 7 * k * log2(n, k)));
    "am-fig3-fast" => am::fast::<Fig3>, am(CC_TAS, "Fig. 3 and 7, Thm 3", "fast path over a tree", cc!("Theorem 3", "9 if c = 1, else 7k ceil(log2(n/k)) + 8", |n, k, c| if c == 1 { 9 } else { 7 * k * log2(n, k) + 8 }));
    "am-fig3-nested" => am::nested::<Fig3>, am(CC_TAS, "Fig. 3 and 7, Thm 4", "nested fast paths", cc!("Theorem 4", "8c+1", |_, _, c| 8 * c + 1));
    "am-fig8" => am::inductive::<Fig8>, am(DSM, "Fig. 8, Thm 5", "levels", dsm!("Theorem 5", "9(n-k)", |n, k, _| 9 * (n - k)));
    "am-fig8-tree" => am::tree::<Fig8>, am(DSM, "Fig. 8 and 5, Thm 6", "tree", dsm!("Theorem 6", "9k ceil(log2(n/k))", |n, k, _| 9 * k * log2(n, k)));
    "am-fig8-fast" => am::fast::<Fig8>, am(DSM, "Fig. 8 and 7, Thm 7", "fast path over a tree", dsm!("Theorem 7", "11 if c = 1, else 9k ceil(log2(n/k)) + 10", |n, k, c| if c == 1 { 11 } else { 9 * k * log2(n, k) + 10 }));
    "am-fig8-nested" => am::nested::<Fig8>, am(DSM, "Fig. 8 and 7, Thm 8", "nested fast paths", dsm!("Theorem 8", "10c+1", |_, _, c| 10 * c + 1));
    "am-fig9" => am::inductive::<Fig9>, am(DSM_CAS, "Fig. 9, Thm 9", "levels, shared spin locations", dsm!("Theorem 9", "10(n-k)", |n, k, _| 10 * (n - k)));
    "am-fig9-tree" => am::tree::<Fig9>, am(DSM_CAS, "Fig. 9 and 5, Thm 10", "tree, shared spin locations", dsm!("Theorem 10", "10k ceil(log2(n/k))", |n, k, _| 10 * k * log2(n, k)));
    "am-fig9-fast" => am::fast::<Fig9>, am(DSM_CAS, "Fig. 9 and 7, Thm 11", "fast path over a tree, shared spin locations", dsm!("Theorem 11", "12 if c = 1, else 10k ceil(log2(n/k)) + 11", |n, k, c| if c == 1 { 12 } else { 10 * k * log2(n, k) + 11 }));
    "am-fig9-nested" => am::nested::<Fig9>, am(DSM_CAS, "Fig. 9 and 7, Thm 12", "nested fast paths, shared spin locations", dsm!("Theorem 12", "11c+1", |_, _, c| 11 * c + 1));
    "omori-naive" => omori::naive, fragile(om("NAIVE", "Peterson's levels"));
    "omori-excl" => omori::excl, om("EXCL, Thm 4", "levels that count");
    "omori-gtex" => omori::gtex, om("GTEX, Thm 10", "tournament of groups");

    "choi" => Choi::new, claims(tokens("tokens, N >= n cells"), cc!("Section 3.7.5", "17 + ceil(log2 k) + 6 floor(log2 k)", |_, k, _| 17 + log2(k, 1) + 6 * u64::from(k.ilog2())));
    "choi-wide" => Choi::wide, tokens("tokens, N = kn/log2 k cells");
    "choi-narrow" => Choi::narrow, tokens("tokens, N = 2k cells");

    "choi-bounded" => Bounded::new, BOUNDED;

    "choi:printed" => Choi::printed, token(Standing::Printed, "all as printed");
    "choi:printed-wait" => Choi::printed_wait, token(Standing::Printed, "Wait-Set(0) as printed");
    "choi:printed-check" => Choi::printed_check, token(Standing::Printed, "line 8 as printed, Exit <= u + 2k");
    "am-fig3-fast:printed" => am::arrange::fast_printed::<Fig3>, printed(CC_TAS, "Fig. 7 over Fig. 5", "the slow path is Figure 5 for n-1 processes, as printed");
    "omori-gtex:printed" => omori::broken::gtex_printed, om_printed("GTEX", "gcheck's turn(p, q), one for all nodes of a depth, as printed");

    "am-fig3:no-outer" => broken::no_outer_level::<Fig3>, gap(2, wrong(CC, "Fig. 3", "the outermost level left out"));
    "am-fig3:no-release" => am::inductive::<Mutant<Fig3, broken::Fig3NoRelease>>, wrong(CC, "Fig. 3", "line 8 dropped");
    "am-fig3:exit-swapped" => am::inductive::<Mutant<Fig3, broken::Fig3ExitSwapped>>, wrong(CC, "Fig. 3", "lines 7 and 8 swapped");
    "am-fig3:no-second-look" => am::inductive::<Mutant<Fig3, broken::Fig3NoSecondLook>>, wrong(CC, "Fig. 3", "line 4 dropped");
    "am-fig3:look-first" => am::inductive::<Mutant<Fig3, broken::Fig3LookFirst>>, wrong(CC, "Fig. 3", "lines 3 and 4 swapped");
    "am-fig3:no-take" => am::inductive::<Mutant<Fig3, broken::Fig3NoTake>>, wrong(CC, "Fig. 3", "line 2 reads X and takes nothing");
    "am-fig8:no-outer" => broken::no_outer_level::<Fig8>, gap(2, wrong(DSM, "Fig. 8", "the outermost level left out"));
    "am-fig8:read-not-set" => am::inductive::<Mutant<Fig8, broken::Fig8ReadNotSet>>, wrong(DSM, "Fig. 8", "line 4 reads P[v] instead of setting it");
    "am-fig8:no-initialise" => am::inductive::<Mutant<Fig8, broken::Fig8NoInitialise>>, wrong(DSM, "Fig. 8", "line 6 dropped");
    "am-fig8:no-pretending" => am::inductive::<Mutant<Fig8, broken::Fig8NoPretending>>, wrong(DSM, "Fig. 8", "lines 13 and 14 dropped");
    "am-fig8:queue-swapped" => am::inductive::<Mutant<Fig8, broken::Fig8QueueSwapped>>, wrong(DSM, "Fig. 8", "lines 5 and 6 swapped");
    "am-fig9:one-instance" => am::inductive::<Mutant<Fig9, broken::Fig9OneInstance>>, gap(2, wrong(DSM_CAS, "Fig. 9", "one instance number for all levels"));
    "am-fig9:no-guard" => am::inductive::<Mutant<Fig9, broken::Fig9NoGuard>>, wrong(DSM_CAS, "Fig. 9", "line 3 dropped");
    "am-fig9:no-second-flag" => am::inductive::<Mutant<Fig9, broken::Fig9NoSecondFlag>>, wrong(DSM_CAS, "Fig. 9", "lines 15 and 16 dropped");
    "am-fig9:one-flag" => am::inductive::<Mutant<Fig9, broken::Fig9OneFlag>>, wrong(DSM_CAS, "Fig. 9", "line 12 dropped");
    "am-fig9:late-second-flag" => am::inductive::<Mutant<Fig9, broken::Fig9LateSecondFlag>>, wrong(DSM_CAS, "Fig. 9", "lines 9 and 10 swapped");
    "am-fig3+names:read-only" => |n, k| Named::<_, broken::NameReadOnly>::new(am::inductive::<Fig3>(n, k)), wrong(CC_TAS, "Fig. 1 over Fig. 3", "line 3 of Figure 1 reads the bit and does not set it");
    "am-fig3+names:never-freed" => |n, k| Named::<_, broken::NameNeverFreed>::new(am::inductive::<Fig3>(n, k)), wrong(CC_TAS, "Fig. 1 over Fig. 3", "line 5 of Figure 1 does not clear the bit");

    "afek" => Afek::<Uctss>::new, afek("on unbounded timestamps");
    "afek@linear" => Afek::<Linear>::new, at_most(<Linear as Timestamps>::MOST_PROCESSES, afek("on bounded timestamps in linear time"));
    "afek@quadratic" => Afek::<Quadratic>::new, at_most(<Quadratic as Timestamps>::MOST_PROCESSES, afek("on bounded timestamps in quadratic time"));
    "afek:printed" => Afek::<Uctss<true>>::new, fails(Standing::Printed, Entry { figure: "Fig. 2 over Fig. 1", ..afek("Label keeps a timestamp that equals the largest, as printed") });
    "afek:no-second-label" => |n, k| changed::<_, afek_broken::NoSecondLabel>(Afek::<Uctss>::new, n, k), not_afek("line 12 dropped");
    "afek:no-label" => |n, k| changed::<_, afek_broken::NoLabel>(Afek::<Uctss>::new, n, k), not_afek("line 2 dropped");
    "afek:late-flag" => |n, k| changed::<_, afek_broken::LateFlag>(Afek::<Uctss>::new, n, k), not_afek("lines 1 and 2 swapped");
    "afek:everybody-counts" => |n, k| changed::<_, afek_broken::EverybodyCounts>(Afek::<Uctss>::new, n, k), not_afek("line 4 takes everybody");
    "afek:no-second-look" => |n, k| changed::<_, afek_broken::NoSecondLook>(Afek::<Uctss>::new, n, k), not_afek("line 6 dropped");
    "afek:one-too-many" => |n, k| changed::<_, afek_broken::OneTooMany>(Afek::<Uctss>::new, n, k), not_afek("line 9 lets one more in");

    "zehavi" => Zehavi::<Uctss>::new, zehavi("on unbounded timestamps");
    "zehavi@linear" => Zehavi::<Linear>::new, at_most(<Linear as Timestamps>::MOST_PROCESSES, zehavi("on bounded timestamps in linear time"));
    "zehavi@quadratic" => Zehavi::<Quadratic>::new, at_most(<Quadratic as Timestamps>::MOST_PROCESSES, zehavi("on bounded timestamps in quadratic time"));
    "bakery" => Bakery::new, BAKERY;
    "zehavi:one-cell" => |n, k| changed::<_, zehavi_broken::OneCell>(Zehavi::<Uctss>::new, n, k), not_zehavi("one cell of Discover instead of two");
    "zehavi:no-ignore" => |n, k| changed::<_, zehavi_broken::NoIgnore>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)ii does not read Ignore");
    "zehavi:no-discover" => |n, k| changed::<_, zehavi_broken::NoDiscover>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)ii does not read Discover");
    "zehavi:no-compete" => |n, k| changed::<_, zehavi_broken::NoCompete>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)i dropped");
    "zehavi:no-order" => |n, k| changed::<_, zehavi_broken::NoOrder>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)ii dropped");
    "zehavi:no-allow" => |n, k| changed::<_, zehavi_broken::NoAllow>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 12 dropped");
    "zehavi:no-cancel" => |n, k| changed::<_, zehavi_broken::NoCancel>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 4c dropped");
    "zehavi:no-delete" => |n, k| changed::<_, zehavi_broken::NoDelete>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 14 dropped");
    "zehavi:no-label" => |n, k| changed::<_, zehavi_broken::NoLabel>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 3 dropped");
    "zehavi:no-retreat" => |n, k| changed::<_, zehavi_broken::NoRetreat>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 15 dropped");
    "zehavi:late-reveal" => |n, k| changed::<_, zehavi_broken::LateReveal>(Zehavi::<Uctss>::new, n, k), not_zehavi("lines 5 and 6 swapped");
    "omori-excl:no-turn" => omori::broken::Mutant::<omori::broken::NoTurn>::excl, om_wrong("EXCL", "turn(s) := i dropped");
    "omori-excl:turn-first" => omori::broken::Mutant::<omori::broken::TurnFirst>::excl, om_wrong("EXCL", "turn(s) := i before level(i) := s");
    "omori-excl:off-by-one" => omori::broken::excl_off_by_one, om_wrong("EXCL", "count <= n-s is few enough");
    "omori-excl:count-kept" => omori::broken::Mutant::<omori::broken::CountKept>::excl, om_wrong("EXCL", "check goes on counting from the last count");
    "omori-excl:no-first-level" => omori::broken::excl_no_first_level, gap(2, om_wrong("EXCL", "level 1 left out"));
    "omori-excl:no-reset" => omori::broken::Mutant::<omori::broken::NoReset>::excl, om_wrong("EXCL", "level(i) := 0 dropped");
    "omori-gtex:no-root" => omori::broken::gtex_no_root, om_wrong("GTEX", "the competitions of the root left out");
    "omori-gtex:leaf-as-inner" => omori::broken::gtex_leaf_as_inner, om_wrong("GTEX", "leaves compete like inner nodes, as for n = 2^t 2k");

    "choi-bounded:ageless" => Bounded::ageless, fails(Standing::Broken, BOUNDED);
    "choi:once" => choi::broken::once, token(Standing::Broken, "line 6 dropped");
    "choi:no-previous" => choi::broken::no_previous, token(Standing::Broken, "{-1} dropped in line 4");
    "choi:descending" => choi::broken::descending, token(Standing::Broken, "line 4 in descending order");
    "choi:own-cell" => choi::broken::own_cell, token(Standing::Broken, "line 2 waits on the own cell alone");
    "choi:one-ahead" => choi::broken::one_ahead, token(Standing::Broken, "line 3 adds k+1");
    "choi:one-behind" => choi::broken::one_behind, token(Standing::Broken, "line 3 adds k-1");
    "choi:write" => choi::broken::write, token(Standing::Broken, "line 9 writes");
}
