-- Who belongs to which tenant, what each tenant bought and switched, and what the operator says of tools.
CREATE TABLE users (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT,
    email      TEXT,
    created_at BIGINT  NOT NULL
);
CREATE INDEX users_by_time ON users (created_at, id);

CREATE TABLE tenants (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    plan       TEXT    NOT NULL,
    created_at BIGINT  NOT NULL
);
CREATE INDEX tenants_by_time ON tenants (created_at, id);

CREATE TABLE members (
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    member TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role   TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'member')),
    since  BIGINT  NOT NULL,
    PRIMARY KEY (tenant, member)
);
CREATE INDEX members_by_time ON members (tenant, since, member);
CREATE INDEX members_by_member ON members (member, since, tenant);

CREATE TABLE overrides (
    tenant     TEXT COLLATE "C" NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    tool       TEXT COLLATE "C" NOT NULL,
    enabled    BOOLEAN NOT NULL,
    changed_by TEXT    NOT NULL,
    reason     TEXT,
    changed_at BIGINT  NOT NULL,
    PRIMARY KEY (tenant, tool)
);

-- What the operator says of a tool, over what its source and the configuration say. NULL leaves it.
CREATE TABLE catalog (
    tool               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    display_name       TEXT,
    tool_group         TEXT,
    enabled_by_default BOOLEAN,
    min_plan           TEXT,
    disabled           BOOLEAN NOT NULL,
    changed_by         TEXT    NOT NULL,
    reason             TEXT,
    changed_at         BIGINT  NOT NULL
);

-- One row, taken by whoever changes any of the above: such changes happen one after the other, and each has a number.
CREATE TABLE rights (
    one BIGINT  NOT NULL PRIMARY KEY CHECK (one = 1),
    seq BIGINT  NOT NULL
);
INSERT INTO rights (one, seq) VALUES (1, 0);

-- Whom or what each change was about, so that others forget just that.
CREATE TABLE rights_log (
    seq     BIGINT  NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (seq, subject)
);

-- Who remembers rights, up to which change, and for how long that holds without a word from them (milliseconds of this
-- database's clock).
CREATE TABLE replicas (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    confirmed   BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);
