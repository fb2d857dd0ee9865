//! The part of the [normal form](super::normal) that keeps numbers small.

use hallpass_algorithms::objects::universal::{Line, Request};

use super::state::{CopyState, ModelState};
use Line::*;

/// The difference of versions that stands for all larger differences.
const APART: u32 = 3;

/// Returns the request that a process at this line serves, and its owner.
pub fn serving(at: &mut Line) -> Option<(usize, &mut Request)> {
    match at {
        B5 { todo, request, .. } | B6 { todo, request, .. } => Some((*todo, request)),
        B7 { todo, request, .. } | B8 { todo, request, .. } => Some((*todo, request)),
        _ => None,
    }
    .map(|(todo, request)| (todo.trailing_zeros() as usize, request))
}

/// Renumbers requests. The [normal form](super::normal) explains the new numbers.
pub fn numbers(state: &mut ModelState) {
    let latest: Vec<u64> =
        state.shared.requests.iter().map(|&request| Request::unpack(request).number).collect();
    let renumber = |owner: usize, request: &mut Request| {
        request.number = match request.number {
            number if number == latest[owner] => 2,
            number if number == latest[owner] + 1 => 3, // its owner is at P5
            number => (number ^ latest[owner]) & 1,
        };
    };
    let odd =
        (0..).zip(&latest).fold(0u8, |odd, (owner, number)| odd | (*number as u8 & 1) << owner);
    let shared = &mut state.shared;
    shared.flips ^= i64::from(odd);
    for copy in shared.copies.iter_mut() {
        copy.served ^= odd;
        for answer in &mut copy.answers {
            let mut request = Request::unpack(answer.request);
            renumber(answer.process.into(), &mut request);
            answer.request = request.pack();
        }
    }
    for request in &mut shared.requests {
        *request = Request { number: 2, ..Request::unpack(*request) }.pack();
    }
    for (me, process) in state.processes.iter_mut().enumerate() {
        let Some(ongoing) = &mut process.ongoing else { continue };
        if let Some((owner, request)) = serving(&mut ongoing.at) {
            renumber(owner, request);
        }
        match &mut ongoing.at {
            P2 { last, .. } | P3 { last, .. } | P4 { last, .. } => renumber(me, last),
            P5 { request } | P6 { request } => renumber(me, request),
            C1 { request, .. } | C2 { request, .. } | C3 { request } => renumber(me, request),
            A2 { parity } | A3 { parity, .. } | A4 { parity, .. } | F1 { parity, .. } => {
                *parity ^= u64::from(odd >> me & 1);
            }
            _ => {}
        }
    }
}

/// Renumbers versions. Differences of `APART` or more become `APART`.
pub fn versions(copies: &mut [CopyState]) {
    let mut all: Vec<u32> =
        copies.iter().map(|copy| copy.version).filter(|&version| version != 0).collect();
    all.sort_unstable();
    all.dedup();
    let (mut before, mut small) = (0, 0);
    let renamed: Vec<(u32, u32)> = all
        .into_iter()
        .map(|version| {
            small += if small == 0 { 1 } else { (version - before).min(APART) };
            before = version;
            (version, small)
        })
        .collect();
    for copy in copies {
        if let Ok(at) = renamed.binary_search_by_key(&copy.version, |&(version, _)| version) {
            copy.version = renamed[at].1;
        }
    }
}
