//! One call: let through, sent once, and its result passed on as it came.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;
use toolgate_spine::{Client, ToolAnswer};

use crate::{Fault, State, fault::shortened, handshake::Live, link::Ask, message, scan, upstream::Inner};

impl Inner {
    pub(crate) async fn call(&self, tool: &str, arguments: &RawValue, client: &Client) -> Result<ToolAnswer, Fault> {
        let live = self.connected().await?;
        let definitions = self.definitions.load_full();
        let Some(definition) = definitions.find(tool) else {
            return Err(Fault::NoSuchTool { tool: shortened(tool, 140) });
        };
        let most = self.config.concurrency.max(1);
        let _slot = self.slots.try_acquire().map_err(|_| Fault::Busy { most })?;
        let leave = self.breaker.enter()?;
        let name = format!("\"name\":{}", message::string(tool));
        let given = ["\"arguments\":", arguments.get()].concat();
        let ask = Ask {
            method: "tools/call",
            name: Some(tool),
            members: &[&name, &given],
            client: Some(client),
            mirrors: &definition.mirrors,
            arguments: arguments.get(),
        };
        let answer = tokio::time::timeout(self.config.timeout(), live.link.ask(Some(&live.era), ask)).await;
        let answer = answer.unwrap_or(Err(Fault::TimedOut(self.config.timeout())));
        match &answer {
            Err(fault) if fault.is_failure() => leave.failed(),
            Ok(_) | Err(Fault::Refused { .. } | Fault::TooLarge { .. }) => {
                if leave.worked() {
                    // it was away, and may have come back as another
                    self.counts.relist.notify_one();
                }
            }
            // neither well nor unwell: it was not asked, or asked us to wait
            Err(_) => drop(leave),
        }
        // it wants other headers than the last list says: there must be a newer one
        if matches!(answer, Err(Fault::Refused { code: -32020, .. })) {
            self.counts.relist.notify_one();
        }
        match answer {
            Ok(result) => self.passed_on(result),
            Err(Fault::Refused { code, message, .. }) => Ok(self.refused(code, &message)),
            Err(Fault::TooLarge { .. }) => Err(Fault::TooLarge { most: self.config.result_bytes }),
            Err(fault) => Err(fault),
        }
    }

    /// The connection. Who comes while the first one is still being made waits for it: nothing is sent yet.
    async fn connected(&self) -> Result<Arc<Live>, Fault> {
        if let Some(live) = self.live.load_full() {
            return Ok(live);
        }
        let mut state = self.state.subscribe();
        let started = state.wait_for(|state| *state != State::Starting);
        let _ = tokio::time::timeout(self.config.timeout(), started).await;
        self.live.load_full().ok_or_else(|| match &*self.state.borrow() {
            State::Starting | State::Up => Fault::Starting,
            State::Stopped => Fault::Stopped,
            State::Down(fault) => fault.clone(),
        })
    }

    /// The result as it came, but for `resultType`: the gate's own wire says that in the caller's era.
    fn passed_on(&self, result: Bytes) -> Result<ToolAnswer, Fault> {
        if result.len() > self.config.result_bytes {
            return Err(Fault::TooLarge { most: self.config.result_bytes });
        }
        if result.first() != Some(&b'{') {
            return Err(Fault::protocol("the result of a call is no object"));
        }
        if memchr::memmem::find(&result, b"resultType").is_none() {
            return Ok(ToolAnswer::raw(result));
        }
        let text = std::str::from_utf8(&result).map_err(|_| Fault::protocol("the result of a call is not UTF-8"))?;
        match scan::member(text, "resultType") {
            None => Ok(ToolAnswer::raw(result)),
            Some("\"complete\"") => {
                let rest = scan::without(text, "resultType").map(Bytes::from);
                Ok(ToolAnswer::raw(rest.unwrap_or(result)))
            }
            Some("\"input_required\"") => Err(Fault::WantsInput),
            Some(kind) => Err(Fault::protocol(format!("it answered a call with a {}", shortened(kind, 40)))),
        }
    }

    /// A refusal is a result that models read. Whose it is stands in `_meta`.
    fn refused(&self, code: i64, message: &str) -> ToolAnswer {
        let (text, upstream) = (message::string(message), message::string(&self.config.name));
        ToolAnswer::raw(
            format!(
                "{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"isError\":true,\"_meta\":{{\"toolgate/upstream\":{upstream},\"toolgate/code\":{code}}}}}"
            )
            .into(),
        )
    }
}
