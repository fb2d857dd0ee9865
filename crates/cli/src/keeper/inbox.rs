//! The events of the keeper: orders of `hallpass run`, the end of the processes for which the keeper keeps the slot,
//! and wake-ups by the library `hallpass_cluster`.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    task::{Wake, Waker},
    thread,
    time::Duration,
};

use super::messages::{Channel, Order, Report};

enum Event {
    Order(Order),
    Orphaned,
    Idle,
    Woken,
}

pub struct Inbox {
    channel: Arc<Channel>,
    events: Receiver<Event>,
    /// Wakes `wait`.
    pub waker: Waker,
    /// `true` if `hallpass run` has ended.
    pub orphaned: bool,
    /// `true` if no process has the [lifeline](super::lifeline) open.
    pub idle: bool,
}

impl Inbox {
    pub fn open(channel: Channel, lifeline: OwnedFd) -> io::Result<Self> {
        let channel = Arc::new(channel);
        let (sender, events) = mpsc::channel();
        let (receiver, orders) = (channel.clone(), sender.clone());
        thread::Builder::new().name("orders".into()).spawn(move || {
            // An order that cannot be parsed does not come from `hallpass run`.
            while let Ok(Some(order)) = receiver.receive() {
                let _ = orders.send(Event::Order(order));
            }
            let _ = orders.send(Event::Orphaned);
        })?;
        let idle = sender.clone();
        thread::Builder::new().name("lifeline".into()).spawn(move || {
            // The copy ends when the last process has closed the writing end.
            let _ = io::copy(&mut File::from(lifeline), &mut io::sink());
            let _ = idle.send(Event::Idle);
        })?;
        let waker = Arc::new(EventWaker(sender)).into();
        Ok(Inbox { channel, events, waker, orphaned: false, idle: false })
    }

    /// Waits for an event, for at most `patience`. If the event is an order, returns it. When the last process has
    /// closed the lifeline, sends a report immediately.
    pub fn wait(&mut self, patience: Duration) -> Option<Order> {
        // The inbox itself has a sender, so the only error is a timeout.
        match self.events.recv_timeout(patience).ok()? {
            Event::Order(order) => return Some(order),
            Event::Orphaned => self.orphaned = true,
            Event::Idle => {
                self.idle = true;
                self.report(&Report::Idle);
            }
            Event::Woken => {}
        }
        None
    }

    /// Sends a report to `hallpass run`. Ignores errors, because the end of `hallpass run` is a separate event.
    pub fn report(&self, report: &Report) {
        let _ = self.channel.send(report);
    }

    /// Returns the channel, for another thread that sends reports.
    pub fn channel(&self) -> Arc<Channel> {
        self.channel.clone()
    }
}

struct EventWaker(Sender<Event>);

impl Wake for EventWaker {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(Event::Woken);
    }
}
