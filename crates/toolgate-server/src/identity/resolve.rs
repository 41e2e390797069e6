//! One credential: what it is, whether it holds, and what the store's rows make of it.

use std::sync::{Arc, atomic::Ordering};

use toolgate_core::{
    Caller,
    caller::{Agent, AgentKind, Role, Tenant},
};

use super::{
    Identity, api_key,
    combine::Outcome,
    error::Refusal,
    jwt,
    own_token::OWN_ISSUER,
    proven::{Basis, Proven},
    secret::sha256,
    session::SESSION_MARK,
    standing::{Kind, Standing},
    store::{RowsUnavailable, TaskRow},
};

/// Where a credential was shown, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The `Authorization` header.
    Header,
    /// `_meta` or `params`.
    Params,
    /// The argument `session_token`.
    Session,
    /// The argument `coordinator_token`.
    Coordinator,
}

/// A refusal, or no answer from what had to be asked.
enum Failure {
    Refused(Refusal),
    Unavailable(RowsUnavailable),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<RowsUnavailable> for Failure {
    fn from(unavailable: RowsUnavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

impl Identity {
    pub(super) async fn resolve(&self, place: Place, token: &str) -> Result<Outcome, RowsUnavailable> {
        let settled = match self.prove(place, token).await {
            Ok(standing) => self.settle_task(standing).await,
            Err(failure) => Err(failure),
        };
        match settled {
            Ok(outcome) => Ok(outcome),
            Err(Failure::Unavailable(unavailable)) => Err(unavailable),
            Err(Failure::Refused(Refusal(reason))) => {
                tracing::debug!(reason, ?place, "a credential was refused");
                Ok(Outcome::Invalid(kind_of_invalid(place, token)))
            }
        }
    }

    async fn prove(&self, place: Place, token: &str) -> Result<Standing, Failure> {
        if place == Place::Coordinator && self.is_coordinator_secret(token) {
            return Ok(coordinator());
        }
        if token.starts_with(SESSION_MARK) {
            let session = self.sessions.session(token).await?.ok_or(Refusal("no such session"))?;
            let caller = Caller { user: session.owner, agent: Some(session.agent), ..Caller::default() };
            return Ok(Standing::new(caller, session.task));
        }
        if token.starts_with(api_key::MARK) {
            let row = self.store.key(api_key::prefix(token)?).await?.ok_or(Refusal("no such API key"))?;
            self.store.catch_up().await?;
            return Ok(self.settle_tenant(api_key::prove(token, &row)?).await?.0);
        }
        self.prove_token(token).await.map(|proven| proven.standing.clone())
    }

    async fn prove_token(&self, token: &str) -> Result<Arc<Proven>, Failure> {
        self.store.catch_up().await?;
        if let Some(proven) = self.proven.get(token, |standing| self.basis(standing)) {
            return Ok(proven);
        }
        // Taken before proving: if something changes meanwhile, the proof is not found under the new basis.
        let keys = self.key_revision.load(Ordering::Acquire);
        let (standing, until) = self.prove_signature(token).await?;
        let (standing, rows) = self.settle_tenant(standing).await?;
        let proven = Arc::new(Proven::new(standing, until, Basis { keys, rows }));
        self.proven.put(token, Arc::clone(&proven));
        Ok(proven)
    }

    /// What a token says by itself, no row asked; `None` for one that does not hold, or that is nothing without rows.
    pub(super) async fn prove_alone(&self, token: &str) -> Option<(Standing, u64)> {
        let is_row = token.starts_with(SESSION_MARK) || token.starts_with(api_key::MARK);
        if is_row { None } else { self.prove_signature(token).await.ok() }
    }

    async fn prove_signature(&self, token: &str) -> Result<(Standing, u64), Refusal> {
        let unproven = jwt::peek(token)?;
        if unproven.issuer == OWN_ISSUER {
            return self.tokens.prove(token);
        }
        let issuer = self.issuers.iter().find(|issuer| issuer.config.issuer == unproven.issuer);
        issuer.ok_or(Refusal("an issuer that is not configured"))?.prove(token, &unproven).await
    }

    pub(super) fn basis(&self, standing: &Standing) -> Basis {
        Basis { keys: self.key_revision.load(Ordering::Acquire), rows: self.rows_of(&standing.caller) }
    }

    fn rows_of(&self, caller: &Caller) -> u64 {
        self.store.revision(caller.tenant.as_ref().map(|tenant| tenant.id.as_str()), caller.user.as_ref())
    }

    /// The store's rows beat the credential's word; naming a tenant one is not in is refused, not ignored. Who names none
    /// acts for the tenant it was in first. The number is the revision of the rows, from before they were read.
    async fn settle_tenant(&self, mut standing: Standing) -> Result<(Standing, u64), Failure> {
        let names_one = standing.caller.tenant.is_some();
        loop {
            let caller = &mut standing.caller;
            let before = self.store.revision(None, caller.user.as_ref());
            if !names_one {
                caller.tenant = match &caller.user {
                    Some(user) => self.store.first_tenant(user).await?.map(of_store),
                    None => None,
                };
            }
            let rows = self.rows_of(&standing.caller);
            let caller = &mut standing.caller;
            if let Some(tenant) = &mut caller.tenant
                && let Some(row) = self.store.tenant(&tenant.id, caller.user.as_ref()).await?
            {
                tenant.role = row.role.ok_or(Refusal("the user is not a member of the tenant"))?;
                tenant.plan = row.plan;
                tenant.overrides = row.overrides;
            }
            // another tenant may have become the first while this one was read
            if names_one || before == self.store.revision(None, caller.user.as_ref()) {
                return Ok((standing, rows));
            }
        }
    }

    /// A credential that names a task ends with it, whole: what was handed to a task must not outlive it as a user.
    async fn settle_task(&self, standing: Standing) -> Result<Outcome, Failure> {
        let Some(id) = &standing.claimed_task else {
            return Ok(Outcome::Holds(Box::new(standing)));
        };
        let kind = standing.kind();
        match self.store.task(id).await?.filter(|row| row.live) {
            None => Ok(Outcome::Void(kind)),
            Some(row) => {
                let standing = standing.with_task(row).ok_or(Refusal("the task is another user's"))?;
                Ok(Outcome::Holds(Box::new(standing)))
            }
        }
    }

    /// The task header. Unknown or finished: simply no task.
    pub(super) async fn resolve_task_key(&self, key: &str) -> Result<Outcome, RowsUnavailable> {
        let mut row = self.store.task_by_key(&sha256(key.as_bytes())).await?;
        if row.is_none() && self.config.trust_task_ids {
            row = self.store.task(key).await?;
        }
        let row: Option<TaskRow> = row.filter(|row| row.live);
        Ok(row.map_or(Outcome::Void(Kind::Task), |row| Outcome::Holds(Box::new(Standing::of_task(row)))))
    }

    fn is_coordinator_secret(&self, token: &str) -> bool {
        self.config.coordinator_secret.as_ref().is_some_and(|secret| secret.matches(token.as_bytes()))
    }
}

/// A tenant of which only the store knows anything.
fn of_store(id: String) -> Tenant {
    Tenant { id, role: Role::default(), plan: None, overrides: Default::default() }
}

fn coordinator() -> Standing {
    let agent = Agent { id: "coordinator".to_owned(), kind: AgentKind::Coordinator, project: None, purpose: None };
    Standing::new(Caller { agent: Some(agent), ..Caller::default() }, None)
}

fn kind_of_invalid(place: Place, token: &str) -> Kind {
    match place {
        Place::Session | Place::Coordinator => Kind::Agent,
        Place::Header | Place::Params if token.starts_with(SESSION_MARK) => Kind::Agent,
        Place::Header | Place::Params => jwt::kind_it_claims(token),
    }
}
