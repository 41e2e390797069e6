-- What lies in a vault, and the id it keeps when it is moved or renamed. The folder on disk is the truth, this is what
-- is known of it.
CREATE TABLE vault_items (
    vault    TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    parent   TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    folder   INTEGER NOT NULL CHECK (folder IN (0, 1)),
    inode    INTEGER NOT NULL,
    born     INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    digest   TEXT,
    stamp    TEXT,
    PRIMARY KEY (vault, id),
    UNIQUE (vault, parent, name)
) STRICT;

-- Pieces of documents' text, and the terms they are found by.
CREATE TABLE vault_passages (
    number INTEGER PRIMARY KEY,
    vault  TEXT    NOT NULL,
    item   TEXT    NOT NULL,
    place  INTEGER NOT NULL,
    text   TEXT    NOT NULL,
    terms  TEXT    NOT NULL,
    UNIQUE (vault, item, place)
) STRICT;
-- Terms are made before they come here, so that both engines find the same: nothing is left to fold.
CREATE VIRTUAL TABLE vault_terms USING fts5 (
    terms, content = 'vault_passages', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 0"
);
CREATE TRIGGER vault_passages_added AFTER INSERT ON vault_passages BEGIN
    INSERT INTO vault_terms (rowid, terms) VALUES (new.number, new.terms);
END;
CREATE TRIGGER vault_passages_removed AFTER DELETE ON vault_passages BEGIN
    INSERT INTO vault_terms (vault_terms, rowid, terms) VALUES ('delete', old.number, old.terms);
END;

-- Appended by callers, never changed.
CREATE TABLE event_log (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    principal TEXT    NOT NULL,
    flow      TEXT,
    name      TEXT    NOT NULL,
    payload   TEXT    NOT NULL
) STRICT;
CREATE INDEX event_log_by_principal ON event_log (principal, number);
