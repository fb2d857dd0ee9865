//! The expectations of a manifest: a word, or a word with numbers.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::graph::Bound;

/// Marks an expectation that is not known yet. [`bless`](super::bless) replaces it with the measured
/// result.
pub const OPEN: &str = "?";
pub(super) const UNLIMITED: &str = "unlimited";
pub(super) const UNBOUNDED: &str = "unbounded";

/// The expected answer about a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The property holds.
    Holds,
    /// The property is violated.
    Violated,
    /// `?`: the result is not measured yet. While a model has this mark, it is never as expected.
    Open,
}

/// The smallest number of stopped processes that can starve another process or, for `deadlock`, block
/// all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resilience {
    /// The number of stopped processes.
    Crashes(usize),
    /// No number of stopped processes can starve a process or block all others.
    Unlimited,
}

/// The expectation about one property. Numbers that are left out are not compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The expected answer.
    pub answer: Answer,
    /// The expected resilience. Only `starvation` and `deadlock` have one.
    pub resilience: Option<Resilience>,
    /// The bound, in steps or overtakings.
    pub bound: Option<Bound>,
}

/// The expected cost of the worst passage in one cost model.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The number of remote references, or `None` if it is not known yet.
    #[serde(deserialize_with = "worst")]
    pub worst: Option<Bound>,
    /// The paper's bound, or `None` if the paper states none.
    pub claim: Option<u64>,
}

enum NumberOr {
    Number(u64),
    Word(String),
}

struct NumberOrWord(&'static str);

impl Visitor<'_> for NumberOrWord {
    type Value = NumberOr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number or {}", self.0)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<NumberOr, E> {
        u64::try_from(number)
            .map(NumberOr::Number)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<NumberOr, E> {
        Ok(NumberOr::Word(word.to_string()))
    }
}

fn wrong<T, E: de::Error>(word: &str, allowed: &'static str) -> Result<T, E> {
    Err(E::invalid_value(de::Unexpected::Str(word), &allowed))
}

fn small<T: TryFrom<u64>, E: de::Error>(number: u64) -> Result<T, E> {
    T::try_from(number).map_err(|_| E::custom(format_args!("{number} is too large")))
}

fn worst<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bound>, D::Error> {
    const ALLOWED: &str = "\"unbounded\", or \"?\", which --bless replaces";
    match deserializer.deserialize_any(NumberOrWord(ALLOWED))? {
        NumberOr::Number(number) => Ok(Some(Bound::Most(small(number)?))),
        NumberOr::Word(word) => match word.as_str() {
            UNBOUNDED => Ok(Some(Bound::Unbounded)),
            OPEN => Ok(None),
            _ => wrong(&word, ALLOWED),
        },
    }
}

fn resilience<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Resilience>, D::Error> {
    const ALLOWED: &str = "\"unlimited\"";
    match d.deserialize_any(NumberOrWord(ALLOWED))? {
        NumberOr::Number(number) => Ok(Some(Resilience::Crashes(small(number)?))),
        NumberOr::Word(word) if word == UNLIMITED => Ok(Some(Resilience::Unlimited)),
        NumberOr::Word(word) => wrong(&word, ALLOWED),
    }
}

fn bound<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bound>, D::Error> {
    const ALLOWED: &str = "\"unbounded\"";
    match deserializer.deserialize_any(NumberOrWord(ALLOWED))? {
        NumberOr::Number(number) => Ok(Some(Bound::Most(small(number)?))),
        NumberOr::Word(word) if word == UNBOUNDED => Ok(Some(Bound::Unbounded)),
        NumberOr::Word(word) => wrong(&word, ALLOWED),
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        match word.as_str() {
            "holds" => Ok(Answer::Holds),
            "violated" => Ok(Answer::Violated),
            OPEN => Ok(Answer::Open),
            _ => wrong(&word, "\"holds\", \"violated\", or \"?\", which --bless replaces"),
        }
    }
}

/// The long form of an expectation: a table with numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    verdict: Answer,
    #[serde(default, deserialize_with = "resilience")]
    resilience: Option<Resilience>,
    #[serde(default, deserialize_with = "bound")]
    bound: Option<Bound>,
}

impl<'de> Deserialize<'de> for Expected {
    // This is written by hand, because the errors of an untagged enum would name neither the field nor
    // the line.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Expected;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a verdict, or a table { verdict, resilience, bound }")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Expected, E> {
                let answer = Answer::deserialize(de::value::StrDeserializer::new(word))?;
                Ok(Expected { answer, resilience: None, bound: None })
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Expected, M::Error> {
                let Long { verdict, resilience, bound } =
                    Long::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Expected { answer: verdict, resilience, bound })
            }
        }
        deserializer.deserialize_any(Either)
    }
}
