-- Own tokens that count no more: one by its id, all of a subject, or all that were issued up to a time.
CREATE TABLE revoked_tokens (
    kind         TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    issued_until BIGINT NOT NULL,
    revoked_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
