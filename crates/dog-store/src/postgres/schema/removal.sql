-- A game's review may be asked for, or its log packed, while another transaction removes the game.
-- These rows are few and written seldom, so a foreign key costs little, and removes them with it.

LOCK TABLE games, packed_log, reviews IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM packed_log WHERE NOT EXISTS (SELECT FROM games WHERE row_id = game);
DELETE FROM reviews WHERE NOT EXISTS (SELECT FROM games WHERE row_id = game);
ALTER TABLE packed_log ADD FOREIGN KEY (game) REFERENCES games ON DELETE CASCADE;
ALTER TABLE reviews ADD FOREIGN KEY (game) REFERENCES games ON DELETE CASCADE;
