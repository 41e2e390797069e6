CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    prefix     TEXT    NOT NULL UNIQUE,
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    name       TEXT    NOT NULL,
    facts      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

CREATE TABLE tasks (
    task_id         TEXT    NOT NULL PRIMARY KEY,
    key_hash        BLOB    NOT NULL UNIQUE CHECK (length(key_hash) = 32),
    owner           TEXT,
    process         TEXT,
    name            TEXT,
    parent          TEXT    REFERENCES tasks (task_id),
    is_orchestrator INTEGER NOT NULL CHECK (is_orchestrator IN (0, 1)),
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER
) STRICT;

-- Only sessions that were bound or ended are remembered, and only until they expire.
CREATE TABLE wire_sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    principal  TEXT,
    ended      INTEGER NOT NULL CHECK (ended IN (0, 1)),
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX wire_sessions_by_expiry ON wire_sessions (expires_at);

CREATE TABLE secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;

-- AUTOINCREMENT: an id that was once given out never names another task.
CREATE TABLE todo_tasks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    description TEXT,
    completed   INTEGER NOT NULL DEFAULT 0 CHECK (completed IN (0, 1))
) STRICT;
CREATE INDEX todo_tasks_by_user ON todo_tasks (user_id, id);
