-- One row a game: whatever an ordinary request needs, found through one index.
CREATE TABLE games (
    key        INTEGER PRIMARY KEY AUTOINCREMENT, -- in order of creation, never used again
    id         TEXT    NOT NULL UNIQUE,
    version    INTEGER NOT NULL,
    phase      TEXT    NOT NULL,
    listed     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,                  -- microseconds since 1970 UTC, as all times here
    updated_at INTEGER NOT NULL,
    tokens     BLOB    NOT NULL,                  -- hashes only
    snapshot   TEXT    NOT NULL                   -- the whole game as JSON, secrets included
) STRICT;

-- For the public list, newest first; the key is the last column of every index.
CREATE INDEX games_listed ON games (listed);
CREATE INDEX games_listed_phase ON games (listed, phase);

-- One row a version: what was done and what came of it.
CREATE TABLE log (
    game    INTEGER NOT NULL REFERENCES games (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    action  TEXT,                                 -- none for a creation
    events  TEXT    NOT NULL,
    PRIMARY KEY (game, version)
) STRICT, WITHOUT ROWID;

-- Answers to requests that carried an Idempotency-Key.
CREATE TABLE idempotency (
    key        INTEGER PRIMARY KEY,
    scope      BLOB    NOT NULL UNIQUE,
    body_hash  BLOB    NOT NULL,
    answer     BLOB    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX idempotency_age ON idempotency (created_at);
