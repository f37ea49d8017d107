ALTER TABLE games ADD COLUMN data text; -- what clients attached, as JSON; NULL if nothing
