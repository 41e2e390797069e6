//! Bodies: a request's, read whole; a response's, which is somebody's bytes or events as they come.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use toolgate_mcp::ReplyBody;
use toolgate_spine::{CallPlace, CallPlaces};

use super::{PATIENCE, body_budget::BodyCharge};

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    TooLarge,
    CutOff,
    /// It did not arrive in time.
    Slow,
    /// Too many bytes of bodies are in memory.
    NoRoom,
}

/// A request's body, read within a budget of bytes.
pub(super) struct RequestBody {
    incoming: Incoming,
    charge: BodyCharge,
    seat: Option<Seat>,
}

/// The place of a request among those that are being answered: taken once its body is there, so that a client that sends
/// slowly holds none.
#[derive(Clone)]
pub(super) struct Seat {
    places: Arc<CallPlaces>,
    taken: Arc<OnceLock<Arc<CallPlace>>>,
}

impl Seat {
    pub(super) fn new(places: &Arc<CallPlaces>) -> Self {
        Self { places: Arc::clone(places), taken: Arc::default() }
    }

    /// A place that is taken at once; `None` where none is free.
    pub(super) fn taken(places: &Arc<CallPlaces>) -> Option<Self> {
        let seat = Self::new(places);
        seat.take().then_some(seat)
    }

    /// False where no place is free.
    pub(super) fn take(&self) -> bool {
        self.taken.get().is_some() || self.places.enter(None).is_some_and(|place| self.taken.set(place).is_ok())
    }
}

/// A body that was read, counted for as long as it is needed.
pub(super) struct WholeBody {
    pub(super) bytes: Bytes,
    pub(super) charge: BodyCharge,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, charge: BodyCharge, seat: Option<Seat>) -> Self {
        Self { incoming, charge, seat }
    }

    pub(super) fn seat(&self) -> Option<Seat> {
        self.seat.clone()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.incoming.is_end_stream()
    }

    /// The body of a caller who is known to be signed in.
    pub(super) fn signed_in(mut self) -> Self {
        self.charge.sign_in();
        self
    }

    /// The whole body. `is_signed_in` is asked once, and only where the room for anybody is taken.
    pub(super) async fn whole(
        self,
        most: usize,
        is_signed_in: impl AsyncFnOnce() -> bool,
    ) -> Result<WholeBody, Unread> {
        match tokio::time::timeout(PATIENCE, self.gather(most, is_signed_in)).await {
            Ok(read) => read,
            Err(_) => Err(Unread::Slow),
        }
    }

    /// Most often a body comes in one piece, which need not be copied.
    async fn gather(mut self, most: usize, is_signed_in: impl AsyncFnOnce() -> bool) -> Result<WholeBody, Unread> {
        let mut is_signed_in = Some(is_signed_in);
        let mut first = Bytes::new();
        let mut all = BytesMut::new();
        let announced = usize::try_from(self.incoming.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > most {
            return Err(Unread::TooLarge);
        }
        while let Some(frame) = self.incoming.frame().await {
            let Ok(piece) = frame.map_err(|_| Unread::CutOff)?.into_data() else { continue };
            if first.len().max(all.len()) + piece.len() > most {
                return Err(Unread::TooLarge);
            }
            if !self.charge.grow(piece.len()) {
                if !self.charge.is_signed_in()
                    && let Some(is_signed_in) = is_signed_in.take()
                    && is_signed_in().await
                {
                    self.charge.sign_in();
                }
                if !self.charge.grow(piece.len()) {
                    return Err(Unread::NoRoom);
                }
            }
            if first.is_empty() && all.is_empty() {
                first = piece;
                continue;
            }
            if all.is_empty() {
                // no more than has come: an announced size alone takes no memory
                all.reserve(first.len() + piece.len());
                all.extend_from_slice(&first);
                first = Bytes::new();
            }
            all.extend_from_slice(&piece);
        }
        let bytes = if all.is_empty() { first } else { all.freeze() };
        Ok(WholeBody { bytes, charge: self.charge })
    }
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
