-- Duplicate matches: tables that play the same cards in pairs.

ALTER TABLE games ADD COLUMN match_id TEXT;       -- of the match that it is a table of
ALTER TABLE games ADD COLUMN match_table INTEGER; -- twice the number of the pair; 1 more: its second
ALTER TABLE games ADD COLUMN match_closed INTEGER NOT NULL DEFAULT 0; -- only its seats see it
CREATE INDEX games_match ON games (match_id, match_table) WHERE match_id IS NOT NULL;

CREATE TABLE matches (
    id         TEXT    PRIMARY KEY,
    created_at INTEGER NOT NULL,
    host_token BLOB    NOT NULL,              -- a hash
    ended      INTEGER NOT NULL DEFAULT 0,    -- by its host
    setup      TEXT    NOT NULL               -- JSON
) STRICT;

-- One row per table, which stays when the game is removed.
CREATE TABLE match_tables (
    match_id TEXT    NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,                -- as match_table of the game
    game     TEXT    NOT NULL,                -- its id
    seed     TEXT    NOT NULL,                -- a secret until the pair opens
    result   TEXT,                            -- JSON; NULL until it ends, 'null' without a winner
    PRIMARY KEY (match_id, number)
) STRICT, WITHOUT ROWID;
