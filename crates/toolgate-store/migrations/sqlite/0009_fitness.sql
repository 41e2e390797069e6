-- What one user trains, eats and wants. Amounts are whole numbers of a small unit (average heart rate in tenths, places in
-- millionths of a degree): both engines hold those alike.
CREATE TABLE fitness_connections (
    user_id      TEXT NOT NULL,
    provider     TEXT NOT NULL,
    connected_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, provider)
) STRICT;

-- The id is made of the file's content, so that the same file is the same activity.
CREATE TABLE fitness_activities (
    user_id            TEXT NOT NULL,
    id                 TEXT NOT NULL,
    provider           TEXT NOT NULL,
    import_id          TEXT NOT NULL,
    name               TEXT NOT NULL,
    sport              TEXT NOT NULL,
    started_at         INTEGER NOT NULL,
    elapsed_s          INTEGER NOT NULL,
    moving_s           INTEGER NOT NULL,
    distance_cm        INTEGER NOT NULL,
    elevation_gain_cm  INTEGER NOT NULL,
    average_heart_rate INTEGER,
    max_heart_rate     INTEGER,
    average_power      INTEGER,
    max_power          INTEGER,
    average_cadence    INTEGER,
    calories           INTEGER,
    start_latitude     INTEGER,
    start_longitude    INTEGER,
    end_latitude       INTEGER,
    end_longitude      INTEGER,
    samples            BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE INDEX fitness_activities_by_time ON fitness_activities (user_id, provider, started_at, id);
CREATE INDEX fitness_activities_by_import ON fitness_activities (user_id, import_id);

CREATE TABLE fitness_records (
    user_id    TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('goal', 'recipe')),
    id         TEXT NOT NULL,
    content    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, kind, id)
) STRICT;

-- The revision grows with every change, so that one who changes what was read changes that and nothing newer.
CREATE TABLE fitness_configuration (
    user_id    TEXT NOT NULL PRIMARY KEY,
    profile    TEXT,
    parameters TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
