//! The thread that talks to etcd. One for each connection, so that leases are kept alive whatever the
//! program does, in whichever executor it runs or in none.

use std::{
    future::Future,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::{oneshot, watch},
    time::timeout,
};

use crate::Error;

/// The thread; ends when this is dropped, after what is to be done in any case has been done.
pub(crate) struct Runtime {
    handle: Handle,
    /// How many things are to be done in any case.
    duties: watch::Sender<usize>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Something that the end of the program waits for, for a while.
pub(crate) struct Duty(watch::Sender<usize>);

impl Runtime {
    /// `patience` is how long the end waits for duties.
    pub(crate) fn start(patience: Duration) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::System {
            doing: "start the thread that talks to etcd",
            why: error.to_string(),
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (duties, mut left) = watch::channel(0);
        let (end, ended) = oneshot::channel::<()>();
        let run = move || {
            runtime.block_on(async {
                let _ = ended.await;
                let _ = timeout(patience, left.wait_for(|&left| left == 0)).await;
            });
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("hallpass-cluster".into()).spawn(run);
        Ok(Runtime { handle, duties, end: Some(end), thread: Some(thread.map_err(failed)?) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits for the result.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let (done, result) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let _ = done.send(work.await);
        });
        result.recv().unwrap_or_else(|_| {
            Err(Error::System { doing: "wait for etcd", why: "its thread is gone".into() })
        })
    }

    /// Waits until there are no duties, for a while.
    pub(crate) fn settle(&self, patience: Duration) {
        let mut left = self.duties.subscribe();
        let _ = self.wait(async move {
            let _ = timeout(patience, left.wait_for(|&left| left == 0)).await;
            Ok(())
        });
    }

    /// Where duties are counted.
    pub(crate) fn duties(&self) -> Duties {
        Duties(self.duties.clone())
    }
}

/// Where duties are counted.
#[derive(Clone, Debug)]
pub(crate) struct Duties(watch::Sender<usize>);

impl Duties {
    /// Begins one; it ends when what comes back is dropped.
    pub(crate) fn begin(&self) -> Duty {
        self.0.send_modify(|count| *count += 1);
        Duty(self.0.clone())
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.end = None;
        // The thread itself may be the last to let go.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}
