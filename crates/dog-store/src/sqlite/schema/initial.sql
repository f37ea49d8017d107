-- One row per game: all that an ordinary request needs. Times are microseconds since 1970 UTC. The
-- snapshot comes last, because SQLite reaches a column by way of those before it.
CREATE TABLE games (
    row_id          INTEGER PRIMARY KEY AUTOINCREMENT, -- in order of creation, never used again
    id              TEXT    NOT NULL UNIQUE,
    version         INTEGER NOT NULL,
    phase           TEXT    NOT NULL,                  -- 'removed': its log is not yet deleted
    listed          INTEGER NOT NULL,
    reactions       INTEGER NOT NULL DEFAULT 1,        -- whether people may react
    imported        INTEGER NOT NULL,                  -- from a record, not played on this server
    is_for_people   INTEGER NOT NULL,                  -- whether people wait for the server
    anyone_may_join INTEGER NOT NULL,                  -- without an invitation
    at_limit        INTEGER NOT NULL DEFAULT 0,        -- not over, but at the last version of play
    packed          INTEGER NOT NULL DEFAULT 0,        -- whether its whole log is in packed_log
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    bot_pace_ms     INTEGER NOT NULL,
    turn_seconds    INTEGER,                           -- NULL without a turn clock
    deadline        INTEGER,                           -- when the turn clock runs out
    due_at          INTEGER,                           -- when the server is to act, if it is
    skips_to_deal   INTEGER NOT NULL DEFAULT 0,        -- no pace until the next deal
    admin_changes   INTEGER NOT NULL DEFAULT 0,        -- versions that are no play
    token_renewals  INTEGER NOT NULL DEFAULT 0,        -- changes of tokens without a version
    unique_key      TEXT,                              -- such as "the game after this one"
    creator         BLOB,                              -- keyed hash of an address; NULL once packed
    token_hashes    BLOB    NOT NULL,
    seating         TEXT,                              -- JSON; NULL for the default
    snapshot        TEXT    NOT NULL                   -- the game as JSON, secrets included
) STRICT;

-- For the public list and that of games with open seats, newest first: the row id is the last
-- column of every index.
CREATE INDEX games_listed ON games (listed);
CREATE INDEX games_listed_phase ON games (listed, phase);
CREATE INDEX games_joinable ON games (listed) WHERE anyone_may_join = 1;
CREATE INDEX games_joinable_phase ON games (listed, phase) WHERE anyone_may_join = 1;
-- For what the server has to do, and for a due game of each creator.
CREATE INDEX games_due ON games (is_for_people, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX games_due_creator ON games (is_for_people, creator, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX games_to_pack ON games (packed)
    WHERE (phase = 'finished' OR at_limit = 1) AND packed = 0;
CREATE UNIQUE INDEX games_unique_key ON games (unique_key) WHERE unique_key IS NOT NULL;
-- For the oldest table that others can join by a quick join.
CREATE INDEX games_in_seating ON games (unique_key)
    WHERE phase = 'seating' AND unique_key IS NOT NULL;

-- One row per version: the action and its events.
CREATE TABLE log (
    game    INTEGER NOT NULL REFERENCES games (row_id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    action  TEXT,                                      -- NULL for a creation
    events  TEXT    NOT NULL,
    PRIMARY KEY (game, version)
) STRICT, WITHOUT ROWID;

-- The logs of closed games, packed in pages of some versions.
CREATE TABLE packed_log (
    game          INTEGER NOT NULL REFERENCES games (row_id) ON DELETE CASCADE,
    first_version INTEGER NOT NULL,
    entries       BLOB    NOT NULL,
    PRIMARY KEY (game, first_version)
) STRICT;

-- Responses to requests with an Idempotency-Key.
CREATE TABLE idempotency (
    row_id     INTEGER PRIMARY KEY,
    scope      BLOB    NOT NULL UNIQUE,
    body_hash  BLOB    NOT NULL,
    response   BLOB    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Single-use tickets for streams, for clients that cannot send a token.
CREATE TABLE tickets (
    ticket_hash BLOB    PRIMARY KEY,
    game        INTEGER NOT NULL REFERENCES games (row_id) ON DELETE CASCADE,
    token_hash  BLOB    NOT NULL,                      -- of the token that asked for it
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tickets_game ON tickets (game);
CREATE INDEX tickets_age ON tickets (expires_at);

-- Reviews of finished games: the work, and what was found.
CREATE TABLE reviews (
    game          INTEGER PRIMARY KEY REFERENCES games (row_id) ON DELETE CASCADE,
    creator       BLOB,                                -- keyed hash of who asked; NULL once done
    asked_at      INTEGER NOT NULL,
    status        TEXT    NOT NULL,                    -- 'waiting', 'running' or 'done'
    claim         INTEGER NOT NULL DEFAULT 0,          -- a random number of the worker's
    claimed_until INTEGER NOT NULL DEFAULT 0,
    content       BLOB    NOT NULL                     -- compressed
) STRICT;
CREATE INDEX reviews_open ON reviews (asked_at) WHERE status <> 'done';

-- The last changes.
CREATE TABLE changes (
    number  INTEGER PRIMARY KEY,
    game    TEXT    NOT NULL,                          -- its id
    version INTEGER,                                   -- NULL if it was removed
    kind    TEXT    NOT NULL DEFAULT 'game'            -- or only 'presence', 'reaction' or 'review'
) STRICT;

-- Processes with somebody connected. What one of them has written to presence counts until its
-- lease ends.
CREATE TABLE processes (
    process     INTEGER PRIMARY KEY,                   -- a random number
    lease_until INTEGER NOT NULL
) STRICT;

-- Who is present: one row per seat and process.
CREATE TABLE presence (
    game    TEXT    NOT NULL,                          -- its id
    seat    INTEGER NOT NULL,
    process INTEGER NOT NULL REFERENCES processes (process) ON DELETE CASCADE,
    PRIMARY KEY (game, seat, process)
) STRICT, WITHOUT ROWID;
CREATE INDEX presence_process ON presence (process);

-- What people have said by a reaction: one row for each that counts towards the limit of a seat,
-- which has five slots.
CREATE TABLE reactions (
    game     TEXT    NOT NULL,                         -- its id
    seat     INTEGER NOT NULL,
    slot     INTEGER NOT NULL,
    reaction TEXT,                                     -- NULL once it is not told any more
    at       INTEGER NOT NULL,
    PRIMARY KEY (game, seat, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX reactions_age ON reactions (at);

-- The key of the creators' hashes, which makes a hash worthless without this file.
CREATE TABLE creator_key (key BLOB NOT NULL) STRICT;
INSERT INTO creator_key VALUES (randomblob(16));

-- One row: the time by which old games and responses are removed, 0 until it is known; and the
-- clock when it was last moved.
CREATE TABLE retention (
    seen_at  INTEGER NOT NULL,
    moved_at INTEGER NOT NULL
) STRICT;
INSERT INTO retention VALUES (0, 0);

-- One row that is written over to find out whether there is room for a write.
CREATE TABLE probe (filler BLOB NOT NULL) STRICT;
INSERT INTO probe VALUES (x'');
