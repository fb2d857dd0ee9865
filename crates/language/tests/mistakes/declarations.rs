//! Mistakes in declarations, invariants and promises.

use super::{Mistake, declaration, line};

pub const MISTAKES: &[Mistake] = &[
    declaration(
        "no initial value of a bool",
        "shared b : bool",
        (6, "`b` has no initial value", "write `= false`, or `open`"),
    ),
    declaration(
        "no initial value of a range",
        "shared b : -1..n",
        (6, "`b` has no initial value", "write `= -1`, or `open`"),
    ),
    declaration(
        "no initial value of a set",
        "shared b : set",
        (6, "`b` has no initial value", "write `= {}`, or `open`"),
    ),
    declaration("no type", "shared b = 0", (6, "found `=`", "a variable needs a type")),
    declaration(
        "int for a range",
        "shared b : int = 0",
        (6, "expected `..` or an operator, found `=`", "a number has a range as its type"),
    ),
    declaration(
        "boolean for bool",
        "shared b : boolean = false",
        (6, "found `=`", "the type is `bool`"),
    ),
    declaration(
        "a size for an index",
        "shared b[n] : bool = false",
        (6, "an index is `process`, or a range", ""),
    ),
    declaration(
        "a keyword as a name",
        "shared set : bool = false",
        (6, "found `set`", "`set` is a word of the language"),
    ),
    declaration(
        "a misspelt private",
        "privat w : 0..1",
        (6, "found `w`", "did you mean `private` instead of `privat`?"),
    ),
    declaration(
        "var",
        "var w : 0..1",
        (6, "found `w`", "declare variables under `shared` or `private`"),
    ),
    declaration(
        "a misspelt promise",
        "promises exclusoin",
        (6, "found `exclusoin`", "did you mean `exclusion`?"),
    ),
    declaration(
        "a promise that does not exist",
        "promises fairness",
        (
            6,
            "expected a promise, found `fairness`",
            "a promise is `exclusion`, `names`, `deadlock freedom`",
        ),
    ),
    declaration(
        "mutual exclusion as a promise",
        "promises mutual exclusion",
        (6, "found `mutual`", "the promise is `exclusion`"),
    ),
    declaration(
        "names without a name",
        "promises names",
        (7, "the file promises `names`, and its processes have none", "write `critical naming v`"),
    ),
    declaration(
        "a text that does not end",
        "title \"a lock",
        (6, "this text does not end", "a second `\"` on the same line"),
    ),
    declaration(
        "a text in single quotes",
        "title 'a lock'",
        (6, "begins with `'`", "double quotes"),
    ),
    declaration(
        "a text in curly quotes",
        "title “a lock”",
        (6, "the language has no `“`", "straight quotes"),
    ),
    declaration(
        "a private array",
        "private w[process] : bool",
        (6, "a private variable is not an array", ""),
    ),
    declaration(
        "a range without an end",
        "private w : 0..",
        (
            7,
            "expected",
            "a range has two ends, as in `0..n`; a number that grows without bound has the type `counter`",
        ),
    ),
    declaration(
        "two algorithms",
        "algorithm other",
        (6, "found `algorithm`", "a file describes one algorithm"),
    ),
    declaration(
        "a condition after a bound",
        "promises\n  rmr cc <= 7 if c = 1",
        (7, "found `if`", "`rmr cc <= if c = 1 then 7 else 9 * c`"),
    ),
    declaration(
        "two passages",
        "passage\n1: turn := me\ncritical\nend",
        (10, "a file has one `passage`", "`procedure NAME ... end`"),
    ),
    line(
        "a constant that is assigned to",
        "n := 3\n1: turn := me\ncritical",
        (8, "`n` cannot be assigned to: it is the number of processes", "under `private`"),
    ),
    line(
        "another process number for me",
        "me := 0\n1: turn := me\ncritical",
        (8, "`me` cannot be assigned to", "under `private`"),
    ),
];
