//! Splits a file into tokens.

use std::{fmt, ops::Range};

use logos::Logos;

use crate::diagnostic::Diagnostic;

/// A range of bytes of a file.
pub type Span = Range<usize>;

/// The maximum number of bytes of a file.
pub const MOST_BYTES: usize = 256 << 10;
/// The maximum number of tokens of a file.
const MOST_TOKENS: usize = 10_000;
/// Some editors begin a file with this character.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Keywords that begin a part of a file. None of them can occur inside a passage or a procedure.
pub(crate) const ITEMS: &[&str] = &[
    "title",
    "paper",
    "requires",
    "constant",
    "define",
    "shared",
    "private",
    "procedure",
    "invariant",
    "promises",
    "passage",
    "normal",
];
/// The other keywords.
const WORDS: &[&str] = &[
    "algorithm",
    "end",
    "if",
    "then",
    "elsif",
    "else",
    "while",
    "do",
    "await",
    "loop",
    "break",
    "for",
    "in",
    "downto",
    "goto",
    "leave",
    "skip",
    "doorway",
    "waiting",
    "critical",
    "exit",
    "remainder",
    "bool",
    "process",
    "set",
    "queue",
    "counter",
    "open",
    "home",
    "true",
    "false",
    "and",
    "or",
    "not",
    "div",
    "mod",
    "exists",
    "all",
    "at",
    "naming",
];

const SYMBOLS: &[&str] = &[
    ":=", "<=", ">=", "<>", "..", ":", "=", "<", ">", "+", "-", "*", "(", ")", "[", "]", "{", "}",
    ",", ".",
];

/// Returns whether a word is a keyword. A file cannot use a keyword as a name.
pub fn is_keyword(word: &str) -> bool {
    keywords().any(|keyword| keyword == word)
}

/// Returns all keywords.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    ITEMS.iter().chain(WORDS).copied()
}

/// The smallest unit of the text: a word, a number, a symbol or a quoted text.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// A name, or a label such as `4a`.
    Word(String),
    /// A keyword, such as `await`.
    Keyword(&'static str),
    /// An operator or bracket.
    Symbol(&'static str),
    /// A number without a sign.
    Number(i64),
    /// A text in quotes.
    Text(String),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Keyword(word) | Token::Symbol(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Text(_) => f.write_str("a text in quotes"),
        }
    }
}

/// The kinds of tokens as the lexer finds them.
#[derive(Logos, Clone, Copy, PartialEq, Debug)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
enum Raw {
    #[regex(r"[0-9]+")]
    Number,
    #[regex(r"[0-9]*[A-Za-z_][A-Za-z0-9_']*")]
    Word,
    #[regex(r#""[^"\n]*""#)]
    Text,
    #[regex(r":=|<=|>=|<>|\.\.|[:=<>+\-*()\[\]{},.]")]
    Symbol,
    /// A symbol of other languages, listed in [`FOREIGN`].
    #[regex(r"==|!=|&&|\|\||\+\+|\+=|-=|=>|->|/\*|\(\*|[!;%/&|≠≤≥∧∨¬∈←×−–“”„]")]
    Foreign,
}

/// Symbols of other languages: the token that each probably means, and what to write instead.
const FOREIGN: &[(&str, Meaning, &str)] = &[
    ("==", Meaning::Symbol("="), "write `=` for equal"),
    ("!=", Meaning::Symbol("<>"), "write `<>` for unequal"),
    ("≠", Meaning::Symbol("<>"), "write `<>` for unequal"),
    ("≤", Meaning::Symbol("<="), "write `<=`"),
    ("≥", Meaning::Symbol(">="), "write `>=`"),
    ("&&", Meaning::Keyword("and"), "write `and`"),
    ("&", Meaning::Keyword("and"), "write `and`"),
    ("∧", Meaning::Keyword("and"), "write `and`"),
    ("||", Meaning::Keyword("or"), "write `or`"),
    ("|", Meaning::Keyword("or"), "write `or`, and `size(s)` for a set s"),
    ("∨", Meaning::Keyword("or"), "write `or`"),
    ("!", Meaning::Keyword("not"), "write `not`"),
    ("¬", Meaning::Keyword("not"), "write `not`"),
    ("∈", Meaning::Keyword("in"), "write `in`"),
    ("%", Meaning::Keyword("mod"), "write `mod`"),
    ("/", Meaning::Keyword("div"), "write `div`"),
    ("←", Meaning::Symbol(":="), "write `:=` to assign"),
    ("×", Meaning::Symbol("*"), "write `*`"),
    ("−", Meaning::Symbol("-"), "write `-`, the character of the keyboard"),
    ("–", Meaning::Symbol("-"), "write `-`, the character of the keyboard"),
    ("“", Meaning::Unclear, STRAIGHT),
    ("”", Meaning::Unclear, STRAIGHT),
    ("„", Meaning::Unclear, STRAIGHT),
    (";", Meaning::Nothing, "statements need no separator: remove the `;`"),
    ("++", Meaning::Unclear, "write `x := x + 1`, or `fetch_and_add(x, 1)` if x is shared"),
    ("+=", Meaning::Unclear, "write `x := x + 1`, or `fetch_and_add(x, 1)` if x is shared"),
    ("-=", Meaning::Unclear, "write `x := x - 1`, or `fetch_and_add(x, -1)` if x is shared"),
    ("=>", Meaning::Unclear, "write `>=` to compare, and `not a or b` for: a implies b"),
    ("->", Meaning::Unclear, "write `not a or b` for: a implies b"),
    ("/*", Meaning::Unclear, "a comment begins with `//` and ends with the line"),
    ("(*", Meaning::Unclear, "a comment begins with `//` and ends with the line"),
];

const STRAIGHT: &str = "a text needs straight quotes, as in `\"text\"`";

/// What a symbol of another language means in this language.
#[derive(Clone, Copy)]
enum Meaning {
    /// This symbol of the language has the same meaning.
    Symbol(&'static str),
    /// This keyword of the language has the same meaning.
    Keyword(&'static str),
    /// Nothing: the file means the same without it.
    Nothing,
    /// No single token of the language has this meaning.
    Unclear,
}

/// The tokens of a file.
pub struct Tokens {
    /// The tokens, each with its span. Symbols of other languages are replaced by what they mean.
    pub list: Vec<(Token, Span)>,
    /// An error for each symbol of another language.
    pub errors: Vec<Diagnostic>,
}

fn token(raw: Raw, text: &str) -> Result<Token, String> {
    let known = |list: &'static [&'static str]| list.iter().copied().find(|&word| word == text);
    Ok(match raw {
        Raw::Number => Token::Number(
            text.parse::<i32>()
                .map_err(|_| format!("numbers are at most {}, got {text}", i32::MAX))?
                .into(),
        ),
        Raw::Word => match keywords().find(|keyword| *keyword == text) {
            Some(keyword) => Token::Keyword(keyword),
            None => Token::Word(text.to_string()),
        },
        Raw::Text => Token::Text(text.trim_matches('"').to_string()),
        Raw::Symbol | Raw::Foreign => Token::Symbol(known(SYMBOLS).unwrap_or("?")),
    })
}

/// Splits `source` into tokens.
///
/// # Errors
/// Fails on a file that is too long, on a number that is too large, on characters that have no meaning, and on a symbol
/// of another language that stands for no single token.
pub fn tokens(source: &str) -> Result<Tokens, Vec<Diagnostic>> {
    if source.len() > MOST_BYTES {
        return Err(vec![
            Diagnostic::new(0..0, format!("the file has more than {MOST_BYTES} bytes"))
                .helping("a file describes one algorithm: keep other text in another file"),
        ]);
    }
    let (mut list, mut foreign) = (Vec::new(), Foreign::default());
    let mut lexer = Raw::lexer(source);
    if source.starts_with(BYTE_ORDER_MARK) {
        lexer.bump(BYTE_ORDER_MARK.len_utf8());
    }
    while let Some(raw) = lexer.next() {
        let (span, text) = (lexer.span(), lexer.slice());
        let found = match raw {
            Ok(Raw::Foreign) => match foreign.meaning(text, &span) {
                Meaning::Symbol(symbol) => Ok(Token::Symbol(symbol)),
                Meaning::Keyword(word) => Ok(Token::Keyword(word)),
                Meaning::Nothing => continue,
                Meaning::Unclear => return Err(foreign.diagnostics()),
            },
            Ok(raw) => token(raw, text).map_err(|message| Diagnostic::new(span.clone(), message)),
            Err(()) => Err(unknown(span.clone(), text)),
        };
        match found {
            Ok(token) => list.push((token, span)),
            Err(diagnostic) => {
                let mut errors = foreign.diagnostics();
                errors.push(diagnostic);
                return Err(errors);
            }
        }
        if list.len() > MOST_TOKENS {
            return Err(vec![too_many(list.last())]);
        }
    }
    Ok(Tokens { list, errors: foreign.diagnostics() })
}

/// The symbols of other languages in a file: each with its first place, and the number of times that it occurs.
#[derive(Default)]
struct Foreign(Vec<(usize, Span, usize)>);

impl Foreign {
    /// Records a symbol and returns what it means.
    fn meaning(&mut self, text: &str, span: &Span) -> Meaning {
        let Some(index) = FOREIGN.iter().position(|(symbol, ..)| *symbol == text) else {
            return Meaning::Nothing;
        };
        match self.0.iter_mut().find(|(known, ..)| *known == index) {
            Some((.., times)) => *times += 1,
            None => self.0.push((index, span.clone(), 1)),
        }
        FOREIGN[index].1
    }

    /// Returns one error for each symbol, at its first place.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        let error = |(index, span, times): &(usize, Span, usize)| {
            let (symbol, _, help) = &FOREIGN[*index];
            let message = match times {
                1 => format!("the language has no `{symbol}`"),
                _ => format!("the language has no `{symbol}`, which occurs {times} times"),
            };
            Diagnostic::new(span.clone(), message).helping(*help)
        };
        self.0.iter().map(error).collect()
    }
}

fn unknown(span: Span, text: &str) -> Diagnostic {
    let first = text.chars().next().unwrap_or(' ');
    let is_visible = !first.is_whitespace() && !first.is_control() && !INVISIBLE.contains(&first);
    let message = match first {
        '"' => "this text does not end".to_string(),
        _ if is_visible => format!("no word or operator begins with `{text}`"),
        _ => format!("there is an invisible character here: U+{:04X}", u32::from(first)),
    };
    Diagnostic::new(span, message).helping(match first {
        '#' => "a comment begins with `//`",
        '"' => "a text ends with a second `\"` on the same line",
        '\'' => "a text needs double quotes, as in `\"text\"`",
        '^' => "write `power2(x)` for 2 to the power of x",
        _ if first.is_alphabetic() => "a name has the letters a to z and A to Z, digits, _ and '",
        _ if is_visible => "remove it: only comments and texts may contain it",
        _ => "delete it, or replace it with a space",
    })
}

/// Characters without a width, which text from web pages may contain.
const INVISIBLE: [char; 5] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', BYTE_ORDER_MARK];

/// Returns the error for a file with too many tokens. Compiling it would take too long.
fn too_many(last: Option<&(Token, Span)>) -> Diagnostic {
    Diagnostic::new(
        last.map_or(0..0, |(_, span)| span.clone()),
        format!("the file has more than {MOST_TOKENS} words and operators"),
    )
    .helping("write lines that occur several times once, as a `procedure`")
}
