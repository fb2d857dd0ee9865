//! Mistakes with labels, brackets, numbers and characters.

use super::{Mistake, line};

pub const MISTAKES: &[Mistake] = &[
    line(
        "a label with two colons",
        "1:: turn := me\ncritical",
        (8, "expected a statement, found `:`", "a label ends with one colon"),
    ),
    line(
        "a label with a dot",
        "1. turn := me\ncritical",
        (8, "only a variable can be assigned to", "a label ends with a colon"),
    ),
    line(
        "a label with a bracket",
        "1) turn := me\ncritical",
        (8, "found `)`", "a label ends with a colon"),
    ),
    line(
        "a comma between statements",
        "1: turn := me,\n2: turn := 0\ncritical",
        (8, "found `,`", "statements need no separator: remove the `,`"),
    ),
    line(
        "a bracket that is not closed on its line",
        "v := (1 + 2\n1: turn := me\ncritical",
        (9, "expected `)` or an operator, found `1`", "write `)` before `1`"),
    ),
    line(
        "an index that is not closed",
        "1: flag[me := true\ncritical",
        (8, "found `:=`", "write `]` before `:=`"),
    ),
    line(
        "arguments without a comma",
        "v := min(1 2)\n1: turn := me\ncritical",
        (8, "found `2`", "write `,` or `)` before `2`"),
    ),
    line(
        "a missing then on the same line",
        "1: if turn = me v := 1 end\ncritical",
        (8, "expected `then` or an operator, found `v`", "write `then` after the condition"),
    ),
    line(
        "a missing do",
        "1: while turn = me v := 1 end\ncritical",
        (8, "found `v`", "write `do` after the condition"),
    ),
    line(
        "a section as a variable",
        "1: exit := 1\ncritical",
        (8, "found `:=`", "`exit` is a word of the language: choose another name"),
    ),
    line(
        "words in capitals",
        "1: IF turn = me THEN v := 1 END\ncritical",
        (
            8,
            "no variable is called `IF`",
            "did you mean `if`? The words of the language are in lower case",
        ),
    ),
    line(
        "a decimal fraction",
        "v := 1.5\n1: turn := me\ncritical",
        (8, "expected a name, found `5`", "numbers are whole"),
    ),
    line(
        "a hexadecimal number",
        "v := 0x1f\n1: turn := me\ncritical",
        (8, "no variable is called `0x1f`", "a number has only the digits 0 to 9"),
    ),
    line(
        "a number that is too large",
        "v := 99999999999999999999\n1: turn := me\ncritical",
        (8, "numbers are at most 2147483647", ""),
    ),
    line(
        "a text for a condition",
        "1: flag[me] := \"true\"\ncritical",
        (8, "found a text in quotes", "only after `title`, `paper`, `normal form of` and a bound"),
    ),
    line(
        "a minus sign from a paper",
        "1: turn := n − 1\ncritical",
        (8, "the language has no `−`", "write `-`"),
    ),
    line(
        "a letter with an accent",
        "1: größe := me\ncritical",
        (8, "begins with `ö`", "the letters a to z"),
    ),
    line(
        "a space that cannot be seen",
        "1: turn\u{a0}:= me\ncritical",
        (8, "invisible character here: U+00A0", "replace it with a space"),
    ),
    line("a picture", "1: turn := 😀\ncritical", (8, "begins with `😀`", "remove it")),
];
