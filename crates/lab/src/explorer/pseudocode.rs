//! The text of each line of an algorithm, from the file `pseudocode.toml` beside its step machine.
//!
//! A file has figures and the changes that wrong variants make to them:
//!
//! ```toml
//! [[figure]]
//! name = "fig3"                      # the figure of the step machine's labels
//! title = "Figure 3: ..."
//! variables = [["X", "free slots"]]
//! private = [["v", "the process that Q named"]]
//! invariants = [["I2", "X = k - ..."]]
//! lines = """
//! - | remainder section
//! 2 | if fetch-and-add(X, -1) = 0 then
//! 3 |   Q := p
//! * | critical section
//! """
//!
//! [[change]]
//! algorithm = "am-fig3:no-second-look"
//! figure = "fig3"
//! lines = { 4 = "" }                 # the new text; empty: the line is dropped
//! ```
//!
//! Before the bar is the label of a line; `-` is the remainder section and `*` the critical section. A line without
//! a label is not a step. The label `2@read` is for the instance `read` of line 2 alone.

use std::collections::BTreeMap;

use hallpass_algorithms::{Label, registry};
use serde::{Deserialize, Serialize};

/// One line of a figure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    /// The label; empty if no process can be at the line.
    pub at: String,
    /// The text, with its indentation.
    pub text: String,
    /// The effect of a wrong variant on the line: `changed` or `dropped`.
    pub change: Option<&'static str>,
}

/// The label of the remainder section.
pub const REMAINDER: &str = "-";
/// The label of the critical section.
pub const CRITICAL: &str = "*";
/// Separates the name of a procedure from the label of one of its lines.
const OF: char = '/';

/// A figure of a paper, or a protocol of ours.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Figure {
    /// The name of the figure in labels.
    pub name: String,
    /// The title of the figure.
    pub title: String,
    /// The shared variables, each with its meaning.
    pub variables: Vec<[String; 2]>,
    /// The private variables of a process, each with its meaning.
    pub private: Vec<[String; 2]>,
    /// The invariants, each with its meaning.
    pub invariants: Vec<[String; 2]>,
    /// The lines of the figure, from top to bottom.
    pub lines: Vec<Line>,
}

impl Figure {
    /// Returns the index of the line with this label.
    pub fn line(&self, label: &Label) -> Option<usize> {
        if label.figure != self.name {
            return None;
        }
        let exact = format!("{}@{}", label.line, label.instance);
        self.find(&exact).or_else(|| self.find(&label.line)).or_else(|| self.called(&label.line))
    }

    fn find(&self, at: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.at == at)
    }

    /// Returns the line of a procedure to which a label such as `5.7` belongs: line 7 of the procedure that line 5
    /// calls. A call on a line without a label is not in the label. In this case, the result is the first line 7 of
    /// any procedure.
    fn called(&self, label: &str) -> Option<usize> {
        let (calls, last) = label.rsplit_once('.').unwrap_or(("", label));
        let mut procedure = String::new();
        for call in calls.split('.').filter(|call| !call.is_empty()) {
            let line = self.find(&format!("{procedure}{call}"))?;
            let name = self.lines[line].text.trim().split('(').next().unwrap_or_default();
            procedure = format!("{name}{OF}");
        }
        let of_any = || {
            let same = |line: &Line| line.at.rsplit_once(OF).is_some_and(|(_, at)| at == last);
            self.lines.iter().position(same)
        };
        self.find(&format!("{procedure}{last}")).or_else(of_any)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figure: Vec<FigureText>,
    #[serde(default)]
    change: Vec<Change>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureText {
    name: String,
    title: String,
    #[serde(default)]
    variables: Vec<[String; 2]>,
    #[serde(default)]
    private: Vec<[String; 2]>,
    #[serde(default)]
    invariants: Vec<[String; 2]>,
    lines: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    algorithm: String,
    figure: String,
    lines: BTreeMap<String, String>,
}

impl FigureText {
    fn read(self) -> Figure {
        let line = |text: &str| {
            let (at, text) = text.split_once('|').unwrap_or(("", text));
            let text = text.strip_prefix(' ').unwrap_or(text).trim_end();
            Line { at: at.trim().to_string(), text: text.to_string(), change: None }
        };
        Figure {
            lines: self.lines.lines().filter(|text| !text.trim().is_empty()).map(line).collect(),
            name: self.name,
            title: self.title,
            variables: self.variables,
            private: self.private,
            invariants: self.invariants,
        }
    }
}

/// Returns the figures of the family of an algorithm: of all algorithms in its folder. If the algorithm is a wrong
/// variant, the figures have its changes. An algorithm outside the registry has none.
///
/// # Errors
/// Fails if the family's file cannot be read. A test reads the files of all families.
pub fn figures(algorithm: &str) -> Result<Vec<Figure>, String> {
    let Ok((entry, names)) = registry::entry(algorithm) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for family in registry::families() {
        let own = family.entries.iter().any(|other| other.id == entry.id);
        // Figure 1 of Anderson & Moir assigns names on top of the algorithms of every paper.
        let assigns_names = names && family.entries.iter().any(|other| other.id == "am-fig3");
        if own || assigns_names {
            all.extend(
                read(family.pseudocode, entry.id)
                    .map_err(|error| format!("{}/pseudocode.toml: {error}", family.folder))?,
            );
        }
    }
    Ok(all)
}

/// Returns the text of a `.kx` file, which is in the language of the lab, as a figure: its lines, with the labels that
/// begin some of them. The label of line 7 of the procedure `update` is `update/7`. A process in its remainder section
/// is at the line `passage`.
pub fn of_source(name: &str, title: &str, source: &str) -> Figure {
    // The prefix of the labels: `NAME/` in a procedure, empty in the passage, `None` outside of both.
    let mut prefix: Option<String> = None;
    let mut line = |text: &str| {
        let trimmed = text.trim_start();
        let indent = " ".repeat(text.len() - trimmed.len());
        let code = trimmed.split("//").next().unwrap_or_default().trim_end();
        let whole = |at: &str| Line { at: at.into(), text: text.trim_end().into(), change: None };
        if let Some(name) = code.strip_prefix("procedure ") {
            prefix = Some(format!("{}{OF}", name.trim()));
        } else if code == "passage" {
            prefix = Some(String::new());
            return whole(REMAINDER);
        } else if indent.is_empty() {
            prefix = None;
        }
        let Some(prefix) = &prefix else { return whole("") };
        let is_label = |label: &&str| {
            !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
        };
        let label = code.split_once(':').map(|(label, _)| label).filter(is_label);
        let rest = label.map_or(code, |label| code[label.len() + 1..].trim());
        let (at, shown) = match label {
            _ if rest == "critical" => (CRITICAL.to_string(), trimmed),
            Some(label) => (format!("{prefix}{label}"), trimmed[label.len() + 1..].trim_start()),
            None => (String::new(), trimmed),
        };
        Line { at, text: format!("{indent}{}", shown.trim_end()), change: None }
    };
    Figure {
        name: name.to_string(),
        title: title.to_string(),
        variables: Vec::new(),
        private: Vec::new(),
        invariants: Vec::new(),
        lines: source.lines().filter(|text| !text.trim().is_empty()).map(&mut line).collect(),
    }
}

fn read(text: &str, algorithm: &str) -> Result<Vec<Figure>, String> {
    let file: File = toml_edit::de::from_str(text).map_err(|error| error.to_string())?;
    let mut figures: Vec<Figure> = file.figure.into_iter().map(FigureText::read).collect();
    for change in file.change {
        registry::entry(&change.algorithm).map_err(|error| error.to_string())?;
        let figure = figures.iter_mut().find(|figure| figure.name == change.figure);
        let figure = figure.ok_or_else(|| format!("no figure is called `{}`", change.figure))?;
        for (at, text) in change.lines {
            let line = figure.lines.iter_mut().find(|line| line.at == at);
            let line = line.ok_or_else(|| format!("{} has no line `{at}`", change.figure))?;
            if change.algorithm != algorithm {
                continue;
            }
            line.change = Some(if text.is_empty() { "dropped" } else { "changed" });
            if !text.is_empty() {
                let indent = line.text.len() - line.text.trim_start().len();
                line.text = format!("{}{text}", " ".repeat(indent));
            }
        }
    }
    Ok(figures)
}
