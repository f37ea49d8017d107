-- How people come to the seats of a game, as JSON; NULL where each seat had its player from the
-- beginning and nobody has renewed a token.
ALTER TABLE games ADD COLUMN seating TEXT;
