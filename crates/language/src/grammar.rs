//! The grammar. `docs/language.md` prints it for readers.

use chumsky::{
    error::{RichPattern, RichReason},
    input::{Input as _, MappedInput},
    pratt::{infix, left, postfix, prefix},
    prelude::*,
};

use crate::{
    diagnostic::{Diagnostic, suggestion},
    syntax::{Decl, Expr, ExprKind, Item, Name, Promise, Range, Start, Stmt, StmtKind, Tree, Type},
    token::{Span, Token},
};

type Input<'t> = MappedInput<'t, Token, SimpleSpan, &'t [(Token, SimpleSpan)]>;
type Extra<'t> = extra::Err<Rich<'t, Token>>;
type Boxed<'t, T> = chumsky::Boxed<'t, 't, Input<'t>, T, Extra<'t>>;

/// Parses tokens.
///
/// # Errors
/// Returns what was expected where the tokens match no rule.
pub fn parse(tokens: &[(Token, Span)], end: usize) -> Result<Tree, Vec<Diagnostic>> {
    let tokens: Vec<(Token, SimpleSpan)> =
        tokens.iter().map(|(token, span)| (token.clone(), span.clone().into())).collect();
    let input = tokens.as_slice().split_token_span((end..end).into());
    let (tree, errors) = file().parse(input).into_output_errors();
    match tree {
        Some(tree) if errors.is_empty() => Ok(tree),
        _ => Err(errors.into_iter().map(|error| explain(&error)).collect()),
    }
}

fn explain(error: &Rich<'_, Token>) -> Diagnostic {
    let span = error.span().into_range();
    let RichReason::ExpectedFound { expected, found } = error.reason() else {
        return Diagnostic::new(span, error.to_string());
    };
    let mut options: Vec<String> = expected
        .iter()
        .filter_map(|pattern| match pattern {
            RichPattern::Token(token) => Some(token.to_string()),
            RichPattern::Label(label) => Some(label.to_string()),
            RichPattern::EndOfInput => Some("the end of the file".to_string()),
            _ => None,
        })
        .collect();
    options.sort();
    options.dedup();
    let found_text = found.as_deref().map_or("the end of the file".to_string(), Token::to_string);
    let wanted = match options.split_last() {
        None => "something else".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    };
    let diagnostic =
        Diagnostic::new(span.clone(), format!("expected {wanted}, found {found_text}"))
            .pointing(span, format!("unexpected {found_text}"));
    match help(found.as_deref(), &options) {
        Some(help) => diagnostic.helping(help),
        None => diagnostic,
    }
}

/// Explains frequent mistakes.
fn help(found: Option<&Token>, options: &[String]) -> Option<String> {
    let expects = |token: &str| options.iter().any(|option| option == token);
    match found {
        None if expects("`end`") => {
            Some("`if`, `while`, `for`, `loop`, `procedure` and `passage` end with `end`".into())
        }
        Some(Token::Symbol("=")) if expects("`:=`") => {
            Some("`=` compares; an assignment is `:=`".into())
        }
        Some(Token::Symbol(":=")) => Some("`:=` assigns; a comparison or a start is `=`".into()),
        Some(Token::Keyword(word)) if options.iter().any(|option| option == "a name") => {
            Some(format!("`{word}` has a meaning of its own: choose another name"))
        }
        Some(Token::Word(word)) => {
            let keywords = options.iter().filter_map(|option| {
                option.strip_prefix('`').and_then(|option| option.strip_suffix('`'))
            });
            suggestion(word, keywords).map(|known| format!("did you mean `{known}`?"))
        }
        _ => None,
    }
}

fn key<'t>(word: &'static str) -> Boxed<'t, ()> {
    just(Token::Keyword(word)).ignored().boxed()
}

fn sym<'t>(symbol: &'static str) -> Boxed<'t, ()> {
    just(Token::Symbol(symbol)).ignored().boxed()
}

/// A word that is a keyword only here.
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

/// A place in an invariant: a label or a section.
fn place<'t>() -> Boxed<'t, Name> {
    let section = select! {
        Token::Keyword(word @ ("doorway" | "waiting" | "critical" | "exit" | "remainder")) => word.to_string()
    }
    .labelled("a section")
    .map_with(|text, e| Name { text, span: span(e.span()) });
    label().or(section).boxed()
}

fn places<'t>() -> Boxed<'t, Vec<(Name, Name)>> {
    let one = place()
        .then(sym("..").ignore_then(place()).or_not())
        .map(|(from, to)| (from.clone(), to.unwrap_or(from)));
    let many = one
        .clone()
        .separated_by(sym(","))
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(sym("{"), sym("}"));
    many.or(one.map(|one| vec![one])).boxed()
}

fn node(kind: ExprKind, at: SimpleSpan) -> Expr {
    Expr { kind, span: span(at) }
}

fn range_of<'t>(expr: Boxed<'t, Expr>) -> Boxed<'t, Range> {
    let end = choice((
        sym("..").ignore_then(expr.clone()).map(|end| (true, end)),
        key("downto").ignore_then(expr.clone()).map(|end| (false, end)),
    ));
    expr.then(end.or_not())
        .map(|(start, end)| match end {
            Some((true, end)) => Range::Up(start, end),
            Some((false, end)) => Range::Down(start, end),
            None => Range::Set(start),
        })
        .boxed()
}

/// Makes a set of what stands between braces: elements, the end of a range, and a condition after `:`.
fn set_of(
    mut elements: Vec<Expr>,
    last: Option<(bool, Expr)>,
    condition: Option<Expr>,
) -> Option<ExprKind> {
    let Some(condition) = condition else {
        return last.is_none().then_some(ExprKind::Set(elements));
    };
    let (Some(Expr { kind, .. }), true) = (elements.pop(), elements.is_empty()) else {
        return None;
    };
    let ExprKind::Binary("in", element, from) = kind else { return None };
    let ExprKind::Name(text) = element.kind else { return None };
    let range = match last {
        Some((true, to)) => Range::Up(*from, to),
        Some((false, to)) => Range::Down(*from, to),
        None => Range::Set(*from),
    };
    let name = Name { text, span: element.span };
    Some(ExprKind::Each("set", name, Box::new(range), Box::new(condition)))
}

fn atom<'t>(expr: Boxed<'t, Expr>) -> Boxed<'t, Expr> {
    let list = expr.clone().separated_by(sym(",")).collect::<Vec<_>>().boxed();
    let named = name()
        .then(
            choice((
                list.clone().delimited_by(sym("["), sym("]")).map(|list| ('[', list)),
                list.clone().delimited_by(sym("("), sym(")")).map(|list| ('(', list)),
            ))
            .or_not(),
        )
        .map(|(name, arguments)| match arguments {
            None => ExprKind::Name(name.text),
            Some(('[', list)) => ExprKind::Index(name, list),
            Some((_, list)) => ExprKind::Call(name, list),
        });
    let element = name().then_ignore(key("in")).then(range_of(expr.clone())).boxed();
    // Both kinds of sets begin with an expression. It is parsed once: `x in s` becomes the element of `{x in s : c}`.
    let last = choice((
        sym("..").ignore_then(expr.clone()).map(|end| (true, end)),
        key("downto").ignore_then(expr.clone()).map(|end| (false, end)),
    ));
    let set = list
        .clone()
        .then(last.or_not())
        .then(sym(":").ignore_then(expr.clone()).or_not())
        .delimited_by(sym("{"), sym("}"))
        .try_map(|((elements, last), body), at| {
            set_of(elements, last, body)
                .ok_or_else(|| Rich::custom(at, "a set is `{a, b}` or `{x in s : condition}`"))
        });
    let quantifier = select! { Token::Keyword(word @ ("exists" | "all")) => word };
    let each = quantifier.then(element).then_ignore(sym(":")).then(expr.clone()).map(
        |((kind, (name, range)), body)| ExprKind::Each(kind, name, Box::new(range), Box::new(body)),
    );
    let conditional = key("if")
        .ignore_then(expr.clone())
        .then_ignore(key("then"))
        .then(expr.clone())
        .then_ignore(key("else"))
        .then(expr.clone())
        .map(|((a, b), c)| ExprKind::If(Box::new(a), Box::new(b), Box::new(c)));
    let kind = choice((
        select! {
            Token::Number(number) => ExprKind::Number(number),
            Token::Keyword("true") => ExprKind::Bool(true),
            Token::Keyword("false") => ExprKind::Bool(false),
            Token::Keyword("process") => ExprKind::Everyone,
        },
        named,
        set,
        each,
        conditional,
        expr.delimited_by(sym("("), sym(")")).map(|inner| inner.kind),
    ));
    kind.map_with(|kind, e| node(kind, e.span())).labelled("an expression").boxed()
}

fn expr<'t>() -> Boxed<'t, Expr> {
    recursive(|expr| {
        let comparison =
            select! { Token::Symbol(op @ ("=" | "<>" | "<" | "<=" | ">" | ">=")) => op, Token::Keyword("in") => "in" }
                .labelled("a comparison");
        let sum = select! { Token::Symbol(op @ ("+" | "-")) => op }.labelled("`+` or `-`");
        let product = select! { Token::Symbol("*") => "*", Token::Keyword(op @ ("div" | "mod")) => op }
            .labelled("`*`, `div` or `mod`");
        let binary = |a: Expr, op: &'static str, b: Expr, at: SimpleSpan| {
            node(ExprKind::Binary(op, Box::new(a), Box::new(b)), at)
        };
        let unary = |op: &'static str, a: Expr, at: SimpleSpan| node(ExprKind::Unary(op, Box::new(a)), at);
        atom(expr.boxed())
            .pratt((
                infix(left(1), key("or").to("or"), move |a, op, b, e| binary(a, op, b, e.span())),
                infix(left(2), key("and").to("and"), move |a, op, b, e| binary(a, op, b, e.span())),
                prefix(3, key("not").to("not"), move |op, a, e| unary(op, a, e.span())),
                infix(left(4), comparison, move |a, op, b, e| binary(a, op, b, e.span())),
                infix(left(5), sum, move |a, op, b, e| binary(a, op, b, e.span())),
                infix(left(6), product, move |a, op, b, e| binary(a, op, b, e.span())),
                prefix(7, sym("-").to("-"), move |op, a, e| unary(op, a, e.span())),
                postfix(8, key("at").ignore_then(places()), |a, places, e| {
                    node(ExprKind::At(Box::new(a), places), e.span())
                }),
                postfix(9, sym(".").ignore_then(name()), |a, name, e| {
                    node(ExprKind::Of(Box::new(a), name), e.span())
                }),
            ))
            .boxed()
    })
    .boxed()
}

fn statements<'t>() -> Boxed<'t, Vec<Stmt>> {
    recursive(|statements| {
        let expr = expr();
        let block = statements.boxed();
        let end = key("end");
        let otherwise = recursive(|otherwise| {
            let elsif = key("elsif")
                .ignore_then(expr.clone())
                .then_ignore(key("then"))
                .then(block.clone())
                .then(otherwise)
                .map_with(|((condition, yes), no), e| {
                    let kind = StmtKind::If(condition, yes, no);
                    vec![Stmt { label: None, kind, span: span(e.span()) }]
                });
            choice((
                elsif,
                key("else").ignore_then(block.clone()).then_ignore(end.clone()),
                end.clone().to(Vec::new()),
            ))
        })
        .boxed();
        let assign_or_do = expr
            .clone()
            .then(sym(":=").ignore_then(expr.clone()).or_not())
            .map(|(target, value)| match value {
                Some(value) => StmtKind::Assign(target, value),
                None => StmtKind::Do(target),
            });
        let kind = choice((
            key("if")
                .ignore_then(expr.clone())
                .then_ignore(key("then"))
                .then(block.clone())
                .then(otherwise)
                .map(|((condition, yes), no)| StmtKind::If(condition, yes, no)),
            key("while")
                .ignore_then(expr.clone())
                .then_ignore(key("do"))
                .then(block.clone())
                .then_ignore(end.clone())
                .map(|(condition, body)| StmtKind::While(condition, body)),
            key("await").ignore_then(expr.clone()).map(StmtKind::Await),
            key("loop").ignore_then(block.clone()).then_ignore(end.clone()).map(StmtKind::Loop),
            key("for")
                .ignore_then(name())
                .then_ignore(key("in"))
                .then(range_of(expr.clone()))
                .then_ignore(key("do"))
                .then(block.clone())
                .then_ignore(end.clone())
                .map(|((name, range), body)| StmtKind::For(name, range, body)),
            key("break").to(StmtKind::Break),
            key("goto").ignore_then(label()).map(StmtKind::Goto),
            key("leave").to(StmtKind::Leave),
            key("skip").to(StmtKind::Skip),
            key("critical")
                .ignore_then(key("naming").ignore_then(name()).or_not())
                .map(StmtKind::Critical),
            select! { Token::Keyword(word @ ("doorway" | "waiting" | "exit")) => StmtKind::Section(word) },
            assign_or_do,
        ))
        .labelled("a statement");
        label()
            .then_ignore(sym(":"))
            .or_not()
            .then(kind)
            .map_with(|(label, kind), e| Stmt { label, kind, span: span(e.span()) })
            .repeated()
            .collect::<Vec<_>>()
            .boxed()
    })
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

/// A sum without comparisons.
fn bound<'t>() -> Boxed<'t, Expr> {
    let sum = select! { Token::Symbol(op @ ("+" | "-")) => op }.labelled("`+` or `-`");
    let product = select! { Token::Symbol("*") => "*", Token::Keyword(op @ ("div" | "mod")) => op }
        .labelled("`*`, `div` or `mod`");
    let binary = |a: Expr, op: &'static str, b: Expr, at: SimpleSpan| {
        node(ExprKind::Binary(op, Box::new(a), Box::new(b)), at)
    };
    atom(expr())
        .pratt((
            infix(left(5), sum, move |a, op, b, e| binary(a, op, b, e.span())),
            infix(left(6), product, move |a, op, b, e| binary(a, op, b, e.span())),
            prefix(7, sym("-").to("-"), |op, a, e| {
                node(ExprKind::Unary(op, Box::new(a)), e.span())
            }),
        ))
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
