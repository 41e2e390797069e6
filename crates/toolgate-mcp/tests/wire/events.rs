//! A stream of events, read one by one.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::{sync::mpsc, time};
use toolgate_mcp::{Reply, ReplyBody};

pub fn events(reply: Reply) -> mpsc::Receiver<Bytes> {
    assert_eq!(reply.status, 200);
    match reply.body {
        ReplyBody::Events(events) => events,
        other => panic!("no stream: {other:?}"),
    }
}

/// The next message, keep-alives left out; `None` at the end or after a while without one.
pub async fn next(events: &mut mpsc::Receiver<Bytes>) -> Option<Value> {
    let message = async {
        loop {
            let text = String::from_utf8(events.recv().await?.to_vec()).unwrap();
            if let Some(data) = text.strip_prefix("event: message\ndata: ") {
                return Some(serde_json::from_str(data.strip_suffix("\n\n").unwrap()).unwrap());
            }
            assert_eq!(text, ":\n\n");
        }
    };
    time::timeout(Duration::from_secs(100), message).await.ok()?
}
