//! The grammar. `docs/language.md` prints it for readers.

mod blocks;
mod errors;
mod expressions;
mod hints;
mod statements;

pub(crate) use self::hints::for_word;

use chumsky::{
    input::{Input as _, MappedInput},
    prelude::*,
};

use self::{
    errors::explain,
    expressions::{bound, expr, range_of},
    statements::statements,
};
use crate::{
    diagnostic::Diagnostic,
    syntax::{Decl, Item, Name, Promise, Start, Tree, Type},
    token::{Span, Token},
};

type Input<'t> = MappedInput<'t, Token, SimpleSpan, &'t [(Token, SimpleSpan)]>;
type Extra<'t> = extra::Err<Rich<'t, Token>>;
type Boxed<'t, T> = chumsky::Boxed<'t, 't, Input<'t>, T, Extra<'t>>;

/// Parses tokens.
///
/// # Errors
/// Returns what was expected where the tokens match no rule.
pub fn parse(tokens: &[(Token, Span)], source: &str) -> Result<Tree, Vec<Diagnostic>> {
    let end = source.len();
    let spanned: Vec<(Token, SimpleSpan)> =
        tokens.iter().map(|(token, span)| (token.clone(), span.clone().into())).collect();
    let input = spanned.as_slice().split_token_span((end..end).into());
    let (tree, errors) = file().parse(input).into_output_errors();
    match tree {
        Some(tree) if errors.is_empty() => Ok(tree),
        _ => Err(errors.into_iter().map(|error| explain(&error, tokens, source)).collect()),
    }
}

fn key<'t>(word: &'static str) -> Boxed<'t, ()> {
    just(Token::Keyword(word)).ignored().boxed()
}

fn sym<'t>(symbol: &'static str) -> Boxed<'t, ()> {
    just(Token::Symbol(symbol)).ignored().boxed()
}

/// A word that is a keyword only at one place of the grammar.
fn word<'t>(wanted: &'static str) -> Boxed<'t, ()> {
    just(Token::Word(wanted.to_string())).ignored().boxed()
}

fn span(span: SimpleSpan) -> Span {
    span.into_range()
}

fn name<'t>() -> Boxed<'t, Name> {
    select! { Token::Word(text) => text }
        .labelled("a name")
        .map_with(|text, e| Name { text, span: span(e.span()) })
        .boxed()
}

fn text<'t>() -> Boxed<'t, String> {
    select! { Token::Text(text) => text }.labelled("a text in quotes").boxed()
}

/// A label: a number, a name, or a number and letters such as `4a`.
fn label<'t>() -> Boxed<'t, Name> {
    select! { Token::Word(text) => text, Token::Number(number) => number.to_string() }
        .labelled("a label")
        .map_with(|text, e| Name { text, span: span(e.span()) })
        .boxed()
}

fn declaration<'t>() -> Boxed<'t, Decl> {
    let expr = expr();
    let index = name().then_ignore(key("in")).or_not().then(range_of(expr.clone()));
    let indices = index
        .separated_by(sym(","))
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(sym("["), sym("]"))
        .or_not()
        .map(Option::unwrap_or_default);
    let kind = choice((
        key("bool").to(Type::Bool),
        key("process").to(Type::Process),
        key("set").to(Type::Set),
        key("queue").to(Type::Queue),
        key("counter").ignore_then(sym("..").ignore_then(bound()).or_not()).map(Type::Counter),
        // The bounds are sums, so that `=` after them begins the initial value.
        bound().then_ignore(sym("..")).then(bound()).map(|(lo, hi)| Type::Between(lo, hi)),
    ))
    .labelled("a type");
    let start =
        choice((sym("=").ignore_then(expr.clone()).map(Start::Is), key("open").to(Start::Open)))
            .or_not()
            .map(|start| start.unwrap_or(Start::Missing));
    name()
        .then(indices)
        .then_ignore(sym(":"))
        .then(kind)
        .then(start)
        .then(key("home").ignore_then(expr).or_not())
        .map(|((((name, indices), kind), start), home)| Decl { name, indices, kind, start, home })
        .boxed()
}

fn promise<'t>() -> Boxed<'t, Promise> {
    let with = word("with").ignore_then(expr()).then_ignore(word("stopped")).or_not();
    let cost = select! { Token::Word(word) if word == "cc" || word == "dsm" => word }
        .labelled("`cc` or `dsm`");
    choice((
        word("exclusion").to(("exclusion".to_string(), None, None)),
        word("names").to(("names".to_string(), None, None)),
        word("deadlock").then(word("freedom")).to(("deadlock".to_string(), None, None)),
        word("starvation")
            .then(word("freedom"))
            .ignore_then(with)
            .map(|stopped| ("starvation".to_string(), stopped, None)),
        word("bounded")
            .ignore_then(
                select! { Token::Keyword(section @ ("exit" | "doorway")) => section }
                    .labelled("`exit` or `doorway`"),
            )
            .map(|section| (section.to_string(), None, None)),
        word("fife").ignore_then(word("strong").or_not()).map(|strong| {
            let words = if strong.is_some() { "fife-strong" } else { "fife" };
            (words.to_string(), None, None)
        }),
        word("rmr")
            .ignore_then(cost)
            .then_ignore(sym("<="))
            .then(expr())
            .then(text().or_not())
            .map(|((model, bound), source)| (model, Some(bound), source)),
    ))
    .labelled("a promise")
    .map_with(|(words, amount, source), e| Promise { words, amount, source, span: span(e.span()) })
    .boxed()
}

fn item<'t>() -> Boxed<'t, Item> {
    let declarations = declaration().repeated().at_least(1).collect::<Vec<_>>().boxed();
    let parameters =
        name().separated_by(sym(",")).collect::<Vec<_>>().delimited_by(sym("("), sym(")"));
    choice((
        key("title").ignore_then(text()).map(Item::Title),
        key("paper").ignore_then(text()).map(Item::Paper),
        key("requires").ignore_then(expr()).map(Item::Requires),
        key("constant")
            .ignore_then(name())
            .then_ignore(sym("="))
            .then(expr())
            .map(|(name, value)| Item::Constant(name, value)),
        key("define")
            .ignore_then(name())
            .then(parameters)
            .then_ignore(sym("="))
            .then(expr())
            .map(|((name, parameters), body)| Item::Define(name, parameters, body)),
        key("shared").ignore_then(declarations.clone()).map(Item::Shared),
        key("private").ignore_then(declarations).map(Item::Private),
        key("procedure")
            .ignore_then(name())
            .then(statements())
            .then_ignore(key("end"))
            .map(|(name, body)| Item::Procedure(name, body)),
        key("invariant")
            .ignore_then(label())
            .then_ignore(sym(":"))
            .then(expr())
            .map(|(name, condition)| Item::Invariant(name, condition)),
        key("promises")
            .ignore_then(promise().repeated().at_least(1).collect::<Vec<_>>())
            .map(Item::Promises),
        key("normal")
            .then(word("form"))
            .then(word("of"))
            .ignore_then(identifier())
            .map(Item::NormalForm),
        key("passage")
            .map_with(|(), e| span(e.span()))
            .then(statements())
            .then_ignore(key("end"))
            .map(|(at, body)| Item::Passage(at, body)),
    ))
    .boxed()
}

/// An identifier of the registry, which may need quotes.
fn identifier<'t>() -> Boxed<'t, Name> {
    let quoted = text().map_with(|text, e| Name { text, span: span(e.span()) });
    name().or(quoted).boxed()
}

fn file<'t>() -> Boxed<'t, Tree> {
    key("algorithm")
        .ignore_then(name())
        .then(item().map_with(|item, e| (item, span(e.span()))).repeated().collect::<Vec<_>>())
        .then_ignore(end())
        .map(|(name, items)| Tree { name, items })
        .boxed()
}
