-- What one user trains, eats and wants. Amounts are whole numbers of a small unit (average heart rate in tenths, places in
-- millionths of a degree): both engines hold those alike.
CREATE TABLE fitness_connections (
    user_id      TEXT COLLATE "C" NOT NULL,
    provider     TEXT COLLATE "C" NOT NULL,
    connected_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, provider)
);

-- The id is made of the file's content, so that the same file is the same activity.
CREATE TABLE fitness_activities (
    user_id            TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    provider           TEXT COLLATE "C" NOT NULL,
    import_id          TEXT COLLATE "C" NOT NULL,
    name               TEXT NOT NULL,
    sport              TEXT COLLATE "C" NOT NULL,
    started_at         BIGINT NOT NULL,
    elapsed_s          BIGINT NOT NULL,
    moving_s           BIGINT NOT NULL,
    distance_cm        BIGINT NOT NULL,
    elevation_gain_cm  BIGINT NOT NULL,
    average_heart_rate BIGINT,
    max_heart_rate     BIGINT,
    average_power      BIGINT,
    max_power          BIGINT,
    average_cadence    BIGINT,
    calories           BIGINT,
    start_latitude     BIGINT,
    start_longitude    BIGINT,
    end_latitude       BIGINT,
    end_longitude      BIGINT,
    samples            BYTEA NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX fitness_activities_by_time ON fitness_activities (user_id, provider, started_at, id);
CREATE INDEX fitness_activities_by_import ON fitness_activities (user_id, import_id);

CREATE TABLE fitness_records (
    user_id    TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('goal', 'recipe')),
    id         TEXT COLLATE "C" NOT NULL,
    content    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind, id)
);

-- The revision grows with every change, so that one who changes what was read changes that and nothing newer.
CREATE TABLE fitness_configuration (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    profile    TEXT,
    parameters TEXT NOT NULL,
    revision   BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
