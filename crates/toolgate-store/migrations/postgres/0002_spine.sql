-- Flows, approvals, receipts and plans.
CREATE TABLE flows (
    id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name      TEXT    NOT NULL,
    owner     TEXT COLLATE "C" NOT NULL,
    tenant    TEXT COLLATE "C",
    -- A JSON array of tool names; absent means no limit, empty means nothing.
    allowlist TEXT,
    opened    BIGINT  NOT NULL,
    expires   BIGINT  NOT NULL,
    closed    BIGINT
);
CREATE INDEX flows_by_owner ON flows (owner, opened, id);
CREATE INDEX flows_by_time ON flows (opened, id);

CREATE TABLE approvals (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- The digest of everything that a call must share with it.
    binding          BYTEA   NOT NULL CHECK (octet_length(binding) = 32),
    state            TEXT    NOT NULL CHECK (state IN ('pending', 'granted', 'denied', 'spent', 'expired', 'ended')),
    asked_by         TEXT COLLATE "C" NOT NULL,
    owner            TEXT COLLATE "C" NOT NULL,
    tenant           TEXT COLLATE "C",
    flow             TEXT COLLATE "C",
    tool             TEXT COLLATE "C" NOT NULL,
    tool_digest      BYTEA   NOT NULL CHECK (octet_length(tool_digest) = 32),
    arguments_digest BYTEA   NOT NULL CHECK (octet_length(arguments_digest) = 32),
    rulebook_digest  BYTEA   NOT NULL CHECK (octet_length(rulebook_digest) = 32),
    shown            TEXT    NOT NULL,
    four_eyes        BOOLEAN NOT NULL,
    asked_at         BIGINT  NOT NULL,
    expires          BIGINT  NOT NULL,
    answered_by      TEXT,
    answered_at      BIGINT,
    reason           TEXT,
    uses_granted     BIGINT  NOT NULL DEFAULT 0,
    uses_left        BIGINT  NOT NULL DEFAULT 0,
    wide_uses        BIGINT,
    wide_until       BIGINT,
    CHECK (uses_left >= 0 AND uses_left <= uses_granted),
    CHECK ((wide_uses IS NULL) = (wide_until IS NULL)),
    CHECK (wide_uses IS NULL OR flow IS NOT NULL)
);
-- One question for one binding: asking again finds the same one, however many ask at once.
CREATE UNIQUE INDEX approvals_live ON approvals (binding) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_live_by_time ON approvals (asked_at, id) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_by_flow ON approvals (flow) WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_by_owner ON approvals (owner, asked_at, id);
CREATE INDEX approvals_by_asker ON approvals (asked_by, asked_at, id);
CREATE INDEX approvals_by_time ON approvals (asked_at, id);

CREATE TABLE receipts (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- A call leaves one receipt.
    call_id       TEXT COLLATE "C" NOT NULL UNIQUE,
    at            BIGINT  NOT NULL,
    principal     TEXT COLLATE "C" NOT NULL,
    actor         TEXT    NOT NULL,
    tenant        TEXT COLLATE "C",
    flow          TEXT COLLATE "C",
    plan          TEXT COLLATE "C",
    tool          TEXT COLLATE "C" NOT NULL,
    source        TEXT    NOT NULL,
    input         TEXT    NOT NULL,
    approval      TEXT,
    approved_by   TEXT,
    result_digest BYTEA   CHECK (octet_length(result_digest) = 32),
    summary       TEXT    NOT NULL,
    undo_kind     TEXT    NOT NULL CHECK (undo_kind IN ('native', 'compensation', 'impossible', 'unknown')),
    -- What undo takes: not redacted, so never shown.
    undo_record   TEXT,
    undo_why      TEXT,
    undo_began    BIGINT,
    state         TEXT    NOT NULL CHECK (state IN ('done', 'undoing', 'undone', 'unknown')),
    undone_by     TEXT COLLATE "C",
    undoes        TEXT COLLATE "C",
    CHECK ((state = 'undone') = (undone_by IS NOT NULL))
);
CREATE INDEX receipts_by_principal ON receipts (principal, at, id);
CREATE INDEX receipts_by_flow ON receipts (flow, at, id);
CREATE INDEX receipts_by_plan ON receipts (plan, at, id);
CREATE INDEX receipts_by_time ON receipts (at, id);
CREATE INDEX receipts_undoing ON receipts (at, id) WHERE state = 'undoing';

CREATE TABLE plans (
    id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name     TEXT,
    owner    TEXT COLLATE "C" NOT NULL,
    tenant   TEXT COLLATE "C",
    flow     TEXT COLLATE "C",
    calls    TEXT    NOT NULL,
    digest   BYTEA   NOT NULL CHECK (octet_length(digest) = 32),
    state    TEXT    NOT NULL,
    approval TEXT,
    -- The process that runs it. Only that one may begin a step.
    executor TEXT COLLATE "C",
    created  BIGINT  NOT NULL,
    CHECK (state IN ('proposed', 'approved', 'running', 'done', 'failed', 'undone', 'unknown')),
    CHECK (state <> 'running' OR executor IS NOT NULL)
);
CREATE INDEX plans_by_owner ON plans (owner, created, id);
CREATE INDEX plans_by_time ON plans (created, id);
CREATE INDEX plans_running ON plans (created, id) WHERE state = 'running';

CREATE TABLE plan_steps (
    plan    TEXT COLLATE "C" NOT NULL REFERENCES plans (id),
    step    BIGINT  NOT NULL CHECK (step >= 0),
    state   TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'undone', 'unknown')),
    receipt TEXT,
    result  TEXT,
    PRIMARY KEY (plan, step)
);
