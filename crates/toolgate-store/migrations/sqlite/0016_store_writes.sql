-- How many commits there were. The ledger's folder keeps the same count, so that an older copy of this file is noticed.
CREATE TABLE store_writes (
    one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO store_writes (one, count) VALUES (1, 0);
