-- What is known of a task beside its rights: where and how it runs, what it is of its process, how it ended.
ALTER TABLE tasks ADD COLUMN branch TEXT;
ALTER TABLE tasks ADD COLUMN worktree TEXT;
ALTER TABLE tasks ADD COLUMN main_repo TEXT;
ALTER TABLE tasks ADD COLUMN engine TEXT;
ALTER TABLE tasks ADD COLUMN model TEXT;
ALTER TABLE tasks ADD COLUMN session TEXT;
ALTER TABLE tasks ADD COLUMN prompt TEXT;
ALTER TABLE tasks ADD COLUMN prompt_hash TEXT;
ALTER TABLE tasks ADD COLUMN phase TEXT CHECK (phase IN ('pre_step', 'step', 'post_step', 'finalize'));
ALTER TABLE tasks ADD COLUMN step INTEGER;
-- Its place among the tasks of its process.
ALTER TABLE tasks ADD COLUMN ordinal INTEGER;
ALTER TABLE tasks ADD COLUMN success INTEGER CHECK (success IN (0, 1));
ALTER TABLE tasks ADD COLUMN exit_code INTEGER;
ALTER TABLE tasks ADD COLUMN error_message TEXT;
ALTER TABLE tasks ADD COLUMN duration_ms INTEGER;
-- In millionths, so that nothing depends on how fractions are written.
ALTER TABLE tasks ADD COLUMN cost_micros INTEGER;
ALTER TABLE tasks ADD COLUMN input_tokens INTEGER;
ALTER TABLE tasks ADD COLUMN output_tokens INTEGER;
CREATE UNIQUE INDEX tasks_of_process ON tasks (process, ordinal) WHERE phase IS NOT NULL;

CREATE TABLE processes (
    id             TEXT    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL,
    owner          TEXT,
    tenant         TEXT,
    -- As it was given, as JSON. What may still change of it is in the other columns and in the steps.
    definition     TEXT    NOT NULL,
    branch         TEXT,
    worktree       TEXT,
    main_repo      TEXT,
    state          TEXT    NOT NULL CHECK (state IN ('running', 'completed', 'failed', 'aborted')),
    -- Another with every change: who changes something says which one it has seen.
    turn           TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    finished_at    INTEGER
) STRICT;
CREATE INDEX processes_by_time ON processes (created_at, id);
CREATE INDEX processes_by_state ON processes (state, created_at, id);

CREATE TABLE process_steps (
    process           TEXT    NOT NULL REFERENCES processes (id),
    -- Never changes; the place does, when steps are injected before.
    number            INTEGER NOT NULL CHECK (number >= 0),
    place             INTEGER NOT NULL CHECK (place >= 0),
    task              TEXT    NOT NULL,
    prompt            TEXT,
    engine            TEXT,
    model             TEXT,
    tools             TEXT,
    skip_orchestrator INTEGER NOT NULL CHECK (skip_orchestrator IN (0, 1)),
    -- The number of the original step that it was injected before, and the task that did so.
    origin            INTEGER,
    injected_by       TEXT,
    PRIMARY KEY (process, number),
    CHECK ((origin IS NULL) = (injected_by IS NULL))
) STRICT;

-- Appended, never changed.
CREATE TABLE process_decisions (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    process        TEXT    NOT NULL REFERENCES processes (id),
    task_id        TEXT    NOT NULL REFERENCES tasks (task_id),
    phase          TEXT    NOT NULL,
    step_index     INTEGER NOT NULL,
    decision       TEXT    NOT NULL CHECK (decision IN ('proceed', 'inject', 'abort')),
    reasoning      TEXT    NOT NULL,
    injected_steps TEXT,
    effect         TEXT    NOT NULL CHECK (effect IN ('proceed', 'inject', 'abort', 'none')),
    created_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX process_decisions_by_process ON process_decisions (process, number);

CREATE TABLE commit_refs (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id    TEXT    NOT NULL REFERENCES tasks (task_id),
    process    TEXT,
    hash       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (task_id, hash)
) STRICT;
CREATE INDEX commit_refs_by_process ON commit_refs (process, number);

-- What tasks leave for each other. A task of no process is a process of its own.
CREATE TABLE results (
    task_id      TEXT    NOT NULL PRIMARY KEY REFERENCES tasks (task_id),
    process      TEXT    NOT NULL,
    task_name    TEXT,
    result_text  TEXT    NOT NULL,
    summary_text TEXT,
    key_files    TEXT    NOT NULL,
    tags         TEXT    NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX results_by_name ON results (process, task_name, created_at);

CREATE TABLE artifacts (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT    NOT NULL UNIQUE,
    process       TEXT    NOT NULL,
    task_id       TEXT    NOT NULL REFERENCES tasks (task_id),
    title         TEXT    NOT NULL,
    content       TEXT    NOT NULL,
    format        TEXT    NOT NULL CHECK (format IN ('json', 'markdown', 'text', 'xml')),
    template_name TEXT,
    tags          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_by_process ON artifacts (process, number);
CREATE INDEX artifacts_by_task ON artifacts (process, task_id, number);

-- An empty tenant is none.
CREATE TABLE knowledge (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    content    TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key, version)
) STRICT;

-- What of all this can be searched: of knowledge the latest version, of results the last one written.
CREATE TABLE workspace_texts (
    number     INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    source     TEXT    NOT NULL CHECK (source IN ('knowledge', 'result', 'artifact')),
    source_id  TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    snippet    TEXT    NOT NULL,
    terms      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (tenant, source, source_id)
) STRICT;
CREATE VIRTUAL TABLE workspace_terms USING fts5 (
    terms, content = 'workspace_texts', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 0"
);
CREATE TRIGGER workspace_texts_added AFTER INSERT ON workspace_texts BEGIN
    INSERT INTO workspace_terms (rowid, terms) VALUES (new.number, new.terms);
END;
CREATE TRIGGER workspace_texts_removed AFTER DELETE ON workspace_texts BEGIN
    INSERT INTO workspace_terms (workspace_terms, rowid, terms) VALUES ('delete', old.number, old.terms);
END;
