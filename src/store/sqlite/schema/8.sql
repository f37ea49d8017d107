-- Processes with somebody connected. What one of them has written to presence counts until its
-- lease ends.
CREATE TABLE processes (
    process     INTEGER PRIMARY KEY,              -- a random number
    lease_until INTEGER NOT NULL
) STRICT;

-- Who is present: one row per seat and process.
CREATE TABLE presence (
    game    TEXT    NOT NULL,                     -- its id
    seat    INTEGER NOT NULL,
    process INTEGER NOT NULL REFERENCES processes (process) ON DELETE CASCADE,
    PRIMARY KEY (game, seat, process)
) STRICT, WITHOUT ROWID;

CREATE INDEX presence_process ON presence (process);

-- Whether a change is only of who is present at the game, which is not changed.
ALTER TABLE changes ADD COLUMN is_presence INTEGER NOT NULL DEFAULT 0;

-- For finding the oldest table that others can join by a quick join.
CREATE INDEX games_in_seating ON games (unique_key) WHERE phase = 'seating' AND unique_key IS NOT NULL;
