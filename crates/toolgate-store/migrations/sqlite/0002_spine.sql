-- Flows, approvals, receipts and plans.
CREATE TABLE flows (
    id        TEXT    NOT NULL PRIMARY KEY,
    name      TEXT    NOT NULL,
    owner     TEXT    NOT NULL,
    tenant    TEXT,
    -- A JSON array of tool names; absent means no limit, empty means nothing.
    allowlist TEXT,
    opened    INTEGER NOT NULL,
    expires   INTEGER NOT NULL,
    closed    INTEGER
) STRICT;
CREATE INDEX flows_by_owner ON flows (owner, opened, id);
CREATE INDEX flows_by_time ON flows (opened, id);

CREATE TABLE approvals (
    id               TEXT    NOT NULL PRIMARY KEY,
    -- The digest of everything that a call must share with it.
    binding          BLOB    NOT NULL CHECK (length(binding) = 32),
    state            TEXT    NOT NULL CHECK (state IN ('pending', 'granted', 'denied', 'spent', 'expired', 'ended')),
    asked_by         TEXT    NOT NULL,
    owner            TEXT    NOT NULL,
    tenant           TEXT,
    flow             TEXT,
    tool             TEXT    NOT NULL,
    tool_digest      BLOB    NOT NULL CHECK (length(tool_digest) = 32),
    arguments_digest BLOB    NOT NULL CHECK (length(arguments_digest) = 32),
    rulebook_digest  BLOB    NOT NULL CHECK (length(rulebook_digest) = 32),
    shown            TEXT    NOT NULL,
    four_eyes        INTEGER NOT NULL CHECK (four_eyes IN (0, 1)),
    asked_at         INTEGER NOT NULL,
    expires          INTEGER NOT NULL,
    answered_by      TEXT,
    answered_at      INTEGER,
    reason           TEXT,
    uses_granted     INTEGER NOT NULL DEFAULT 0,
    uses_left        INTEGER NOT NULL DEFAULT 0,
    wide_uses        INTEGER,
    wide_until       INTEGER,
    CHECK (uses_left >= 0 AND uses_left <= uses_granted),
    CHECK ((wide_uses IS NULL) = (wide_until IS NULL)),
    CHECK (wide_uses IS NULL OR flow IS NOT NULL)
) STRICT;
-- One question for one binding: asking again finds the same one, however many ask at once.
CREATE UNIQUE INDEX approvals_live ON approvals (binding) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_live_by_time ON approvals (asked_at, id) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_by_flow ON approvals (flow) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_by_owner ON approvals (owner, asked_at, id);
CREATE INDEX approvals_by_asker ON approvals (asked_by, asked_at, id);
CREATE INDEX approvals_by_time ON approvals (asked_at, id);

CREATE TABLE receipts (
    id            TEXT    NOT NULL PRIMARY KEY,
    -- A call leaves one receipt.
    call_id       TEXT    NOT NULL UNIQUE,
    at            INTEGER NOT NULL,
    principal     TEXT    NOT NULL,
    actor         TEXT    NOT NULL,
    tenant        TEXT,
    flow          TEXT,
    plan          TEXT,
    tool          TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    input         TEXT    NOT NULL,
    approval      TEXT,
    approved_by   TEXT,
    result_digest BLOB    CHECK (length(result_digest) = 32),
    summary       TEXT    NOT NULL,
    undo_kind     TEXT    NOT NULL CHECK (undo_kind IN ('native', 'compensation', 'impossible', 'unknown')),
    -- What undo takes: not redacted, so never shown.
    undo_record   TEXT,
    undo_why      TEXT,
    undo_began    INTEGER,
    state         TEXT    NOT NULL CHECK (state IN ('done', 'undoing', 'undone', 'unknown')),
    undone_by     TEXT,
    undoes        TEXT,
    CHECK ((state = 'undone') = (undone_by IS NOT NULL))
) STRICT;
CREATE INDEX receipts_by_principal ON receipts (principal, at, id);
CREATE INDEX receipts_by_flow ON receipts (flow, at, id);
CREATE INDEX receipts_by_plan ON receipts (plan, at, id);
CREATE INDEX receipts_by_time ON receipts (at, id);
CREATE INDEX receipts_undoing ON receipts (at, id) WHERE state = 'undoing';

CREATE TABLE plans (
    id       TEXT    NOT NULL PRIMARY KEY,
    name     TEXT,
    owner    TEXT    NOT NULL,
    tenant   TEXT,
    flow     TEXT,
    calls    TEXT    NOT NULL,
    digest   BLOB    NOT NULL CHECK (length(digest) = 32),
    state    TEXT    NOT NULL,
    approval TEXT,
    -- The process that runs it. Only that one may begin a step.
    executor TEXT,
    created  INTEGER NOT NULL,
    CHECK (state IN ('proposed', 'approved', 'running', 'done', 'failed', 'undone', 'unknown')),
    CHECK (state <> 'running' OR executor IS NOT NULL)
) STRICT;
CREATE INDEX plans_by_owner ON plans (owner, created, id);
CREATE INDEX plans_by_time ON plans (created, id);
CREATE INDEX plans_running ON plans (created, id) WHERE state = 'running';

CREATE TABLE plan_steps (
    plan    TEXT    NOT NULL REFERENCES plans (id),
    step    INTEGER NOT NULL CHECK (step >= 0),
    state   TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'undone', 'unknown')),
    receipt TEXT,
    result  TEXT,
    PRIMARY KEY (plan, step)
) STRICT;
