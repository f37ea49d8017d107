-- A keyed hash of the address that created or imported the game; none once its log is packed, and
-- for this machine's own.
ALTER TABLE games ADD COLUMN creator BLOB;

-- For finding a due game of each creator without reading all of them.
CREATE INDEX games_due_creator ON games (attended, creator, due_at) WHERE due_at IS NOT NULL;

-- The key, which makes a hash worthless without this file.
CREATE TABLE creator_key (key BLOB NOT NULL) STRICT;
INSERT INTO creator_key VALUES (randomblob(16));

-- Changes that are not play: hand-overs and tokens from the host, which are versions, and tokens
-- that seats renewed themselves, which are none.
ALTER TABLE games ADD COLUMN table_changes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE games ADD COLUMN renewals INTEGER NOT NULL DEFAULT 0;

-- The server does nothing more in a game that has as many versions as there may be.
UPDATE games SET due_at = NULL WHERE version >= 50000 AND due_at IS NOT NULL;

-- Packed logs in pages of some versions, so that a part can be read by itself. A log that was
-- packed whole is one long page until it is packed again.
ALTER TABLE archive RENAME TO archive_whole;
CREATE TABLE archive (
    game    INTEGER NOT NULL REFERENCES games (key) ON DELETE CASCADE,
    first   INTEGER NOT NULL,                     -- the first version in it
    entries BLOB    NOT NULL,
    PRIMARY KEY (game, first)
) STRICT;
INSERT INTO archive SELECT game, 1, entries FROM archive_whole ORDER BY game;
DROP TABLE archive_whole;
UPDATE games SET archived = 0 WHERE archived = 1;

-- One row that is written over to find out whether there is room for a write.
CREATE TABLE probe (filler BLOB NOT NULL) STRICT;
INSERT INTO probe VALUES (x'');
