//! Compares two ways to run the lines of the hall for threads: one by one, as in the lab, and straight, as in a real
//! hall. Both must make the same accesses in the same order. The environment answers at random.

use hallpass_algorithms::{
    Next, Op, Word,
    halls::threads::{
        Advance, After, Barging, Bits, BitsAndCount, Bypass, CALLED, CLOSED, Count, DEBT,
        Environment, Fair, FastEnvironment, HELD, Job, Line, MARK, NEWS, OvertakeEnvironment,
        Policy, Pool, SERVE, Stage, TRY, Terms, Turn, WAITER, advance, step,
    },
};

/// An environment that answers at random and records every call.
struct Oracle<const STRAIGHT: bool> {
    random: fastrand::Rng,
    calls: Vec<String>,
}

impl<const STRAIGHT: bool> Oracle<STRAIGHT> {
    fn new(seed: u64) -> Self {
        Oracle { random: fastrand::Rng::with_seed(seed), calls: Vec::new() }
    }

    fn answer<T: Clone>(&mut self, call: String, answers: &[T]) -> T {
        self.calls.push(call);
        self.random.choice(answers).expect("there is an answer").clone()
    }
}

impl<const STRAIGHT: bool> FastEnvironment for Oracle<STRAIGHT> {
    fn word(&mut self, op: Op) -> Word {
        let words = [0, 1, 3, 7, WAITER, WAITER + 3, 2 * WAITER + 1, CALLED + WAITER + 3, MARK + 1];
        self.answer(format!("word {op:?}"), &words)
    }
}

impl<const S: bool> OvertakeEnvironment for Oracle<S> {
    fn credit(&mut self, op: Op) -> Word {
        self.answer(format!("credit {op:?}"), &[0, -1, 1, 2, DEBT - 1, DEBT - 3])
    }
}

impl<const S: bool> Environment for Oracle<S> {
    const STRAIGHT: bool = S;
    type Waiter = usize;

    fn lock(&mut self, op: Op) -> Word {
        self.answer(format!("lock {op:?}"), &[0, HELD, HELD, HELD | NEWS])
    }

    fn terms(&mut self, op: Op) -> Word {
        let terms = Terms::new(3);
        let owes = Terms { owed: 4, ..terms };
        let closed = Terms { closed: true, ..terms };
        let words = [terms.pack(), terms.pack(), owes.pack(), closed.pack()];
        self.answer(format!("terms {op:?}"), &words)
    }

    fn head(&mut self) -> Option<usize> {
        self.answer("head".into(), &[None, Some(1), Some(2)])
    }

    fn push(&mut self, waiter: usize) {
        self.answer(format!("push {waiter}"), &[()]);
    }

    fn pop(&mut self) {
        self.answer("pop".into(), &[()]);
    }

    fn remove(&mut self, waiter: usize) {
        self.answer(format!("remove {waiter}"), &[()]);
    }

    fn grant(&mut self, waiter: usize, op: Op) -> Word {
        self.answer(format!("grant {waiter} {op:?}"), &[0, 0, 1, TRY, SERVE, CLOSED])
    }

    fn wake(&mut self, waiter: usize) {
        self.answer(format!("wake {waiter}"), &[()]);
    }

    fn was_woken(&mut self, waiter: usize) -> bool {
        self.answer(format!("was_woken {waiter}"), &[false, true])
    }

    fn may_wake_spuriously(&self) -> bool {
        true
    }

    fn expired(&mut self) -> bool {
        self.answer("expired".into(), &[false, true])
    }

    fn need(&self, waiter: usize) -> u32 {
        waiter as u32
    }

    fn may_serve(&self, waiter: usize) -> bool {
        waiter == 1
    }

    fn grant_limit(&self) -> u32 {
        2
    }

    fn bypass_limit(&self) -> u32 {
        2
    }

    fn overtake_tries(&self) -> u32 {
        2
    }
}

/// The number of accesses after which a comparison ends.
const ENOUGH: usize = 60;

/// Runs the lines one by one. Returns the accesses, and the slots if the caller got any.
fn one_by_one<P: Pool, M: Policy>(seed: u64, mut at: Line<usize>) -> (Vec<String>, Option<Word>) {
    let mut e = Oracle::<false>::new(seed);
    while e.calls.len() < ENOUGH {
        match step::<P, M, _>(&mut e, 1, at) {
            Next::Goto(next) | Next::Spin(next) => at = next,
            Next::Enter(Line::X1 { take }) => return (e.calls, Some(take)),
            Next::Enter(_) => unreachable!("the exit section begins at X1"),
            Next::Leave => return (e.calls, None),
        }
    }
    (e.calls, None)
}

/// Runs the lines straight. Returns the accesses, and the slots if the caller got any.
fn straight<P: Pool, M: Policy>(seed: u64, mut at: Stage) -> (Vec<String>, Option<Word>) {
    let mut e = Oracle::<true>::new(seed);
    while e.calls.len() < ENOUGH {
        match advance::<P, M, _>(&mut e, 1, at) {
            Advance::Goto(next) | Advance::Spin(next) => at = next,
            Advance::Entered(take) => return (e.calls, Some(take)),
            Advance::Left => return (e.calls, None),
        }
    }
    (e.calls, None)
}

fn compare<P: Pool, M: Policy>() {
    let lock = |job| (Line::L5 { job }, Stage::Lock(job));
    let turn = Turn { left: 2, after: After::Leave };
    let starts = [
        (Line::L1, Stage::Look),
        (Line::L3, Stage::Join),
        (Line::L6, Stage::Check),
        (Line::L7, Stage::Wait),
        (Line::C1, Stage::GiveUp),
        (Line::S1 { turn }, Stage::Serve),
        lock(Job::Serve(After::Leave)),
        lock(Job::Serve(After::Wait)),
        lock(Job::Serve(After::Again)),
        lock(Job::Cancel),
        (Line::R1 { k: 2 }, Stage::Resize(2)),
        lock(Job::Resize(2)),
        lock(Job::Close),
    ];
    for (line, stage) in starts {
        for seed in 0..300 {
            let (mut one, slots) = one_by_one::<P, M>(seed, line);
            let (mut other, other_slots) = straight::<P, M>(seed, stage);
            if one.len() >= ENOUGH || other.len() >= ENOUGH {
                one.truncate(ENOUGH);
                other.truncate(ENOUGH);
            } else {
                assert_eq!(slots, other_slots, "from {line:?}, seed {seed}");
            }
            assert_eq!(one, other, "from {line:?}, seed {seed}");
        }
    }
}

#[test]
fn straight_lines_and_single_lines_make_the_same_accesses() {
    compare::<Bits, Fair>();
    compare::<Count, Fair>();
    compare::<BitsAndCount<1>, Fair>();
    compare::<Bits, Barging>();
    compare::<Count, Barging>();
    compare::<Bits, Bypass>();
    compare::<Count, Bypass>();
    compare::<BitsAndCount<1>, Bypass>();
}
