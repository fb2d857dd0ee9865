//! The part of the [normal form](super::normal) that makes numbers small.

use hallpass_algorithms::objects::universal::{Asked, Line};

use super::state::{Good, State};
use Line::*;

/// The request of another that a participant at this line is about to serve, and whose it is.
pub fn serving(at: &mut Line) -> Option<(usize, &mut Asked)> {
    match at {
        B5 { todo, asked, .. } | B6 { todo, asked, .. } => Some((*todo, asked)),
        B7 { todo, asked, .. } | B8 { todo, asked, .. } => Some((*todo, asked)),
        _ => None,
    }
    .map(|(todo, asked)| (todo.trailing_zeros() as usize, asked))
}

/// Makes the numbers of requests small.
pub fn numbers(state: &mut State) {
    let latest: Vec<u64> =
        state.shared.requests.iter().map(|&request| Asked::unpack(request).number).collect();
    let renumber = |name: usize, asked: &mut Asked| {
        asked.number = match asked.number {
            number if number == latest[name] => 2,
            number if number == latest[name] + 1 => 3, // its owner's at P5
            number => (number ^ latest[name]) & 1,
        };
    };
    let odd = (0..).zip(&latest).fold(0u8, |odd, (name, number)| odd | (*number as u8 & 1) << name);
    let shared = &mut state.shared;
    shared.flips ^= i64::from(odd);
    for good in shared.goods.iter_mut() {
        good.served ^= odd;
        for entry in &mut good.helped {
            let mut asked = Asked::unpack(entry.asked);
            renumber(entry.name.into(), &mut asked);
            entry.asked = asked.pack();
        }
    }
    for request in &mut shared.requests {
        *request = Asked { number: 2, ..Asked::unpack(*request) }.pack();
    }
    for (me, participant) in state.participants.iter_mut().enumerate() {
        let Some(busy) = &mut participant.busy else { continue };
        if let Some((name, asked)) = serving(&mut busy.at) {
            renumber(name, asked);
        }
        match &mut busy.at {
            P2 { last, .. } | P3 { last, .. } | P4 { last, .. } => renumber(me, last),
            P5 { asked } | P6 { asked } => renumber(me, asked),
            C1 { asked, .. } | C2 { asked, .. } | C3 { asked } => renumber(me, asked),
            A2 { parity } | A3 { parity, .. } | A4 { parity, .. } | F1 { parity, .. } => {
                *parity ^= u64::from(odd >> me & 1);
            }
            _ => {}
        }
    }
}

/// Makes versions small.
pub fn versions(goods: &mut [Good]) {
    const APART: u32 = 3;
    let mut all: Vec<u32> =
        goods.iter().map(|good| good.version).filter(|&version| version != 0).collect();
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
    for good in goods {
        if let Ok(at) = renamed.binary_search_by_key(&good.version, |&(version, _)| version) {
            good.version = renamed[at].1;
        }
    }
}
