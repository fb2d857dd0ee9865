//! A strict parser of gauges, counters and histograms in the text format of Prometheus. It panics at malformed lines,
//! and at faults such as a series that comes twice, a missing type, or buckets that shrink.

use std::collections::{BTreeMap, HashMap, HashSet};

type Labels = BTreeMap<String, String>;

/// The series of a page.
pub struct Exposition {
    samples: Vec<(String, Labels, f64)>,
}

/// The lines about one metric.
struct Family {
    name: String,
    kind: String,
}

impl Exposition {
    /// Parses a page.
    pub fn parse(page: &str) -> Self {
        assert!(page.is_empty() || page.ends_with('\n'), "the last line must end with a newline");
        let mut families = HashSet::new();
        let mut family: Option<Family> = None;
        let mut helped = None;
        let mut samples = Vec::new();
        let mut series = HashSet::new();
        for line in page.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, words) = help.split_once(' ').expect("a name and a text");
                assert!(!words.is_empty() && helped.is_none(), "{line}");
                helped = Some(name.to_string());
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("a name and a type");
                assert_eq!(helped.take().as_deref(), Some(name), "HELP comes before TYPE");
                assert!(["gauge", "counter", "histogram"].contains(&kind), "{line}");
                assert!(is_name(name), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(families.insert(name.to_string()), "twice: {line}");
                family = Some(Family { name: name.into(), kind: kind.into() });
            } else {
                let (name, labels, value) = sample(line);
                let family = family.as_ref().expect("a type before the first sample");
                assert!(family.has(&name), "{line} is not in {}", family.name);
                assert!(series.insert((name.clone(), labels.clone())), "twice: {line}");
                samples.push((name, labels, value));
            }
        }
        let page = Exposition { samples };
        page.check_histograms();
        page
    }

    /// Returns the value of the only series of this name that has these labels.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |of: &Labels| {
            labels.iter().all(|(name, value)| of.get(*name).is_some_and(|is| is == value))
        };
        let mut found = self.samples.iter().filter(|(other, of, _)| other == name && has(of));
        let (_, _, value) = found.next().unwrap_or_else(|| panic!("no {name} {labels:?}"));
        assert!(found.next().is_none(), "several {name} {labels:?}");
        *value
    }

    /// Returns the value of a label of the first series of this name.
    pub fn label(&self, name: &str, label: &str) -> &str {
        let found = self.samples.iter().find(|(other, ..)| other == name);
        &found.unwrap_or_else(|| panic!("no {name}")).1[label]
    }

    /// Returns the number of series of this name.
    pub fn count(&self, name: &str) -> usize {
        self.samples.iter().filter(|(other, ..)| other == name).count()
    }

    /// Checks that buckets are in order, do not shrink, and end with `+Inf`, which has the value of `_count`.
    fn check_histograms(&self) {
        let mut buckets: HashMap<(String, Labels), Vec<(f64, f64)>> = HashMap::new();
        for (name, labels, value) in &self.samples {
            if let Some(name) = name.strip_suffix("_bucket") {
                let mut labels = labels.clone();
                let limit = number(&labels.remove("le").expect("a bucket has a limit"));
                buckets.entry((name.into(), labels)).or_default().push((limit, *value));
            }
        }
        for ((name, labels), buckets) in buckets {
            assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {buckets:?}");
            let (last, all) = *buckets.last().expect("a bucket");
            assert_eq!(last, f64::INFINITY);
            let of = |suffix: &str| {
                let name = format!("{name}{suffix}");
                let found = self.samples.iter().find(|one| one.0 == name && one.1 == labels);
                found.unwrap_or_else(|| panic!("no {name}")).2
            };
            assert_eq!(of("_count"), all);
            assert!(of("_sum") >= 0.0);
        }
    }
}

impl Family {
    fn has(&self, sample: &str) -> bool {
        let suffixes: &[&str] = match self.kind.as_str() {
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        suffixes.iter().any(|suffix| sample == format!("{}{suffix}", self.name))
    }
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|one| one.is_ascii_alphabetic() || one == '_');
    first && characters.all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// Parses `name{label="value",...} number`.
fn sample(line: &str) -> (String, Labels, f64) {
    let (name, mut rest) = line.split_once('{').unwrap_or_else(|| panic!("no labels: {line}"));
    assert!(is_name(name), "{line}");
    let mut labels = Labels::new();
    loop {
        let (label, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        assert!(is_name(label), "{line}");
        let (value, after) = quoted(value).unwrap_or_else(|| panic!("no end of a value: {line}"));
        assert!(labels.insert(label.into(), value).is_none(), "a label comes twice: {line}");
        rest = after;
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    let value = rest.strip_prefix("} ").unwrap_or_else(|| panic!("no value: {line}"));
    (name.into(), labels, number(value))
}

/// Returns the value up to the closing quotation mark, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other @ ('\\' | '"') => other,
                other => panic!("`\\{other}` is no escape"),
            }),
            other => value.push(other),
        }
    }
    None
}

fn number(text: &str) -> f64 {
    match text {
        "+Inf" => f64::INFINITY,
        // Rust also accepts words such as `infinity`, which Prometheus does not.
        text => {
            assert!(text.bytes().all(|byte| b"0123456789.e+-".contains(&byte)), "{text}");
            text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
        }
    }
}
