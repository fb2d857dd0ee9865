//! A k-exclusion algorithm in its own crate, checked and measured by the lab of hallpass.

use std::{error::Error, sync::atomic::AtomicBool};

use hallpass_algorithms::{
    Algorithm, Decl, Label, Layout, Memory,
    Next::{self, Enter, Goto, Leave, Spin},
    Pid, Var, Word,
};
use hallpass_lab::{
    catalogue,
    check::{Property, Question, Resources, Verdict, check},
    rmr::{self, SearchBudget},
    schedule::Conventions,
    space::Initial,
    trace,
};

/// A semaphore. A process looks for a free slot, takes one, and gives it back if another process was faster.
struct Semaphore {
    n: usize,
    k: usize,
    layout: Layout,
    free: Var,
}

/// The line that a process executes next. An algorithm with private variables would also keep them in this type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Line {
    Look,
    Take,
    GiveBack,
    Release,
}

impl Semaphore {
    fn new(n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        // Each process subtracts at most 1, so `free` is never below k - n.
        let (low, high) = (k as Word - n as Word, k as Word);
        let free = layout.add(Decl::number("free", low, high, high).waited_on());
        Semaphore { n, k, layout, free }
    }
}

impl Algorithm for Semaphore {
    type State = Line;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, _: Pid) -> Line {
        Line::Look
    }

    /// Executes one line, which makes at most one shared access.
    fn step<M: Memory>(&self, memory: &mut M, _: Pid, at: Line) -> Next<Line> {
        match at {
            Line::Look if memory.read(self.free) > 0 => Goto(Line::Take),
            Line::Look => Spin(Line::Look),
            Line::Take if memory.fetch_add(self.free, -1) > 0 => Enter(Line::Release),
            Line::Take => Goto(Line::GiveBack),
            Line::GiveBack => {
                memory.fetch_add(self.free, 1);
                Goto(Line::Look)
            }
            Line::Release => {
                memory.fetch_add(self.free, 1);
                Leave
            }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        at != Line::Release
    }

    fn label(&self, _: Pid, at: Line) -> Label {
        Label { figure: "own", line: format!("{at:?}"), instance: String::new() }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (n, k) = (3, 2);
    // From now on, the lab knows this algorithm by the identifier `own`.
    catalogue::add_algorithm("own", Semaphore::new);

    let stop = AtomicBool::new(false);
    let resources = Resources {
        states: 1_000_000,
        bytes: 1 << 30,
        threads: 1,
        stop: &stop,
        phase: &|_| (),
        progress: &|_| (),
    };
    let promised = vec![Property::Exclusion, Property::Deadlock, Property::Exit];
    let report = check(&Question::everything("own", n, k).only(promised), &resources)?;
    println!("own, n = {n}, k = {k}: {:?}, {} states", report.verdict(), report.states);
    for (name, outcome) in &report.properties {
        println!("  {name}: {:?}", outcome.verdict);
        if let (Verdict::Violated, Some(run)) = (outcome.verdict, &outcome.run) {
            let trace = trace::run(run, &trace::conventions(run))?;
            println!("{}", trace::text(&trace, false));
        }
    }

    let question = rmr::Question {
        algorithm: "own".into(),
        n,
        k,
        contention: n,
        conventions: Conventions::default(),
        initial: Initial::All,
    };
    let cost = rmr::measure(&question, &resources, &SearchBudget::default())?;
    println!("worst passage: CC {:?}, DSM {:?}", cost.cc.worst, cost.dsm.worst);
    if report.verdict() != Verdict::Holds {
        return Err("the algorithm breaks a promise".into());
    }
    Ok(())
}
