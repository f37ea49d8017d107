-- One row: the time by which old games and responses are removed, in microseconds since 1970; 0 until
-- it is known.
CREATE TABLE retention (seen_at INTEGER NOT NULL) STRICT;
INSERT INTO retention VALUES (0);
