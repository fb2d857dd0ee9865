//! The normal form of a state behaves as the state itself, for every algorithm that counts without
//! bound: the two run in lockstep on random schedules.

use fastrand::Rng;
use hallpass_algorithms::{
    Memory, Op, Pid, Section, Var, Word,
    registry::{ENTRIES, Standing},
};
use hallpass_lab::machine::{self, Local, Machine, REMAINDER};

/// A state, and what the last step did to it.
#[derive(Clone)]
struct Run {
    locals: Vec<Local>,
    memory: Vec<Word>,
    seen: Option<(usize, &'static str, bool)>,
}

impl Memory for Run {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.memory[var.index()];
        self.memory[var.index()] = op.leaves(old);
        let kind = match op {
            Op::Read => "read",
            Op::Write(_) => "write",
            _ => "read-modify-write",
        };
        self.seen = Some((var.index(), kind, op.fails_on(old)));
        old
    }
}

impl Run {
    fn step(
        &mut self,
        machine: &dyn Machine,
        p: Pid,
    ) -> (Option<(usize, &'static str, bool)>, Section) {
        let at = self.locals[p];
        self.seen = None;
        let next = machine.step(p, at, self);
        self.locals[p] = next;
        (self.seen, machine.place(p, next).section)
    }

    fn normalize(&mut self, machine: &dyn Machine) {
        machine.normalize(&mut self.locals, &mut self.memory);
    }
}

/// Runs both for so many steps: mostly bursts of one process, and now and then one stands still for
/// long, so that old numbers meet new ones.
fn lockstep(id: &str, n: usize, k: usize, steps: usize, rng: &mut Rng) {
    let machine = &*machine::build(id, n, k).expect("it exists");
    let mut raw =
        Run { locals: vec![REMAINDER; n], memory: machine.layout().first_initial(), seen: None };
    let mut normal = raw.clone();
    let (mut p, mut burst, mut asleep) = (0, 0, None);
    for step in 0..steps {
        if burst == 0 {
            p = rng.usize(0..n);
            burst = if rng.bool() { 1 } else { rng.usize(1..40) };
            if rng.usize(0..60) == 0 {
                asleep = rng.bool().then(|| rng.usize(0..n));
            }
        }
        burst -= 1;
        if asleep == Some(p) {
            continue;
        }
        let context = || format!("{id} n={n} k={k} at step {step}");
        assert_eq!(raw.step(machine, p), normal.step(machine, p), "{}", context());
        normal.normalize(machine);
        let mut again = raw.clone();
        again.normalize(machine);
        assert_eq!(
            (&again.locals, &again.memory),
            (&normal.locals, &normal.memory),
            "{}",
            context()
        );
        let decls = machine.layout().decls();
        for (decl, &value) in decls.iter().zip(&normal.memory) {
            assert!(decl.domain.contains(value), "{}: {} = {value}", context(), decl.name);
        }
    }
}

#[test]
fn a_normal_state_behaves_as_the_state_itself() {
    let mut rng = Rng::with_seed(7);
    let mut checked = 0;
    for entry in ENTRIES.iter().filter(|entry| entry.standing != Standing::Broken) {
        for (n, k) in [(2, 1), (3, 1), (3, 2), (4, 2), (5, 3)] {
            let Ok(machine) = machine::build(entry.id, n, k) else { continue };
            // The Bakery algorithm has a normal form for two processes only.
            if !machine.is_unbounded() || entry.id == "bakery" && n > 2 {
                continue;
            }
            for _ in 0..20 {
                lockstep(entry.id, n, k, 2_000, &mut rng);
            }
            checked += 1;
        }
    }
    assert!(checked > 0);
}
