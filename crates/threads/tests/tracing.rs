//! Events of the feature `tracing`:
//! `cargo test -p hallpass-threads --features tracing --test tracing`.
#![cfg(feature = "tracing")]

use std::{
    fmt::{Debug, Write},
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use hallpass_threads::Hall;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::with_default,
};

/// Records events; panics at each of them if `panics` is set.
#[derive(Clone, Default)]
struct Notes {
    lines: Arc<Mutex<Vec<String>>>,
    panics: bool,
}

/// Formats level and message, then the fields that are the same in every run.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => write!(self.0, " {value:?}").unwrap(),
            "need" | "slots" => write!(self.0, " {field}={value:?}").unwrap(),
            "hall" | "waited" => {}
            other => panic!("unknown field `{other}`"),
        }
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "hallpass"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        unreachable!("hallpass reports events only, no spans")
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.lines.lock().unwrap().push(line.0);
        assert!(!self.panics, "this subscriber panics");
    }
}

/// Causes every kind of event, with a hall of one slot.
fn everything(hall: &Hall) {
    let held = hall.acquire().unwrap();
    assert!(hall.try_acquire().is_err());
    assert!(hall.try_acquire_for(Duration::from_millis(1)).is_err());
    let mut queued = Box::pin(hall.acquire_many_async(1));
    let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
    assert!(queued.as_mut().poll(context).is_pending());
    drop(queued);
    let mut queued = Box::pin(hall.acquire_async());
    assert!(queued.as_mut().poll(context).is_pending());
    drop(held);
    assert!(queued.as_mut().poll(context).is_ready());
    hall.resize(2).unwrap();
    hall.close();
    assert!(hall.acquire().is_err());
    assert_eq!((hall.available(), hall.waiting()), (2, 0));
}

const EXPECTED: [&str; 10] = [
    "TRACE queues need=1",
    "DEBUG timed out need=1",
    "TRACE queues need=1",
    "DEBUG cancelled need=1",
    "TRACE queues need=1",
    "TRACE granted need=1",
    "DEBUG resized slots=2",
    "DEBUG closed",
    "TRACE queues need=1",
    "DEBUG turned away need=1",
];

#[test]
fn waits_and_changes_are_reported_and_uncontended_acquires_are_not() {
    for max in [32, 100] {
        let (notes, hall) = (Notes::default(), Hall::builder(1).max_slots(max).build().unwrap());
        with_default(notes.clone(), || {
            drop(hall.acquire().unwrap());
            assert!(notes.lines.lock().unwrap().is_empty());
            everything(&hall);
        });
        assert_eq!(*notes.lines.lock().unwrap(), EXPECTED);
    }
}

#[test]
fn a_panicking_subscriber_loses_no_slot() {
    let notes = Notes { panics: true, ..Notes::default() };
    with_default(notes.clone(), || everything(&Hall::new(1)));
    assert_eq!(*notes.lines.lock().unwrap(), EXPECTED);
}
