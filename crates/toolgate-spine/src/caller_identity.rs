//! The identity behind a call, asked for again once the call has waited: a credential is revoked, a task or a session
//! ends, rights change while a person or a client takes time to answer.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use toolgate_core::{Caller, Denial, Tool};

use crate::{Client, Outcome};

/// The credentials of a call, kept to be judged again. Implemented where credentials are known; no part of this crate
/// sees one.
#[async_trait]
pub trait CallerIdentity: fmt::Debug + Send + Sync {
    /// The caller that the credentials stand for now, within the same flow and session.
    async fn current(&self) -> Result<Arc<Caller>, IdentityLoss>;
}

/// Why a call that waited has no caller any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityLoss {
    #[error("the credential, flow or session of this call ended while the call waited, so that it did not run")]
    Ended,
    #[error("it can't be known now who calls, so that nothing runs; try again")]
    Unavailable,
}

impl Client {
    /// The caller as of now, if the call has waited since its caller was identified; else the same caller.
    pub(crate) async fn current_caller(&self, caller: &Arc<Caller>) -> Result<Arc<Caller>, IdentityLoss> {
        let Some(identity) = self.identity_after_wait() else { return Ok(Arc::clone(caller)) };
        let current = identity.current().await?;
        if current.principal() == caller.principal() { Ok(current) } else { Err(IdentityLoss::Ended) }
    }
}

impl IdentityLoss {
    pub(crate) fn outcome(&self, tool: &Arc<Tool>) -> Box<Outcome> {
        let tool = Arc::clone(tool);
        Box::new(match self.denial() {
            Some(denial) => Outcome::Denied { tool, denial, needs_identity: false, missing_scopes: Vec::new() },
            None => Outcome::Unavailable { tool, message: self.to_string() },
        })
    }

    /// `None` where it may be different when the caller tries again.
    pub(crate) fn denial(&self) -> Option<Denial> {
        (*self == Self::Ended).then(|| Denial {
            code: "identity_ended".to_owned(),
            message: self.to_string(),
            rule: "identity".to_owned(),
            remedy: Some("Sign in again, and make the call anew.".to_owned()),
            source: None,
        })
    }
}
