//! Compiles an algorithm, or explains why it cannot be compiled.

use hallpass_algorithms::registry;

use crate::{
    catalogue,
    machine::{self, Machine},
    space::{Initial, Sequential},
    tables::{CannotCompile, MOST_WORDS, Tables},
};

use super::{Error, Resources};

/// A question that [`check_counts_steps`] may refuse.
pub(crate) const REMOTE_REFERENCES: &str = "remote references";

/// Returns an error if the step machine of the algorithm leaves out steps, so that the answer to `question` would be wrong.
pub(crate) fn check_counts_steps(algorithm: &str, question: &str) -> Result<(), Error> {
    match registry::entry(algorithm) {
        Ok((entry, _)) if !entry.counts_steps && catalogue::find(algorithm).is_none() => {
            Err(Error::Question(format!(
                "{algorithm} leaves out steps of the algorithm, so it cannot answer a question about steps, such as \
                 {question}: choose a model with all steps (`hallpass-lab list` shows all models)"
            )))
        }
        _ => Ok(()),
    }
}

/// Compiles an algorithm for a question about steps.
pub(crate) fn compile(
    algorithm: &str,
    n: usize,
    k: usize,
    resources: &Resources<'_>,
) -> Result<(Box<dyn Machine>, Tables), Error> {
    check_counts_steps(algorithm, REMOTE_REFERENCES)?;
    let machine = machine::build(algorithm, n, k)?;
    let tables = Tables::within(&*machine, &[], resources.budget())
        .map_err(|cause| cannot_compile(algorithm, n, k, cause))?;
    Ok((machine, tables))
}

pub(crate) fn cannot_compile(algorithm: &str, n: usize, k: usize, cause: CannotCompile) -> Error {
    match cause {
        CannotCompile::PrivateStates => Error::TooLarge(format!(
            "{algorithm} with n = {n} has too many private states: try a smaller n"
        )),
        CannotCompile::Values(name) => Error::TooLarge(format!(
            "{algorithm} with n = {n}, k = {k} has too many values of {name} to explore: try a smaller n or k; \
             `hallpass-lab rmr --search-only` runs it without exploring it"
        )),
        CannotCompile::TwoAccesses { process, line } => Error::Question(format!(
            "{algorithm}: process {process} makes more than one shared access in one step, at line \
             {line}: give each access its own line"
        )),
        CannotCompile::Memory => Error::TooLarge(format!(
            "{algorithm} with n = {n}, k = {k}: the table of all steps takes more memory than the limits \
             allow: try a smaller n, or raise --memory and --states"
        )),
        CannotCompile::Stopped => Error::Question(format!(
            "{algorithm} with n = {n}, k = {k}: stopped before the table of all steps was built"
        )),
        CannotCompile::WriteThatReads { process, line } => Error::Question(format!(
            "{algorithm}: process {process} uses the value that its write at line {line} replaces, so \
             the write cannot wait in a store buffer: leave out --tso"
        )),
        CannotCompile::Stores => Error::TooLarge(format!(
            "{algorithm} with n = {n} has too many ways to fill a store buffer: try a smaller n"
        )),
        CannotCompile::Bits(bits) => {
            let is_file = catalogue::find(algorithm).is_some_and(|it| it.source().is_some());
            let advice = match is_file {
                true => "declare fewer variables or smaller ranges; often a smaller n helps too",
                false => "try a smaller n, or a larger k",
            };
            Error::TooLarge(format!(
                "{algorithm} with n = {n}, k = {k} takes {bits} bits per state, and at most {} are \
                 possible: {advice}",
                MOST_WORDS * 64
            ))
        }
    }
}

pub(crate) fn check_contention(contention: usize, n: usize) -> Result<(), Error> {
    if contention == 0 || contention > n {
        return Err(Error::Question(format!(
            "contention must be from 1 to n = {n}: it is the number of processes that compete at once"
        )));
    }
    Ok(())
}

/// Returns an error if the initial states alone do not fit in memory.
pub(crate) fn check_initial(tables: &Tables, initial: Initial, bytes: u64) -> Result<(), Error> {
    let count = match initial {
        Initial::All => Sequential::initial_count(tables),
        Initial::Smallest => 1,
    };
    let most = u128::from(bytes) / (8 * tables.words as u128 + 14);
    if count > most {
        return Err(Error::TooLarge(format!(
            "the variables with an open initial value give {count} initial states and at most {most} \
             fit in memory: try a smaller n, a larger --memory, or --initial smallest"
        )));
    }
    Ok(())
}
