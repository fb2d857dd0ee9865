//! Checks on a run the properties that the papers state for timestamp systems. Label and Scan are the two procedures of
//! such a system (see [`Procedure`]).
//!
//! (1) to (5) are the properties of Proposition 3.1 of Afek et al. Zehavi's Property 1 is (1), and his Property 2
//! is (4). (He writes "no Label starts after the last Label of p finishes". A process is in the set C' of (4) under
//! the same condition: every last Label began before the last Label of p was finished.) His paragraph about Scans
//! while processes are outside Label is checked as `consistent` and `lasting`.
//!
//! Each property is a question about the past, and a few sets of processes are enough to answer it. There
//! are finitely many such sets, so the exploration with them is also finite. The first access of a
//! procedure counts as its beginning, and the last access as its end. A procedure that begins earlier or ends
//! later overlaps more procedures, so the properties demand less of it.

use super::{
    observe::{Observer, Violation},
    subject::{Happened, Procedure, Seen, Set, State, Subject},
};

/// A relation between processes: a set for each process.
type Rows = Vec<Set>;

/// The facts about the past at the moment when a process began its Scan.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Start {
    /// (1): for each j, the processes whose last Label ended before some finished Label of j began.
    done: Rows,
    /// (3): the processes that the scanner must order after itself.
    must: Set,
    /// The processes that have been outside Label since the Scan began.
    outside: Set,
    /// Zehavi: for each p, the processes that are permanently after it.
    later: Rows,
}

/// The facts about the past that decide the properties.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Properties {
    n: usize,
    /// The processes in Label.
    labelling: Set,
    /// The processes that have finished a Label.
    labelled: Set,
    /// For each j, the processes whose last Label ended before the last Label of j began.
    began_after: Rows,
    /// For each j, the processes whose last Label ended before some finished Label of j began.
    done: Rows,
    /// (2): for each i, the processes that a Scan of i has put after i since the last Label of i.
    before: Rows,
    /// (3): for each i, the processes k that its Scans must put after it.
    must: Rows,
    /// (4): for each i, the processes whose last Label began before the last Label of i ended.
    overlapped: Rows,
    /// (4): for each i, the processes that its last Scan since its last Label put before it.
    last: Rows,
    /// (4): the processes with a Scan since their last Label.
    scanned: Set,
    /// (5): for each set of processes, the members that were not the first of the set in one of their
    /// Scans since the last Label of any member.
    not_first: Vec<Set>,
    /// Zehavi: for each i, the processes that were put after it since both have been outside Label.
    agreed: Rows,
    /// Zehavi: for each p, the processes that are permanently after it.
    later: Rows,
    /// Zehavi: for each p, the processes that will be permanently after it when their Label ends.
    waiting: Rows,
    starts: Vec<Start>,
}

const fn has(set: Set, p: usize) -> bool {
    set >> p & 1 != 0
}

impl Properties {
    fn all(&self) -> Set {
        ((1u32 << self.n) - 1) as Set
    }

    fn begin_label(&mut self, p: usize) {
        let (bit, n) = (1 << p, self.n);
        self.began_after[p] = self.labelled & !self.labelling & !bit;
        self.labelling |= bit;
        for q in (0..n).filter(|&q| q != p) {
            self.began_after[q] &= !bit;
            self.done[q] &= !bit;
            if !has(self.labelling, q) {
                self.overlapped[q] &= !bit;
            }
            self.agreed[q] &= !bit;
        }
        self.overlapped[p] = self.all() & !bit;
        for row in
            [&mut self.before, &mut self.must, &mut self.agreed, &mut self.later, &mut self.waiting]
        {
            row[p] = 0;
        }
        self.last[p] = 0;
        self.scanned &= !bit;
        for (set, not_first) in self.not_first.iter_mut().enumerate() {
            if has(set as Set, p) {
                *not_first = 0;
            }
        }
        for start in self.starts.iter_mut().filter(|start| !start.done.is_empty()) {
            start.done.iter_mut().for_each(|row| *row &= !bit);
            start.outside &= !bit;
            start.later[p] = 0;
        }
    }

    fn end_label(&mut self, p: usize) {
        let bit = 1 << p;
        self.labelling &= !bit;
        self.labelled |= bit;
        self.done[p] |= self.began_after[p];
        for q in 0..self.n {
            self.later[q] |= self.waiting[q] & bit;
            self.waiting[q] &= !bit;
        }
    }

    fn begin_scan(&mut self, p: usize) {
        self.starts[p] = Start {
            done: self.done.clone(),
            must: self.must[p],
            outside: self.all() & !self.labelling,
            later: self.later.clone(),
        };
    }

    fn end_scan(&mut self, p: usize, seen: &Seen) -> Option<Violation> {
        let n = self.n;
        let start = std::mem::take(&mut self.starts[p]);
        // For each i: the processes after it.
        let after: Rows = (0..n)
            .map(|i| (0..n).filter(|&j| seen.orders(i, j)).fold(0, |set, j| set | 1 << j))
            .collect();
        let mut violation = None;
        let mut demand = |holds: bool, which: Violation| {
            if !holds && violation.is_none() {
                violation = Some(which);
            }
        };
        demand((0..n).all(|j| start.done[j] & !seen.before[j] == 0), Violation::P1);
        demand(self.before[p] & !after[p] == 0, Violation::P2);
        demand(start.must & !after[p] == 0, Violation::P3);
        demand((0..n).all(|i| start.later[i] & !after[i] == 0), Violation::Lasting);
        for (i, &after) in after.iter().enumerate() {
            // If two processes were outside Label since the Scan began, earlier orders must also hold
            // for them in this Scan.
            let outside = if has(start.outside, i) { start.outside } else { 0 };
            let other_way = seen.before[i] & outside;
            demand(self.agreed[i] & other_way == 0, Violation::Consistent);
            self.agreed[i] |= after & outside;
            if has(start.outside, i) {
                self.later[i] |= after & !self.labelling;
                self.waiting[i] |= after & self.labelling & !self.later[i];
            }
        }
        self.before[p] |= after[p];
        for i in (0..n).filter(|&i| has(self.done[p], i)) {
            self.must[i] |= after[p] & !(1 << i);
        }
        if has(self.labelled, p) {
            self.last[p] = seen.before[p];
            self.scanned |= 1 << p;
            demand(self.some_saw_itself_last(p), Violation::P4);
            let firsts = self.some_saw_itself_first(p, &after, start.outside & self.labelled);
            demand(firsts, Violation::P5);
        }
        violation
    }

    /// Checks (4) for all sets that contain `p`.
    fn some_saw_itself_last(&self, p: usize) -> bool {
        let of = self.scanned & !self.labelling;
        (1..=self.all()).filter(|set| set & !of == 0 && has(*set, p)).all(|set| {
            (0..self.n).any(|i| {
                let others = set & !(1 << i);
                has(set, i) && others & !self.overlapped[i] == 0 && others & !self.last[i] == 0
            })
        })
    }

    /// Checks (5) for all sets of processes that contain `p` and were outside Label since the Scan
    /// began.
    fn some_saw_itself_first(&mut self, p: usize, after: &[Set], of: Set) -> bool {
        let mut holds = true;
        for set in (1..=self.all()).filter(|set| set & !of == 0 && has(*set, p)) {
            let not_first = &mut self.not_first[set as usize];
            if set & !(1 << p) & !after[p] != 0 {
                *not_first |= 1 << p;
            }
            holds &= *not_first != set;
        }
        holds
    }
}

impl Observer for Properties {
    fn new(subject: &dyn Subject) -> Self {
        let n = subject.n();
        let rows = vec![0; n];
        Properties {
            n,
            labelling: 0,
            labelled: 0,
            began_after: rows.clone(),
            done: rows.clone(),
            before: rows.clone(),
            must: rows.clone(),
            overlapped: rows.clone(),
            last: rows.clone(),
            scanned: 0,
            not_first: vec![0; 1 << n],
            agreed: rows.clone(),
            later: rows.clone(),
            waiting: rows,
            starts: vec![Start::default(); n],
        }
    }

    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Violation> {
        let _ = (subject, state);
        match happened.began {
            Some(Procedure::Label) => self.begin_label(p),
            Some(Procedure::Scan) => self.begin_scan(p),
            None => {}
        }
        if happened.ended == Some(Procedure::Label) {
            self.end_label(p);
        }
        self.end_scan(p, happened.scanned.as_ref()?)
    }
}
