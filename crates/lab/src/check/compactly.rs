//! Answers a question with little memory: keeps the set of states, but no graph. If all properties are properties of
//! single states, the states have no numbers either.

use std::time::Instant;

use crate::{
    compact::Memory,
    schedule::MemoryModel,
    search::{MOST_PROCESSES, search, search_and_number},
    space::Space,
};

use super::{
    Error, Question, Report,
    analyse::settle,
    compact_liveness::CompactAnalysis,
    run::Setup,
    safety::{Safety, SearchedViolations},
};

/// Returns an error if the question asks for the compact set, and for something that the compact set cannot decide.
pub(super) fn check_compact(question: &Question) -> Result<(), Error> {
    if !question.compact {
        return Ok(());
    }
    if let Some(property) = question.properties.iter().find(|property| !property.is_compact()) {
        return Err(Error::Question(format!(
            "--compact works for every property except {}: select other properties with --property, or leave out \
             --compact",
            property.name()
        )));
    }
    let Some(property) = question.properties.iter().find(|property| !property.is_safety()) else {
        return Ok(());
    };
    let property = property.name();
    if question.memory == MemoryModel::StoreBuffers {
        return Err(Error::Question(format!(
            "--compact decides {property} only without store buffers: leave out --tso or --compact"
        )));
    }
    if question.n > MOST_PROCESSES {
        return Err(Error::Question(format!(
            "--compact decides {property} for at most {MOST_PROCESSES} processes, got {}: leave out \
             --compact",
            question.n
        )));
    }
    Ok(())
}

/// Answers a question. The check began at `begun`.
pub(super) fn answer_compactly<const W: usize>(
    setup: &Setup<'_>,
    space: &dyn Space<W>,
    buffer_capacity: Option<usize>,
    begun: Instant,
) -> Report {
    let Setup { machine, tables, question, resources } = *setup;
    let memory = Memory::new(resources.bytes);
    let is_single = question.properties.iter().all(|property| property.is_safety());
    let (searched, states) = if is_single {
        (search(space, &resources.limits()), None)
    } else {
        let (searched, states) = search_and_number(space, &resources.limits(), &memory);
        (searched, Some(states))
    };
    let explore_seconds = begun.elapsed().as_secs_f64();
    let violations = SearchedViolations { searched: &searched, space, question, tables, resources };
    let covers_all_runs = searched.is_whole() && buffer_capacity.is_none();
    let safety = Safety { machine, question, tables, covers_all_runs, violations: &violations };
    let mut properties = safety.decide();
    if let Some(states) = states {
        let memory = &memory;
        let analysis =
            CompactAnalysis { setup, space, searched: &searched, violations: &violations, memory };
        properties.extend(analysis.decide(states));
    }
    let bytes = memory.peak().max(searched.bytes);
    Report {
        question: question.clone(),
        ended: searched.ended,
        states: searched.states,
        transitions: searched.transitions,
        depth: searched.depth,
        seconds: begun.elapsed().as_secs_f64(),
        explore_seconds,
        bytes_per_state: bytes as f64 / searched.states.max(1) as f64,
        state_bits: tables.bits,
        initial_states: searched.roots,
        buffer_capacity,
        properties: settle(properties, question),
    }
}
