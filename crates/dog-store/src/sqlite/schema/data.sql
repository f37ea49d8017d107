ALTER TABLE games ADD COLUMN data TEXT; -- what clients attached, as JSON; NULL if nothing
