//! Work that takes long for large inputs, kept from holding up other tasks; and panics of sources, kept from ending more than their call.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::SourceFault;

/// From so many bytes on, work moves out of the way of other tasks.
const LARGE: usize = 64 << 10;

/// The stack of a thread for work that goes deep. Only what is used of it takes memory.
const DEEP_STACK: usize = 64 << 20;

/// Runs work whose time grows with the bytes given. Where they are many, the tasks that wait for this thread go to another one.
pub(crate) fn sized_work<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes > LARGE { aside(work) } else { work() }
}

/// Runs work that takes long or goes deep on a thread of its own, while the tasks that wait for this one go to another.
/// `None` where no thread could be started or the work panicked.
pub(crate) fn deep_work<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    aside(|| {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("toolgate-check".to_owned()).stack_size(DEEP_STACK);
            thread.spawn_scoped(scope, work).ok()?.join().ok()
        })
    })
}

fn aside<T>(work: impl FnOnce() -> T) -> T {
    let several = Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if several { tokio::task::block_in_place(work) } else { work() }
}

/// The same future, whose panic is a fault like any other.
pub(crate) async fn contained<T>(run: impl Future<Output = Result<T, SourceFault>>) -> Result<T, SourceFault> {
    let mut run = pin!(run);
    std::future::poll_fn(|context| {
        // the future is dropped after a panic and never polled again
        match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(_) => Poll::Ready(Err(SourceFault::Failed)),
        }
    })
    .await
}
