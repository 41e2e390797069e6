-- What the agents of a project work on, and what they say to each other.

-- Taken by whoever changes tasks of a project, or what an agent has in progress: such changes happen one after the other.
CREATE TABLE team_turns (
    key  TEXT NOT NULL PRIMARY KEY,
    turn INTEGER NOT NULL
) STRICT;

CREATE TABLE team_tasks (
    id             TEXT NOT NULL PRIMARY KEY,
    project        TEXT NOT NULL,
    title          TEXT    NOT NULL,
    description    TEXT    NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled')),
    priority       TEXT    NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
    assignee       TEXT,
    created_by     TEXT NOT NULL,
    parent         TEXT REFERENCES team_tasks (id),
    result         TEXT    CHECK (result IN ('success', 'failed', 'blocked')),
    summary        TEXT,
    next_steps     TEXT,
    changed_by     TEXT NOT NULL,
    changed_at     INTEGER NOT NULL,
    blocked_reason TEXT,
    -- Whoever has the task above has seen that this one is blocked, and went on.
    handled        INTEGER NOT NULL CHECK (handled IN (0, 1)),
    requester      TEXT,
    approval       TEXT    NOT NULL CHECK (approval IN ('approved', 'pending_approval', 'rejected')),
    created_at     INTEGER NOT NULL,
    -- The change that left the row as it is: what follows from a change goes by it.
    trace          TEXT NOT NULL,
    CHECK (status <> 'in_progress' OR assignee IS NOT NULL)
) STRICT;
CREATE INDEX team_tasks_by_time ON team_tasks (project, created_at, id);
CREATE INDEX team_tasks_by_status ON team_tasks (project, status, created_at, id);
CREATE INDEX team_tasks_by_assignee ON team_tasks (project, assignee, created_at, id);
CREATE INDEX team_tasks_of_agent ON team_tasks (assignee, status, project, created_at, id);
CREATE INDEX team_tasks_by_parent ON team_tasks (parent, created_at, id);
CREATE INDEX team_tasks_by_trace ON team_tasks (trace);

CREATE TABLE team_task_needs (
    task  TEXT NOT NULL REFERENCES team_tasks (id),
    needs TEXT NOT NULL REFERENCES team_tasks (id),
    PRIMARY KEY (task, needs),
    CHECK (task <> needs)
) STRICT;
CREATE INDEX team_task_needs_by_need ON team_task_needs (needs, task);

-- An agent's place in a project: how many messages came in, up to which they were read and answered, how many went out.
CREATE TABLE team_desks (
    project  TEXT NOT NULL,
    agent    TEXT NOT NULL,
    received INTEGER NOT NULL,
    read     INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    sent     INTEGER NOT NULL,
    -- The session, or without one the task, that has its task's text.
    fetched  TEXT,
    PRIMARY KEY (project, agent),
    CHECK (read <= received AND answered <= received)
) STRICT;

CREATE TABLE team_conversations (
    id                TEXT NOT NULL PRIMARY KEY,
    project           TEXT NOT NULL,
    initiator         TEXT NOT NULL,
    participant       TEXT NOT NULL,
    -- The same two in the order of their ids.
    one               TEXT NOT NULL,
    other             TEXT NOT NULL,
    purpose           TEXT,
    task              TEXT,
    state             TEXT    NOT NULL CHECK (state IN ('pending', 'active', 'terminating', 'ended', 'expired')),
    turns             INTEGER NOT NULL,
    max_turns         INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    last_at           INTEGER NOT NULL,
    ended_by          TEXT,
    -- Each side knows that it is over, or need not be told.
    initiator_knows   INTEGER NOT NULL CHECK (initiator_knows IN (0, 1)),
    participant_knows INTEGER NOT NULL CHECK (participant_knows IN (0, 1)),
    last_message      TEXT NOT NULL,
    CHECK (turns <= max_turns),
    CHECK (initiator <> participant)
) STRICT;
-- One conversation of two at a time, however many begin one at once.
CREATE UNIQUE INDEX team_conversations_open ON team_conversations (project, one, other)
    WHERE state IN ('pending', 'active');
CREATE INDEX team_conversations_of_initiator ON team_conversations (project, initiator, created_at, id)
    WHERE NOT initiator_knows;
CREATE INDEX team_conversations_of_participant ON team_conversations (project, participant, created_at, id)
    WHERE NOT participant_knows;
CREATE INDEX team_conversations_by_task ON team_conversations (project, task, created_at, id) WHERE task IS NOT NULL;

CREATE TABLE team_messages (
    id           TEXT NOT NULL PRIMARY KEY,
    project      TEXT NOT NULL,
    sender       TEXT NOT NULL,
    receiver     TEXT,
    -- Its place among what the receiver got.
    number       INTEGER,
    content      TEXT    NOT NULL,
    task         TEXT,
    conversation TEXT REFERENCES team_conversations (id),
    turn         INTEGER,
    at           INTEGER NOT NULL,
    CHECK ((receiver IS NULL) = (number IS NULL)),
    CHECK ((conversation IS NULL) = (turn IS NULL))
) STRICT;
CREATE UNIQUE INDEX team_messages_received ON team_messages (project, receiver, number);
CREATE INDEX team_messages_sent ON team_messages (project, sender, at, id);
CREATE UNIQUE INDEX team_messages_of_conversation ON team_messages (conversation, turn) WHERE conversation IS NOT NULL;

CREATE TABLE team_delegations (
    id          TEXT NOT NULL PRIMARY KEY,
    project     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    task        TEXT,
    target      TEXT NOT NULL,
    purpose     TEXT    NOT NULL,
    context     TEXT,
    status      TEXT    NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
    result      TEXT,
    created_at  INTEGER NOT NULL,
    taken_at    INTEGER,
    finished_at INTEGER
) STRICT;
CREATE INDEX team_delegations_open ON team_delegations (project, agent, created_at, id)
    WHERE status IN ('pending', 'processing');

CREATE TABLE team_notifications (
    id          TEXT NOT NULL PRIMARY KEY,
    project     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    type        TEXT    NOT NULL CHECK (type IN ('status_change', 'interrupt', 'message', 'chat_session_notification')),
    action      TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    instruction TEXT    NOT NULL,
    task        TEXT,
    at          INTEGER NOT NULL,
    seen        INTEGER NOT NULL CHECK (seen IN (0, 1))
) STRICT;
CREATE INDEX team_notifications_unseen ON team_notifications (project, agent, at, id) WHERE NOT seen;
