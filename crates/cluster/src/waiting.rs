//! The waiting room: being told when something has changed, and of nothing else.
//!
//! Whoever waits watches three things: its own place inside, which appears when somebody gives it a slot;
//! the door; and whoever is before it in the queue, for when that one goes, it may be at the head. Only
//! the head watches all who are inside, for one of them may vanish. So however many wait, a release is
//! told to three: to whoever gets the slot, as the head and by name, and to the next.
//!
//! A watch begins with what is to come. What it says that it does not tell of may be more than was seen when
//! we looked for what to watch; then we look again.

use std::{future, time::Duration};

use hallpass_algorithms::halls::cluster::{Ask, Picture};
use tokio::time::sleep;

use crate::{
    Error,
    client::{Event, Failure, KeyRange, Watch},
    keys::Keys,
    passage::Passage,
    view::{Me, Waiter},
};

/// Where one waits: behind somebody, or at the head of the queue.
pub(crate) struct Post {
    /// The key of whoever is before us.
    before: Option<Vec<u8>>,
    /// The revision in which that was so.
    seen: i64,
    watch: Option<Watch>,
}

/// Who cannot watch does not ask again at once.
const PAUSE: Duration = Duration::from_millis(100);

/// What there is to know.
enum News {
    /// Where our claim is now.
    Me(Me),
    /// Something has changed that may concern us.
    Look,
    /// Somebody else is before us now, or nobody; or we were not told of everything.
    Move,
}

impl Post {
    /// What to be told of.
    fn ranges(&self, keys: &Keys, id: &str) -> Vec<KeyRange> {
        let before = self.before.clone().map_or_else(|| keys.all_inside(), KeyRange::one);
        let mut ranges = vec![KeyRange::one(keys.door()), before];
        if self.before.is_some() {
            ranges.push(KeyRange::one(keys.inside(id)));
        }
        ranges
    }

    /// What events mean to the one that will be inside with this key.
    fn news(&self, events: Result<Vec<Event>, Failure>, inside: &str) -> Result<News, Error> {
        let Ok(events) = events else { return Ok(News::Move) };
        // A member that had not heard of what we saw may tell of it now.
        let mine =
            |event: &&Event| event.is_put_after(self.seen) && event.kv.key == inside.as_bytes();
        if let Some(event) = events.iter().find(mine) {
            return Ok(News::Me(Me::inside(&event.kv)?));
        }
        let gone = |event: &Event| {
            event.is_deleted_after(self.seen) && Some(&event.kv.key) == self.before.as_ref()
        };
        Ok(if events.iter().any(gone) { News::Move } else { News::Look })
    }
}

impl Passage {
    /// How things are, as soon as that may have changed.
    pub(crate) async fn next_picture(&mut self) -> Result<Picture<Waiter>, Error> {
        let Some(post) = &mut self.post else { return self.take_post().await };
        let keys = &self.core.store.keys;
        let id = &self.claim.record.claim;
        let watch = match &mut post.watch {
            Some(watch) => watch,
            None => {
                let ranges = post.ranges(keys, id);
                match self.core.store.client.watch(ranges).await {
                    Ok(watch) => {
                        let missed = watch.since > post.seen;
                        let watch = post.watch.insert(watch);
                        // A look by consensus sees all that the watch does not tell of.
                        if missed {
                            return self.take_post().await;
                        }
                        watch
                    }
                    // Looking again shows whether it can be reached.
                    Err(_) => {
                        sleep(PAUSE).await;
                        return self.take_post().await;
                    }
                }
            }
        };
        let turns_stale = match self.core.next_stale(&self.view) {
            Some(time) if post.before.is_none() => Some(time),
            _ => None,
        };
        let turned_stale = async {
            match turns_stale {
                Some(time) => sleep(time).await,
                None => future::pending().await,
            }
        };
        let mut health = self.claim.watch();
        let news = tokio::select! {
            events = watch.next() => post.news(events, &keys.inside(id))?,
            moved = health.wait_for(|now| now.lost.is_some() || matches!(now.me, Me::Inside { .. })) => {
                match moved.map(|now| (now.lost, now.me)) {
                    Ok((None, me)) => News::Me(me),
                    _ => News::Me(Me::Outside),
                }
            }
            () = turned_stale => News::Look,
        };
        match news {
            News::Me(me) => {
                self.claim.got_in(me);
                self.view.me = me;
                Ok(self.core.picture(&self.view))
            }
            News::Look => self.look().await,
            News::Move => {
                self.post = None;
                self.take_post().await
            }
        }
    }

    /// Looks for who is before us, and at everything else. What to watch comes of it; if it is what we
    /// watch already, then we go on.
    async fn take_post(&mut self) -> Result<Picture<Waiter>, Error> {
        let old = self.post.take();
        let Me::Waiting { made } = self.view.me else { return self.look().await };
        let mut retry = self.core.retry(self.limit);
        loop {
            let asked = self.core.clock.now();
            match self.core.store.look_ahead(self.claim.asker(), made).await {
                Ok((view, before)) => {
                    let watch = old.filter(|old| old.before == before).and_then(|old| old.watch);
                    self.post = Some(Post { before, seen: view.revision, watch });
                    return Ok(self.take_in(asked, view));
                }
                Err(trouble) => retry.after(trouble).await?,
            }
        }
    }

    /// Looks.
    async fn look(&mut self) -> Result<Picture<Waiter>, Error> {
        Box::pin(self.ask(Ask::Look)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::KeyValue;

    fn event(key: &str, deleted: bool, mod_revision: i64) -> Event {
        Event { deleted, kv: KeyValue { key: key.into(), mod_revision, ..KeyValue::default() } }
    }

    #[test]
    fn what_was_seen_already_is_no_news_but_a_reason_to_look() {
        let post = Post { before: Some("queue/a".into()), seen: 10, watch: None };
        let news = |event| post.news(Ok(vec![event]), "inside/b").expect("plain events");
        assert!(matches!(news(event("queue/a", true, 11)), News::Move));
        for old in [event("queue/a", true, 10), event("inside/b", false, 10)] {
            assert!(matches!(news(old), News::Look));
        }
        // What has just appeared is taken for a place inside, and here it is not one.
        assert!(post.news(Ok(vec![event("inside/b", false, 11)]), "inside/b").is_err());
    }
}
