-- Whether the game is not over, but has had as many versions of play as it may: 50,000. It can have
-- no other version, so its log is packed, too.
ALTER TABLE games ADD COLUMN at_limit boolean NOT NULL DEFAULT false;
UPDATE games SET at_limit = true, anyone_may_join = false
WHERE phase <> 'finished' AND version - admin_changes >= 50000;
DROP INDEX games_to_pack;
CREATE INDEX games_to_pack ON games (row_id) WHERE (phase = 'finished' OR at_limit) AND NOT packed;

-- A table without a host at which nobody sits is removed, ten minutes after the last change.
UPDATE games SET due_at = updated_at + 600000000, has_human = true
WHERE phase = 'seating' AND due_at IS NULL AND NOT has_human AND unique_key LIKE 'quick join %';

-- The clock when `seen_at` was last moved.
ALTER TABLE retention ADD COLUMN moved_at bigint NOT NULL DEFAULT 0;
