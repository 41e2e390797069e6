//! One credential: what it is, whether it holds, and what the store's rows make of it.

use std::{
    net::IpAddr,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use toolgate_core::{
    Caller,
    caller::{Agent, AgentKind, Role, Tenant},
};
use toolgate_mcp::Rejection;

use super::{
    Identity,
    agent_sessions::owner_of,
    api_key,
    combine::Outcome,
    error::Refusal,
    jwt,
    own_token::OWN_ISSUER,
    proven::{Basis, Proven},
    revocation::TokenMark,
    secret::sha256,
    session::{self, SESSION_MARK},
    standing::{Kind, Standing},
    store::{RowsUnavailable, TaskRow, TenantRow},
    task_key::TASK_MARK,
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

/// What a signature proves.
struct Proof {
    standing: Standing,
    /// The second from which the token no longer holds.
    until: u64,
    /// Of an own token.
    mark: Option<TokenMark>,
}

impl Identity {
    pub(super) async fn resolve(
        &self,
        place: Place,
        token: &str,
        address: Option<IpAddr>,
    ) -> Result<Outcome, RowsUnavailable> {
        let can_be_guessed = can_be_guessed(place, token);
        if can_be_guessed && !self.throttle.allows(address, token, Instant::now()) {
            self.refusals.note("too many attempts failed at this address", address);
            return Ok(Outcome::Invalid(kind_of_invalid(place, token), Rejection::Throttled));
        }
        let settled = match self.prove(place, token).await {
            Ok(standing) => self.settle_task(standing).await,
            Err(failure) => Err(failure),
        };
        match settled {
            Ok(outcome) => {
                if can_be_guessed {
                    self.throttle.held(token);
                }
                Ok(outcome)
            }
            Err(Failure::Unavailable(unavailable)) => Err(unavailable),
            Err(Failure::Refused(Refusal { reason, told })) => {
                tracing::debug!(reason, ?place, "a credential was refused");
                self.refusals.note(reason, address);
                if can_be_guessed && told == Rejection::Invalid {
                    self.throttle.failed(address, Instant::now());
                }
                Ok(Outcome::Invalid(kind_of_invalid(place, token), told))
            }
        }
    }

    /// The reason why a credential would be refused in the `Authorization` header, in the operator's words; `None`: the
    /// credential counts.
    pub async fn refusal_of(&self, token: &str) -> Result<Option<&'static str>, RowsUnavailable> {
        self.store.catch_up().await?;
        let settled = match self.prove(Place::Header, token).await {
            Ok(standing) => self.settle_task(standing).await,
            Err(failure) => Err(failure),
        };
        match settled {
            Ok(Outcome::Holds(_)) => Ok(None),
            Ok(_) => Ok(Some("the task that it names is not known or has ended")),
            Err(Failure::Refused(refusal)) => Ok(Some(refusal.reason)),
            Err(Failure::Unavailable(unavailable)) => Err(unavailable),
        }
    }

    async fn prove(&self, place: Place, token: &str) -> Result<Standing, Failure> {
        if self.is_coordinator_secret(place, token) {
            return Ok(coordinator());
        }
        if token.starts_with(TASK_MARK) {
            let row = self.store.task_by_key(&sha256(token.as_bytes())).await?;
            return Ok(Standing::of_task_key(row.ok_or(Refusal::invalid("no such task key"))?));
        }
        if token.starts_with(SESSION_MARK) {
            let session = self.sessions.session(token).await?.ok_or(Refusal::invalid("no such session"))?;
            let caller = Caller { user: session.owner, agent: Some(session.agent), ..Caller::default() };
            return Ok(Standing::new(caller, session.task));
        }
        if token.starts_with(api_key::MARK) {
            let row = self.store.key(api_key::prefix(token)?).await?.ok_or(Refusal::invalid("no such API key"))?;
            let standing = self.settle_tenant(api_key::prove(token, &row)?).await?.0;
            self.check_agent(&standing).await?;
            return Ok(standing);
        }
        let standing = self.prove_token(token).await?.standing.clone();
        self.check_agent(&standing).await?;
        Ok(standing)
    }

    /// A credential that names an agent ends with the agent's work: when the agent is suspended or leaves the project, and
    /// when the project is archived.
    async fn check_agent(&self, standing: &Standing) -> Result<(), Failure> {
        let Some(agent) = &standing.caller.agent else { return Ok(()) };
        match self.store.agent_at_work(&agent.id, agent.project.as_deref()).await? {
            Some(false) => Err(Refusal::revoked("the agent is suspended, or does not work in the project").into()),
            Some(true) | None => Ok(()),
        }
    }

    async fn prove_token(&self, token: &str) -> Result<Arc<Proven>, Failure> {
        if let Some(proven) = self.proven.get(token, |standing| self.basis(standing)) {
            return Ok(proven);
        }
        // Taken before proving: if something changes meanwhile, the proof is not found under the new basis.
        let keys = self.key_revision.load(Ordering::Acquire);
        let revocations = self.store.token_revision();
        let Proof { standing, until, mark } = self.prove_signature(token).await?;
        if let Some(mark) = mark
            && self.store.revocations().await?.cover(&mark, &standing.caller, standing.claimed_task.as_deref())
        {
            return Err(Refusal::revoked("the token was revoked").into());
        }
        let (standing, rows) = self.settle_tenant(standing).await?;
        let proven = Arc::new(Proven::new(standing, until, Basis { keys, rows, revocations }));
        self.proven.put(token, Arc::clone(&proven));
        Ok(proven)
    }

    /// What a token says by itself, no row asked; `None` for one that does not hold, or that is nothing without rows.
    pub(super) async fn prove_alone(&self, token: &str) -> Option<Standing> {
        let is_row = token.starts_with(SESSION_MARK) || token.starts_with(api_key::MARK);
        if is_row { None } else { self.prove_signature(token).await.ok().map(|proof| proof.standing) }
    }

    async fn prove_signature(&self, token: &str) -> Result<Proof, Refusal> {
        let unproven = jwt::peek(token)?;
        if unproven.issuer == OWN_ISSUER {
            let (standing, until, mark) = self.tokens.prove(token)?;
            return Ok(Proof { standing, until, mark: Some(mark) });
        }
        let issuer = self.issuers.iter().find(|issuer| issuer.config.issuer == unproven.issuer);
        let issuer = issuer.ok_or(Refusal::invalid("an issuer that is not configured"))?;
        let (standing, until) = issuer.prove(token, &unproven).await?;
        Ok(Proof { standing, until, mark: None })
    }

    pub(super) fn basis(&self, standing: &Standing) -> Basis {
        Basis {
            keys: self.key_revision.load(Ordering::Acquire),
            rows: self.rows_of(&standing.caller),
            revocations: self.store.token_revision(),
        }
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
                tenant.role = row.role.ok_or(Refusal::invalid("the user is not a member of the tenant"))?;
                tenant.plan = row.plan;
                tenant.overrides = row.overrides;
            }
            // another tenant may have become the first while this one was read
            if names_one || before == self.store.revision(None, caller.user.as_ref()) {
                return Ok((standing, rows));
            }
        }
    }

    /// A tenant's switches and plan bind whoever acts for one of its members: a task or an agent whose credentials name no
    /// tenant acts within its owner's. The owner's role stays the owner's.
    pub(super) async fn settle_owner(&self, standing: Standing) -> Result<Caller, RowsUnavailable> {
        let Standing { mut caller, owner, .. } = standing;
        let is_settled = caller.tenant.is_some() || (caller.agent.is_none() && caller.task.is_none());
        let Some(owner) = owner.filter(|_| !is_settled).and_then(|owner| owner_of(&owner)) else {
            return Ok(caller);
        };
        if let Some(id) = self.store.first_tenant(&owner).await?
            && let Some(row) = self.store.tenant(&id, Some(&owner)).await?
        {
            let TenantRow { plan, overrides, .. } = row;
            caller.tenant = Some(Tenant { plan, overrides, ..of_store(id) });
        }
        Ok(caller)
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
                let standing = standing.with_task(row).ok_or(Refusal::invalid("the task is another user's"))?;
                Ok(Outcome::Holds(Box::new(standing)))
            }
        }
    }

    /// The task header. Unknown or finished: simply no task.
    pub(super) async fn resolve_task_key(
        &self,
        key: &str,
        address: Option<IpAddr>,
    ) -> Result<Outcome, RowsUnavailable> {
        // other values than keys are common in this header, and no attempts to guess one
        let can_be_guessed = key.starts_with(TASK_MARK);
        if can_be_guessed && !self.throttle.allows(address, key, Instant::now()) {
            self.refusals.note("too many attempts failed at this address", address);
            return Ok(Outcome::Void(Kind::Task));
        }
        let mut row = self.store.task_by_key(&sha256(key.as_bytes())).await?;
        match row {
            Some(_) => self.throttle.held(key),
            None if can_be_guessed => self.throttle.failed(address, Instant::now()),
            None => {}
        }
        if row.is_none() && self.config.trust_task_ids {
            row = self.store.task(key).await?;
        }
        let row: Option<TaskRow> = row.filter(|row| row.live);
        Ok(row.map_or(Outcome::Void(Kind::Task), |row| Outcome::Holds(Box::new(Standing::of_task(row)))))
    }

    /// INVARIANT: compared only where a failed attempt is counted.
    fn is_coordinator_secret(&self, place: Place, token: &str) -> bool {
        let secret = self.config.coordinator_secret.as_ref().filter(|_| can_be_guessed(place, token));
        secret.is_some_and(|secret| secret.matches(token.as_bytes()))
    }
}

/// Whether a failure with this is counted as an attempt to guess a secret.
fn can_be_guessed(place: Place, token: &str) -> bool {
    place == Place::Coordinator || !(jwt::is_signed(token) || session::is_token(token))
}

/// A tenant of which only the store knows anything.
fn of_store(id: String) -> Tenant {
    Tenant { id, role: Role::default(), plan: None, overrides: Default::default() }
}

fn coordinator() -> Standing {
    let agent = Agent {
        id: "coordinator".to_owned(),
        kind: AgentKind::Coordinator,
        project: None,
        purpose: None,
        session: None,
    };
    Standing::new(Caller { agent: Some(agent), ..Caller::default() }, None)
}

fn kind_of_invalid(place: Place, token: &str) -> Kind {
    match place {
        Place::Session | Place::Coordinator => Kind::Agent,
        Place::Header | Place::Params if token.starts_with(SESSION_MARK) => Kind::Agent,
        Place::Header | Place::Params if token.starts_with(TASK_MARK) => Kind::Task,
        Place::Header | Place::Params => jwt::kind_it_claims(token),
    }
}
