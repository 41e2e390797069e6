//! A connection whose client must take what is written to it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

/// A stream that fails once a write has waited too long.
pub(super) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    /// Runs while a write waits. Kept, so that a slow client does not cost an allocation each time.
    timer: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
}

impl<S> WriteTimeout<S> {
    pub(super) fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, timeout, timer: None, is_waiting: false }
    }

    /// Passes a write's progress on; one that makes none for too long is an error.
    fn timed<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        let timeout = self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        if !self.is_waiting {
            self.is_waiting = true;
            timer.as_mut().reset(Instant::now() + timeout);
        }
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answers")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.timed(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.timed(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.timed(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.stream).poll_shutdown(context);
        this.timed(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_cut_off_and_a_slow_one_is_not() {
        let (near, mut far) = tokio::io::duplex(16);
        let mut near = WriteTimeout::new(near, TIMEOUT);
        let reader = tokio::spawn(async move {
            let mut taken = [0; 8];
            for _ in 0..8 {
                tokio::time::sleep(TIMEOUT - Duration::from_secs(1)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
            far
        });
        near.write_all(&[1; 80]).await.expect("a slow client gets all of it");
        let _far = reader.await.unwrap();
        let begun = Instant::now();
        let fault = near.write_all(&[1; 80]).await.unwrap_err();
        assert_eq!(fault.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= TIMEOUT);
    }
}
