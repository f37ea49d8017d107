-- One process has the file, and keeps these in memory.

DROP TABLE changes;
DROP TABLE presence;
DROP TABLE processes;
DROP TABLE reactions;
DROP TABLE tickets;
ALTER TABLE reviews DROP COLUMN claim;
ALTER TABLE reviews RENAME COLUMN claimed_until TO worked_at; -- when somebody last worked on it
