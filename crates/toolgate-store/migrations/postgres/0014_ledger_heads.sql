-- The last records of the ledger's writers, as the store last saw them: who takes records away from the ledger alone is found.
CREATE TABLE ledger_heads (
    writer   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq      BIGINT  NOT NULL,
    hash     BYTEA   NOT NULL,
    position BIGINT  NOT NULL,
    covered  BOOLEAN NOT NULL
);
