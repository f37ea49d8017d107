-- The time by which old games and responses are removed, in microseconds since 1970; 0 until it is
-- known.
ALTER TABLE retention ADD COLUMN seen_at bigint NOT NULL DEFAULT 0;
