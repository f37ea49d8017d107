-- Whether anyone may take a seat, without an invitation; never once the game is over.
ALTER TABLE games ADD COLUMN anyone_may_join INTEGER NOT NULL DEFAULT 0;
UPDATE games SET anyone_may_join = 1
WHERE seating IS NOT NULL AND phase <> 'finished'
AND CASE WHEN json_valid(seating) AND json_valid(snapshot) THEN
    seating ->> 'join' = 'anyone' AND EXISTS (
        SELECT 1 FROM json_each(snapshot, '$.players') AS player
        WHERE player.value ->> 'open'
        AND seating ->> ('$.seats[' || player.key || '].opened') <> 'by_host'
    )
END;

-- As those of the public list.
CREATE INDEX games_joinable ON games (listed) WHERE anyone_may_join = 1;
CREATE INDEX games_joinable_phase ON games (listed, phase) WHERE anyone_may_join = 1;

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
