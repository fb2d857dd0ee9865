//! What the handles, passages and passes of one hall have in common.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use hallpass_algorithms::halls::cluster::Picture;
use hallpass_common::command_line;
use tokio::{runtime::Handle, task::AbortHandle};

use crate::{
    Clock, ClusterOptions, Error,
    claim::{Claim, Tenure},
    client::Failure,
    records::{self, Gone},
    retry::{self, Retry},
    runtime::Duties,
    store::Store,
    view::{Me, View, Waiter},
};

/// What the handles, passages and passes of one hall have in common.
pub(crate) struct Core {
    pub store: Arc<Store>,
    pub clock: Clock,
    pub ttl: Duration,
    /// How long to try before the first answer.
    pub first_contact: Duration,
    /// How long one that waits puts up with a cluster that does not answer.
    pub outage: Duration,
    /// How many slots it had when we last looked.
    size: AtomicUsize,
    /// How things were when the hall was opened, for the first passage: what it asks for is granted only if
    /// they still are that way.
    opening: Mutex<Option<View>>,
    /// When we first saw that a slot's claim was gone, by the slot and its token.
    gone: Mutex<HashMap<(usize, i64), Duration>>,
    /// Leases that have no claim.
    spare: Mutex<Vec<Tenure>>,
    /// What went wrong since anything last went right.
    trouble: retry::State,
    command: Mutex<Option<String>>,
    /// Whose claims these are, for people: process and user.
    owner: Mutex<(u32, String)>,
    handle: Handle,
    duties: Duties,
}

impl Core {
    pub(crate) fn new(
        store: Store,
        options: &ClusterOptions,
        handle: Handle,
        duties: Duties,
    ) -> Self {
        Core {
            store: Arc::new(store),
            clock: options.clock.clone(),
            ttl: options.ttl,
            first_contact: options.command_timeout,
            outage: (options.ttl * 6).max(Duration::from_secs(60)),
            size: AtomicUsize::new(0),
            opening: Mutex::default(),
            gone: Mutex::default(),
            spare: Mutex::default(),
            trouble: retry::State::default(),
            command: Mutex::default(),
            owner: Mutex::new((std::process::id(), records::user())),
            handle,
            duties,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size.load(SeqCst)
    }

    pub(crate) fn opened(&self, view: View) {
        *lock(&self.opening) = Some(view);
    }

    pub(crate) fn opening_view(&self) -> Option<View> {
        lock(&self.opening).take()
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn duties(&self) -> &Duties {
        &self.duties
    }

    pub(crate) fn describe_as(&self, command: &str) {
        *lock(&self.command) = Some(command.into());
    }

    pub(crate) fn act_for(&self, pid: u32, user: &str) {
        *lock(&self.owner) = (pid, user.into());
    }

    /// How to go on after trouble, for so long.
    pub(crate) fn retry(&self, limit: Duration) -> Retry {
        Retry::new(self.store.client.clone(), self.trouble.clone(), limit)
    }

    /// What is wrong at the moment.
    pub(crate) fn trouble(&self) -> Option<Error> {
        lock(&self.trouble).clone()
    }

    /// Looks, for one that has no claim.
    pub(crate) async fn look(&self) -> Result<View, Error> {
        let mut retry = self.retry(self.first_contact);
        loop {
            match self.store.look(None).await {
                Ok(view) => {
                    self.heard(&view);
                    return Ok(view);
                }
                Err(trouble) => retry.after(trouble).await?,
            }
        }
    }

    /// Something was answered.
    pub(crate) fn heard(&self, view: &View) {
        *lock(&self.trouble) = None;
        self.size.store(view.size(), SeqCst);
        let now = self.clock.now();
        let mut gone = lock(&self.gone);
        let stale: Vec<_> = view.stale().map(|(slot, owner)| (slot, owner.token)).collect();
        gone.retain(|record, _| stale.contains(record));
        for record in stale {
            gone.entry(record).or_insert(now);
        }
        // What others have seen by the same clock we need not wait for again.
        for seen in &view.gone {
            if let (Some(at), Some(since)) =
                (seen.by(&self.clock), gone.get_mut(&(seen.slot, seen.token)))
            {
                *since = at.min(*since);
            }
        }
    }

    /// Stale slots of which nobody with our clock has written down since when.
    fn unmourned<'a>(&'a self, view: &'a View) -> impl Iterator<Item = (usize, i64)> + 'a {
        let known = |slot, token| {
            let ours = |seen: &&Gone| seen.clock == self.clock.id();
            view.gone.iter().filter(ours).any(|seen| (seen.slot, seen.token) == (slot, token))
        };
        let stale = view.stale().map(|(slot, owner)| (slot, owner.token));
        stale.filter(move |(slot, token)| !known(*slot, *token))
    }

    pub(crate) fn has_news_of_the_gone(&self, view: &View) -> bool {
        self.unmourned(view).next().is_some()
    }

    /// Writes down for others with the same clock since when we have known of vanished owners.
    pub(crate) async fn mourn(&self, view: &View) {
        for (slot, token) in self.unmourned(view) {
            let Some(since) = lock(&self.gone).get(&(slot, token)).copied() else { continue };
            let gone = Gone::since(slot, token, &self.clock, since);
            let _ = self.store.mourn(&gone, view).await;
        }
    }

    /// For how much longer the owner of each stale slot may still be in: 0 once it no longer can be.
    fn waits<'a>(&'a self, view: &'a View) -> impl Iterator<Item = (usize, Duration)> + 'a {
        let now = self.clock.now();
        view.stale().filter_map(move |(slot, owner)| {
            let since = *lock(&self.gone).get(&(slot, owner.token))?;
            // It counts nine tenths of it, from an earlier moment.
            let until = since + Duration::from_millis(owner.claim.ttl).saturating_mul(11) / 10;
            Some((slot, until.saturating_sub(now)))
        })
    }

    /// The smallest slot whose owner is gone for long enough.
    pub(crate) fn stale(&self, view: &View) -> Option<usize> {
        let size = view.size();
        let mut over = self.waits(view).filter(|(slot, left)| *slot < size && left.is_zero());
        over.next().map(|(slot, _)| slot)
    }

    /// When the next slot becomes such a one.
    pub(crate) fn next_stale(&self, view: &View) -> Option<Duration> {
        let size = view.size();
        self.waits(view).filter(|(slot, _)| *slot < size).map(|(_, left)| left).min()
    }

    /// When all of these slots, by their tokens, have become such ones.
    pub(crate) fn longest_wait(&self, view: &View, of: &HashSet<(usize, i64)>) -> Option<Duration> {
        let token = |slot: &usize| view.slots.get(slot).map(|owner| owner.token);
        let one_of = |slot: &usize| token(slot).is_some_and(|token| of.contains(&(*slot, token)));
        self.waits(view).filter(|(slot, _)| one_of(slot)).map(|(_, left)| left).max()
    }

    /// A view, as far as a line of the protocol cares.
    pub(crate) fn picture(&self, view: &View) -> Picture<Waiter> {
        let size = view.size();
        Picture {
            open: size > 0,
            me: view.me.standing(),
            first: view.first.clone(),
            free: view.free(),
            stale: self.stale(view),
            beyond: matches!(view.me, Me::Inside { slot, .. } if slot >= size),
        }
    }

    /// A claim that has yet to be put down, with a lease.
    pub(crate) async fn new_claim(&self, limit: Duration) -> Result<Arc<Claim>, Error> {
        let lease = self.lease(limit).await?;
        let own = lock(&self.command).clone();
        let command = own.as_deref().unwrap_or(command_line());
        let owner = lock(&self.owner).clone();
        Ok(Arc::new(Claim::new(lease, self.ttl, self.clock.clone(), owner, command)))
    }

    async fn lease(&self, limit: Duration) -> Result<Tenure, Error> {
        // Younger ones are on top. Those that are too old end by themselves.
        if let Some(lease) = lock(&self.spare).pop().filter(|lease| self.is_young(*lease)) {
            return Ok(lease);
        }
        let mut retry = self.retry(limit);
        loop {
            let kept = self.clock.now();
            // etcd counts in seconds.
            let seconds = self.ttl.as_millis().div_ceil(1000) as i64;
            match self.store.client.grant(seconds).await {
                Ok(lease) => return Ok(Tenure { id: lease.id, kept }),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    /// Whether a lease lasts long enough for its next claim to be looked after.
    fn is_young(&self, lease: Tenure) -> bool {
        self.clock.now().saturating_sub(lease.kept) < self.ttl / 2
    }

    /// Begins to look after a claim.
    pub(crate) fn keep(&self, claim: &Arc<Claim>) -> AbortHandle {
        self.handle.spawn(claim.clone().keep(self.store.clone())).abort_handle()
    }

    /// Puts the lease of a claim back that is done with. If something that was asked for it may still
    /// happen, the lease ends instead: then what happens late vanishes with it.
    pub(crate) fn retire(&self, claim: Arc<Claim>, uncertain: bool) {
        if uncertain || claim.uncertain.load(Relaxed) {
            return self.revoke([claim.tenure()]);
        }
        let mut spare = lock(&self.spare);
        spare.retain(|lease| self.is_young(*lease));
        spare.push(claim.tenure());
    }

    /// Ends leases, if that can be done soon.
    fn revoke(&self, leases: impl IntoIterator<Item = Tenure>) {
        for lease in leases {
            let (client, duty) = (self.store.client.clone(), self.duties.begin());
            self.handle.spawn(async move {
                if let Err(Failure::Unreachable(_)) = client.revoke(lease.id).await {
                    let _ = client.revoke(lease.id).await;
                }
                drop(duty);
            });
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.revoke(std::mem::take(&mut *lock(&self.spare)));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
