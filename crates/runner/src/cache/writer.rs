//! One thread that writes answers, so that no connection waits for a disk.
//!
//! A thread of its own costs less than a pool: files are made one after the other by the kernel anyway.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use super::{Cache, CacheError, Entry, Key};

type Written = Result<(), CacheError>;

/// Writes answers in the order in which they come; ends when it is dropped and everything is written.
#[derive(Debug)]
pub(crate) struct Writer {
    /// `None` when the machine gives no thread: then whoever puts an answer writes it.
    queue: Option<Sender<(Key, Entry, oneshot::Sender<Written>)>>,
    cache: Arc<Cache>,
}

impl Writer {
    pub(crate) fn new(cache: Arc<Cache>) -> Writer {
        let (queue, answers) = channel::<(Key, Entry, oneshot::Sender<Written>)>();
        let of_thread = Arc::clone(&cache);
        let thread = std::thread::Builder::new()
            .name("cache".to_owned())
            .spawn(move || {
                for (key, entry, done) in answers {
                    // Whoever was given up does not want to know.
                    let _ = done.send(of_thread.put(&key, &entry));
                }
            });
        Writer {
            queue: thread.is_ok().then_some(queue),
            cache,
        }
    }

    /// Waits until the answer is written.
    pub(crate) async fn put(&self, key: Key, entry: Entry) -> Written {
        let Some(queue) = &self.queue else {
            return self.cache.put(&key, &entry);
        };
        let (done, written) = oneshot::channel();
        match queue.send((key, entry, done)) {
            // The thread ends only with the queue.
            Ok(()) => written.await.unwrap_or(Ok(())),
            Err(unsent) => {
                let (key, entry, _) = unsent.0;
                self.cache.put(&key, &entry)
            }
        }
    }
}
