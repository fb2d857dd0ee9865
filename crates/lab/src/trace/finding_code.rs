//! The finding of a run as a part of a replay string.
//!
//! ```text
//! ex  names  range  inv-I4            dead-<stopped>  starve-<victim>-<stopped>
//! exit-<p>-<steps>  door-<p>-<steps>  fife-<i>-<j>-<at>  strong-<i>-<j>-<at>
//! bypass-<p>-<times>-<at>             fcfs-<i>-<j>
//! says-U1                             leads-<statement>-<instance>-<p>-<stopped>
//! play-<stopped>                      a run that was played by hand; it shows no particular finding
//! rmr-cc-<p>-<count>-<rules>          rmr-dsm-<p>-<count>-<rules>
//! ```
//! Each code stands for a variant of [`Finding`]. `<i>` and `<j>` are its processes `first` and `second`. `<stopped>`
//! has one digit for each stopped process, and `<at>` is a number of steps. An unbounded count is `inf`. The rules are
//! three letters: the writer's own copy (`a` as it was, `g` gained, `l` lost), a failed read-modify-write (`w` write,
//! `r` read), and the cache at the start (`c` cold, `w` warm).

use hallpass_algorithms::Pid;

use super::{
    Error,
    replay_string::{digit, process},
};
use crate::schedule::{CacheAtStart, Conventions, CostModel, FailedRmw, Finding, WriterCopy};

const WRITER: [(char, WriterCopy); 3] =
    [('a', WriterCopy::AsItWas), ('g', WriterCopy::Gained), ('l', WriterCopy::Lost)];
const FAILED: [(char, FailedRmw); 2] = [('w', FailedRmw::Write), ('r', FailedRmw::Read)];
const CACHE: [(char, CacheAtStart); 2] = [('c', CacheAtStart::Cold), ('w', CacheAtStart::Warm)];

fn letter<T: Copy + PartialEq>(table: &[(char, T)], value: T) -> char {
    table.iter().find(|row| row.1 == value).map_or('?', |row| row.0)
}

fn meaning<T: Copy>(table: &[(char, T)], letter: char) -> Option<T> {
    table.iter().find(|row| row.0 == letter).map(|row| row.1)
}

fn digits(pids: &[Pid]) -> String {
    pids.iter().map(|&p| digit(p)).collect()
}

fn count(count: Option<u32>) -> String {
    count.map_or_else(|| "inf".to_string(), |count| count.to_string())
}

/// Escapes text. Keeps letters and digits, and writes every other byte as `%` and two hexadecimal
/// digits.
fn escape(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() => out.push(char::from(b)),
            b => out.push_str(&format!("%{b:02x}")),
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let hex = std::str::from_utf8(others.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        rest = &others[2..];
    }
    String::from_utf8(bytes).ok()
}

/// Returns the part of a replay string that names the finding.
pub(super) fn encode(finding: &Finding) -> String {
    match finding {
        Finding::Exclusion => "ex".into(),
        Finding::Names => "names".into(),
        Finding::Range => "range".into(),
        Finding::Invariant(name) => format!("inv-{}", escape(name)),
        Finding::Statement { name } => format!("says-{}", escape(name)),
        Finding::LeadsTo { name, instance, process, stopped } => {
            format!("leads-{}-{instance}-{}-{}", escape(name), digit(*process), digits(stopped))
        }
        Finding::Fcfs { first, second } => format!("fcfs-{}-{}", digit(*first), digit(*second)),
        Finding::Deadlock { stopped } => format!("dead-{}", digits(stopped)),
        Finding::Played { stopped } => format!("play-{}", digits(stopped)),
        Finding::Starvation { victim, stopped } => {
            format!("starve-{}-{}", digit(*victim), digits(stopped))
        }
        Finding::Exit { process, steps } => format!("exit-{}-{}", digit(*process), count(*steps)),
        Finding::Doorway { process, steps } => {
            format!("door-{}-{}", digit(*process), count(*steps))
        }
        Finding::Fife { first, second, at } => {
            format!("fife-{}-{}-{at}", digit(*first), digit(*second))
        }
        Finding::FifeStrong { first, second, at } => {
            format!("strong-{}-{}-{at}", digit(*first), digit(*second))
        }
        Finding::Bypass { victim, times, at } => {
            format!("bypass-{}-{}-{at}", digit(*victim), count(*times))
        }
        Finding::Rmr { model, process, count: number, conventions } => {
            let model = match model {
                CostModel::Cc => "cc",
                CostModel::Dsm => "dsm",
            };
            let Conventions { writer_copy, failed_rmw, cache } = *conventions;
            let rules: String =
                [letter(&WRITER, writer_copy), letter(&FAILED, failed_rmw), letter(&CACHE, cache)]
                    .into_iter()
                    .collect();
            format!("rmr-{model}-{}-{}-{rules}", digit(*process), count(*number))
        }
    }
}

/// Reads the part of a replay string that names the finding.
pub(super) fn decode(text: &str) -> Result<Finding, Error> {
    let unknown = || {
        Error::Part(format!(
            "`{text}` is not a finding: use ex, names, range, inv, dead, starve, exit, door, fife, strong, \
             bypass, fcfs, says, leads, play or rmr, each with its own parts"
        ))
    };
    let one = |text: &str| {
        let mut chars = text.chars();
        let digit = chars.next().filter(|_| chars.next().is_none()).ok_or_else(unknown)?;
        process(digit)
    };
    let many = |text: &str| text.chars().map(process).collect::<Result<Vec<Pid>, Error>>();
    let steps = |text: &str| match text {
        "inf" => Ok(None),
        number => number.parse().map(Some).map_err(|_| unknown()),
    };
    let moment = |text: &str| text.parse().map_err(|_| unknown());
    let parts: Vec<&str> = text.split('-').collect();
    Ok(match parts[..] {
        ["ex"] => Finding::Exclusion,
        ["names"] => Finding::Names,
        ["range"] => Finding::Range,
        ["inv", name] => Finding::Invariant(unescape(name).ok_or_else(unknown)?),
        ["says", name] => Finding::Statement { name: unescape(name).ok_or_else(unknown)? },
        ["leads", name, instance, p, stopped] => Finding::LeadsTo {
            name: unescape(name).ok_or_else(unknown)?,
            instance: moment(instance)?,
            process: one(p)?,
            stopped: many(stopped)?,
        },
        ["fcfs", i, j] => Finding::Fcfs { first: one(i)?, second: one(j)? },
        ["dead", stopped] => Finding::Deadlock { stopped: many(stopped)? },
        ["play", stopped] => Finding::Played { stopped: many(stopped)? },
        ["starve", victim, stopped] => {
            Finding::Starvation { victim: one(victim)?, stopped: many(stopped)? }
        }
        ["exit", p, count] => Finding::Exit { process: one(p)?, steps: steps(count)? },
        ["door", p, count] => Finding::Doorway { process: one(p)?, steps: steps(count)? },
        ["fife", i, j, at] => Finding::Fife { first: one(i)?, second: one(j)?, at: moment(at)? },
        ["strong", i, j, at] => {
            Finding::FifeStrong { first: one(i)?, second: one(j)?, at: moment(at)? }
        }
        ["bypass", p, times, at] => {
            Finding::Bypass { victim: one(p)?, times: steps(times)?, at: moment(at)? }
        }
        ["rmr", model, p, count, rules] => Finding::Rmr {
            model: match model {
                "cc" => CostModel::Cc,
                "dsm" => CostModel::Dsm,
                _ => return Err(unknown()),
            },
            process: one(p)?,
            count: steps(count)?,
            conventions: conventions(rules).ok_or_else(unknown)?,
        },
        _ => return Err(unknown()),
    })
}

fn conventions(rules: &str) -> Option<Conventions> {
    let letters: Vec<char> = rules.chars().collect();
    let &[writer, failed, cache] = &letters[..] else { return None };
    Some(Conventions {
        writer_copy: meaning(&WRITER, writer)?,
        failed_rmw: meaning(&FAILED, failed)?,
        cache: meaning(&CACHE, cache)?,
    })
}
