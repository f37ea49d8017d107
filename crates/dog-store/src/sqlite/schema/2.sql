-- What the server itself has to do in a game: bots to play, a turn clock to enforce.
ALTER TABLE games ADD COLUMN bot_pace_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE games ADD COLUMN turn_seconds INTEGER;                -- none without a clock
ALTER TABLE games ADD COLUMN deadline INTEGER;                    -- when the time of those awaited is up
ALTER TABLE games ADD COLUMN attended INTEGER NOT NULL DEFAULT 1; -- whether a human plays
ALTER TABLE games ADD COLUMN due_at INTEGER;                      -- when the server is to act, if it is

CREATE INDEX games_due ON games (attended, due_at) WHERE due_at IS NOT NULL;

-- Whether the game came from a record, so that this server has not seen it played.
ALTER TABLE games ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;

-- Changes are numbered, so that whoever waits for some can ask for those since the last it knows.
ALTER TABLE games ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
CREATE INDEX games_change ON games (change);

CREATE TABLE changes (last INTEGER NOT NULL) STRICT;
INSERT INTO changes VALUES (0);

-- Games that are gone, by the change that removed them; the older ones are forgotten.
CREATE TABLE removed (
    change INTEGER PRIMARY KEY,
    id     TEXT NOT NULL
) STRICT;

-- Single-use tickets for streams, for those who cannot send a token.
CREATE TABLE tickets (
    hash       BLOB    PRIMARY KEY,
    game       INTEGER NOT NULL REFERENCES games (key) ON DELETE CASCADE,
    token      BLOB    NOT NULL, -- the hash of the token that asked for it
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tickets_game ON tickets (game);
CREATE INDEX tickets_age ON tickets (expires_at);
