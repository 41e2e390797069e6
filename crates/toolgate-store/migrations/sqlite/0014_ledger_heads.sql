-- The last records of the ledger's writers, as the store last saw them: who takes records away from the ledger alone is found.
CREATE TABLE ledger_heads (
    writer   TEXT    NOT NULL PRIMARY KEY,
    seq      INTEGER NOT NULL,
    hash     BLOB    NOT NULL,
    position INTEGER NOT NULL,
    covered  INTEGER NOT NULL
) STRICT;
