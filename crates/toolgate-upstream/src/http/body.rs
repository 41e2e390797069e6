//! Reading what comes back, never more than allowed.

use bytes::{Bytes, BytesMut};
use reqwest::{Response, header::CONTENT_TYPE};

use crate::fault::{Fault, shortened};

/// The whole body.
pub(super) async fn whole(response: &mut Response, most: usize) -> Result<Bytes, Fault> {
    if response.content_length().is_some_and(|length| length > most as u64) {
        return Err(Fault::TooLarge { most });
    }
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(|fault| lost(&fault))? {
        if body.len() + piece.len() > most {
            return Err(Fault::TooLarge { most });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// Whether events come back, or JSON. Anything else is no answer.
pub(super) fn is_events(response: &Response) -> Result<bool, Fault> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "text/event-stream" => Ok(true),
        "application/json" => Ok(false),
        _ => Err(Fault::protocol(format!("its answer is neither JSON nor events but '{}'", shortened(kind, 80)))),
    }
}

/// It went away in the middle.
pub(super) fn lost(fault: &reqwest::Error) -> Fault {
    Fault::Lost { why: causes(fault) }
}

/// No request was made, or it was and what became of it is not known.
pub(super) fn unsent_or_lost(fault: &reqwest::Error) -> Fault {
    match fault {
        fault if fault.is_builder() => Fault::Misconfigured { why: causes(fault) },
        fault if fault.is_connect() => Fault::Unreachable { why: causes(fault) },
        fault => lost(fault),
    }
}

/// The innermost cause says most. The address is left out: it may hold a secret.
fn causes(fault: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = fault;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, fault) {
        "its connection failed".to_owned()
    } else {
        shortened(&cause.to_string(), 200)
    }
}
