//! Answers a question with little memory: it keeps the set of states, but neither their numbers nor a graph.

use std::time::Instant;

use crate::{
    compact::Memory,
    explore::{Ended, MOST_STATES},
    schedule::MemoryModel,
    search::{MOST_PROCESSES, Searched, Trap, cheapest_trap, search, search_and_number},
    space::Space,
};

use super::{
    Error, Outcome, Property, Question, Report, Verdict,
    analyse::{observed, settle},
    run::Setup,
    safety::{Safety, SearchedViolations, no_run},
};

/// Returns an error if the question asks for the compact set, and for something that the compact set cannot decide.
pub(super) fn check_compact(question: &Question) -> Result<(), Error> {
    if !question.compact {
        return Ok(());
    }
    if let Some(property) = question.properties.iter().find(|property| !property.is_compact()) {
        return Err(Error::Question(format!(
            "--compact works for exclusion, names, invariants and starvation, not for {}: select these \
             with --property, or leave out --compact",
            property.name()
        )));
    }
    if !question.properties.contains(&Property::Starvation) {
        return Ok(());
    }
    if question.memory == MemoryModel::StoreBuffers {
        return Err(Error::Question(
            "--compact decides starvation only without store buffers: leave out --tso or --compact"
                .into(),
        ));
    }
    if question.n > MOST_PROCESSES {
        return Err(Error::Question(format!(
            "--compact decides starvation for at most {MOST_PROCESSES} processes, got {}: leave out \
             --compact",
            question.n
        )));
    }
    Ok(())
}

/// Answers a question about single states and starvation. The check began at `begun`.
pub(super) fn answer_compactly<const W: usize>(
    setup: &Setup<'_>,
    space: &dyn Space<W>,
    buffer_capacity: Option<usize>,
    begun: Instant,
) -> Report {
    let Setup { machine, tables, question, resources } = *setup;
    let memory = Memory::new(resources.bytes);
    let (searched, explore_seconds, starvation) =
        if question.properties.contains(&Property::Starvation) {
            let (searched, states) = search_and_number(space, &resources.limits(), &memory);
            let explore_seconds = begun.elapsed().as_secs_f64();
            let victims = observed(machine, question);
            let found = states.and_then(|states| {
                let limits = resources.limits();
                let victims = (&victims[..], question.symmetry);
                cheapest_trap(space, tables, &states, victims, &limits, &memory, resources.phase)
            });
            (searched, explore_seconds, Some(found))
        } else {
            let searched = search(space, &resources.limits());
            (searched, begun.elapsed().as_secs_f64(), None)
        };
    let bytes = memory.peak().max(searched.bytes);
    let violations = SearchedViolations { searched: &searched, space, question, tables, resources };
    let covers_all_runs = searched.is_whole() && buffer_capacity.is_none();
    let safety = Safety { machine, question, tables, covers_all_runs, violations: &violations };
    let mut properties = safety.decide();
    if let Some(found) = starvation {
        let outcome = starvation_outcome(question, &searched, &violations, found);
        properties.insert(Property::Starvation.name(), outcome);
    }
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

/// Explains why starvation is undecided.
fn why_undecided<const W: usize>(searched: &Searched<W>, limit: Ended) -> String {
    match limit {
        Ended::Stopped => "stopped".into(),
        Ended::States if searched.ended == Ended::Complete => {
            format!("starvation is decided for at most {MOST_STATES} states")
        }
        Ended::States => "starvation is decided only if every state was found".into(),
        _ => "starvation takes more memory than --memory allows".into(),
    }
}

fn starvation_outcome<const W: usize>(
    question: &Question,
    searched: &Searched<W>,
    violations: &SearchedViolations<'_, W>,
    found: Result<Option<Trap<W>>, Ended>,
) -> Outcome {
    let nothing_found = if searched.is_whole() { Verdict::Holds } else { Verdict::Partial };
    let trap = match found {
        Ok(Some(trap)) => trap,
        Ok(None) => return Outcome::new(nothing_found),
        Err(limit) => return Outcome::new(Verdict::Partial).noting(why_undecided(searched, limit)),
    };
    let is_violated = trap.cost <= question.crashes;
    let verdict = if is_violated { Verdict::Violated } else { nothing_found };
    let outcome = Outcome { resilience: Some(trap.cost), ..Outcome::new(verdict) };
    let run = trap.lasso.and_then(|lasso| violations.lasso(trap.victim, &lasso));
    match run {
        Ok(run) => Outcome { run: Some(run), ..outcome },
        Err(limit) => outcome.noting(no_run(limit)),
    }
}
