//! Pools of items.

use std::{
    cell::Cell,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use hallpass_threads::{AcquireError, Lease, OwnedLease, Pool, TryAcquireError};

use crate::support::Task;

#[test]
fn every_lease_has_its_own_item() {
    for k in [3, 60] {
        let pool = Pool::new((0..k).map(|slot| slot * 10));
        let leases: Vec<_> = (0..k).map(|_| pool.get().unwrap()).collect();
        assert!(leases.iter().map(|lease| (lease.slot(), **lease)).eq((0..k).map(|s| (s, s * 10))));
        assert_eq!((pool.available(), pool.slots()), (0, k));
        assert_eq!(pool.try_get().unwrap_err(), TryAcquireError::NoPermits);
        let short = Duration::from_millis(1);
        assert_eq!(pool.try_get_for(short).unwrap_err(), TryAcquireError::TimedOut);
        drop(leases);
        assert_eq!(pool.available(), k);
    }
}

/// The items of this pool are not `Sync`. Only the slot keeps two threads from using the same item at the same time.
#[test]
fn threads_use_items_one_after_another() {
    let pool = Pool::new((0..2).map(|_| Cell::new(0)));
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let item = pool.get().unwrap();
                    assert!(inside.fetch_add(1, SeqCst) < 2);
                    item.set(item.get() + 1);
                    inside.fetch_sub(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(pool.into_items().iter().map(Cell::get).sum::<u32>(), 8_000);
}

#[test]
fn items_are_made_when_they_are_first_used() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let pool = Pool::with_init(40, move |slot| (slot, count.fetch_add(1, SeqCst)));
    assert_eq!(made.load(SeqCst), 0);
    assert_eq!(*pool.get().unwrap(), (0, 0));
    let (one, other) = (pool.get().unwrap(), pool.get().unwrap());
    assert_eq!((*one, *other), ((0, 0), (1, 1)));
    assert_eq!(other.discard().unwrap(), (1, 1));
    assert_eq!(*pool.get().unwrap(), (1, 2));
    drop(one);
    assert_eq!(pool.into_items(), [(0, 0), (1, 2)]);
}

#[test]
fn an_item_that_cannot_be_made_leaves_its_slot_free() {
    let attempts = AtomicUsize::new(0);
    let attempts: &'static AtomicUsize = Box::leak(Box::new(attempts));
    let pool = Pool::with_init(1, |slot| {
        assert!(attempts.fetch_add(1, SeqCst) > 0, "the first attempt fails");
        slot
    });
    assert!(catch_unwind(AssertUnwindSafe(|| drop(pool.get()))).is_err());
    assert_eq!(pool.available(), 1);
    assert_eq!(*pool.get().unwrap(), 0);
}

#[test]
fn broken_items_are_replaced() {
    let pool = Pool::new(["broken"]);
    let mut lease = pool.get().unwrap();
    assert_eq!(lease.replace("new"), "broken");
    let lease = lease.discard().unwrap_err(); // the pool cannot make another item
    assert_eq!(format!("{lease:?}"), "Lease { slot: 0, item: \"new\" }");
    drop(lease);
    assert_eq!(pool.into_items(), ["new"]);
}

#[test]
fn owned_leases_can_be_sent_to_threads_and_keep_the_pool_alive() {
    let pool = Arc::new(Pool::new([String::new()]));
    let mut lease = pool.get_owned().unwrap();
    assert_eq!(pool.try_get_owned().unwrap_err(), TryAcquireError::NoPermits);
    let short = Duration::from_millis(1);
    assert_eq!(pool.try_get_owned_for(short).unwrap_err(), TryAcquireError::TimedOut);
    let past = Instant::now();
    assert_eq!(pool.try_get_owned_until(past).unwrap_err(), TryAcquireError::TimedOut);
    assert_eq!(pool.try_get_until(past).unwrap_err(), TryAcquireError::TimedOut);
    let waits = Task::new(pool.get_owned_async()).waits();
    thread::spawn(move || lease.push('a')).join().unwrap();
    assert_eq!(waits.wake_ups(), 1);
    let lease = waits.done().unwrap();
    drop(pool);
    assert_eq!((lease.slot(), &**lease), (0, "a"));
}

#[test]
fn tasks_wait_for_items_and_a_closed_pool_refuses_them() {
    let pool = Pool::new([1]);
    let lease = pool.get().unwrap();
    let waits = Task::new(Box::pin(pool.get_async())).waits();
    assert_eq!(pool.waiting(), 1);
    drop(lease);
    assert_eq!(*waits.done().unwrap(), 1);
    pool.close();
    assert!(pool.is_closed());
    assert_eq!(pool.get().unwrap_err(), AcquireError::Closed);
}

#[test]
fn leases_are_send_and_sync_like_references() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Pool<Cell<u8>>>();
    sync::<Pool<Cell<u8>>>();
    send::<Lease<'_, Cell<u8>>>();
    send::<OwnedLease<Cell<u8>>>();
    sync::<Lease<'_, u8>>();
    sync::<OwnedLease<u8>>();
}

#[test]
fn a_pool_of_an_invalid_size_panics_before_it_makes_room() {
    let text = |f: fn() -> Pool<u8>| {
        let payload = catch_unwind(f).map(drop).unwrap_err();
        payload.downcast_ref::<&str>().unwrap().to_string()
    };
    assert!(text(|| Pool::new([])).contains("at least 1 slot"));
    assert!(text(|| Pool::with_init(0, |_| 0)).contains("at least 1 slot"));
    assert!(text(|| Pool::new(std::iter::repeat(0))).contains("at most 65535"));
    assert!(text(|| Pool::with_init(usize::MAX, |_| 0)).contains("at most 65535"));
}

/// A holder that panics gives its item back as it is.
#[test]
fn a_pool_is_not_poisoned() {
    let pool = Pool::new([vec![1]]);
    let panics = AssertUnwindSafe(|| {
        let mut item = pool.get().unwrap();
        item.push(2);
        panic!("while the item is on loan");
    });
    assert!(catch_unwind(panics).is_err());
    assert_eq!(*pool.get().unwrap(), [1, 2]);
}

/// A lease that is forgotten keeps its item on loan. When the pool is taken apart, it returns this item too.
#[test]
fn forgotten_leases_lose_no_items() {
    let (item, pool) = (Arc::new(()), Pool::new([Arc::new(())]));
    drop(pool.get().unwrap().replace(Arc::clone(&item)));
    mem::forget(pool.get().unwrap());
    assert_eq!(pool.try_get().unwrap_err(), TryAcquireError::NoPermits);
    assert_eq!(Arc::strong_count(&item), 2);
    drop(pool.into_items());
    assert_eq!(Arc::strong_count(&item), 1);
}
