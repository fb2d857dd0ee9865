//! A hall as its documentation describes it: a set of held slots and a queue.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hallpass_threads::AcquireError;

/// Identifies a request.
pub type Id = usize;

/// The slots that a request got, or the reason why it got none.
pub type Answer = Result<Vec<usize>, AcquireError>;

/// The slots of a grant.
#[derive(Clone, PartialEq, Debug)]
pub struct Grant {
    slots: Vec<usize>,
    /// The number of further slots. Their numbers are chosen when the request is polled.
    counted: usize,
}

/// A hall in which at most `limit` newcomers overtake a waiter.
pub struct Reference {
    pub k: usize,
    pub closed: bool,
    limit: u32,
    /// In a wide hall, the slots from this one on are counted when they are granted, and chosen when the request is
    /// polled.
    first_counted: usize,
    /// The slots that are held, and those that were granted.
    held: BTreeSet<usize>,
    /// The number of slots that were granted and are not chosen yet.
    counted: usize,
    /// The waiters: the number of slots that each of them needs, and how many newcomers have overtaken it.
    queue: VecDeque<(Id, usize, u32)>,
    /// The answers to waiters that have not been polled since.
    answers: BTreeMap<Id, Result<Grant, AcquireError>>,
}

/// The first reply of the reference to a new request.
#[derive(PartialEq, Debug)]
pub enum Made {
    /// The request has its answer immediately.
    Answer(Answer),
    /// The request cannot be served now.
    Waits,
    /// Others wait, and these slots are free. The hall decides whether the request overtakes.
    MayOvertake(Grant),
}

impl Reference {
    pub fn new(k: usize, max: usize, limit: u32) -> Self {
        Reference {
            k,
            closed: false,
            limit,
            first_counted: if max > 32 { 16 } else { max },
            held: BTreeSet::new(),
            counted: 0,
            queue: VecDeque::new(),
            answers: BTreeMap::new(),
        }
    }

    pub fn available(&self) -> usize {
        self.k.saturating_sub(self.held.len() + self.counted)
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns a grant of the smallest free slots, if `need` more slots may be held.
    fn grant(&self, need: usize) -> Option<Grant> {
        let free = (0..self.k.min(self.first_counted)).filter(|slot| !self.held.contains(slot));
        let slots: Vec<usize> = free.take(need).collect();
        let counted = need - slots.len();
        (need <= self.available()).then_some(Grant { slots, counted })
    }

    fn takes(&mut self, grant: &Grant) {
        self.held.extend(&grant.slots);
        self.counted += grant.counted;
    }

    /// Chooses the slots that were only counted: the smallest that are free.
    fn chooses(&mut self, mut grant: Grant) -> Vec<usize> {
        let free = (self.first_counted..).filter(|slot| !self.held.contains(slot));
        let chosen: Vec<usize> = free.take(grant.counted).collect();
        self.counted -= chosen.len();
        self.held.extend(&chosen);
        grant.slots.extend(chosen);
        grant.slots
    }

    /// Makes a request for `need` slots.
    pub fn make(&mut self, need: usize) -> Made {
        if self.closed {
            return Made::Answer(Err(AcquireError::Closed));
        }
        if need > self.k.max(1) {
            return Made::Answer(Err(AcquireError::TooMany { asked: need, slots: self.k }));
        }
        match self.grant(need) {
            _ if need == 0 => Made::Answer(Ok(Vec::new())),
            Some(grant) if self.queue.is_empty() => {
                self.takes(&grant);
                Made::Answer(Ok(self.chooses(grant)))
            }
            Some(grant) if self.limit > 0 => Made::MayOvertake(grant),
            _ => Made::Waits,
        }
    }

    /// Lets a newcomer take these slots ahead of all waiters. Returns the slots.
    pub fn overtakes(&mut self, grant: Grant) -> Answer {
        self.takes(&grant);
        for (id, _, overtaken) in &mut self.queue {
            *overtaken += 1;
            assert!(*overtaken <= self.limit, "{overtaken} newcomers have overtaken request {id}");
        }
        Ok(self.chooses(grant))
    }

    /// Puts a request at the end of the queue.
    pub fn joins(&mut self, id: Id, need: usize) {
        self.queue.push_back((id, need, 0));
    }

    /// Returns whether a waiter has got its answer, and has not been polled since.
    pub fn is_answered(&self, id: Id) -> bool {
        self.answers.contains_key(&id)
    }

    /// Polls a waiter. Returns its answer, if it has one.
    pub fn polls(&mut self, id: Id) -> Option<Answer> {
        Some(self.answers.remove(&id)?.map(|grant| self.chooses(grant)))
    }

    /// Drops the future of a waiter.
    pub fn drops(&mut self, id: Id) {
        if let Some(Ok(grant)) = self.answers.remove(&id) {
            self.counted -= grant.counted;
            self.frees(&grant.slots);
        } else {
            self.queue.retain(|(other, ..)| *other != id);
            self.serve();
        }
    }

    /// Frees slots that are held.
    pub fn frees(&mut self, slots: &[usize]) {
        for slot in slots {
            assert!(self.held.remove(slot), "slot {slot} is not held");
        }
        self.serve();
    }

    pub fn resizes(&mut self, k: usize) {
        self.k = k;
        self.serve();
    }

    pub fn closes(&mut self) {
        self.closed = true;
        self.serve();
    }

    /// Answers the first waiter, as long as that is possible.
    fn serve(&mut self) {
        while let Some(&(id, need, _)) = self.queue.front() {
            let answer = match self.grant(need) {
                _ if self.closed => Err(AcquireError::Closed),
                Some(grant) => Ok(grant),
                None => return,
            };
            answer.iter().for_each(|grant| self.takes(grant));
            self.answers.insert(id, answer);
            self.queue.pop_front();
        }
    }
}
