-- Columns and tables are named as the code names what is in them.
ALTER TABLE games RENAME COLUMN key TO row_id;
ALTER TABLE games RENAME COLUMN tokens TO token_hashes;
ALTER TABLE games RENAME COLUMN attended TO has_human;
ALTER TABLE games RENAME COLUMN table_changes TO admin_changes;
ALTER TABLE games RENAME COLUMN renewals TO token_renewals;
ALTER TABLE games RENAME COLUMN archived TO packed;

ALTER TABLE archive RENAME TO packed_log;
ALTER TABLE packed_log RENAME COLUMN first TO first_version;
DROP INDEX games_to_archive;
CREATE INDEX games_to_pack ON games (packed) WHERE phase = 'finished' AND packed = 0;

ALTER TABLE idempotency RENAME COLUMN key TO row_id;
ALTER TABLE idempotency RENAME COLUMN answer TO response;

ALTER TABLE tickets RENAME COLUMN hash TO ticket_hash;
ALTER TABLE tickets RENAME COLUMN token TO token_hash;
