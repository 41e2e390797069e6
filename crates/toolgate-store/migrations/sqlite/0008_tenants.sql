-- Who belongs to which tenant, what each tenant bought and switched, and what the operator says of tools.
CREATE TABLE users (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT,
    email      TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX users_by_time ON users (created_at, id);

CREATE TABLE tenants (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    plan       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tenants_by_time ON tenants (created_at, id);

CREATE TABLE members (
    tenant TEXT    NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    member TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role   TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'member')),
    since  INTEGER NOT NULL,
    PRIMARY KEY (tenant, member)
) STRICT;
CREATE INDEX members_by_time ON members (tenant, since, member);
CREATE INDEX members_by_member ON members (member, since, tenant);

CREATE TABLE overrides (
    tenant     TEXT    NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    tool       TEXT    NOT NULL,
    enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    changed_by TEXT    NOT NULL,
    reason     TEXT,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, tool)
) STRICT, WITHOUT ROWID;

-- What the operator says of a tool, over what its source and the configuration say. NULL leaves it.
CREATE TABLE catalog (
    tool               TEXT    NOT NULL PRIMARY KEY,
    display_name       TEXT,
    tool_group         TEXT,
    enabled_by_default INTEGER CHECK (enabled_by_default IN (0, 1)),
    min_plan           TEXT,
    disabled           INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    changed_by         TEXT    NOT NULL,
    reason             TEXT,
    changed_at         INTEGER NOT NULL
) STRICT;

-- One row, taken by whoever changes any of the above: such changes happen one after the other, and each has a number.
CREATE TABLE rights (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO rights (one, seq) VALUES (1, 0);

-- Whom or what each change was about, so that others forget just that.
CREATE TABLE rights_log (
    seq     INTEGER NOT NULL,
    subject TEXT    NOT NULL,
    PRIMARY KEY (seq, subject)
) STRICT, WITHOUT ROWID;
