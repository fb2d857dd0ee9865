//! Errors and warnings, each with its place in the file.

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};

use crate::token::Span;

/// An error or a warning about a place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Where the mistake is in the text of the file.
    pub span: Span,
    /// The mistake, in one sentence.
    pub message: String,
    /// Short remarks on places in the file, such as "first here".
    pub labels: Vec<(Span, String)>,
    /// A hint, such as how to correct the file.
    pub help: Option<String>,
    /// Whether this is a warning. A file that has only warnings can be used.
    pub is_warning: bool,
}

impl Diagnostic {
    /// Creates an error.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { span, message: message.into(), labels: vec![], help: None, is_warning: false }
    }

    /// Creates a warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { is_warning: true, ..Self::new(span, message) }
    }

    /// Adds a remark on a place in the file.
    pub fn pointing(mut self, span: Span, remark: impl Into<String>) -> Self {
        self.labels.push((span, remark.into()));
        self
    }

    /// Sets the hint.
    pub fn helping(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// Returns the line and the column at which the place begins, both counted from 1.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let before = before(source, self.span.start);
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line_of(source, self.span.start), column)
    }

    /// Formats the diagnostic with the lines of the file that it is about, unless a line is too long to read.
    pub fn render(&self, path: &str, source: &str, color: bool) -> String {
        let kind = if self.is_warning { ReportKind::Warning } else { ReportKind::Error };
        let config = Config::default()
            .with_color(color)
            .with_char_set(CharSet::Unicode)
            .with_index_type(IndexType::Byte);
        let at = |span: &Span| (path, span.clone());
        let mut report =
            Report::build(kind, at(&self.span)).with_config(config).with_message(&self.message);
        let mut labels = match self.labels.is_empty() {
            true => vec![(self.span.clone(), "here".to_string())],
            false => self.labels.clone(),
        };
        labels.sort_by_key(|(span, _)| span.start);
        if labels.iter().any(|(span, _)| longest_line(source, span) > MOST_SHOWN) {
            return self.render_briefly(path, source);
        }
        for (span, remark) in &labels {
            report = report.with_label(Label::new(at(span)).with_message(remark));
        }
        if let Some(help) = &self.help {
            report = report.with_help(help);
        }
        let mut out = Vec::new();
        match report.finish().write((path, Source::from(source)), &mut out) {
            Ok(()) => String::from_utf8_lossy(&out).into_owned(),
            Err(_) => self.render_briefly(path, source),
        }
    }

    /// Formats the diagnostic without lines of the file.
    fn render_briefly(&self, path: &str, source: &str) -> String {
        let (line, column) = self.position(source);
        let kind = if self.is_warning { "Warning" } else { "Error" };
        let help = self.help.as_ref().map(|help| format!("Help: {help}\n")).unwrap_or_default();
        format!("{kind}: {}\nat {path}:{line}:{column}\n{help}", self.message)
    }
}

/// The longest line that is shown with an error, in bytes.
const MOST_SHOWN: usize = 400;

/// Returns the length of the longest line that a place touches.
fn longest_line(source: &str, span: &Span) -> usize {
    let start = before(source, span.start).rfind('\n').map_or(0, |at| at + 1);
    let end = before(source, span.end).len();
    let end = source[end..].find('\n').map_or(source.len(), |at| end + at);
    source[start..end].lines().map(str::len).max().unwrap_or(0)
}

/// Returns the text before a place.
fn before(source: &str, place: usize) -> &str {
    let mut start = place.min(source.len());
    while !source.is_char_boundary(start) {
        start -= 1;
    }
    &source[..start]
}

/// Returns the number of the line at a place, counted from 1.
pub(crate) fn line_of(source: &str, place: usize) -> usize {
    before(source, place).matches('\n').count() + 1
}

/// The longest word that is compared with the known names. The time of a comparison grows with the length.
const MOST_TYPO: usize = 64;

/// Returns a known name that begins with `wrong`, if `wrong` has at least 6 bytes. If there is none, returns the known
/// name that `wrong` most resembles, if `wrong` is probably a typo of it.
pub fn suggestion<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > MOST_TYPO {
        return None;
    }
    let distance =
        |name: &str| strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase());
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let most = wrong.chars().count().div_ceil(3).min(3);
    let known: Vec<&str> = known.into_iter().collect();
    let is_begun = |name: &&&str| wrong.len() >= 6 && name.starts_with(wrong) && **name != wrong;
    if let Some(name) = known.iter().find(is_begun) {
        return Some(name);
    }
    known
        .into_iter()
        .map(|name| (distance(name), letters(name) != letters(wrong), name))
        .filter(|&(distance, _, name)| {
            distance <= most && name != wrong && distance < name.chars().count()
        })
        .min()
        .map(|(.., name)| name)
}
