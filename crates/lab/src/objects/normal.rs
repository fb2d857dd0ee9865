//! Finitely many states, though requests and versions are numbered without bound: each state is
//! replaced by one that behaves the same for ever.
//!
//! **Numbers.** A request's number is compared with that of the same participant's latest request only,
//! and numbers grow, so what is not the latest never becomes it again. What else counts is parity, and
//! nothing changes if all parities of a participant are turned around: in its numbers, its bit of flips
//! and of what each copy has served, and its lines. So the latest becomes 2, the one that its owner is
//! about to write 3, and an older one 0 if its parity is that of the latest, and 1 if not.
//!
//! **Versions.** These are asked only whether one is one more than another. A new one is one more than
//! that of a copy that somebody holds, and becomes the version of the head or is never again added to.
//! So differences count up to 2, and 3 stands for all larger ones.
//!
//! **What nobody reads.** A copy is read by who holds it (see [`held`]), by whoever fetches an answer
//! from it, and by who makes it catch up with the copy that replaced it, if it is the one that that
//! copy replaced. Before anybody else can read it, it is written anew. So what is not for these is left
//! out, field by field.
//!
//! **Those who come too late.** This part is for [orderly](Variant::orderly) variants, in which a head
//! that somebody holds is not written until it lets go. [`Fault::Held`](super::observe::Fault::Held)
//! is checked at every step, so this is no assumption: up to the first fault it is a fact. Then somebody
//! that holds what is no longer the head will not see it become the head again: what it builds will be
//! spoiled, and nobody reads it before. So neither what is in it counts, nor which operations it is made
//! from; only who is to be served, and which places are marked for it.
//!
//! The lab compares: `tests/objects.rs` explores with and without the last two parts.

use hallpass_algorithms::objects::universal::{Answer, Asked, Errand, Line};

use super::{
    numbering::{numbers, serving, versions},
    state::{Entry, Good, State, held},
    variants::Variant,
};
use Line::*;

/// How much to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Nothing: numbers grow. For runs of so many steps.
    Raw,
    /// Numbers and versions are small.
    Small,
    /// What nobody reads is left out too.
    Full,
}

/// Brings a state into its normal form.
pub fn normalize(state: &mut State, variant: &Variant, depth: Depth) {
    if depth == Depth::Raw {
        return;
    }
    if variant.numbers {
        numbers(state);
    }
    if depth == Depth::Full {
        let form = Form { head: state.shared.head as usize, variant };
        let lines: Vec<_> = (0..state.participants.len()).map(|name| state.line(name)).collect();
        form.places(state, &lines);
        form.goods(state, &lines);
        form.participants(state);
    }
    versions(&mut state.shared.goods);
}

struct Form<'a> {
    head: usize,
    variant: &'a Variant,
}

impl Form<'_> {
    /// Whether who holds this copy comes too late.
    fn is_late(&self, h: usize) -> bool {
        self.variant.orderly && h != self.head
    }

    /// The copy that is being built at this line, with something in it that will count.
    fn builds(&self, at: Line) -> Option<usize> {
        Self::building(at).and_then(|(h, c)| (!self.is_late(h)).then_some(c))
    }

    /// The copy that is being built at this line, or given up, and will be spoiled. Its version may be
    /// one less than the head's by chance.
    fn ruins(&self, at: Line) -> Option<usize> {
        match at {
            U1 { c } => self.variant.orderly.then_some(c),
            _ => Self::building(at).and_then(|(h, c)| self.is_late(h).then_some(c)),
        }
    }

    fn building(at: Line) -> Option<(usize, usize)> {
        match at {
            B3 { h, c } | B4 { h, c, .. } | B5 { h, c, .. } | B6 { h, c, .. } => Some((h, c)),
            B7 { h, c, .. } | B8 { h, c, .. } | I1 { h, c } => Some((h, c)),
            _ => None,
        }
    }

    /// An operation is read by who serves it: from its place, if the request is pending.
    fn places(&self, state: &mut State, lines: &[Option<Line>]) {
        if !self.variant.orderly {
            return;
        }
        let k = lines.len();
        let shared = &mut state.shared;
        let pending = shared.flips as u64 ^ u64::from(shared.goods[self.head].served);
        for (name, line) in lines.iter().enumerate() {
            let mut read = 0u64;
            let request = Asked::unpack(shared.requests[name]);
            read |= (pending >> name & 1) << request.place;
            if let Some(P5 { asked } | P6 { asked }) = line {
                read |= 1 << asked.place;
            }
            for mut at in lines.iter().copied().flatten() {
                if held(at, false).is_none_or(|h| self.is_late(h)) {
                    continue;
                }
                if let Some((_, asked)) = serving(&mut at).filter(|&(whose, _)| whose == name) {
                    read |= 1 << asked.place;
                }
            }
            for (place, deed) in shared.places[name * k..][..k].iter_mut().enumerate() {
                *deed = deed.filter(|_| read >> place & 1 != 0);
            }
            // Who has no request under way has been answered, whether others or itself did it.
            if !asks(line, state.participants[name].busy.map(|busy| busy.errand))
                && pending >> name & 1 == 0
            {
                shared.requests[name] = request.answered(Answer::Fetched).pack();
            }
        }
    }

    fn goods(&self, state: &mut State, lines: &[Option<Line>]) {
        let hasty = !self.variant.validates;
        let any = |test: &dyn Fn(Line) -> bool| lines.iter().copied().flatten().any(test);
        let goods = &mut state.shared.goods;
        for c in lines.iter().flatten().filter_map(|&at| self.ruins(at)) {
            goods[c] = Good::default();
        }
        let versions: Vec<u32> = goods.iter().map(|good| good.version).collect();
        let follows = |good: &Good| {
            let before = versions[usize::from(good.previous)];
            before != 0 && before + 1 == good.version
        };
        let whole: Vec<bool> = (0..goods.len())
            .map(|c| c == self.head || any(&|at| self.builds(at) == Some(c)))
            .collect();
        // Those from which others may be made, and those that may catch up with them.
        let is_source =
            |c: usize| whole[c] || !self.variant.orderly && any(&|at| held(at, hasty) == Some(c));
        let mut behind = 0u64;
        for (_, good) in goods.iter().enumerate().filter(|&(c, _)| is_source(c)) {
            if follows(good) {
                behind |= 1 << good.previous;
            }
        }
        for (c, good) in goods.iter_mut().enumerate() {
            let is_behind = behind >> c & 1 != 0;
            let is_source = is_source(c);
            if !is_source && !is_behind {
                good.version = 0;
                if !any(&|at| matches!(at, R4 { h } | R5 { h } if h == c)) {
                    good.object = None;
                }
            }
            if !is_source || self.variant.orderly && !follows(good) {
                good.batch.clear();
            }
            let holds = |at: Line| held(at, hasty) == Some(c);
            if !is_source && !any(&|at| holds(at) && !matches!(at, R4 { .. } | R5 { .. })) {
                good.served = 0;
            }
            let to_help = |at: Line| holds(at) && matches!(at, F1 { .. });
            if !is_source && !any(&|at| to_help(at) || holds(at) && matches!(at, G1 { i: 0, .. })) {
                good.previous = 0;
            }
            self.helped(&state.shared.requests, c, good, is_source || any(&to_help));
        }
    }

    /// An answer counts while it can still be assigned, or is to be fetched from here. Who goes through
    /// them counts them all.
    fn helped(&self, requests: &[i64], c: usize, good: &mut Good, is_list: bool) {
        if !self.variant.numbers {
            return;
        }
        for entry in &mut good.helped {
            if *entry == Entry::SPENT {
                continue;
            }
            let request = requests[usize::from(entry.name)];
            let (asked, latest) = (Asked::unpack(entry.asked), Asked::unpack(request));
            let is_here = asked.number == latest.number && latest.answer == Answer::In(c);
            let is_open = is_list && entry.asked == request;
            if !is_here && !is_open {
                *entry = Entry::SPENT;
            }
        }
        if !is_list {
            good.helped.retain(|entry| *entry != Entry::SPENT);
            good.helped.sort_unstable_by_key(|entry| entry.name);
        }
    }

    fn participants(&self, state: &mut State) {
        for (me, participant) in state.participants.iter_mut().enumerate() {
            let Some(busy) = &mut participant.busy else { continue };
            let is_late = held(busy.at, false).is_some_and(|h| self.is_late(h));
            if let Some((_, asked)) = serving(&mut busy.at)
                && is_late
            {
                *asked = Asked { number: 0, answer: Answer::None, ..*asked };
            }
            if let P2 { last, .. } | P3 { last, .. } | P4 { last, .. } = &mut busy.at {
                *last = Asked { number: last.number, ..Asked::NOTHING };
            }
            let is_put = !matches!(
                busy.at,
                R1 { .. }
                    | R2 { .. }
                    | R3 { .. }
                    | R4 { .. }
                    | R5 { .. }
                    | P1
                    | P2 { .. }
                    | P3 { .. }
                    | P4 { .. }
            );
            if is_put {
                busy.which = 0;
            }
            let is_kept = match busy.at {
                // Before it has served itself, what it has is from an attempt that failed.
                B4 { todo, .. }
                | B5 { todo, .. }
                | B6 { todo, .. }
                | B7 { todo, .. }
                | B8 { todo, .. } => !is_late && todo >> me & 1 == 0,
                I1 { .. } => !is_late,
                I2 { .. } | I3 { .. } | R6 | C3 { .. } | C4 => true,
                _ => false,
            };
            if !is_kept {
                busy.aside = None;
            }
        }
    }
}

/// Whether a participant at this line has a request under way.
fn asks(line: &Option<Line>, errand: Option<Errand>) -> bool {
    match line {
        None | Some(C4 | R6 | P1 | P2 { .. } | P3 { .. } | P4 { .. } | P5 { .. }) => false,
        Some(R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | R5 { .. }) => false,
        Some(I2 { .. } | I3 { .. }) => errand == Some(Errand::Look),
        Some(_) => true,
    }
}
