-- Who was told of an approval: a replica claims a notice, tells it, and says so.
CREATE TABLE approval_notices (
    approval      TEXT NOT NULL,
    event         TEXT NOT NULL CHECK (event IN ('asked', 'answered', 'expired')),
    claimed_until INTEGER NOT NULL,
    told          INTEGER,
    PRIMARY KEY (approval, event)
) STRICT;
CREATE INDEX approvals_by_answer ON approvals (answered_at) WHERE answered_at IS NOT NULL;
CREATE INDEX approvals_by_end ON approvals (expires) WHERE answered_at IS NULL;
