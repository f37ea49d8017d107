-- Whether the game is not over, but has had as many versions of play as it may: 50,000. It can have
-- no other version, so its log is packed, too.
ALTER TABLE games ADD COLUMN at_limit boolean NOT NULL DEFAULT false;
UPDATE games SET at_limit = true, anyone_may_join = false
WHERE phase <> 'finished' AND version - admin_changes >= 50000;
DROP INDEX games_to_pack;
CREATE INDEX games_to_pack ON games (row_id) WHERE (phase = 'finished' OR at_limit) AND NOT packed;
