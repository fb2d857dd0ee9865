//! Hints for frequent mistakes: words of other languages, misspelt words, and constructs that look different here.

use std::borrow::Cow;

use crate::{
    diagnostic::suggestion,
    token::{Span, Token, keywords},
};

/// Words of other languages that end a block.
const ENDS: [&str; 8] = ["fi", "od", "endif", "endwhile", "endfor", "endloop", "done", "end_if"];

/// Words of other languages, and what to write instead.
const FOREIGN: &[(&str, &str)] = &[
    ("elseif", "write `elsif`"),
    ("elif", "write `elsif`"),
    ("begin", "a block needs no `begin`: it starts after `then`, `do` or `loop`"),
    ("repeat", "write `loop ... if condition then break end ... end`"),
    ("until", "write `loop ... if condition then break end ... end`"),
    ("return", "`leave` ends the exit section"),
    ("continue", "write `goto` and the label of the line"),
    ("wait", "write `await` and the condition"),
    ("var", "declare variables under `shared` or `private`"),
    ("vars", "declare variables under `shared` or `private`"),
    ("variables", "declare variables under `shared` or `private`"),
    ("global", "declare the variable under `shared`"),
    ("local", "declare the variable under `private`"),
    ("const", "write `constant`"),
    ("int", "a number has a range as its type, such as `0..n`"),
    ("integer", "a number has a range as its type, such as `0..n`"),
    ("nat", "a number has a range as its type, such as `0..n`"),
    ("boolean", "the type is `bool`"),
    ("function", "`define f(x) = ...` is a function; `procedure f ... end` gives lines a name"),
    ("section", "`critical`, `doorway`, `waiting` and `exit` each stand alone"),
    ("cs", "the critical section is `critical`"),
    ("entry", "the entry section consists of `doorway` and `waiting`"),
    ("self", "`me` is the number of the process itself"),
    ("pid", "`me` is the number of the process itself"),
    ("mutual", "the promise is `exclusion`"),
    ("nil", "use a number that is no process, such as -1, with the type `-1..n-1`"),
    ("null", "use a number that is no process, such as -1, with the type `-1..n-1`"),
    ("none", "use a number that is no process, such as -1, with the type `-1..n-1`"),
];

/// How a file begins.
pub(super) const FIRST_LINE: &str = "a file begins with `algorithm` and a name, as in `algorithm mylock`; `hallpass-lab new mylock` writes one to start from";

/// The promises, for a hint.
const ALL_PROMISES: &str = "a promise is `exclusion`, `names`, `deadlock freedom`, `starvation freedom`, `fife`, \
     `fife strong`, `bounded exit`, `bounded doorway`, `rmr cc <= ...` or `rmr dsm <= ...`";

/// The words that begin a promise.
const PROMISES: [&str; 7] =
    ["exclusion", "names", "deadlock", "starvation", "fife", "bounded", "rmr"];

/// The maximum number of tokens before an error among which a misspelt word is looked for.
const MOST_NEAR: usize = 30;

/// Returns what to write instead of a word of another language.
pub(crate) fn for_word(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    if ENDS.contains(&lower.as_str()) {
        return Some("every block ends with `end`");
    }
    FOREIGN.iter().find(|(foreign, _)| *foreign == lower).map(|(_, help)| *help)
}

/// Returns the first word before `place` that probably means `end`.
pub(super) fn probable_end(tokens: &[(Token, Span)], place: usize) -> Option<(&str, &Span)> {
    let mut before = tokens.iter().take_while(|(_, span)| span.start < place);
    before.find_map(|(token, span)| {
        let Token::Word(word) = token else { return None };
        let lower = word.to_lowercase();
        let means_end = ENDS.contains(&lower.as_str())
            || (3..=5).contains(&word.len()) && strsim::damerau_levenshtein(&lower, "end") <= 1;
        (means_end && !is_declared(tokens, word)).then_some((word.as_str(), span))
    })
}

/// Returns the words among some tokens, last one first.
fn rev_words<'t>(tokens: impl Iterator<Item = &'t (Token, Span)>) -> impl Iterator<Item = &'t str> {
    let word = |(token, _): &'t (Token, Span)| match token {
        Token::Word(word) => Some(word.as_str()),
        _ => None,
    };
    let words: Vec<&str> = tokens.filter_map(word).collect();
    words.into_iter().rev()
}

/// Returns whether the file declares a name or a label: a colon or a bracket follows it, or it follows a word such as
/// `constant`.
fn is_declared(tokens: &[(Token, Span)], word: &str) -> bool {
    let named = |token: &(Token, Span)| matches!(&token.0, Token::Word(text) if text == word);
    tokens.windows(2).any(|pair| match (&pair[0].0, &pair[1].0) {
        (_, Token::Symbol(":" | "[")) => named(&pair[0]),
        (Token::Keyword("constant" | "define" | "procedure" | "for" | "algorithm"), _) => {
            named(&pair[1])
        }
        _ => false,
    })
}

/// Returns a hint on a mistake that the tokens at the error and just before it show.
fn for_place(
    tokens: &[(Token, Span)],
    place: usize,
    near: &[(Token, Span)],
    expects: &dyn Fn(&str) -> bool,
) -> Option<Cow<'static, str>> {
    let found = tokens.get(place).map(|(token, _)| token);
    let before = place.checked_sub(1).and_then(|place| tokens.get(place)).map(|(token, _)| token);
    let in_for = near.iter().any(|(token, _)| *token == Token::Keyword("for"));
    let means_other = |word: &str| format!("{word} is a word of the language: choose another name");
    Some(match found {
        Some(Token::Symbol("=" | ":=")) if in_for && expects("`in`") => "write `for j in 0..n-1 do`".into(),
        Some(Token::Word(word)) if in_for && word == "to" => "write `for j in 0..n-1 do`".into(),
        Some(Token::Symbol("=")) if expects("`:`") && expects("`[`") => {
            "a variable needs a type, as in `x : 0..1 = 0`".into()
        }
        Some(_) if place == 0 => FIRST_LINE.into(),
        Some(Token::Keyword("algorithm")) => "a file describes one algorithm".into(),
        Some(Token::Keyword("if")) if expects("a promise") => {
            "a bound with a condition is `rmr cc <= if c = 1 then 7 else 9 * c`".into()
        }
        _ if matches!(before, Some(Token::Symbol(".."))) && expects("an expression") => {
            "a range has two ends, as in `0..n`; a number that grows without bound has the type `counter`".into()
        }
        Some(Token::Symbol(":=")) if matches!(before, Some(Token::Keyword(_))) => {
            means_other(&before.map(Token::to_string).unwrap_or_default()).into()
        }
        Some(Token::Symbol(":")) if matches!(before, Some(Token::Symbol(":"))) => {
            "a label ends with one colon, as in `3: ...`".into()
        }
        Some(Token::Symbol(")")) if matches!(before, Some(Token::Number(_))) => {
            "a label ends with a colon, as in `3: ...`".into()
        }
        Some(Token::Symbol(",")) if expects("a statement") => {
            "statements need no separator: remove the `,`".into()
        }
        Some(Token::Number(_)) if matches!(before, Some(Token::Symbol("."))) => {
            "numbers are whole; `..` is between the ends of a range".into()
        }
        Some(Token::Text(_)) => "a text in quotes is allowed only after `title`, `paper`, `normal form of` and a bound".into(),
        Some(Token::Symbol(":=")) => "`:=` assigns; write `=` to compare, and for an initial value".into(),
        Some(Token::Keyword(word)) if expects("a name") => means_other(&format!("`{word}`")).into(),
        _ => return None,
    })
}

/// Returns a hint on the token at which a syntax error was noticed.
pub(super) fn for_token(
    tokens: &[(Token, Span)],
    place: usize,
    options: &[String],
    source: &str,
) -> Option<String> {
    let expects = |token: &str| options.iter().any(|option| option == token);
    let start = tokens.get(place).map_or(source.len(), |(_, span)| span.start);
    let line = source.get(..start).and_then(|before| before.rfind('\n')).unwrap_or(0);
    // The mistake may be before the token at which it was noticed: on the same line, or in the token just before.
    let first = tokens[..place].partition_point(|(_, span)| span.start < line);
    let first = first.min(place.saturating_sub(1)).max(place.saturating_sub(MOST_NEAR));
    let near = &tokens[first..(place + 1).min(tokens.len())];
    if let Some(hint) = for_place(tokens, place, near, &expects) {
        return Some(hint.into());
    }
    let undeclared: Vec<&str> =
        rev_words(near.iter()).filter(|word| !is_declared(tokens, word)).collect();
    if let Some((word, help)) =
        undeclared.iter().find_map(|word| for_word(word).map(|help| (word, help)))
    {
        return Some(format!("the language has no `{word}`: {help}"));
    }
    let expected = options.iter().filter_map(|option| option.strip_prefix('`')?.strip_suffix('`'));
    let mut known: Vec<&str> = expected.collect();
    keywords().for_each(|word| known.push(word));
    if expects("a promise") {
        known.extend(PROMISES);
    }
    let typo = undeclared.iter().find_map(|word| {
        let known = suggestion(word, known.iter().copied())?;
        let found = tokens.get(place).map(|(token, _)| token);
        Some(match Some(&Token::Word(word.to_string())) == found {
            true => format!("did you mean `{known}`?"),
            false => format!("did you mean `{known}` instead of `{word}`?"),
        })
    });
    let missing = || {
        let word = ["then", "do"].into_iter().find(|word| expects(&format!("`{word}`")))?;
        Some(format!("write `{word}` after the condition"))
    };
    let promise = || expects("a promise").then(|| ALL_PROMISES.to_string());
    typo.or_else(missing).or_else(promise)
}

/// Returns the innermost bracket that is open before `place` if its end is expected there, and the bracket that closes
/// it.
pub(super) fn unclosed(
    tokens: &[(Token, Span)],
    place: usize,
    options: &[String],
) -> Option<(Span, &'static str)> {
    let mut open: Vec<(Span, &'static str)> = Vec::new();
    for (token, span) in &tokens[..place.min(tokens.len())] {
        match token {
            Token::Symbol("(") => open.push((span.clone(), ")")),
            Token::Symbol("[") => open.push((span.clone(), "]")),
            Token::Symbol("{") => open.push((span.clone(), "}")),
            Token::Symbol(")" | "]" | "}") => drop(open.pop()),
            _ => {}
        }
    }
    let (span, close) = open.pop()?;
    options.iter().any(|option| *option == format!("`{close}`")).then_some((span, close))
}
