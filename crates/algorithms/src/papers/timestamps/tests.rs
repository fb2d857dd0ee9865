//! Tests of the timestamp systems: the order of labels in sequential runs, and the maximum cost of the linear system.

use alloc::vec::Vec;

use super::{marked::WithMarks, *};
use crate::framework::memory::{Op, Var};

struct Plain {
    words: Vec<Word>,
    accesses: usize,
}

impl Memory for Plain {
    fn access(&mut self, var: Var, op: Op) -> Word {
        self.accesses += 1;
        let old = self.words[var.index()];
        self.words[var.index()] = op.leaves(old);
        old
    }
}

struct World<T> {
    system: T,
    layout: Layout,
    memory: Plain,
    n: usize,
}

impl<T: Timestamps> World<T> {
    fn new(n: usize) -> Self {
        let mut layout = Layout::default();
        let system = T::new(&mut layout, n);
        let memory = Plain { words: layout.first_initial(), accesses: 0 };
        World { system, layout, memory, n }
    }

    fn label_step(&mut self, p: Pid, at: T::Labelling) -> Turn<T::Labelling, ()> {
        let before = self.memory.accesses;
        let turn = self.system.label(&mut self.memory, p, at);
        assert_eq!(self.memory.accesses, before + 1, "a step makes one access");
        turn
    }

    fn label(&mut self, p: Pid) {
        let mut at = self.system.begin_label(p);
        while let Turn::Goto(next) = self.label_step(p, at) {
            at = next;
        }
    }

    fn scan_step(&mut self, p: Pid, at: T::Scanning) -> Turn<T::Scanning, T::Collected> {
        let before = self.memory.accesses;
        let turn = self.system.scan(&mut self.memory, p, at);
        assert_eq!(self.memory.accesses, before + 1, "a step makes one access");
        turn
    }

    fn scan(&mut self, p: Pid) -> T::Collected {
        let mut at = self.system.begin_scan(p);
        loop {
            match self.scan_step(p, at) {
                Turn::Goto(next) => at = next,
                Turn::Done(seen) => return seen,
            }
        }
    }

    fn others(&self, p: Pid) -> impl Iterator<Item = Pid> + use<T> {
        (0..self.n).filter(move |&q| q != p)
    }
}

/// Runs Label and Scan many times, by processes in an irregular order. Each run ends before the next one begins.
fn one_after_another<S: Part, T: Timestamps<Stamp = S, Collected = All<S>>>() {
    for n in 2..=T::MAX_PROCESSES {
        let mut world = World::<T>::new(n);
        let mut order: Vec<Pid> = (0..n).collect();
        for round in 0..300usize {
            let p = (round * 5 + round / n * 3) % n;
            world.label(p);
            order.retain(|&q| q != p);
            order.push(p);
            let seen = world.scan((p + round) % n);
            for (place, &i) in order.iter().enumerate() {
                assert!(order[place + 1..].iter().all(|&j| seen.orders::<T>(i, j)), "n = {n}");
                assert!(order[..place].iter().all(|&j| !seen.orders::<T>(i, j)), "n = {n}");
            }
            for (decl, &word) in world.layout.decls().iter().zip(&world.memory.words) {
                assert!(decl.allows(word), "n = {n}: {} = {}", decl.name, decl.show(word));
            }
        }
    }
}

#[test]
fn sequential_labels_are_in_the_order_they_were_taken() {
    one_after_another::<_, Uctss<All<Word>>>();
    one_after_another::<_, Linear<All<Stamp>>>();
    one_after_another::<_, Linear<All<Stamp>, WithMarks>>();
    one_after_another::<_, Quadratic<All<Stamp>>>();
}

/// Runs Scan three times, and returns the number of steps of the last run. Right after each step of the scanner at line
/// `after`, all other processes label.
fn scan_among_labels<T: Timestamps>(n: usize, after: &str) -> usize {
    let mut world = World::<T>::new(n);
    let mut steps = 0;
    for _ in 0..3 {
        world.label(0);
        let mut at = world.system.begin_scan(0);
        steps = 1;
        while let Turn::Goto(next) = world.scan_step(0, at) {
            if T::scan_line(at) == after {
                world.others(0).for_each(|q| world.label(q));
            }
            at = next;
            steps += 1;
        }
    }
    steps
}

/// Runs Label of process 0 three times, and returns the number of steps of the last run. Right after each of its steps
/// at line `after`, all other processes label. Before each of its steps at line `mine`, all other processes scan, so
/// that process 0 finds new colours in their registers TOG.
fn label_among_others<T: Timestamps>(n: usize, after: &str) -> usize {
    let mut world = World::<T>::new(n);
    let mut steps = 0;
    for _ in 0..3 {
        world.others(0).for_each(|q| world.label(q));
        let mut at = world.system.begin_label(0);
        steps = 1;
        while let Turn::Goto(next) = world.label_step(0, at) {
            if T::label_line(at) == after {
                world.others(0).for_each(|q| world.label(q));
            }
            if T::label_line(next) == "mine" {
                world.others(0).for_each(|q| _ = world.scan(q));
            }
            at = next;
            steps += 1;
        }
    }
    steps
}

#[test]
fn linear_has_the_documented_cost() {
    for n in 2..=<Linear>::MAX_PROCESSES {
        let groups = (n - 1).div_ceil(12);
        let (scan, label) =
            if n <= 8 { (3 * n, 6 * n) } else { (4 * n - 1, 7 * n - 3 + 3 * groups) };
        assert_eq!(scan_among_labels::<Linear>(n, "toggle"), scan, "n = {n}");
        // With two processes, process 0 takes a new label only if it sees process 1 as later. Process 1 then already
        // has the latest label, so its own Label takes no new label and saves no copy. Process 0 has no copy to
        // read, and its Label takes one step less.
        let label = if n == 2 { label - 1 } else { label };
        assert_eq!(label_among_others::<Linear>(n, "toggle"), label, "n = {n}");
    }
}
