//! What goes wrong with an upstream, in words for whoever called it and whoever runs it.

use std::time::Duration;

/// Why an upstream gave no answer. Whoever shows it names the upstream; see [`Fault::about`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("is still starting; try again shortly, and look at the gate's log if this goes on")]
    Starting,
    #[error("is not connected ({why}); it is being connected again, so try again shortly")]
    Down { why: String },
    #[error("was stopped; start the gate again to use it")]
    Stopped,
    #[error("is set up wrongly: {why}; mend its entry in the configuration")]
    Misconfigured { why: String },
    #[error("can't be reached ({why}); check that it runs and that its address is right")]
    Unreachable { why: String },
    #[error(
        "broke off before its answer ({why}); whether the call took effect is not known, so look before calling again"
    )]
    Lost { why: String },
    #[error("did not answer within {} ms; whether the call took effect is not known, so look before calling again", .0.as_millis())]
    TimedOut(Duration),
    #[error("answered with more than {most} bytes; ask for less, or raise its result_bytes")]
    TooLarge { most: usize },
    #[error("is busy with {most} calls, as many as it may have at once; try again shortly")]
    Busy { most: usize },
    #[error("is busy with {most} calls of yours, as many as one caller may have at once; try again shortly")]
    BusyForCaller { most: usize },
    #[error("failed {failures} times in a row, so no calls go to it for now; try again in {} s", .again.as_secs() + 1)]
    Resting { failures: u32, again: Duration },
    #[error("answered with HTTP status {status}{}; {}", .detail.as_ref().map(|text| format!(" ({text})")).unwrap_or_default(), status_advice(*.status))]
    Status { status: u16, detail: Option<String> },
    #[error(
        "no longer knows its session, and the call was not run; a new session is being opened, so try again shortly"
    )]
    SessionLost,
    #[error("does not speak the protocol: {why}; look at its log, or try another version of it")]
    Protocol { why: String },
    #[error(
        "wants to ask the client for {what}, and may not ({why}); let its entry in the configuration ask, or use a client that can answer"
    )]
    MayNotAsk { what: &'static str, why: String },
    #[error(
        "can't be signed in to: {why}; check issuer or token_url, client_id, client_secret and scopes in its entry in the configuration"
    )]
    NoToken { why: String },
    #[error("no longer waits for these answers; make the call again from the start")]
    StaleAnswers,
    #[error("does not offer tool '{tool}' any more; list the tools again")]
    NoSuchTool { tool: String },
    #[error("refused: {message} ({code})")]
    Refused { code: i64, message: String, data: Option<String> },
}

impl Fault {
    /// The whole sentence, with the upstream's name.
    pub fn about(&self, upstream: &str) -> String {
        format!("upstream '{upstream}' {self}")
    }

    pub(crate) fn protocol(why: impl Into<String>) -> Self {
        Self::Protocol { why: why.into() }
    }

    /// Whether the upstream is certainly not at the request any more: it answered, or never got it.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(self, Self::Lost { .. } | Self::TimedOut(_) | Self::TooLarge { .. } | Self::Protocol { .. })
    }

    /// Whether it says that the upstream is unwell, rather than that one call was wrong or not let through.
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Lost { .. } | Self::TimedOut(_) | Self::Protocol { .. } => true,
            Self::Status { status, .. } => *status >= 500,
            _ => false,
        }
    }
}

fn status_advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "check the credentials in its configuration",
        404 | 405 => "check its address",
        300..=399 => "redirects are not followed, so set the address it points to",
        429 => "it is asked too often, so try again later",
        500.. => "look at its log",
        _ => "it may speak another version of the protocol",
    }
}

/// A foreign text, short and on one line.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(most).map(plain).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
