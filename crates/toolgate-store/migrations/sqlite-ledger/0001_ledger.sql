-- One row is one record, in the order of arrival. A writer is one process; its records are numbered from 0 and chained
-- by hash. `record` is the whole record; the other columns repeat its beginning, for filters.
CREATE TABLE ledger (
    position  INTEGER PRIMARY KEY,
    writer    TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    time      INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    call      TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    tenant    TEXT,
    flow      TEXT,
    outcome   TEXT    NOT NULL,
    previous  BLOB    NOT NULL,
    hash      BLOB    NOT NULL,
    record    TEXT    NOT NULL
) STRICT;

-- Also keeps a chain from forking.
CREATE UNIQUE INDEX ledger_by_writer ON ledger (writer, seq);
CREATE INDEX ledger_by_time ON ledger (time);
CREATE INDEX ledger_by_call ON ledger (call);

-- Against accidents. Who may write to the file can drop them; what they then do is found by verifying.
CREATE TRIGGER ledger_keeps BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_keeps_all BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- Records that no earlier one can still appear before.
CREATE VIEW ledger_settled AS SELECT * FROM ledger;
