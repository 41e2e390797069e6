//! The credentials of a call, kept while the call lives: whoever waits for a person or a client is identified again before
//! anything runs.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use toolgate_core::Caller;
use toolgate_spine::{CallerIdentity, FlowProblem, IdentityLoss};

use crate::{
    identity::{Identified, KeptCredentials},
    json::text,
    session::SessionId,
    wire::{Ask, Inner},
};

pub(crate) struct CallIdentity {
    inner: Arc<Inner>,
    credentials: KeptCredentials,
    /// The flow that the message names.
    flow: Option<String>,
    /// The session of a client of the older era, and when it expires.
    session: Option<(SessionId, u64)>,
}

impl CallIdentity {
    pub(crate) fn of(inner: &Arc<Inner>, ask: &Ask<'_>, credentials: KeptCredentials) -> Arc<Self> {
        let flow = ask.message.params.meta.flow.and_then(text::string).map(Into::into);
        let session = ask.legacy.map(|legacy| (legacy.session, legacy.expires));
        Arc::new(Self { inner: Arc::clone(inner), credentials, flow, session })
    }
}

impl fmt::Debug for CallIdentity {
    /// Shows nothing of the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallIdentity").field("flow", &self.flow).finish_non_exhaustive()
    }
}

#[async_trait]
impl CallerIdentity for CallIdentity {
    async fn current(&self) -> Result<Arc<Caller>, IdentityLoss> {
        let inner = &self.inner;
        if self.session.as_ref().is_some_and(|(session, expires)| inner.session_is_over(session, *expires)) {
            return Err(IdentityLoss::Ended);
        }
        let identified = self.credentials.identify(&*inner.identify).await.map_err(|fault| {
            tracing::warn!(%fault, "a call that waited can't be identified again");
            IdentityLoss::Unavailable
        })?;
        let Identified { caller, .. } = identified;
        let caller = inner.spine.within_configured_flow(caller);
        match &self.flow {
            None => Ok(caller),
            Some(flow) => inner.spine.enter_flow(&caller, flow).await.map_err(|problem| match problem {
                FlowProblem::Unavailable(_) => IdentityLoss::Unavailable,
                _ => IdentityLoss::Ended,
            }),
        }
    }
}
