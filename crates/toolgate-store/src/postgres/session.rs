//! Settings of every connection: the server gives up before the caller does, and a commit is on disk.

use sqlx::{Executor, PgConnection};

/// The timeouts make the server end what nobody waits for, in a bounded time: a statement, a lock, a transaction whose
/// client fell silent, and a connection whose client is gone. A stronger level of `synchronous_commit` than `on` is kept,
/// a weaker one is not: an answer says that the write is on disk.
const SETTINGS: &str = "SET statement_timeout = '4s';
    SET lock_timeout = '3s';
    SET idle_in_transaction_session_timeout = '10s';
    SET tcp_keepalives_idle = 5;
    SET tcp_keepalives_interval = 1;
    SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = '8s';
    SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, FALSE)";

pub(super) async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(SETTINGS)).await.map(drop)
}
