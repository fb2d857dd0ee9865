//! The grammar of expressions, ranges, and places in invariants.

use chumsky::{
    pratt::{infix, left, postfix, prefix},
    prelude::*,
};

use super::{Boxed, key, label, name, span, sym};
use crate::{
    syntax::{Expr, ExprKind, Name, Range},
    token::Token,
};

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

pub(super) fn range_of<'t>(expr: Boxed<'t, Expr>) -> Boxed<'t, Range> {
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

/// Makes a set from the parts between braces: elements, the end of a range, and a condition after `:`.
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

pub(super) fn expr<'t>() -> Boxed<'t, Expr> {
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

/// A sum without comparisons.
pub(super) fn bound<'t>() -> Boxed<'t, Expr> {
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
