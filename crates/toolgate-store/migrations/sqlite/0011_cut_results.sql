-- Results that were too large for their call, whole, for as long as the link to them holds.
CREATE TABLE cut_results (
    id         TEXT    NOT NULL PRIMARY KEY,
    tenant     TEXT,
    principal  TEXT    NOT NULL,
    bytes      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    whole      BLOB    NOT NULL
) STRICT;
CREATE INDEX cut_results_by_expiry ON cut_results (expires_at);
CREATE INDEX cut_results_by_principal ON cut_results (principal, expires_at);

-- Whoever makes room holds this row, so that what two add at once is counted by one of them.
CREATE TABLE cut_results_room (
    one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    turn INTEGER NOT NULL
) STRICT;
INSERT INTO cut_results_room (one, turn) VALUES (1, 0);
