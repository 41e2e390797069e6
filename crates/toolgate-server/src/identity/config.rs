//! What the operator may set about identity.

use std::time::Duration;

use super::{issuer::IssuerConfig, login_throttle::AttemptLimit, own_token::TokenLimits, secret::Secret};

#[derive(Debug, Clone)]
pub struct IdentityConfig {
    /// The audience of own tokens.
    pub audience: String,
    /// For own tokens, whose clocks are ours; at most a minute.
    pub leeway: Duration,
    /// The longest lives of own tokens.
    pub token_limits: TokenLimits,
    pub issuers: Vec<IssuerConfig>,
    /// The task header may carry public task ids. Anybody who has seen one could then be that task, so whoever sets
    /// this must listen on loopback only.
    pub trust_task_ids: bool,
    /// What `coordinator_token` must equal. Absent or empty: nothing does.
    pub coordinator_secret: Option<Secret>,
    /// How many proven tokens are remembered.
    pub remembered_tokens: usize,
    /// Attempts with secrets that may fail at one address.
    pub failed_attempts: AttemptLimit,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self {
            audience: "toolgate".to_owned(),
            leeway: Duration::ZERO,
            token_limits: TokenLimits::default(),
            issuers: Vec::new(),
            trust_task_ids: false,
            coordinator_secret: None,
            remembered_tokens: 10_000,
            failed_attempts: AttemptLimit::default(),
        }
    }
}
