//! The exit section and the doorway of the halls of processes are bounded, whatever the process reads. In these halls,
//! every process wants one slot, and the number of slots is constant. `halls/processes/mod.rs` explains the lines, and
//! the *card* of a process: a word with its phase and its ticket.
//!
//! Here, an access of a process may return any value that its variable can have. There is one exception: if a process
//! that leaves or arrives reads its own card, the card is idle, because no other process changes an idle card. So the
//! longest path through the private states of the exit section is a bound for every schedule and for any number of
//! passages, even if other processes are killed. The same holds for the doorway, if no process is killed.
//!
//! If processes are killed, the doorway also contains the recovery, which reads a card again if another process has
//! changed it (R3). So no bound on the recovery holds for all values that the process may read, and this test says
//! nothing about the recovery.
//!
//! Tickets grow without bound, and a variable of the model has only the values of normal forms. They are enough: a
//! search (S1 to S5) compares a copy of `next` and the tickets of n processes for order. The model has more than n + 1
//! tickets, so every order of them occurs. The next search begins with new values. All other lines compare numbers for
//! equality.

use std::collections::{HashMap, HashSet};

use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Var, Word,
    framework::changed::Changed,
    halls::processes::{Card, Cast, Casts, Phase, ProcessesModel, wrong},
};

/// A memory that answers the only access of a step.
struct AnyValue<'a, A> {
    model: &'a A,
    /// The name of the variable that is the card of the process.
    idle: String,
    /// The index of the value that the access returns.
    answer: usize,
    /// The number of values that the accessed variable can have.
    answers: usize,
}

impl<A: Algorithm> Memory for AnyValue<'_, A> {
    fn access(&mut self, var: Var, _: Op) -> Word {
        let decl = &self.model.layout().decls()[var.index()];
        let is_possible =
            |&value: &Word| decl.name != self.idle || Card::unpack(value).phase == Phase::Idle;
        let values: Vec<Word> = decl.domain.listed().iter().copied().filter(is_possible).collect();
        self.answers = values.len();
        values[self.answer]
    }
}

/// The private states of one process.
struct Private<'a, A: Algorithm> {
    model: &'a A,
    process: usize,
    /// Whether the section is the doorway. Otherwise, it is the exit section.
    is_doorway: bool,
    /// The largest number of steps from each state to the end of the section. `None` while the search is in the states
    /// after it.
    longest: HashMap<A::State, Option<usize>>,
}

impl<A: Algorithm> Private<'_, A> {
    /// Returns what can follow a state of the section.
    fn next(&self, at: A::State) -> HashSet<Ahead<A::State>> {
        let idle = format!("card[{}]", self.process);
        let mut memory = AnyValue { model: self.model, idle, answer: 0, answers: 1 };
        let mut next = HashSet::new();
        while memory.answer < memory.answers {
            next.insert(match self.model.step(&mut memory, self.process, at) {
                Next::Goto(at) | Next::Spin(at) => Ahead::Goto(at),
                Next::Enter(at) => Ahead::Enter(at),
                Next::Leave => Ahead::Leave,
            });
            memory.answer += 1;
        }
        next
    }

    /// Returns the largest number of steps from `at` to the end of the section, or `None` if there is a loop.
    fn longest_from(&mut self, at: A::State) -> Option<usize> {
        if let Some(&known) = self.longest.get(&at) {
            return known;
        }
        self.longest.insert(at, None);
        let mut longest = 1;
        for next in self.next(at) {
            match next {
                Ahead::Goto(to) if self.is_doorway && self.model.waits(self.process, to) => {}
                Ahead::Goto(to) => longest = longest.max(1 + self.longest_from(to)?),
                Ahead::Enter(_) => assert!(self.is_doorway, "a leaving process enters"),
                Ahead::Leave => assert!(!self.is_doorway, "an arriving process leaves"),
            }
        }
        self.longest.insert(at, Some(longest));
        Some(longest)
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Ahead<S> {
    Goto(S),
    Enter(S),
    Leave,
}

/// Returns the states in which exit sections begin, in a run in which processes take turns. Every exit section begins
/// at line X1, or at line X2, which X3 follows. X2 and X3 have the number of the process. No later line has it, so the
/// states of one run show all continuations.
fn exits<A: Algorithm>(model: &A) -> HashSet<(usize, A::State)> {
    struct Words<'a>(&'a mut [Word]);
    impl Memory for Words<'_> {
        fn access(&mut self, var: Var, op: Op) -> Word {
            let old = self.0[var.index()];
            self.0[var.index()] = op.leaves(old);
            old
        }
    }

    let mut memory = model.layout().first_initial();
    let mut at: Vec<Option<A::State>> = vec![None; model.n()];
    let mut exits = HashSet::new();
    for turn in 0..400 * model.n() {
        let p = turn % model.n();
        at[p] = match at[p] {
            None => Some(model.begin(p)),
            Some(line) => match model.step(&mut Words(&mut memory), p, line) {
                Next::Goto(next) | Next::Spin(next) => Some(next),
                Next::Leave => None,
                Next::Enter(exit) => {
                    exits.insert((p, exit));
                    Some(exit)
                }
            },
        };
    }
    exits
}

/// Returns the largest number of steps of an exit section, or `None` if it may take any number.
fn longest_exit(model: &impl Algorithm) -> Option<usize> {
    let exits = exits(model);
    let lines: HashSet<String> = exits.iter().map(|&(p, at)| model.label(p, at).line).collect();
    assert_eq!(lines, HashSet::from(["X1".to_string(), "X2".to_string()]));
    let mut longest = 0;
    for process in 0..model.n() {
        let mut private = Private { model, process, is_doorway: false, longest: HashMap::new() };
        for &(_, exit) in exits.iter().filter(|(p, _)| *p == process) {
            longest = longest.max(private.longest_from(exit)?);
        }
    }
    Some(longest)
}

#[test]
fn an_exit_section_is_bounded_whatever_the_process_reads() {
    for (n, k, steps) in [(2, 1, 19), (3, 1, 25), (3, 2, 27)] {
        for casts in [Casts::PLAIN, Cast::Mortal.into()] {
            let model = ProcessesModel::new(casts, n, k);
            assert_eq!(longest_exit(&model), Some(steps), "{n}, {k}, {casts:?}");
        }
    }
}

/// Returns the largest number of steps of a doorway, or `None` if it may take any number.
fn longest_doorway(model: &impl Algorithm) -> Option<usize> {
    let doorway = |process| {
        let longest = HashMap::new();
        Private { model, process, is_doorway: true, longest }.longest_from(model.begin(process))
    };
    (0..model.n()).map(doorway).try_fold(0, |longest, steps| Some(longest.max(steps?)))
}

#[test]
fn a_doorway_is_bounded_whatever_the_process_reads() {
    for (n, k, steps) in [(2, 1, 8), (3, 1, 8), (3, 2, 10)] {
        let model = ProcessesModel::new(Casts::PLAIN, n, k);
        assert_eq!(longest_doorway(&model), Some(steps), "{n}, {k}");
    }
}

#[test]
fn an_exit_section_that_reads_a_slot_again_is_not_bounded() {
    let model = ProcessesModel::new(Casts::PLAIN, 2, 1);
    assert_eq!(longest_exit(&Changed::<_, wrong::StubbornLeaver>::new(model)), None);
}
