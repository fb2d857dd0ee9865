//! Files of the language as algorithms of the catalogue.

use std::{
    collections::HashMap,
    fmt, fs,
    io::{self, Read},
    sync::{Arc, Mutex, PoisonError},
};

use hallpass_algorithms::{
    papers::anderson_moir::Named,
    registry::{self, CostModel, NAMES},
};
use hallpass_language::{
    Errors, File, MOST_BYTES,
    code::{BoundOn, Ex, Kind},
};

use super::{Promises, Subject, add, same::Borrowed};
use crate::{
    check::Property,
    machine::{self, Machine},
    rmr::Promise,
};

/// Invariants that a normal form keeps true although it changes the numbers in them. Each entry has the name of a step
/// machine, and the text of the invariant in a file. The normal form of `choi` subtracts the same number from Entry and
/// Exit.
const KEPT: &[(&str, &str)] =
    &[("choi", "Entry = Exit + size({p in process : p at {2, critical, 3}})")];

/// Error returned by [`load`].
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read. The text gives the reason.
    Unreadable(String),
    /// The file has errors.
    Errors(Errors),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Unreadable(why) => f.write_str(why),
            LoadError::Errors(errors) => errors.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

/// Loads the file at `path` and adds its algorithm, with the path as identifier. `path+names` is k-assignment on top
/// of it.
///
/// # Errors
/// Fails if the file cannot be read or has errors.
pub fn load(path: &str) -> Result<File, LoadError> {
    load_as(path, path)
}

/// Loads the file at `path` and adds its algorithm with another identifier.
///
/// # Errors
/// Fails if the file cannot be read or has errors.
pub fn load_as(path: &str, id: &str) -> Result<File, LoadError> {
    let unreadable = |why: String| LoadError::Unreadable(format!("cannot read {path}: {why}"));
    let source = read(path).map_err(|error| unreadable(error.to_string()))?;
    let source = text(source).map_err(unreadable)?;
    let file = File::parse(path, &source).map_err(LoadError::Errors)?;
    add_file(id, &file);
    Ok(file)
}

/// Reads a file, up to one byte more than is allowed.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the bytes of a file as text, or the reason why they are not text.
fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > MOST_BYTES {
        return Err(format!(
            "it has more than {MOST_BYTES} bytes: a file describes one algorithm, so keep other text in another file"
        ));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("it is text in UTF-16: save it as UTF-8".into());
    }
    if bytes.contains(&0) {
        return Err("it is not a text file: it has bytes of value 0".into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let before = String::from_utf8_lossy(before);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        format!("line {line}, column {column} is not text in UTF-8: save the file as UTF-8")
    })
}

/// Adds the algorithm of a file, and `id+names`: k-assignment on top of it.
pub fn add_file(id: &str, file: &File) {
    for (names, suffix) in [(false, ""), (true, NAMES)] {
        let machines = Mutex::default();
        add(
            &format!("{id}{suffix}"),
            Arc::new(FileSubject { file: file.clone(), names, machines }),
        );
    }
}

/// A file, with or without k-assignment on top of it.
struct FileSubject {
    file: File,
    names: bool,
    /// The step machines that were built, by n and k. A check builds its step machine several times.
    machines: Mutex<HashMap<(usize, usize), Arc<dyn Machine>>>,
}

impl FileSubject {
    fn make(&self, n: usize, k: usize) -> Result<Arc<dyn Machine>, registry::Error> {
        let size = |text: String| registry::Error::Size(text);
        let path = &self.file.path;
        let mut program = (self.file.at(n, k))
            .map_err(|error| size(format!("{}: {error}", self.file.place_of(&error))))?;
        let Some(model) = &self.file.code.normal_form_of else {
            return Ok(match self.names {
                true => machine::of(Named::new(program)).into(),
                false => machine::of(program).into(),
            });
        };
        let printed = if self.names { format!("{model}{NAMES}") } else { model.clone() };
        let model = machine::build(&printed, n, k)
            .map_err(|error| size(format!("{path} has the normal form of {printed}: {error}")))?;
        program.adopt_domains(model.layout());
        if let Some(name) = self.invariant_on_renumbered() {
            return Err(size(format!(
                "{path}: the invariant {name} uses numbers that the normal form of {printed} changes: leave out the \
                 invariant or `normal form of`, or use only conditions, sets and lines"
            )));
        }
        let own = match self.names {
            true => machine::of(Named::new(program)),
            false => machine::of(program),
        };
        let borrowed = Borrowed::new(own, model).map_err(|difference| {
            size(format!("{path} is not the same step machine as {printed}: {difference}"))
        })?;
        Ok(Arc::new(borrowed))
    }

    /// Returns the name of an invariant that uses a number which the normal form may change, unless it is in [`KEPT`].
    fn invariant_on_renumbered(&self) -> Option<&'static str> {
        let code = &self.file.code;
        let is_counter = |kind: &Kind| matches!(kind, Kind::Counter(_));
        let is_number =
            |kind: &Kind| matches!(kind, Kind::Counter(_) | Kind::Between(..) | Kind::Any);
        let renumbered = |ex: &Ex| {
            let mut found = false;
            ex.visit(&mut |part| match part {
                Ex::Shared(index, _) => found |= is_counter(&code.shared[*index].kind),
                Ex::Of(_, index) => found |= is_number(&code.private[*index].kind),
                _ => {}
            });
            found
        };
        let is_kept = |text: &String| {
            let kept = |(model, kept): &(&str, &str)| {
                code.normal_form_of.as_deref() == Some(*model) && text == kept
            };
            KEPT.iter().any(kept)
        };
        let mut own = code.invariants.iter().zip(&code.invariant_texts);
        own.find(|((_, ex), text)| renumbered(ex) && !is_kept(text)).map(|((name, _), _)| *name)
    }

    fn stated(
        &self,
        bound: Option<&BoundOn>,
        n: usize,
        k: usize,
        contention: usize,
    ) -> Option<Promise> {
        let bound = bound?;
        let value = self.file.at(n, k).ok()?.value_of_bound(&bound.bound, contention)?;
        let (source, formula) = (bound.source.clone(), bound.formula.clone());
        let promise = Promise { source, formula, bound: value };
        Some(if self.names { promise.with_names(k as u64, contention as u64) } else { promise })
    }
}

impl Subject for FileSubject {
    fn build(&self, n: usize, k: usize) -> Result<Box<dyn Machine>, registry::Error> {
        let mut machines = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = machines.get(&(n, k)) {
            return Ok(Box::new(machine.clone()));
        }
        let machine = self.make(n, k)?;
        machines.insert((n, k), machine.clone());
        Ok(Box::new(machine))
    }

    /// Returns the properties that the file promises. If it promises none, they are exclusion and freedom from
    /// deadlock. The invariants, and with k-assignment the distinct names, are always promised.
    fn promises(&self, n: usize, k: usize) -> Promises {
        let code = &self.file.code;
        let promised = |name: &str| code.promises.properties.iter().any(|known| known == name);
        let nothing = code.promises.properties.is_empty();
        let is_promised = |property: &Property| match property {
            Property::Invariants => true,
            Property::Names if self.names => true,
            Property::Exclusion | Property::Deadlock if nothing => true,
            // Starvation freedom implies freedom from deadlock.
            Property::Deadlock => promised("deadlock") || promised("starvation"),
            property => promised(property.name()),
        };
        let stated = self.file.at(n, k).ok().and_then(|program| program.stopped());
        let crashes = match promised("starvation") {
            true => stated.unwrap_or(0),
            false => k.saturating_sub(1),
        };
        Promises { properties: Property::ALL.into_iter().filter(is_promised).collect(), crashes }
    }

    fn bound(&self, model: CostModel, n: usize, k: usize, contention: usize) -> Option<Promise> {
        let promises = &self.file.code.promises;
        let bound = match model {
            CostModel::Cc => promises.cc.as_ref(),
            CostModel::Dsm => promises.dsm.as_ref(),
        };
        self.stated(bound, n, k, contention)
    }

    fn about(&self) -> String {
        let code = &self.file.code;
        [&code.title, &code.paper].into_iter().flatten().cloned().collect::<Vec<_>>().join("; ")
    }

    fn author(&self) -> &'static str {
        "the file"
    }

    fn source(&self) -> Option<String> {
        Some(self.file.source.clone())
    }

    fn fingerprint(&self) -> Option<String> {
        Some(self.file.fingerprint())
    }
}
