//! Mistakes with functions, procedures, operations, jumps and sections.

use super::{Mistake, line};

const fn with(
    name: &'static str,
    declarations: &'static str,
    passage: &'static str,
    says: (usize, &'static str, &'static str),
) -> Mistake {
    Mistake { name, declarations, passage, says }
}

pub const MISTAKES: &[Mistake] = &[
    with(
        "a procedure that calls itself",
        "procedure a r: a() end",
        "1: a()\ncritical",
        (6, "`a` calls itself", "a procedure cannot be recursive"),
    ),
    with(
        "a procedure that calls a later one",
        "procedure a r: b() end procedure b r: turn := me end",
        "1: a()\ncritical",
        (6, "`b` is declared after this call", "move it up"),
    ),
    with(
        "an argument of a procedure",
        "procedure a r: turn := me end",
        "1: a(3)\ncritical",
        (8, "a procedure has no parameters", "write `a()`"),
    ),
    with(
        "a function that calls itself",
        "define f(x) = f(x - 1)",
        "1: turn := f(1)\ncritical",
        (6, "`f` calls itself", "a function cannot be recursive"),
    ),
    with(
        "a function that calls a later one",
        "define f(x) = g(x) define g(x) = x",
        "1: turn := f(1)\ncritical",
        (6, "`g` is defined after this call", "move `define g` up"),
    ),
    line(
        "a function that is not defined",
        "v := foo(1)\n1: turn := me\ncritical",
        (8, "no function is called `foo`", "write `define foo(...) = ...`"),
    ),
    line(
        "too few arguments of an operation",
        "1: compare_and_swap(turn, 1)\ncritical",
        (
            8,
            "`compare_and_swap` takes 3 arguments, and 2 are given",
            "write `compare_and_swap(x, old, new)`",
        ),
    ),
    line(
        "an operation on a private variable",
        "1: fetch_and_add(v, 1)\ncritical",
        (8, "`v` is private, and `fetch_and_add` needs a shared variable", "`v := v + 1`"),
    ),
    line(
        "test_and_set of a number",
        "1: if test_and_set(turn) then v := 1 end\ncritical",
        (8, "`test_and_set` needs a condition, and `turn` is a number", "the type `bool`"),
    ),
    line(
        "fetch_and_add to a bool",
        "1: fetch_and_add(flag[me], 1)\ncritical",
        (8, "`fetch_and_add` needs a number, and `flag` is a condition", "a range, such as `0..n`"),
    ),
    line(
        "goto a label that does not exist",
        "1: turn := me\ngoto again\ncritical",
        (9, "no line is labelled `again`", "write `again:` before the line to jump to"),
    ),
    line(
        "an endless loop before the critical section",
        "loop\n1: turn := me\nend\ncritical",
        (11, "no run reaches the critical section", "has no `break`"),
    ),
    line(
        "exit before critical",
        "1: turn := me\nexit\ncritical",
        (9, "`exit` comes before `critical`", "move it below `critical`"),
    ),
    line(
        "a doorway after critical",
        "1: turn := me\ncritical\ndoorway\n2: turn := 0",
        (10, "the entry section ends at `critical`", "is the exit section"),
    ),
    line(
        "break outside a loop",
        "1: turn := me\nbreak\ncritical",
        (9, "`break` is in no loop", "`goto` leads to a line"),
    ),
];
