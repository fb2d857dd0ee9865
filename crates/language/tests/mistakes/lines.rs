//! Mistakes in the lines of a passage.

use super::{Mistake, line};

pub const MISTAKES: &[Mistake] = &[
    line(
        "= for := on a shared variable",
        "1: turn = me\ncritical",
        (8, "compares two values", "write `turn := ...`"),
    ),
    line(
        "= for := on an element",
        "1: flag[me] = true\ncritical",
        (8, "compares two values", "write `flag[...] := ...`"),
    ),
    line(
        "= for := on a private variable",
        "v = 1\n1: turn := v\ncritical",
        (8, "compares two values", "write `v := ...`"),
    ),
    line(
        "a line that only reads",
        "1: turn\ncritical",
        (8, "this statement has no effect", "assign the value"),
    ),
    line(
        "a label without a colon",
        "1 turn := me\ncritical",
        (8, "this statement has no effect", "a label ends with a colon, as in `1: ...`"),
    ),
    line(
        "== in a condition",
        "1: await turn == me\ncritical",
        (8, "the language has no `==`", "`=` for equal"),
    ),
    line(
        "!= in a condition",
        "1: await turn != me\ncritical",
        (8, "the language has no `!=`", "`<>` for unequal"),
    ),
    line("! for not", "1: await !flag[0]\ncritical", (8, "the language has no `!`", "write `not`")),
    line(
        "&& for and",
        "1: await flag[0] && me = 0\ncritical",
        (8, "the language has no `&&`", "write `and`"),
    ),
    line(
        "|| for or",
        "1: await flag[0] || me = 0\ncritical",
        (8, "the language has no `||`", "write `or`"),
    ),
    line(
        "semicolons",
        "1: turn := me;\n2: turn := 0;\ncritical",
        (8, "the language has no `;`, which occurs 2 times", "remove the `;`"),
    ),
    line(
        "% for mod",
        "1: turn := (me + 1) % n\ncritical",
        (8, "the language has no `%`", "write `mod`"),
    ),
    line(
        "x++",
        "v++\n1: turn := me\ncritical",
        (8, "the language has no `++`", "`fetch_and_add(x, 1)`"),
    ),
    line(
        "x += 1",
        "v += 1\n1: turn := me\ncritical",
        (8, "the language has no `+=`", "`x := x + 1`"),
    ),
    line(
        "a comment in the style of C",
        "1: turn := me /* hello */\ncritical",
        (8, "the language has no `/*`", "`//`"),
    ),
    line(
        "fi for end",
        "1: if turn = me then\n  v := 1\nfi\ncritical",
        (10, "the language has no `fi`", "write `end` instead of `fi`"),
    ),
    line(
        "od for end",
        "1: while turn <> me do\n  v := 1\nod\ncritical",
        (10, "the language has no `od`", "write `end` instead of `od`"),
    ),
    line(
        "endif for end",
        "1: if turn = me then\n  v := 1\nendif\ncritical",
        (10, "the language has no `endif`", "write `end` instead of `endif`"),
    ),
    line(
        "a misspelt end",
        "1: if turn = me then\n  v := 1\nedn\ncritical",
        (10, "the language has no `edn`", "write `end` instead of `edn`"),
    ),
    line(
        "no end of an if",
        "loop\n  1: if turn = me then\n    break\nend\ncritical",
        (9, "the `if` in line 9 has no `end`", "write `end` after the last line of the `if`"),
    ),
    line(
        "no end of a loop",
        "loop\n  1: if turn = me then break end\ncritical",
        (7, "has no `end`", "write `end` after"),
    ),
    line(
        "else if for elsif",
        "  1: if turn = me then\n    v := 1\n  else if v = 2 then\n    v := 2\n  end\n  critical",
        (8, "the `if` in line 8 has no `end`", "write `elsif`"),
    ),
    line(
        "elseif for elsif",
        "1: if turn = me then\n  v := 1\nelseif v = 2 then\n  v := 2\nend\ncritical",
        (10, "found `then`", "the language has no `elseif`: write `elsif`"),
    ),
    line(
        "one end too many",
        "1: if turn = me then v := 1 end end\ncritical",
        (
            9,
            "expected a part of the file such as `shared` or `passage` or the end of the file, found `critical`",
            "the `end` in line 8 ends the `passage`",
        ),
    ),
    line("a missing then", "1: if turn = me\n  v := 1\nend\ncritical", (9, "`then`", "")),
    line(
        "a misspelt while",
        "1: whlie turn <> me do\n  v := 1\nend\ncritical",
        (8, "found `do`", "did you mean `while` instead of `whlie`?"),
    ),
    line(
        "a misspelt critical",
        "1: turn := me\ncritcal",
        (9, "no variable is called `critcal`", "did you mean `critical`?"),
    ),
    line(
        "critical section",
        "1: turn := me\ncritical section",
        (9, "no variable is called `section`", "stand alone"),
    ),
    line(
        "repeat until",
        "repeat\n1: v := turn\nuntil v = 1\ncritical",
        (8, "no variable is called `repeat`", "write `loop ..."),
    ),
    line(
        "for from to",
        "for j := 0 to n-1 do\n  1: flag[j] := true\nend\ncritical",
        (8, "found `:=`", "write `for j in 0..n-1 do`"),
    ),
    line(
        "for in to",
        "for j in 0 to n-1 do\n  1: flag[j] := true\nend\ncritical",
        (8, "found `to`", "write `for j in 0..n-1 do`"),
    ),
    line(
        "two reads in an await",
        "1: await not flag[1 - me] or turn <> me\ncritical",
        (
            8,
            "this line reads `flag` and reads `turn`",
            "write a `loop` with a labelled line for `flag` and one for `turn`",
        ),
    ),
    line(
        "testing a variable twice",
        "1: await turn = 0 or turn = me\ncritical",
        (
            8,
            "this line reads `turn` and reads `turn`",
            "read `turn` once: into a private variable, or with one test such as `turn in {0, 1}`",
        ),
    ),
    line(
        "reading and writing",
        "1: turn := (turn + 1) mod n\ncritical",
        (8, "this line reads `turn` and writes `turn`", "split it in two"),
    ),
    line(
        "a line without a label",
        "turn := me\ncritical",
        (8, "this line writes `turn` and has no label", "`3: ...`"),
    ),
    line(
        "an array without an index",
        "1: flag := true\ncritical",
        (8, "`flag` is an array: write `flag[...]`", ""),
    ),
    line(
        "too many indices",
        "1: flag[0, 1] := true\ncritical",
        (8, "`flag` has one index, and the line gives 2", ""),
    ),
    line(
        "an index of a plain variable",
        "1: turn[me] := 1\ncritical",
        (8, "`turn` is not an array", ""),
    ),
    line(
        "1 for true",
        "1: flag[me] := 1\ncritical",
        (8, "expected a condition, found a number", "`true` or `false`"),
    ),
    line(
        "True for true",
        "1: flag[me] := True\ncritical",
        (8, "no variable is called `True`", "did you mean `true`?"),
    ),
    line("pid for me", "1: turn := pid\ncritical", (8, "no variable is called `pid`", "`me`")),
    line(
        "N for n",
        "1: turn := N - 1\ncritical",
        (8, "no variable is called `N`", "did you mean `n`?"),
    ),
    line(
        "no critical section",
        "1: turn := me",
        (7, "the passage has no critical section", "write `critical`"),
    ),
    line(
        "the critical section in a block",
        "1: if turn = me then\n  critical\nend",
        (9, "`critical` is inside a block", "end the loop or the `if` before `critical`"),
    ),
    line(
        "waiting for a private variable",
        "await v = 1\ncritical",
        (8, "no other process can make it true", "await a condition on a shared variable"),
    ),
    line(
        "a function that does not exist",
        "1: v := fetch_and_inc(turn)\ncritical",
        (8, "no function is called `fetch_and_inc`", "did you mean `fetch_and_increment`?"),
    ),
];
