//! What a running call says to its client, and asks of it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

/// How far a running call is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProgressNote {
    pub progress: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The protocol's levels, the least urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// What can be asked of a client, if it said that it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asking {
    Elicitation,
    Sampling,
    Roots,
}

impl Asking {
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// The protocol's method.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The client's capability.
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    pub fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|asking| asking.method() == method)
    }
}

/// What a running call says.
#[derive(Debug)]
pub enum Said {
    Progress(ProgressNote),
    /// The parameters of a log message, as they came.
    Log(Box<RawValue>),
    Question(Question),
    /// Nobody wants to know the answer to this question any more, by its number.
    Withdrawn(u64),
    /// An interaction outside the protocol, to which the client was sent, has ended: the message's parameters, as they came.
    Ended(Box<RawValue>),
    /// The call wanted to ask what the client did not declare. It was told so and goes on as it can.
    Lacks(Asking),
}

/// Something the client must answer before the call can go on.
#[derive(Debug)]
pub struct Question {
    /// Of the questions of one call.
    pub number: u64,
    pub asking: Asking,
    /// As they came; `{}` where there were none.
    pub params: Box<RawValue>,
    /// Dropped: nobody will answer.
    pub answer: oneshot::Sender<Result<Box<RawValue>, ClientFault>>,
}

/// The client's own refusal, or why it was not asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ClientFault {
    pub code: i64,
    pub message: String,
    /// JSON text.
    pub data: Option<String>,
}
