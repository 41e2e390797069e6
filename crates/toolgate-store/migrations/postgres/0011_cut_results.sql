-- Results that were too large for their call, whole, for as long as the link to them holds.
CREATE TABLE cut_results (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant     TEXT COLLATE "C",
    principal  TEXT COLLATE "C" NOT NULL,
    whole      BYTEA  NOT NULL,
    bytes      BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
-- Written once and read hardly more often: compressing it would be the most of the work.
ALTER TABLE cut_results ALTER COLUMN whole SET STORAGE EXTERNAL;
CREATE INDEX cut_results_by_expiry ON cut_results (expires_at);
CREATE INDEX cut_results_by_principal ON cut_results (principal, expires_at);

-- Whoever makes room holds this row, so that what two add at once is counted by one of them.
CREATE TABLE cut_results_room (
    one  BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    turn BIGINT NOT NULL
);
INSERT INTO cut_results_room (one, turn) VALUES (1, 0);
