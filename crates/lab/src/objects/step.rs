//! One step of one participant.

use hallpass_algorithms::objects::universal::{Next, begin};

use super::{
    observe::Fault,
    shop::{Access, Shop},
    state::{Busy, State},
    toys::{Deed, Toy},
    variants::Variant,
};

/// What a step was, for who reads or observes a run.
#[derive(Clone, Debug, Default)]
pub struct Happened {
    /// An operation began.
    pub began: Option<Deed>,
    /// One ended with this answer.
    pub returned: Option<u8>,
    /// Which line it was.
    pub line: String,
    /// What was accessed, if it was asked for.
    pub accesses: Vec<Access>,
    /// What is wrong.
    pub fault: Option<Fault>,
}

impl Happened {
    /// Whether an observer has nothing to note.
    pub fn is_silent(&self) -> bool {
        self.began.is_none() && self.returned.is_none() && self.fault.is_none()
    }
}

/// Who moves, and how.
pub struct Mover<'a> {
    /// The object.
    pub toy: &'a Toy,
    /// The rules.
    pub variant: &'a Variant,
    /// See [`Fault::Held`].
    pub strict: bool,
    /// Whether to keep accesses.
    pub log: bool,
}

impl Mover<'_> {
    /// One step of `me`, which begins operation `which` if it is at none. None if it cannot move.
    pub fn step(&self, state: &mut State, me: usize, which: usize) -> Option<Happened> {
        let participant = &mut state.participants[me];
        let mut happened = Happened::default();
        let mut busy = match participant.busy {
            Some(_) if which != 0 => return None,
            Some(busy) => busy,
            None if participant.left == Some(0) => return None,
            None => {
                participant.left = participant.left.map(|left| left - 1);
                let errand = self.toy.errand(which);
                happened.began = Some(Deed { name: me as u8, which: which as u8 });
                Busy { at: begin(errand), errand, which: which as u8, aside: None }
            }
        };
        let k = state.participants.len();
        let mut lines: Vec<_> = (0..k).map(|name| state.line(name)).collect();
        if self.log {
            happened.line = format!("{:?}", busy.at);
        }
        loop {
            lines[me] = Some(busy.at);
            let mut shop = Shop {
                shared: &mut state.shared,
                lines: &lines,
                toy: self.toy,
                me,
                errand: busy.errand,
                which: busy.which,
                aside: busy.aside,
                fault: None,
                strict: self.strict,
                log: self.log.then(Vec::new),
            };
            let next = (self.variant.step)(&mut shop, me, busy.errand, busy.at);
            busy.aside = shop.aside;
            happened.fault = happened.fault.or(shop.fault);
            happened.accesses.extend(shop.log.into_iter().flatten());
            match next {
                Next::Goto(line) => busy.at = line,
                Next::Done => {
                    happened.returned = busy.aside;
                    if busy.aside.is_none() {
                        happened.fault = happened.fault.or(Some(Fault::Missing));
                    }
                    state.participants[me].busy = None;
                    return Some(happened);
                }
            }
            if !(self.variant.is_local)(busy.at, me, k) {
                state.participants[me].busy = Some(busy);
                return Some(happened);
            }
        }
    }
}
