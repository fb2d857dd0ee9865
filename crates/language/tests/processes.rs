//! Tests files that use process numbers: queues, and whether a file treats all processes alike.

use std::{fs, path::Path};

use hallpass_algorithms::{Algorithm, Memory, Next, Op, Var, Word};
use hallpass_language::{Diagnostic, File};

fn parsed(source: &str) -> File {
    File::parse("test.kx", source).unwrap_or_else(|errors| panic!("{errors}"))
}

fn first_error(source: &str) -> Diagnostic {
    File::parse("test.kx", source).expect_err("it is wrong").diagnostics.remove(0)
}

/// Shared memory for one thread.
struct Words(Vec<Word>);

impl Memory for Words {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let word = &mut self.0[var.index()];
        std::mem::replace(word, op.leaves(*word))
    }
}

const QUEUE: &str = "algorithm test shared Q : queue x : -1..9 = 0 private v : -1..9
    passage 1: v := enqueue(Q, me) 2: x := v 3: v := position(Q, me) 4: x := v critical
    5: v := dequeue(Q) 6: x := v 7: v := length(Q) 8: x := v 9: if remove(Q, me) then 10: x := 9 end end";

#[test]
fn a_queue_keeps_the_order_of_arrival() {
    let file = parsed(QUEUE);
    let program = file.at(3, 1).unwrap();
    let mut memory = Words(program.layout().first_initial());
    // Each process executes lines 1 to 4: it appends itself and looks where it is.
    let mut at = Vec::new();
    for p in [2, 0] {
        let mut state = program.begin(p);
        let mut seen = Vec::new();
        for _ in 0..4 {
            match program.step(&mut memory, p, state) {
                Next::Goto(next) | Next::Spin(next) | Next::Enter(next) => state = next,
                Next::Leave => panic!("the exit section is not reached yet"),
            }
            seen.push(memory.0[1]);
        }
        let before = at.len() as Word;
        assert_eq!(seen[1..], [before; 3], "process {p}");
        at.push(state);
    }
    let shown = |memory: &Words| program.layout().decls()[0].show(memory.0[0]);
    assert_eq!(shown(&memory), "[2, 0]");

    // Process 0 removes the first, which is process 2, and then itself.
    let mut state = at[1];
    let mut seen = Vec::new();
    for _ in 0..6 {
        match program.step(&mut memory, 0, state) {
            Next::Goto(next) | Next::Spin(next) | Next::Enter(next) => state = next,
            Next::Leave => {}
        }
        seen.push((shown(&memory), memory.0[1]));
    }
    assert_eq!(seen[1], ("[0]".into(), 2), "dequeue returns process 2");
    assert_eq!(seen[3], ("[0]".into(), 1), "one process is left");
    assert_eq!(seen[5], ("[]".into(), 9), "process 0 was in the queue");
}

#[test]
fn a_queue_is_used_with_its_own_operations_only() {
    let passage = |line: &str| {
        format!(
            "algorithm test shared Q : queue x : 0..3 = 0 private v : 0..3 passage {line} critical end"
        )
    };
    for (line, message) in [
        ("1: v := Q", "expected a number, found a queue"),
        ("1: fetch_and_add(Q, 1)", "`fetch_and_add` needs a number, and `Q` is a queue"),
        ("1: enqueue(x, me)", "`enqueue` needs a queue, and `x` is a number"),
        ("1: v := position(x, me)", "expected a queue, found a number"),
        ("1: v := Q + 1", "expected a number or a set, found a queue"),
    ] {
        let error = first_error(&passage(line));
        assert!(error.message.contains(message), "{line}: {error:#?}");
    }
    let start = first_error("algorithm test shared Q : queue = {} passage critical end");
    assert!(start.message.contains("a queue is empty at the start"), "{start:#?}");
    let private = first_error("algorithm test private Q : queue passage critical end");
    assert!(private.message.contains("only shared variables are queues"), "{private:#?}");
    let large = parsed(QUEUE).at(8, 1).err().expect("it is too large").to_string();
    assert!(large.contains("n must be at most 7"), "{large}");
}

/// Returns whether a file of the gallery treats its processes alike.
fn is_alike(name: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let source = fs::read_to_string(root.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    parsed(&source).code.is_symmetric
}

#[test]
fn files_that_only_compare_process_numbers_treat_processes_alike() {
    for name in ["papers/am_fig3.kx", "spinlock.kx", "ticket.kx", "gottlieb.kx", "fischer.kx"] {
        assert!(is_alike(name), "{name}");
    }
    // These files have homes, order processes by their numbers, or have arrays with an element for each process.
    for name in ["papers/am_fig8.kx", "burns.kx", "bakery.kx", "mcs.kx", "peterson.kx", "filter.kx"]
    {
        assert!(!is_alike(name), "{name}");
    }
}

#[test]
fn only_writing_and_comparing_process_numbers_treats_processes_alike() {
    let file = |variables: &str, line: &str, invariant: &str| {
        parsed(&format!(
            "algorithm test shared {variables} x : 0..9 = 0 private v : 0..9 s : set
             passage {line} critical end invariant I: {invariant}"
        ))
        .code
        .is_symmetric
    };
    let turn = "turn : process open";
    assert!(file(turn, "1: turn := me 2: await turn <> me", "true"));
    assert!(file(turn, "1: turn := me", "exists p in process : turn = p and p at critical"));
    assert!(file(turn, "1: turn := me", "size({p in process : p at 1 and p.v = 0}) >= 0"));
    for line in [
        "1: turn := 0",
        "1: await turn = 0",
        "1: v := turn",
        "1: x := me",
        "1: await turn < me",
        "1: if me = 0 then v := 1 end",
        "for j in others do 1: x := 0 end",
        "s := process 1: x := lowest(s)",
        "v := 9 - me 1: x := v",
    ] {
        assert!(!file(turn, line, "true"), "{line}");
    }
    for variables in ["turn : process = 0", "turn : process open home 0", "turn : set = {}"] {
        assert!(!file(variables, "1: x := 0", "true"), "{variables}");
    }
    for invariant in [
        "not (0 at critical)",
        "all p in process : p < 2",
        "lowest({p in process : p at 1}) < 9",
        "turn = 0",
    ] {
        assert!(!file(turn, "1: turn := me", invariant), "{invariant}");
    }
}
