//! What entries of the table have in common, paper by paper.

use super::{Claim, Entry, MOST_PROCESSES, Model, OURS, Standing};
use crate::{
    halls::{cluster as claims, processes as shared, threads as hall},
    papers::{anderson_moir::fig2, choi},
};

pub(super) const ANDERSON_MOIR: &str = "Anderson & Moir 1997";
pub(super) const CC: &str = "fetch-and-add";
pub(super) const CC_TAS: &str = "fetch-and-add, test-and-set";
pub(super) const DSM: &str = CC_TAS;
pub(super) const DSM_CAS: &str = "fetch-and-add, test-and-set, compare-and-swap";

/// The smallest d with k 2^d >= n.
pub(super) const fn log2(n: u64, k: u64) -> u64 {
    n.div_ceil(k).next_power_of_two().trailing_zeros() as u64
}

pub(super) const NO_CLAIMS: [Option<Claim>; 2] = [None, None];

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

pub(super) use {cc, dsm};

pub(super) const fn am(
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
        claims: [Some(claim), None],
        promises_fife: false,
        promises_fife_strong: false,
        promises_resilience: true,
        promises_everybody: true,
        promises_exit: true,
        least_gap: 1,
        most_processes: MOST_PROCESSES,
        most_inside: MOST_PROCESSES,
        nameable: true,
    }
}

pub(super) const fn wrong(
    primitives: &'static str,
    figure: &'static str,
    title: &'static str,
) -> Entry {
    let none = cc!("", "", |_, _, _| 0);
    let nameable = false;
    let standing = Standing::Broken;
    Entry { standing, claims: NO_CLAIMS, nameable, ..am(primitives, figure, title, none) }
}

pub(super) const fn printed(
    primitives: &'static str,
    figure: &'static str,
    title: &'static str,
) -> Entry {
    Entry { standing: Standing::Printed, ..wrong(primitives, figure, title) }
}

/// `entry` where it needs n - k to be at least `least_gap`.
pub(super) const fn gap(least_gap: usize, entry: Entry) -> Entry {
    Entry { least_gap, ..entry }
}

/// Figure 2 has no claim: its time complexity is not what it is there for.
pub(super) const AM_QUEUE: Entry = Entry {
    standing: Standing::Sound,
    most_processes: fig2::MOST_PROCESSES,
    nameable: true,
    ..wrong("an atomic counter and queue", "Fig. 2", "idealised queue")
};

pub(super) const AFEK: &str = "Afek et al. 1994";
pub(super) const ZEHAVI: &str = "Zehavi 2013";
pub(super) const READS_AND_WRITES: &str = "reads and writes only";

/// An algorithm of a paper that promises who comes first is enabled first, from reads and writes.
pub(super) const fn fife(paper: &'static str, figure: &'static str, title: &'static str) -> Entry {
    let standing = Standing::Sound;
    let sound = wrong(READS_AND_WRITES, figure, title);
    Entry {
        paper,
        standing,
        promises_fife: true,
        promises_fife_strong: true,
        nameable: true,
        ..sound
    }
}

/// What an entry says of a variant that is wrong: on purpose, or as printed.
pub(super) const fn fails(standing: Standing, entry: Entry) -> Entry {
    Entry { standing, nameable: false, claims: NO_CLAIMS, ..entry }
}

/// `entry` where it exists for at most so many processes.
pub(super) const fn at_most(most_processes: usize, entry: Entry) -> Entry {
    Entry { most_processes, ..entry }
}

pub(super) const fn afek(title: &'static str) -> Entry {
    fife(AFEK, "Fig. 2", title)
}

pub(super) const fn not_afek(title: &'static str) -> Entry {
    fails(Standing::Broken, afek(title))
}

pub(super) const fn zehavi(title: &'static str) -> Entry {
    fife(ZEHAVI, "Algorithm 1", title)
}

/// Lemma 7 says O(n); its proof and the lines say how much. Per other process, lines 1, 2, 4, 7, 8,
/// 12, 14 and 15 take 1, 1, 13, 1, 1, 1, 2 and 1, and the loop of line 11 reads what that process
/// writes at most 32 times; lines 5 and 13 take one each. With distributed memory, lines 5, 11, 13
/// and 14 are local. On top come Label and Scan: 2n + 1 for UCTSS, 2(n - 1) of them remote; at most
/// 9n for the linear system, and 11n + 2 for its split form.
pub(super) const ZEHAVI_CLAIMS: [Option<Claim>; 2] = [
    Some(cc!("Lemma 7, added up", "55n-50", |n, _, _| 55 * n - 50)),
    Some(dsm!("Lemma 7, added up", "21(n-1)", |n, _, _| 21 * (n - 1))),
];
pub(super) const ZEHAVI_LINEAR_CLAIMS: [Option<Claim>; 2] = [
    Some(cc!("Lemma 7, added up", "62n-51 (64n-49 if n > 8)", |n, _, _| {
        if n > 8 { 64 * n - 49 } else { 62 * n - 51 }
    })),
    Some(dsm!("Lemma 7, added up", "28n-19 (30n-17 if n > 8)", |n, _, _| {
        if n > 8 { 30 * n - 17 } else { 28 * n - 19 }
    })),
];

pub(super) const fn not_zehavi(title: &'static str) -> Entry {
    fails(Standing::Broken, zehavi(title))
}

pub(super) const BAKERY: Entry =
    Entry { most_inside: 1, ..fife(ZEHAVI, "Section III", "the Bakery algorithm") };

/// The paper bounds time and not remote references.
pub(super) const fn om(figure: &'static str, title: &'static str) -> Entry {
    Entry { standing: Standing::Sound, nameable: true, ..om_wrong(figure, title) }
}

pub(super) const fn om_wrong(figure: &'static str, title: &'static str) -> Entry {
    Entry { paper: "Omori et al. 2002", ..wrong(READS_AND_WRITES, figure, title) }
}

pub(super) const fn om_printed(figure: &'static str, title: &'static str) -> Entry {
    Entry { standing: Standing::Printed, ..om_wrong(figure, title) }
}

/// `entry` where it promises nothing once somebody has stopped.
pub(super) const fn fragile(entry: Entry) -> Entry {
    Entry { promises_resilience: false, ..entry }
}

pub(super) const CAS: &str = "fetch-and-increment, compare-and-swap";

/// Choi's algorithm in some form.
pub(super) const fn token(standing: Standing, title: &'static str) -> Entry {
    let entry = fails(standing, wrong(CAS, "Section 2", title));
    Entry { paper: "Choi 2011", ..entry }
}

/// `entry` with a bound. Choi gives orders only. Counted line by line: 1 for line 1, a read for
/// each of at most ceil(log2 k) + 2 cells and one more on line 2 (that one more is enough is argued
/// in the thesis, and not exceeded by any run found), 1 for line 3, and 3 for each of
/// two updates of at most floor(log2 k) + 2 cells.
pub(super) const fn claims(entry: Entry, claim: Claim) -> Entry {
    Entry { claims: [Some(claim), None], ..entry }
}

pub(super) const BOUNDED: Entry = Entry {
    primitives: "an atomic counter with ages",
    figure: "not in the thesis",
    most_processes: choi::bounded::MOST_PROCESSES,
    ..tokens("tokens with bounded counters")
};

pub(super) const fn tokens(title: &'static str) -> Entry {
    let entry = token(Standing::Sound, title);
    Entry { promises_fife: true, promises_fife_strong: true, nameable: true, ..entry }
}

/// The semaphore of this project: first in, first enabled, but one that stops with the lock stops all.
pub(super) const fn hall(promises_fife: bool, title: &'static str) -> Entry {
    Entry {
        id: "",
        title,
        paper: OURS,
        figure: "hall",
        primitives: DSM_CAS,
        standing: Standing::Sound,
        claims: NO_CLAIMS,
        promises_fife,
        promises_fife_strong: false,
        promises_resilience: false,
        promises_everybody: true,
        promises_exit: true,
        least_gap: 1,
        most_processes: hall::MOST_PROCESSES,
        most_inside: 8,
        nameable: false,
    }
}

/// A variant of it that is wrong on purpose.
pub(super) const fn hall_wrong(title: &'static str) -> Entry {
    Entry { standing: Standing::Broken, ..hall(true, title) }
}

/// It again, where who comes may overtake those who wait.
pub(super) const fn barging(title: &'static str) -> Entry {
    Entry { promises_everybody: false, promises_exit: false, ..hall(false, title) }
}

/// The semaphore behind `SharedHall`.
pub(super) const fn shared(promises_fife: bool, title: &'static str) -> Entry {
    Entry {
        promises_resilience: true,
        promises_exit: false,
        most_processes: shared::MAX_PROCESSES,
        figure: "SharedHall",
        ..hall(promises_fife, title)
    }
}

/// One of its variants that are wrong on purpose.
pub(super) const fn shared_wrong(title: &'static str) -> Entry {
    Entry { standing: Standing::Broken, ..shared(true, title) }
}

/// Claims on a store.
pub(super) const fn etcd(promises_fife: bool, title: &'static str) -> Entry {
    Entry {
        promises_resilience: true,
        primitives: "transactions",
        most_processes: claims::MAX_PROCESSES,
        most_inside: claims::MAX_SLOTS,
        figure: "claims",
        ..hall(promises_fife, title)
    }
}

/// One of their variants that are wrong on purpose.
pub(super) const fn etcd_wrong(title: &'static str) -> Entry {
    Entry { standing: Standing::Broken, ..etcd(true, title) }
}

/// The door before a resilient object.
pub(super) const fn turnstile(title: &'static str) -> Entry {
    Entry {
        promises_fife: true,
        promises_fife_strong: true,
        promises_resilience: true,
        primitives: CAS,
        figure: "turnstile",
        most_processes: MOST_PROCESSES,
        most_inside: MOST_PROCESSES,
        nameable: true,
        ..hall(true, title)
    }
}

/// One of its variants that are wrong on purpose.
pub(super) const fn turnstile_wrong(title: &'static str) -> Entry {
    Entry { standing: Standing::Broken, nameable: false, ..turnstile(title) }
}
