-- A game that is not over leaves the lists when nobody has used it for a while. The column is
-- indexed, so it is written once a minute at most.

ALTER TABLE games ADD COLUMN listed_until bigint; -- when it leaves the lists; NULL once it has
UPDATE games SET listed_until = CASE WHEN phase = 'finished' THEN 4611686018427387903
    ELSE greatest(updated_at + 600000000, deadline) END;

DROP INDEX games_listed;
DROP INDEX games_listed_phase;
DROP INDEX games_joinable;
DROP INDEX games_joinable_phase;
CREATE INDEX games_listed ON games (row_id) WHERE listed AND listed_until IS NOT NULL;
CREATE INDEX games_listed_phase ON games (phase, row_id) WHERE listed AND listed_until IS NOT NULL;
CREATE INDEX games_joinable ON games (row_id)
    WHERE anyone_may_join AND listed AND listed_until IS NOT NULL;
CREATE INDEX games_joinable_phase ON games (phase, row_id)
    WHERE anyone_may_join AND listed AND listed_until IS NOT NULL;
CREATE INDEX games_listed_until ON games (listed_until) WHERE listed_until IS NOT NULL;
