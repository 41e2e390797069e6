-- Agents and the projects they work in, how they prove who they are, and their sessions.
CREATE TABLE team_agents (
    id                 TEXT    NOT NULL PRIMARY KEY,
    name               TEXT    NOT NULL,
    role               TEXT    NOT NULL,
    type               TEXT    NOT NULL CHECK (type IN ('human', 'ai')),
    hierarchy          TEXT    NOT NULL CHECK (hierarchy IN ('manager', 'worker')),
    parent             TEXT    REFERENCES team_agents (id),
    max_parallel_tasks INTEGER NOT NULL CHECK (max_parallel_tasks > 0),
    -- A JSON array of texts.
    capabilities       TEXT    NOT NULL,
    system_prompt      TEXT,
    provider           TEXT,
    model_id           TEXT,
    status             TEXT    NOT NULL CHECK (status IN ('active', 'inactive', 'suspended', 'archived')),
    -- The user the agent works for.
    owner              TEXT,
    created_at         INTEGER NOT NULL,
    CHECK (parent <> id)
) STRICT;
CREATE INDEX team_agents_by_parent ON team_agents (parent, id);
CREATE INDEX team_agents_by_time ON team_agents (created_at, id);
CREATE INDEX team_agents_working ON team_agents (id) WHERE type = 'ai' AND status = 'active';

-- One row, taken by whoever changes who stands under whom: such changes happen one after the other.
CREATE TABLE team_hierarchy (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    changes INTEGER NOT NULL
) STRICT;
INSERT INTO team_hierarchy (one, changes) VALUES (1, 0);

CREATE TABLE team_projects (
    id                TEXT    NOT NULL PRIMARY KEY,
    name              TEXT    NOT NULL,
    status            TEXT    NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
    working_directory TEXT,
    created_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX team_projects_by_time ON team_projects (created_at, id);
CREATE INDEX team_projects_active ON team_projects (id) WHERE status = 'active';

CREATE TABLE team_assignments (
    agent            TEXT    NOT NULL REFERENCES team_agents (id),
    project          TEXT    NOT NULL REFERENCES team_projects (id),
    assigned_at      INTEGER NOT NULL,
    -- A process was asked for and has not signed in yet.
    spawn_started_at INTEGER,
    PRIMARY KEY (agent, project)
) STRICT;
CREATE INDEX team_assignments_by_project ON team_assignments (project, agent);

CREATE TABLE team_credentials (
    agent        TEXT    NOT NULL PRIMARY KEY REFERENCES team_agents (id),
    -- Argon2id, in the form $argon2id$v=…; never the passkey.
    hash         TEXT    NOT NULL,
    set_at       INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT;

CREATE TABLE team_sessions (
    id                TEXT    NOT NULL PRIMARY KEY,
    token_hash        BLOB    NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    agent             TEXT    NOT NULL REFERENCES team_agents (id),
    project           TEXT    NOT NULL REFERENCES team_projects (id),
    purpose           TEXT    NOT NULL CHECK (purpose IN ('task', 'chat')),
    task              TEXT,
    state             TEXT    NOT NULL CHECK (state IN ('active', 'terminating', 'ended')),
    opened_at         INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    last_activity     INTEGER NOT NULL,
    reported_provider TEXT,
    reported_model    TEXT,
    model_verified    INTEGER CHECK (model_verified IN (0, 1)),
    ended_at          INTEGER,
    CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
    CHECK (purpose = 'task' OR task IS NULL)
) STRICT;
-- One session of each purpose for an agent in a project, however many sign in at once.
CREATE UNIQUE INDEX team_sessions_live ON team_sessions (agent, project, purpose) WHERE state <> 'ended';

-- Attempts to sign in, each counted as failed until it is seen to be good, by where they were made.
CREATE TABLE team_guesses (
    place    TEXT    NOT NULL PRIMARY KEY,
    failures INTEGER NOT NULL,
    -- No attempt is looked at before.
    until    INTEGER NOT NULL,
    -- Forgotten after.
    fades_at INTEGER NOT NULL
) STRICT;
CREATE INDEX team_guesses_by_end ON team_guesses (fades_at);
