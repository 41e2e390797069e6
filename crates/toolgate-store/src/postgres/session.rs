//! Settings of every connection: the server gives up before the caller does, and a commit is on disk.

use std::time::Duration;

use sqlx::{Executor, PgConnection};

/// The timeouts make the server end what nobody waits for, in a bounded time: a statement, a lock, a transaction whose
/// client fell silent, and a connection whose client is gone. A stronger level of `synchronous_commit` than `on` is kept,
/// a weaker one is not: an answer says that the write is on disk.
macro_rules! settings {
    ($statement:literal, $lock:literal) => {
        concat!(
            "SET statement_timeout = '",
            $statement,
            "'; SET lock_timeout = '",
            $lock,
            "';
    SET idle_in_transaction_session_timeout = '10s';
    SET tcp_keepalives_idle = 5;
    SET tcp_keepalives_interval = 1;
    SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = '8s';
    SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, FALSE)"
        )
    };
}

const SETTINGS: &str = settings!("4s", "3s");
const SCAN_SETTINGS: &str = settings!("60s", "10s");

/// How long a scan waits for one page: longer than the server works on it.
pub(super) const SCAN_ANSWER: Duration = Duration::from_secs(65);

/// Prepares a connection whose caller waits for [`super::ANSWER`].
pub(super) async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(SETTINGS)).await.map(drop)
}

/// Prepares a connection that reads the ledger from end to end, whose caller waits for [`SCAN_ANSWER`] for each page.
pub(super) async fn prepare_scan(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(SCAN_SETTINGS)).await.map(drop)
}
