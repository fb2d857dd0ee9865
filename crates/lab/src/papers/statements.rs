//! The statements of the papers, and the models that decide them: `statements.toml` in the folder of
//! each paper.
//!
//! An entry of the file has a statement of the paper, worded by this project, and the evidence for the statement. The
//! entry has no verdict: the lab computes the verdict. In the file, `[[statement]]` begins a statement:
//!
//! | key | meaning |
//! |---|---|
//! | `where`, `says` | the place in the paper; the statement of the paper, worded by this project |
//! | `evidence` | a list of evidence; the next table has the keys of an entry |
//! | `undecided` | the reason why the statement is undecided, with or without evidence |
//! | `error` | the error in one line; only if the statement is refuted |
//! | `note` | a remark, in Markdown |
//!
//! An entry of `evidence` has some of these keys:
//!
//! | key | meaning |
//! |---|---|
//! | `algorithm` | one or several algorithms, for the keys from `holds` to `replay` |
//! | `holds`, `violated` | properties that hold at every size in the atlas, or are violated at some size; starvation always means with k - 1 stopped processes |
//! | `cc`, `dsm`, `exit`, `resilience` | figures (counts, described in [`Evidence`]) from the atlas |
//! | `asks`, `denies` | questions of `hallpass-lab ask` that are answered with *holds* at every size in the atlas (vacuous answers do not count), or with *violated* at some size |
//! | `rounds`, `sections` | figures from the atlas: the time of the longest entry section (see [`Evidence`]) |
//! | `solo`, `variables`, `bits` | figures computed from the algorithm itself, for n <= 8 |
//! | `least_k`, `most_k`, `whole_groups` | restrict the evidence to some sizes (whole groups: n = 2k 2^t) |
//! | `contention` | `alone` (c = 1), `some` (c > 1), `full` (c = n), `at-most-k`; default: all models |
//! | `replay` | runs at sizes beyond the atlas, found by a search; their counts are lower bounds, and are confirmed when the file is read |
//! | `run` | a run that contradicts the statement; it is confirmed when the file is read |
//! | `fact`, `test` | a computation of `papers/facts.rs`; a test as `path/of/file.rs::name` |
//! | `covers` | the sizes that the test covers, such as `n = 2` |
//!
//! A figure is compared with a formula:
//!
//! | value | the statement is confirmed if |
//! |---|---|
//! | `"7*(n-k)"` | the figure never exceeds this bound, and reaches it at some size (then the bound is *tight*) |
//! | `"<= 7*(n-k)"` | the figure never exceeds this bound |
//! | `"= 7*(n-k)"` | the figure equals this value at every size |
//! | `"finite"` | the figure has a bound at every size |
//! | `"unbounded"` | the figure has no bound at some size; for `resilience`: at every size |
//!
//! `"measured"` shows the figure and compares it with nothing.

use hallpass_algorithms::registry;
use serde::Deserialize;

use super::{
    count, facts,
    formula::{At, evaluate},
};
use crate::atlas::{self, Listed};

/// A paper and its statements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The authors, as a heading.
    pub authors: String,
    /// The title of the paper.
    pub title: String,
    /// The year of publication.
    pub year: u16,
    /// The place of publication.
    pub published: Option<String>,
    /// The subject of the paper, in a few lines.
    pub intro: String,
    /// The statements, in the order of the paper.
    #[serde(rename = "statement")]
    pub statements: Vec<Statement>,
    /// The comparison tables of the paper.
    #[serde(default, rename = "table")]
    pub tables: Vec<PaperTable>,
}

/// A statement of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The place in the paper, such as `Theorem 3`.
    #[serde(rename = "where")]
    pub place: String,
    /// The statement of the paper, worded by this project.
    pub says: String,
    /// The evidence that decides the statement.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// The reason why the statement is undecided, with or without evidence. Evidence can still refute
    /// the statement.
    pub undecided: Option<String>,
    /// A remark, in Markdown.
    pub note: Option<String>,
    /// The error in one line, for the summary. Only refuted statements have it.
    pub error: Option<String>,
}

/// Evidence for a statement or a part of it. There are four kinds: properties, questions and figures of one or
/// several algorithms; a run; a computed fact; a test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The algorithms, by their identifiers.
    #[serde(default, deserialize_with = "one_or_many")]
    pub algorithm: Vec<String>,
    /// Properties that hold at every size.
    #[serde(default)]
    pub holds: Vec<Listed>,
    /// Properties that are violated at some size.
    #[serde(default)]
    pub violated: Vec<Listed>,
    /// Questions about whole runs whose answer is *holds* at every size.
    #[serde(default)]
    pub asks: Vec<String>,
    /// Questions about whole runs whose answer is *violated* at some size.
    #[serde(default)]
    pub denies: Vec<String>,
    /// The time of the longest entry section if steps and critical sections take at most one unit.
    pub rounds: Option<Bound>,
    /// The time of the longest entry section if critical sections take at most one unit and steps take none.
    pub sections: Option<Bound>,
    /// The remote references of the worst passage with cache-coherent memory.
    pub cc: Option<Bound>,
    /// The remote references of the worst passage with distributed shared memory.
    pub dsm: Option<Bound>,
    /// The number of the process's own steps in the longest exit section.
    pub exit: Option<Bound>,
    /// The smallest number of stopped processes that can starve another process.
    pub resilience: Option<Bound>,
    /// The number of shared accesses of an entry section while no other process takes a step.
    pub solo: Option<Bound>,
    /// The number of shared variables.
    pub variables: Option<Bound>,
    /// The number of bits of shared memory, summed over the variables.
    pub bits: Option<Bound>,
    /// Restricts the evidence to models with this contention.
    pub contention: Option<Contention>,
    /// Restricts the evidence to models with at least this k.
    pub least_k: Option<usize>,
    /// Restricts the evidence to models with at most this k.
    pub most_k: Option<usize>,
    /// Restricts the evidence to sizes n = 2k 2^t. There, all groups on a level of Omori's tournament have one size.
    #[serde(default)]
    pub whole_groups: bool,
    /// Runs beyond the sizes of the atlas, as replay strings. Their counts are lower bounds.
    #[serde(default)]
    pub replay: Vec<String>,
    /// A run that contradicts the statement, as a replay string.
    pub run: Option<String>,
    /// A fact, by its name.
    pub fact: Option<String>,
    /// A test, as `path/of/file.rs::name`.
    pub test: Option<String>,
    /// The sizes that the test covers.
    pub covers: Option<String>,
}

/// A quantity that can be counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the fields of Evidence document them
pub enum Quantity {
    Cc,
    Dsm,
    Exit,
    Resilience,
    Solo,
    Variables,
    Bits,
    Rounds,
    Sections,
}

impl Evidence {
    /// Returns whether the evidence covers this size.
    pub fn is_about(&self, n: usize, k: usize) -> bool {
        let whole = n.is_multiple_of(2 * k) && (n / (2 * k)).is_power_of_two();
        let in_range = (self.least_k.unwrap_or(1)..=self.most_k.unwrap_or(k)).contains(&k);
        in_range && (whole || !self.whole_groups)
    }

    /// Returns the quantities that are counted, each with its bound.
    pub fn counts(&self) -> impl Iterator<Item = (Quantity, &Bound)> {
        let all = [
            (Quantity::Cc, &self.cc),
            (Quantity::Dsm, &self.dsm),
            (Quantity::Exit, &self.exit),
            (Quantity::Resilience, &self.resilience),
            (Quantity::Solo, &self.solo),
            (Quantity::Variables, &self.variables),
            (Quantity::Bits, &self.bits),
            (Quantity::Rounds, &self.rounds),
            (Quantity::Sections, &self.sections),
        ];
        all.into_iter().filter_map(|(quantity, bound)| Some((quantity, bound.as_ref()?)))
    }
}

/// The bound on a count.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "String")]
pub enum Bound {
    /// The count never exceeds this bound. The bound is tight if the count reaches it at some size.
    AtMost(String),
    /// `<= ...`: the count never exceeds this bound. Whether it reaches the bound does not matter.
    Within(String),
    /// `= ...`: the count equals this value at every size.
    Is(String),
    /// `finite`: the count has a bound at every size.
    Finite,
    /// `unbounded`: the count has no bound at some size. For a resilience: at every size, no number of stopped
    /// processes can starve another process.
    Unbounded,
    /// `measured`: the count is only shown.
    Measured,
}

impl From<String> for Bound {
    fn from(text: String) -> Self {
        match text.trim() {
            "finite" => Bound::Finite,
            "unbounded" => Bound::Unbounded,
            "measured" => Bound::Measured,
            text => match (text.strip_prefix("<="), text.strip_prefix('=')) {
                (Some(formula), _) => Bound::Within(formula.into()),
                (_, Some(formula)) => Bound::Is(formula.into()),
                _ => Bound::AtMost(text.into()),
            },
        }
    }
}

impl Bound {
    /// Returns the formula, if the bound has one.
    pub fn formula(&self) -> Option<&str> {
        match self {
            Bound::AtMost(formula) | Bound::Within(formula) | Bound::Is(formula) => Some(formula),
            _ => None,
        }
    }
}

/// The models that the evidence covers, by contention.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// At most one process is outside its remainder.
    Alone,
    /// More than one process may be outside its remainder.
    Some,
    /// All processes may be outside their remainder.
    Full,
    /// At most k processes are outside their remainder.
    AtMostK,
}

/// A comparison table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperTable {
    /// The table's number and subject, such as `Table 1`.
    pub title: String,
    /// The paper's columns except the first.
    pub columns: Vec<String>,
    /// The measured columns beside them.
    pub measured: Vec<Column>,
    /// The sizes of the figures, as n and k.
    pub sizes: Vec<(usize, usize)>,
    /// The rows of the table.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
    /// A remark, in Markdown.
    pub note: Option<String>,
}

/// A measured column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    /// Remote references while all processes compete, with the row's kind of memory.
    Contended,
    /// Remote references of a process without contention.
    Alone,
    /// Whether no process starves.
    Starvation,
    /// Whether the algorithm is FIFE (first in, first enabled).
    Fife,
}

/// A row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The authors of the algorithm.
    pub name: String,
    /// The values of the paper's columns.
    pub claimed: Vec<String>,
    /// The identifier of the algorithm, or `None` if it is not implemented.
    pub algorithm: Option<String>,
    /// The kinds of memory for which references are counted: cc, dsm.
    #[serde(default)]
    pub machines: Vec<Quantity>,
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

/// Returns the papers, in the order of the document.
pub fn standard() -> Result<Vec<Paper>, String> {
    registry::families()
        .filter_map(|family| Some((family.folder, family.statements?)))
        .map(|(folder, text)| parse(folder, text))
        .collect()
}

/// Parses the statements of a paper. `text` is the content of `folder/statements.toml`.
///
/// # Errors
/// Fails if a key is missing or unknown, if a statement has neither evidence nor a reason why it is undecided, or if
/// evidence mixes several kinds or lacks a key that its kind needs. Also fails if a run does not show its finding, if a
/// fact is unknown, if a formula cannot be evaluated, or if a row of a table does not have all columns.
pub fn parse(folder: &str, text: &str) -> Result<Paper, String> {
    let paper: Paper = toml_edit::de::from_str(text)
        .map_err(|error| format!("{folder}/statements.toml: {}", error.to_string().trim_end()))?;
    for statement in &paper.statements {
        if let Some(problem) = problem(statement) {
            return Err(format!("{folder}/statements.toml: {}: {problem}", statement.place));
        }
    }
    for table in &paper.tables {
        for row in &table.rows {
            if row.claimed.len() != table.columns.len() {
                return Err(format!("{folder}/statements.toml: {}: columns are missing", row.name));
            }
        }
    }
    Ok(paper)
}

/// Returns the mistake in a statement, if it has one.
fn problem(statement: &Statement) -> Option<String> {
    if statement.evidence.is_empty() && statement.undecided.is_none() {
        return Some("it has neither evidence nor a reason why it is undecided".into());
    }
    statement.evidence.iter().find_map(|evidence| {
        let about_algorithms = !evidence.holds.is_empty()
            || !evidence.violated.is_empty()
            || !evidence.asks.is_empty()
            || !evidence.denies.is_empty()
            || evidence.counts().next().is_some();
        let kinds = [
            about_algorithms,
            evidence.run.is_some(),
            evidence.fact.is_some(),
            evidence.test.is_some(),
        ];
        if kinds.iter().filter(|&&kind| kind).count() != 1 {
            return Some("evidence is either about algorithms, or a run, a fact or a test".into());
        }
        if evidence.test.is_some() != evidence.covers.is_some() {
            return Some(
                "a test, and only a test, needs `covers`: the sizes that it covers".into(),
            );
        }
        if let Some(why) = evidence.run.as_ref().and_then(|run| atlas::violation(run).err()) {
            return Some(why);
        }
        if about_algorithms == evidence.algorithm.is_empty() {
            return Some(
                "evidence with properties or counts, and no other, needs `algorithm`".into(),
            );
        }
        if let Some(why) = evidence.replay.iter().find_map(|run| count::replayed(run).err()) {
            return Some(why);
        }
        if let Some(fact) = evidence.fact.as_ref().filter(|fact| facts::find(fact).is_none()) {
            return Some(format!("there is no fact `{fact}`"));
        }
        let formulas = evidence.counts().filter_map(|(_, bound)| bound.formula());
        // Any size shows whether a formula can be parsed.
        formulas.map(|formula| evaluate(formula, At { n: 8, k: 2, c: 8 })).find_map(Result::err)
    })
}
