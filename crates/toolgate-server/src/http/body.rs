//! Bodies: a request's, read whole; a response's, which is somebody's bytes or events as they come.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use toolgate_mcp::ReplyBody;

/// Why a body was not read to its end.
pub(super) enum Unread {
    TooLarge,
    CutOff,
}

/// The whole body. Most often it comes in one piece, which need not be copied.
pub(super) async fn whole(mut body: Incoming, most: usize) -> Result<Bytes, Unread> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|_| Unread::CutOff)?.into_data() else { continue };
        if first.len().max(all.len()) + piece.len() > most {
            return Err(Unread::TooLarge);
        }
        if first.is_empty() && all.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&first);
        }
        all.extend_from_slice(&piece);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// A body in pieces that are written one after the other, or a stream of events.
pub(super) struct OutBody {
    inner: ReplyBody,
    next: usize,
}

impl From<ReplyBody> for OutBody {
    fn from(inner: ReplyBody) -> Self {
        Self { inner, next: 0 }
    }
}

impl From<Bytes> for OutBody {
    fn from(bytes: Bytes) -> Self {
        Self::from(ReplyBody::Json([bytes, Bytes::new(), Bytes::new()]))
    }
}

impl Body for OutBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        match &mut this.inner {
            ReplyBody::Empty => Poll::Ready(None),
            ReplyBody::Json(pieces) => {
                while let Some(piece) = pieces.get_mut(this.next) {
                    this.next += 1;
                    if !piece.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(std::mem::take(piece)))));
                    }
                }
                Poll::Ready(None)
            }
            ReplyBody::Events(events) => {
                events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.inner {
            ReplyBody::Empty => true,
            ReplyBody::Json(pieces) => pieces.iter().skip(self.next).all(Bytes::is_empty),
            ReplyBody::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            ReplyBody::Empty => SizeHint::with_exact(0),
            ReplyBody::Json(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
            ReplyBody::Events(_) => SizeHint::default(),
        }
    }
}
