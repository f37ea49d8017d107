-- A game that is not over leaves the lists when nobody has used it for a while.

ALTER TABLE games ADD COLUMN listed_until INTEGER; -- when it leaves the lists; NULL once it has
UPDATE games SET listed_until = CASE WHEN phase = 'finished' THEN 4611686018427387903
    ELSE max(updated_at + 600000000, coalesce(deadline, 0)) END WHERE phase <> 'removed';

DROP INDEX games_listed;
DROP INDEX games_listed_phase;
DROP INDEX games_joinable;
DROP INDEX games_joinable_phase;
CREATE INDEX games_listed ON games (listed) WHERE listed_until IS NOT NULL;
CREATE INDEX games_listed_phase ON games (listed, phase) WHERE listed_until IS NOT NULL;
CREATE INDEX games_joinable ON games (listed)
    WHERE anyone_may_join = 1 AND listed_until IS NOT NULL;
CREATE INDEX games_joinable_phase ON games (listed, phase)
    WHERE anyone_may_join = 1 AND listed_until IS NOT NULL;
CREATE INDEX games_listed_until ON games (listed_until) WHERE listed_until IS NOT NULL;
CREATE INDEX games_phase ON games (phase); -- for the numbers of games
