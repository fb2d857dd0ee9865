//! Tests of priority queues.

use std::thread;

use hallpass_processes::{Error, HallDir, PushError, SharedPriorityQueue};

#[test]
fn a_queue_returns_the_smallest_item_first() {
    let folder = tempfile::tempdir().unwrap();
    let queue: SharedPriorityQueue<100> = HallDir::at(folder.path()).open_queue("queue").unwrap();
    let mut expected: Vec<u64> = (0..100).map(|_| fastrand::u64(0..50)).collect();
    for item in &expected {
        queue.push(*item).unwrap();
    }
    assert!(matches!(queue.push(7), Err(PushError::Full(7))));
    expected.sort_unstable();
    assert_eq!(queue.snapshot().unwrap(), expected);
    for (gone, item) in expected.iter().enumerate() {
        assert_eq!(queue.len().unwrap(), 100 - gone);
        assert_eq!(queue.peek().unwrap(), Some(*item));
        assert_eq!(queue.pop().unwrap(), Some(*item));
    }
    assert!(queue.is_empty().unwrap());
    assert_eq!((queue.pop().unwrap(), queue.peek().unwrap()), (None, None));
}

#[test]
fn a_full_queue_refuses_items() {
    let folder = tempfile::tempdir().unwrap();
    let dir = HallDir::at(folder.path());
    let queue = dir.open_queue::<0>("queue").unwrap();
    assert!(matches!(queue.push(7), Err(PushError::Full(7))));
    assert_eq!(queue.pop().unwrap(), None);
    assert!(matches!(dir.open_queue::<1>("queue"), Err(Error::Value { .. })));
}

#[test]
fn a_damaged_length_is_limited_to_the_room_of_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let dir = HallDir::at(folder.path());
    drop(dir.open_cell("queue", [u64::MAX, 9, 3, 5]).unwrap());
    let queue = dir.open_queue::<3>("queue").unwrap();
    assert_eq!(queue.len().unwrap(), 3);
    assert!(matches!(queue.push(1), Err(PushError::Full(1))));
    assert_eq!(queue.pop().unwrap(), Some(5));
    queue.push(4).unwrap();
    assert_eq!(queue.len().unwrap(), 3);
}

#[test]
fn every_item_that_is_pushed_is_popped_once() {
    let folder = tempfile::tempdir().unwrap();
    let queue = HallDir::at(folder.path()).open_queue::<16>("queue").unwrap();
    let work = |first: u64| {
        let (queue, mut taken) = (queue.clone(), Vec::new());
        thread::spawn(move || {
            for item in first..first + 500 {
                while queue.push(item).is_err() {
                    taken.extend(queue.pop().unwrap());
                }
                taken.extend(queue.pop().unwrap());
            }
            taken
        })
    };
    let threads: Vec<_> = (0..3).map(|number| work(number * 1000)).collect();
    let mut taken: Vec<u64> = threads.into_iter().flat_map(|one| one.join().unwrap()).collect();
    taken.extend(queue.snapshot().unwrap());
    taken.sort_unstable();
    assert!(taken.into_iter().eq((0..3).flat_map(|number| number * 1000..number * 1000 + 500)));
}
