//! Parses and evaluates the bounds of statement files: `7*k*log(n, k) + 8`.
//!
//! A formula has numbers, n, k, c (the contention), `+ - * ^`, brackets, and these functions:
//!
//! ```text
//!   log(a, b)    the smallest d >= 0 with b 2^d >= a; for a >= b, this is log2(a/b) rounded up
//!   bits(a)      log(a, 1): the number of bits that distinguish a values
//!   over(a, b)   a/b, rounded up
//!   alone(a, b)  a if c = 1, else b
//! ```

/// The size at which a bound is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub n: usize,
    pub k: usize,
    pub c: usize,
}

/// Computes the value of the formula.
pub(super) fn evaluate(formula: &str, at: At) -> Result<u64, String> {
    let mut parser = Parser { rest: formula, at };
    let value = parser.sum().and_then(|value| match parser.rest.trim_start() {
        "" => Ok(value),
        rest => Err(format!("unexpected text `{rest}`")),
    });
    let value = value.map_err(|why| format!("`{formula}`: {why}"))?;
    u64::try_from(value).map_err(|_| format!("`{formula}` is below 0 at {at:?}"))
}

struct Parser<'a> {
    rest: &'a str,
    at: At,
}

impl Parser<'_> {
    fn eat(&mut self, token: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: char) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{token}` is missing")) }
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        loop {
            if self.eat('+') {
                value += self.product()?;
            } else if self.eat('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.power()?;
        while self.eat('*') {
            value *= self.power()?;
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<i64, String> {
        let base = self.atom()?;
        if !self.eat('^') {
            return Ok(base);
        }
        let exponent = u32::try_from(self.atom()?).map_err(|_| "an exponent is below 0")?;
        base.checked_pow(exponent).ok_or_else(|| "a power is too large".into())
    }

    fn atom(&mut self) -> Result<i64, String> {
        if self.eat('(') {
            let value = self.sum()?;
            return self.expect(')').map(|()| value);
        }
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        let At { n, k, c } = self.at;
        match word {
            "n" => Ok(n as i64),
            "k" => Ok(k as i64),
            "c" => Ok(c as i64),
            "log" => self.pair().and_then(|(a, b)| log(a, b)),
            "over" => self.pair().and_then(|(a, b)| over(a, b)),
            "alone" => self.pair().map(|(alone, else_)| if c == 1 { alone } else { else_ }),
            "bits" => {
                self.expect('(')?;
                let value = self.sum()?;
                self.expect(')')?;
                log(value, 1)
            }
            _ => Err(format!("`{word}` is neither a number nor n, k, c, log, bits, over, alone")),
        }
    }

    fn pair(&mut self) -> Result<(i64, i64), String> {
        self.expect('(')?;
        let first = self.sum()?;
        self.expect(',')?;
        let second = self.sum()?;
        self.expect(')').map(|()| (first, second))
    }
}

fn over(a: i64, b: i64) -> Result<i64, String> {
    if b <= 0 {
        Err("the second argument of `over` must be greater than 0".into())
    } else {
        Ok((a + b - 1) / b)
    }
}

fn log(a: i64, b: i64) -> Result<i64, String> {
    if b <= 0 {
        return Err("the second argument of `log` must be greater than 0".into());
    }
    let log = (0..62).find(|&d| b.saturating_mul(1 << d) >= a);
    log.ok_or_else(|| "the first argument of `log` is too large".into())
}

#[cfg(test)]
mod tests {
    use super::{At, evaluate};

    #[test]
    fn formulas_have_the_values_that_the_papers_mean() {
        let at = |n, k, c| At { n, k, c };
        for (formula, at, value) in [
            ("7*(n-k)", at(4, 1, 4), 21),
            ("7*k*log(n, k) + 8", at(3, 1, 3), 22),
            ("7 * k * log(n, k)", at(9, 4, 9), 56),
            ("alone(9, 2^(k+1))", at(3, 2, 1), 9),
            ("alone(9, 2^(k+1))", at(3, 2, 3), 8),
            ("(n-k)*bits(n) + n*bits(n-k+1)", at(4, 2, 4), 12),
            ("over(n, k)", at(5, 2, 5), 3),
            ("bits(1)", at(2, 1, 2), 0),
        ] {
            assert_eq!(evaluate(formula, at), Ok(value), "{formula}");
        }
    }

    #[test]
    fn wrong_formulas_are_rejected() {
        for formula in ["", "7(n-k)", "n-", "m", "log(n)", "(n", "k-n", "n^k^"] {
            assert!(evaluate(formula, At { n: 3, k: 1, c: 3 }).is_err(), "{formula}");
        }
    }
}
