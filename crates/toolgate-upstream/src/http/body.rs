//! Reading what comes back, never more than allowed.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;

use super::pool::Answer;
use crate::fault::{Fault, shortened};

/// The whole body.
pub(super) async fn whole(answer: &mut Answer, most: usize) -> Result<Bytes, Fault> {
    if answer.length().is_some_and(|length| length > most as u64) {
        return Err(Fault::TooLarge { most });
    }
    // most often there is one piece, which need not be copied
    let first = answer.piece().await?.unwrap_or_default();
    if first.len() > most {
        return Err(Fault::TooLarge { most });
    }
    if answer.is_at_end() {
        return Ok(first);
    }
    let mut whole = BytesMut::from(first);
    while let Some(piece) = answer.piece().await? {
        if whole.len() + piece.len() > most {
            return Err(Fault::TooLarge { most });
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// Whether events come back, or JSON. Anything else is no answer.
pub(super) fn is_events(answer: &Answer) -> Result<bool, Fault> {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(false)
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        Ok(true)
    } else {
        Err(Fault::protocol(format!("its answer is neither JSON nor events but '{}'", shortened(kind, 80))))
    }
}

/// It went away in the middle.
pub(super) fn lost(fault: &hyper::Error) -> Fault {
    Fault::Lost { why: innermost(fault) }
}

/// The innermost cause says most. The address is left out: it may hold a secret.
pub(super) fn innermost(fault: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = fault;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    shortened(&cause.to_string(), 200)
}
