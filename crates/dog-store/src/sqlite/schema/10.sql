-- Whether the game is not over, but has had as many versions of play as it may: 50,000. It can have
-- no other version, so its log is packed, too.
ALTER TABLE games ADD COLUMN at_limit INTEGER NOT NULL DEFAULT 0;
UPDATE games SET at_limit = 1, anyone_may_join = 0
WHERE phase NOT IN ('finished', 'removed') AND version - admin_changes >= 50000;
DROP INDEX games_to_pack;
CREATE INDEX games_to_pack ON games (packed) WHERE (phase = 'finished' OR at_limit = 1) AND packed = 0;

-- A table without a host at which nobody sits is removed, ten minutes after the last change.
UPDATE games SET due_at = updated_at + 600000000, has_human = 1
WHERE phase = 'seating' AND due_at IS NULL AND has_human = 0 AND unique_key LIKE 'quick join %';

-- The clock when `seen_at` was last moved.
ALTER TABLE retention ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0;
