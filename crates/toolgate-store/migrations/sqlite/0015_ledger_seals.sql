-- Archived parts of the ledger, oldest first. `seal` is the signed line; `previous` is the hash of the seal before, so that
-- two archives made at the same time can't both count.
CREATE TABLE ledger_seals (
    until    INTEGER NOT NULL PRIMARY KEY,
    hash     BLOB    NOT NULL,
    previous BLOB    NOT NULL UNIQUE,
    seal     TEXT    NOT NULL
) STRICT;
