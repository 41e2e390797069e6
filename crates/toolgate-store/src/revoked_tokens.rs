//! Own tokens that were revoked before they expired.

use std::sync::Arc;

use crate::{
    Rights, StoreError,
    engine::Engine,
    error::Fault,
    rights::Subject,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    /// Which tokens a revocation covers.
    RevocationKind {
        /// One, by its id.
        Token = "token",
        /// All of one subject.
        Subject = "subject",
        Everyone = "everyone",
    }
}

/// The name of a revocation that covers everyone's tokens.
pub const EVERYONE: &str = "*";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokedTokens {
    pub kind: RevocationKind,
    /// The token's id or the subject; [`EVERYONE`] for everyone.
    pub name: String,
    /// Tokens issued up to this second (Unix time) are covered.
    pub issued_until: i64,
    pub revoked_at: i64,
    /// No covered token lives longer; the row is then forgotten.
    pub expires_at: i64,
}

pub struct TokenRevocations {
    engine: Arc<Engine>,
    rights: Rights,
}

/// A later revocation covers more; none ever covers less.
const REVOKE: &str = "INSERT INTO revoked_tokens (kind, name, issued_until, revoked_at, expires_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (kind, name) DO UPDATE SET
        issued_until = CASE WHEN excluded.issued_until > revoked_tokens.issued_until
            THEN excluded.issued_until ELSE revoked_tokens.issued_until END,
        revoked_at = excluded.revoked_at, expires_at = excluded.expires_at";
const PURGE: &str = "DELETE FROM revoked_tokens WHERE expires_at <= $1";
const LIST: &str = "SELECT kind, name, issued_until, revoked_at, expires_at FROM revoked_tokens
    ORDER BY revoked_at, kind, name";

impl TokenRevocations {
    pub(crate) fn new(engine: Arc<Engine>, rights: Rights) -> Self {
        Self { engine, rights }
    }

    /// Answered when no process takes the tokens any more.
    pub async fn revoke(&self, revoked: &RevokedTokens) -> Result<(), StoreError> {
        loop {
            let since = self.rights.newest().await?;
            let values = [
                Value::text(revoked.kind.as_str()),
                Value::Id(revoked.name.clone()),
                Value::int(revoked.issued_until),
                Value::int(revoked.revoked_at),
                Value::int(revoked.expires_at),
            ];
            let statements =
                vec![Statement::new(REVOKE, values), Statement::new(PURGE, [Value::int(revoked.revoked_at)])];
            // another change may come in between
            if self.rights.change("revoke tokens", since, vec![Subject::Tokens], statements).await? {
                return Ok(());
            }
        }
    }

    /// Every revocation that is kept, oldest first.
    pub async fn list(&self) -> Result<Vec<RevokedTokens>, StoreError> {
        self.engine.read("list the revoked tokens", Statement::new(LIST, [])).await
    }
}

impl FromRow for RevokedTokens {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(RevokedTokens {
            kind: RevocationKind::from_cell(row)?,
            name: row.text()?,
            issued_until: row.int()?,
            revoked_at: row.int()?,
            expires_at: row.int()?,
        })
    }
}
