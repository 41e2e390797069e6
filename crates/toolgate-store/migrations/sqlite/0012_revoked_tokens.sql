-- Own tokens that count no more: one by its id, all of a subject, or all that were issued up to a time.
CREATE TABLE revoked_tokens (
    kind         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    issued_until INTEGER NOT NULL,
    revoked_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;
