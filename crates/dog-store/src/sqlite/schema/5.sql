-- A name that no two games have, such as that of the next game after another; mostly none.
ALTER TABLE games ADD COLUMN unique_key TEXT;
CREATE UNIQUE INDEX games_unique_key ON games (unique_key) WHERE unique_key IS NOT NULL;
