//! Where the keeper hears of everything: orders, the end of those it survive_kill the slot for, and the
//! library's calls.

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
    /// Ends the waiting when it is called.
    pub waker: Waker,
    /// `hallpass run` is gone.
    pub orphaned: bool,
    /// Nobody has the lifeline open.
    pub idle: bool,
}

impl Inbox {
    pub fn open(channel: Channel, lifeline: OwnedFd) -> io::Result<Self> {
        let channel = Arc::new(channel);
        let (bell, events) = mpsc::channel();
        let (line, heard) = (channel.clone(), bell.clone());
        thread::Builder::new().name("orders".into()).spawn(move || {
            // An order that cannot be read comes from no parent of ours.
            while let Ok(Some(order)) = line.receive() {
                let _ = heard.send(Event::Order(order));
            }
            let _ = heard.send(Event::Orphaned);
        })?;
        let heard = bell.clone();
        thread::Builder::new().name("lifeline".into()).spawn(move || {
            // Whatever somebody may write there: it ends when all who could are gone.
            let _ = io::copy(&mut File::from(lifeline), &mut io::sink());
            let _ = heard.send(Event::Idle);
        })?;
        let waker = Arc::new(Bell(bell)).into();
        Ok(Inbox { channel, events, waker, orphaned: false, idle: false })
    }

    /// Waits until something has happened, for this time at most. An order, if it was one. That nobody
    /// has the lifeline any more is told at once.
    pub fn wait(&mut self, patience: Duration) -> Option<Order> {
        // We have a sender ourselves, so what fails is only that the time is over.
        match self.events.recv_timeout(patience).ok()? {
            Event::Order(order) => return Some(order),
            Event::Orphaned => self.orphaned = true,
            Event::Idle => {
                self.idle = true;
                self.tell(&Report::Idle);
            }
            Event::Woken => {}
        }
        None
    }

    /// Whoever does not hear it is gone, which is an event of its own.
    pub fn tell(&self, report: &Report) {
        let _ = self.channel.send(report);
    }

    /// The line, for somebody else who has something to tell.
    pub fn channel(&self) -> Arc<Channel> {
        self.channel.clone()
    }
}

struct Bell(Sender<Event>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(Event::Woken);
    }
}
