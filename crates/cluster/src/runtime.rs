//! The thread that talks to the store. Each connection has such a thread, so that leases are renewed whatever the
//! program does, with any executor or none.

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

/// The thread. It ends when this value is dropped, after the pending [tasks](Tasks) are done.
pub(crate) struct Runtime {
    handle: Handle,
    /// The number of pending tasks.
    tasks: watch::Sender<usize>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts the thread. Before it ends, it waits for pending tasks, at most for `limit`.
    pub(crate) fn start(limit: Duration) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::System {
            doing: "start the thread that talks to the store",
            why: error.to_string(),
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (tasks, mut pending) = watch::channel(0);
        let (end, ended) = oneshot::channel::<()>();
        let run = move || {
            runtime.block_on(async {
                let _ = ended.await;
                let _ = timeout(limit, pending.wait_for(|&pending| pending == 0)).await;
            });
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("hallpass-cluster".into()).spawn(run);
        Ok(Runtime { handle, tasks, end: Some(end), thread: Some(thread.map_err(failed)?) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `work` on the thread, and blocks until it has a result.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let (done, result) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let _ = done.send(work.await);
        });
        result.recv().unwrap_or_else(|_| {
            Err(Error::System {
                doing: "wait for the store",
                why: "the thread that talks to the store has ended".into(),
            })
        })
    }

    /// Blocks until no tasks are pending, but at most for `limit`.
    pub(crate) fn settle(&self, limit: Duration) {
        let mut pending = self.tasks.subscribe();
        let _ = self.wait(async move {
            let _ = timeout(limit, pending.wait_for(|&pending| pending == 0)).await;
            Ok(())
        });
    }

    pub(crate) fn tasks(&self) -> Tasks {
        Tasks(self.tasks.clone())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.end = None;
        // The thread itself may drop the last handle. It cannot wait for itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Counts the pending background tasks. Dropping the last handle of the connection (a [`Cluster`](crate::Cluster), a
/// hall or a pass) waits for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks(watch::Sender<usize>);

/// A pending background task. The task is done when this value is dropped.
pub(crate) struct TaskGuard(watch::Sender<usize>);

impl Tasks {
    /// Counts a task as pending until the guard is dropped.
    pub(crate) fn begin(&self) -> TaskGuard {
        self.0.send_modify(|count| *count += 1);
        TaskGuard(self.0.clone())
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
