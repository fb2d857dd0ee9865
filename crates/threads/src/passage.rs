//! How a hall runs its machine: in a few instructions where nobody waits, and line by line otherwise.

use hallpass_algorithms::{
    Next, Op, Word,
    halls::threads::{self as machine, Barging, Count, FREE, Fair, Job, Line, Manner, Pool},
};

use crate::{
    hall::Hall,
    names::Names,
    pass::Slots,
    patience::Limit,
    seat::{End, Quick, Seat, Who},
    sync::{access, thread},
    waiter::{Bell, Node},
    watch::Outcome,
};

/// How slots are given out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All of them fit into the word; first in, first enabled. What most people have, and what the
    /// fast path is made for.
    Fair,
    /// All of them fit into the word; who comes may overtake.
    Barging,
    /// The word counts them, their numbers lie beside it; first in, first enabled.
    FairWide,
    /// The word counts them; who comes may overtake.
    BargingWide,
}

/// Calls a method for the kind that the hall is.
macro_rules! by_kind {
    ($hall:expr, $object:ident . $method:ident ($($argument:expr),*)) => {
        match $hall.kind {
            Kind::Fair => $object.$method::<machine::Slots, Fair>($($argument),*),
            Kind::Barging => $object.$method::<machine::Slots, Barging>($($argument),*),
            Kind::FairWide => $object.$method::<Count, Fair>($($argument),*),
            Kind::BargingWide => $object.$method::<Count, Barging>($($argument),*),
        }
    };
}

impl Hall {
    /// A slot, if one comes within the limit.
    #[inline(always)]
    pub(crate) fn one(&self, limit: Limit) -> Option<u32> {
        match self.kind {
            Kind::Fair => match self.grab::<machine::Slots, Fair>(1) {
                Some(take) => Some(take.trailing_zeros()),
                None => self.wait::<machine::Slots, Fair>(1, limit).map(Word::trailing_zeros),
            },
            Kind::FairWide => self.one_name(limit),
            _ => self.one_of_its_kind(limit),
        }
    }

    #[inline(never)]
    fn one_name(&self, limit: Limit) -> Option<u32> {
        if self.grab::<Count, Fair>(1).is_none() {
            self.wait::<Count, Fair>(1, limit)?;
        }
        Some(self.names().take() as u32)
    }

    #[inline(never)]
    fn one_of_its_kind(&self, limit: Limit) -> Option<u32> {
        let take = self.grab_any(1).or_else(|| by_kind!(self, self.wait(1, limit)))?;
        Some(self.slot_of(take))
    }

    /// Several slots, if they come within the limit.
    pub(crate) fn several(&self, need: u32, limit: Limit) -> Option<Slots> {
        let take = self.grab_any(need).or_else(|| by_kind!(self, self.wait(need, limit)))?;
        Some(self.slots_of(take))
    }

    pub(crate) fn is_wide(&self) -> bool {
        matches!(self.kind, Kind::FairWide | Kind::BargingWide)
    }

    /// Which slot a grant of one stands for.
    #[inline]
    pub(crate) fn slot_of(&self, take: Word) -> u32 {
        if self.is_wide() { self.names().take() as u32 } else { take.trailing_zeros() }
    }

    /// Which slots a grant stands for.
    pub(crate) fn slots_of(&self, take: Word) -> Slots {
        if !self.is_wide() {
            return Slots::Mask(take);
        }
        let mut list: Box<[u32]> = (0..take).map(|_| self.names().take() as u32).collect();
        list.sort_unstable();
        Slots::List(list)
    }

    #[inline]
    fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(self.max as usize))
    }

    /// Lines 1 and 2: one look, and one access that takes.
    #[inline(always)]
    fn grab<P: Pool, M: Manner>(&self, need: u32) -> Option<Word> {
        let mut quick = Quick { word: &self.memory.word.0, need };
        let Next::Goto(look) = machine::step::<P, M, _>(&mut quick, (), Line::L1) else {
            return None;
        };
        let Line::L2 { .. } = look else { return None };
        match machine::step::<P, M, _>(&mut quick, (), look) {
            Next::Enter(Line::X1 { take }) => Some(take),
            _ => None,
        }
    }

    /// [`grab`](Hall::grab), of whatever kind.
    pub(crate) fn grab_any(&self, need: u32) -> Option<Word> {
        if need == 0 { Some(0) } else { by_kind!(self, self.grab(need)) }
    }

    /// From line 3 on.
    #[cold]
    fn wait<P: Pool, M: Manner>(&self, need: u32, limit: Limit) -> Option<Word> {
        let free = access(&self.memory.word.0, Op::Read) & FREE;
        if limit.is_now() && P::choose(free, 0, need).is_none() {
            return None;
        }
        // Who does not wait is not told of.
        let waiting = (!limit.is_now()).then(|| self.watch.queues(need));
        let node = Node::new(need, Some(Bell::Thread(thread::current())));
        let take = Seat::new(&self.memory, limit).wait::<P, M>(&node);
        if let Some(waiting) = waiting {
            let outcome = match take {
                Some(_) => Outcome::Granted,
                None if self.is_closed() => Outcome::TurnedAway,
                None => Outcome::TimedOut,
            };
            self.watch.ends(waiting, outcome);
        }
        take
    }

    /// Runs the machine for a node.
    ///
    /// # Safety
    /// As [`Seat::run`].
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run(
        &self,
        node: &Node,
        limit: Limit,
        at: Line<Who>,
        stops: impl Fn(&Line<Who>) -> bool,
    ) -> End {
        let mut seat = Seat::new(&self.memory, limit);
        // SAFETY: the caller's promise.
        unsafe { by_kind!(self, seat.run(node.into(), at, stops)) }
    }

    /// Has another task woken for a node that is in the queue, or was.
    pub(crate) fn change_bell(&self, node: &Node, bell: Bell) {
        let mut seat = Seat::new(&self.memory, Limit::Never);
        by_kind!(self, seat.change_bell(node, bell));
    }

    /// Gives a slot back.
    #[inline(always)]
    pub(crate) fn release(&self, slot: u32) {
        match self.kind {
            Kind::Fair => self.put::<machine::Slots, Fair>(1 << slot),
            Kind::FairWide => self.release_name(slot),
            _ => self.release_of_its_kind(slot),
        }
    }

    #[inline(never)]
    fn release_name(&self, slot: u32) {
        self.names().put(slot as usize);
        self.put::<Count, Fair>(1);
    }

    #[inline(never)]
    fn release_of_its_kind(&self, slot: u32) {
        if self.is_wide() {
            self.names().put(slot as usize);
            self.put_any(1);
        } else {
            self.put_any(1 << slot);
        }
    }

    pub(crate) fn release_many(&self, slots: &Slots) {
        match slots {
            Slots::Mask(0) => {}
            &Slots::Mask(mask) => self.put_any(mask),
            Slots::List(list) => {
                list.iter().for_each(|&slot| self.names().put(slot as usize));
                self.put_any(list.len() as Word);
            }
        }
    }

    /// Gives back what was granted, names apart.
    pub(crate) fn put_any(&self, take: Word) {
        by_kind!(self, self.put(take));
    }

    /// Line X1, and handing on if somebody waits.
    #[inline(always)]
    fn put<P: Pool, M: Manner>(&self, take: Word) {
        let mut quick = Quick { word: &self.memory.word.0, need: 0 };
        if let Next::Goto(Line::L5 { job }) =
            machine::step::<P, M, _>(&mut quick, (), Line::X1 { take })
        {
            self.hand_on::<P, M>(job);
        }
    }

    #[cold]
    fn hand_on<P: Pool, M: Manner>(&self, job: Job) {
        let mut seat = Seat::new(&self.memory, Limit::Never);
        seat.work::<P, M>(Line::L5 { job });
        if seat.woke_a_thread {
            // Let it run, if it has to wait for this core. Otherwise this thread would come back, find
            // it still asleep over its slot, and queue up behind it; soon everybody would queue, and
            // each pass would cost a sleep and a wake-up. So the queue dissolves.
            thread::yield_now();
        }
    }

    /// Resizes or closes.
    pub(crate) fn manage(&self, job: Job) {
        let mut seat = Seat::new(&self.memory, Limit::Never);
        by_kind!(self, seat.work(Line::L5 { job }));
    }
}
