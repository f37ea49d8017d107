-- Changes are a list of their own, the last ones only: a number in every row of games meant an
-- index whose every entry moved with every change.
DROP INDEX games_change;
ALTER TABLE games DROP COLUMN change;
DROP TABLE changes;
DROP TABLE removed;
CREATE TABLE changes (
    number  INTEGER PRIMARY KEY,
    game    TEXT NOT NULL,   -- its id
    version INTEGER          -- none if it was removed
) STRICT;

-- The logs of finished games, packed: the rows of log are gone then.
CREATE TABLE archive (
    game    INTEGER PRIMARY KEY REFERENCES games (key) ON DELETE CASCADE,
    entries BLOB NOT NULL
) STRICT;
ALTER TABLE games ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
CREATE INDEX games_to_archive ON games (archived) WHERE phase = 'finished' AND archived = 0;
