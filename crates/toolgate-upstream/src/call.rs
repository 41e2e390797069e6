//! One call: let through, sent once, and what came of it.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;
use toolgate_core::Kind;
use toolgate_spine::{Recorded, SourceFault, ToolAnswer};

use crate::{
    Fault, State,
    era::{Era, LEGACY},
    fault::shortened,
    handshake::Live,
    link::{Ask, Link},
    listed::Listed,
    message::{self, Value},
    scan,
    upstream::Inner,
};

impl Inner {
    /// Calls the tool, gets the prompt or reads the resource.
    pub(crate) async fn run(&self, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
        let (live, answer) = match self.connected().await {
            Ok(live) => {
                let answer = self.fetch(&live, call).await;
                (Some(live), answer)
            }
            Err(fault) => (None, Err(fault)),
        };
        let asks_back = live.is_some_and(|live| live.era == Era::Modern);
        self.concluded(answer, asks_back.then(|| call.client()))
    }

    async fn fetch(&self, live: &Arc<Live>, call: &Recorded) -> Result<Bytes, Fault> {
        let own_name = call.tool().own_name.as_str();
        let (method, key, name) = match call.tool().kind {
            Kind::Tool => ("tools/call", "name", own_name),
            Kind::Prompt => ("prompts/get", "name", own_name),
            Kind::Resource | Kind::Template | Kind::Address => ("resources/read", "uri", call.asked()),
        };
        let tools = self.offers.of(Listed::Tools).load_full();
        let mirrors = match call.tool().kind {
            Kind::Tool => {
                let known = tools.find(name).ok_or_else(|| Fault::NoSuchTool { tool: shortened(name, 140) })?;
                &*known.mirrors
            }
            _ => &[],
        };
        let given = if key == "name" { Value::Json(call.arguments().get()) } else { Value::Absent };
        let (responses, state) = resumed(live, call)?;
        let ask = Ask {
            method,
            name: Some(name),
            members: &[
                (key, Value::Text(name)),
                ("arguments", given),
                ("inputResponses", responses),
                ("requestState", state),
            ],
            client: Some(call.client()),
            mirrors,
            arguments: call.arguments().get(),
        };
        self.exchange(live, ask, call).await
    }

    /// Completes an argument of a prompt or of a template.
    pub(crate) async fn complete(&self, call: &Recorded, params: &RawValue) -> Result<ToolAnswer, SourceFault> {
        let name = message::string(call.tool().own_name.as_str());
        let reference = match call.tool().kind {
            Kind::Tool => return Err(self.unsupported("completes no arguments of tools")),
            Kind::Prompt => format!("{{\"type\":\"ref/prompt\",\"name\":{name}}}"),
            Kind::Resource | Kind::Template | Kind::Address => {
                format!("{{\"type\":\"ref/resource\",\"uri\":{name}}}")
            }
        };
        let live = match self.connected().await {
            Ok(live) => live,
            Err(fault) => return self.concluded(Err(fault), None),
        };
        // the oldest version had completions and no word for them
        let unsaid = LEGACY.last().is_some_and(|oldest| live.era.version() == *oldest);
        if !live.offers("completions") && !unsaid {
            return Err(self.unsupported("completes no arguments"));
        }
        let member = |name: &'static str| (name, Value::json(scan::member(params.get(), name)));
        let ask = Ask {
            method: "completion/complete",
            members: &[("ref", Value::Json(&reference)), member("argument"), member("context")],
            client: Some(call.client()),
            ..Ask::default()
        };
        let answer = self.exchange(&live, ask, call).await;
        self.concluded(answer, None)
    }

    pub(crate) fn unsupported(&self, what: &str) -> SourceFault {
        let message = format!("'{}' {what}", self.config.name);
        SourceFault::Rejected { code: -32601, message, data: None }
    }

    /// Lets a request for a caller through if there is room, the caller has not taken its share of it, and the upstream is
    /// well.
    async fn exchange(&self, live: &Arc<Live>, ask: Ask<'_>, call: &Recorded) -> Result<Bytes, Fault> {
        let (most, client) = (self.config.concurrency.max(1), call.client());
        let _slot = self.slots.try_acquire().map_err(|_| Fault::Busy { most })?;
        let share = self.shares.take(call.caller().principal(), 1);
        let _share = share.ok_or_else(|| Fault::BusyForCaller { most: self.shares.each() })?;
        let leave = self.breaker.enter()?;
        // boxed: it is deep, and what is around it is copied with it
        let sent = Box::pin(async {
            live.hear(client, &self.config).await;
            live.link.ask(Some(&live.era), ask).await
        });
        // the slot stays taken while the client thinks, but the time is its own
        let answer = client.within(self.config.timeout(), sent).await;
        let answer = answer.unwrap_or(Err(Fault::TimedOut(self.config.timeout())));
        match &answer {
            Err(fault) if fault.is_failure() => {
                let resting = leave.failed();
                // a child that is gone is its keeper's business
                let away = matches!(live.link, Link::Http(_))
                    && matches!(fault, Fault::Unreachable { .. } | Fault::Lost { .. });
                if resting || away {
                    self.seems_down(live, fault);
                }
            }
            Ok(_) | Err(Fault::Refused { .. } | Fault::TooLarge { .. }) => {
                self.seems_up(live);
                if leave.worked() {
                    // it was away, and may have come back as another
                    self.counts.outdated(&Listed::ALL);
                }
            }
            // neither well nor unwell: it was not asked, or asked us to wait
            Err(_) => drop(leave),
        }
        // it wants other headers than the last list says: there must be a newer one
        if matches!(answer, Err(Fault::Refused { code: -32020, .. })) {
            self.counts.outdated(&[Listed::Tools]);
        }
        answer
    }

    /// The connection. Who comes while the first one is still being made waits for it: nothing is sent yet.
    pub(crate) async fn connected(&self) -> Result<Arc<Live>, Fault> {
        match self.live.load_full() {
            Some(live) => Ok(live),
            None => Box::pin(self.awaited()).await,
        }
    }

    async fn awaited(&self) -> Result<Arc<Live>, Fault> {
        let mut state = self.state.subscribe();
        let started = state.wait_for(|state| *state != State::Starting);
        let _ = tokio::time::timeout(self.config.timeout(), started).await;
        self.live.load_full().ok_or_else(|| match &*self.state.borrow() {
            State::Starting | State::Up => Fault::Starting,
            State::Stopped => Fault::Stopped,
            State::Down(fault) => fault.clone(),
        })
    }
}

/// The members that answer what an earlier try of the call wanted to know.
fn resumed<'a>(live: &Live, call: &'a Recorded) -> Result<(Value<'a>, Value<'a>), Fault> {
    let Some(resumed) = call.resumed() else { return Ok((Value::Absent, Value::Absent)) };
    if live.era != Era::Modern {
        // it asks while a call runs, so that nothing it asked comes back this way
        let stale = resumed.state.is_some();
        return if stale { Err(Fault::StaleAnswers) } else { Ok((Value::Absent, Value::Absent)) };
    }
    Ok((Value::json(resumed.responses.as_deref()), Value::text(resumed.state.as_deref())))
}
